"""Criteria where some values need protection and others do not [Robust, Sec II] [MaxEnt, fn. 3].

Each family of criteria says which of these it means: which values a criterion is about changes with its
definition, and is derived in docs/theory/criteria.md. A person with an unprotected value stays a person of
the group in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ppdp_spark.core.criteria.base import LocalCriterion, SeenInPart, Worst
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray
from ppdp_spark.core.data.value_names import ValueDomain

Mask = tuple[bool, ...]
"""Whether each value, in the order of codes, needs protection."""


def told(protected: Mask) -> str:
    """How many values need protection, for the level of a criterion."""
    return f"{sum(protected)} of {len(protected)} values protected"


def counted(protected: Mask) -> dict[str, int]:
    """The same for programs."""
    return {"protected_values": sum(protected), "values": len(protected)}


def only_protected(counts: IntArray, protected: Mask | None) -> IntArray:
    """The counts with nothing where a value needs no protection."""
    return counts if protected is None else np.where(np.array(protected), counts, 0)


@dataclass(frozen=True)
class OfProtected(SeenInPart):
    """A bound on shares of people, of protected values alone; all people of a group are counted.

    Closed under union if the criterion is: what is seen of a union is the union of what is seen.
    """

    protected: Mask

    @property
    def level(self) -> str:
        return f"{self.criterion.level}, {told(self.protected)}"

    @property
    def parameters(self) -> dict[str, Any]:
        return {**self.criterion.parameters, **counted(self.protected)}

    def part(self, groups: GroupSummaries) -> GroupSummaries:
        return replace(groups, counts=only_protected(groups.counts, self.protected))


@dataclass(frozen=True)
class AmongProtected(OfProtected):
    """A criterion that the people with protected values must meet among themselves, if a group has any.

    So it also holds against somebody who knows which people have no protected value, and which value that is.

    Closed under union if the criterion is: the people with protected values of a union are those of its
    parts, and a part without any changes nothing.
    """

    def part(self, groups: GroupSummaries) -> GroupSummaries:
        counts = only_protected(groups.counts, self.protected)
        return replace(groups, sizes=counts.sum(axis=1, dtype=np.int64), counts=counts)

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """That of the people with protected values; the safest there is where there are none."""
        part = self.part(groups)
        some, values = part.sizes > 0, np.full(len(groups), np.inf if self.higher_is_safer else -np.inf)
        values[some] = self.criterion.achieved(part.rows(some))
        return values

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        part = self.part(groups)
        some, held = part.sizes > 0, np.ones(len(groups), np.bool_)
        held[some] = self.criterion.allowed(part.rows(some))
        return held

    def allowed_cuts(self, left: GroupSummaries, right: GroupSummaries) -> BoolArray:
        return self.allowed(left) & self.allowed(right)

    def worst(self, groups: GroupSummaries, ids: IntArray) -> Worst:
        """The worst group of those that have a protected value."""
        some = self.part(groups).sizes > 0
        found = super().worst(groups.rows(some), np.asarray(ids)[some])
        return replace(found, groups=len(groups))


@dataclass(frozen=True)
class OthersAsOne(OfProtected):
    """A distance of distributions in which all values that need no protection are one.

    The criterion counts the protected values in their order, and all others together after them.

    Closed under union if the criterion is: counts are added up either way.
    """

    def part(self, groups: GroupSummaries) -> GroupSummaries:
        return replace(groups, counts=others_together(groups.counts, self.protected))


def others_together(counts: IntArray, protected: Mask) -> IntArray:
    """The counts of protected values, then the sum of all others; the last axis runs over values."""
    mask = np.array(protected)
    others = counts[..., ~mask].sum(axis=-1, keepdims=True)
    return np.concatenate([counts[..., mask], others], axis=-1)


Builder = Callable[[Mapping[str, Any], ValueDomain], LocalCriterion]


def of_protected(build: Builder) -> Builder:
    """The same criterion of protected values only, as `OfProtected` says."""
    return lambda given, domain: OfProtected(build(given, domain), domain.protected or ())


def among_protected(build: Builder) -> Builder:
    """The same criterion of protected values only, as `AmongProtected` says."""
    return lambda given, domain: AmongProtected(build(given, domain), domain.protected or ())
