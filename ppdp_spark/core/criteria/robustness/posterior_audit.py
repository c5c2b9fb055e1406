"""The robustness of any groups: the worst posterior exactly where that is feasible, bounded elsewhere.

Every group is bounded by the swap bound. The groups with the largest bounds are then computed exactly, so
a group that its bound condemns may still turn out to be safe, and never the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.robustness.delta import Deviation
from ppdp_spark.core.criteria.robustness.exact_posteriors import (
    binary_posteriors,
    exact_work,
    feasible,
    joint_posteriors,
)
from ppdp_spark.core.criteria.robustness.priors import PeoplePriors
from ppdp_spark.core.criteria.robustness.r_robustness import RRobustness
from ppdp_spark.core.criteria.robustness.signed_groups import SignatureGroups
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray

EXACT_GROUPS = 256
"""Groups of one task and attribute set whose posteriors are computed exactly, at most."""

EXACT_WORK = 2**27
"""Work on exact joint posteriors of one task and attribute set: seconds, however hard its groups are."""

ROUNDING = 1e-9
"""An exact posterior must be below its threshold by this share: it is a quotient of long sums."""


class Largest(NamedTuple):
    """A posterior or a bound on one, its group, its value, and how far priors are apart there."""

    posterior: float
    group: int
    code: int
    deviation: Deviation


@dataclass(frozen=True)
class Found:
    """What is known of one attribute set: groups, those that fail, and the worst posteriors.

    where
        exact  groups computed exactly
        worst  the largest exact posterior, and where; None if there is none
        rest   the largest bound of groups that were not computed exactly, in the same form
    """

    groups: int = 0
    violations: int = 0
    exact: int = 0
    worst: Largest | None = None
    rest: Largest | None = None


Statistic: TypeAlias = tuple[Found, ...]


@dataclass(frozen=True)
class PosteriorAudit:
    """Audits groups of people under the criterion's model, attribute set by attribute set."""

    robustness: RRobustness

    def audit(
        self, priors: PeoplePriors, values: IntArray, width: int, bounds: IntArray, ids: IntArray
    ) -> Statistic:
        """Group g has the people bounds[g] : bounds[g + 1]; `ids` name the groups."""
        starts, ends = bounds[:-1], bounds[1:]
        found = tuple(Found() for _ in self.robustness.attribute_sets)
        for part, groups in priors.summaries(values, width, starts, ends):
            place = slice(starts[part][0], ends[part][-1])
            inside = bounds[part.start : part.start + len(groups) + 1] - place.start
            people = priors.of(np.arange(place.start, place.stop))
            parts = tuple(
                self._one(groups, s, (people.rows[s], people.tables[s]), (inside, ids[part]))
                for s in range(len(priors.tables))
            )
            found = self.merge(found, parts)
        return found

    def merge(self, left: Statistic, right: Statistic) -> Statistic:
        return tuple(_merged(one, other) for one, other in zip(left, right, strict=True))

    def decide(self, statistic: Statistic) -> list[VerdictRow]:
        return [
            self._row(label, found)
            for label, found in zip(self.robustness.attribute_sets, statistic, strict=True)
        ]

    def _one(
        self,
        groups: GroupSummaries,
        position: int,
        priors: tuple[IntArray, FloatArray],
        where: tuple[IntArray, IntArray],
    ) -> Found:
        """Bounds of all groups, exact posteriors of those with the largest."""
        bounds, ids = where
        label = self.robustness.attribute_sets[position]
        single = replace(self.robustness, attribute_sets=(label,), unique=False)
        alone = GroupSummaries(groups.sizes, groups.counts, (groups.priors[position],))
        highest, allowed = single.achieved(alone), single.allowed(alone)
        chosen = self._affordable(groups, np.lexsort((ids, -highest))[:EXACT_GROUPS], priors, bounds)
        known, worst, codes = self._exact(groups, chosen, priors, bounds)
        chosen, worst, codes = chosen[known], worst[known], codes[known]
        safe = worst < single.threshold * (1 - ROUNDING)
        allowed[chosen] |= safe
        rest = np.setdiff1d(np.arange(len(groups)), chosen)
        found: list[Largest | None] = [None, None]
        if len(chosen):
            place = _place_of_largest(worst, ids[chosen])
            row, code = int(chosen[place]), int(codes[place])
            apart = Deviation.at(alone, alone.priors[0], row, code, single.r)
            found[0] = Largest(float(worst[place]), int(ids[row]), code, apart)
        if len(rest):
            row = int(rest[_place_of_largest(highest[rest], ids[rest])])
            (bound,) = single.summarise(alone.rows(slice(row, row + 1)), ids[row : row + 1])
            if bound.code is not None and bound.deviation is not None:
                found[1] = Largest(float(highest[row]), int(ids[row]), bound.code, bound.deviation)
        return Found(len(groups), int(np.count_nonzero(~allowed)), len(chosen), *found)

    def _affordable(
        self, groups: GroupSummaries, chosen: IntArray, priors: tuple[IntArray, FloatArray], bounds: IntArray
    ) -> IntArray:
        """Those of the chosen groups that are feasible, while the work is bearable; all, if binary."""
        if self.robustness.model == "binary" or not len(chosen):
            return chosen
        described = _signature_groups(groups, chosen, priors, bounds)
        possible = feasible(described)
        spent = np.cumsum(np.where(possible, exact_work(described), 0.0))
        return np.asarray(chosen[possible & (spent <= EXACT_WORK)])

    def _exact(
        self, groups: GroupSummaries, chosen: IntArray, priors: tuple[IntArray, FloatArray], bounds: IntArray
    ) -> tuple[BoolArray, FloatArray, IntArray]:
        """Whether the posteriors of each chosen group are known, the largest one, and its value."""
        if not len(chosen):
            return np.zeros(0, np.bool_), np.zeros(0), np.zeros(0, np.int64)
        described = _signature_groups(groups, chosen, priors, bounds)
        of = joint_posteriors if self.robustness.model == "joint" else binary_posteriors
        found = of(described)
        asked = self.robustness.own(described.counts) > 0
        values = np.where(
            asked[np.repeat(np.arange(len(chosen)), np.diff(described.offsets))], found.values, 0.0
        )
        unknown = np.isnan(values).any(axis=1)
        known = ~np.logical_or.reduceat(unknown, described.offsets[:-1])
        by_value = np.maximum.reduceat(np.nan_to_num(values), described.offsets[:-1])
        return known, by_value.max(axis=1), by_value.argmax(axis=1)

    def _row(self, label: str, found: Found) -> VerdictRow:
        known = [x for x in (found.worst, found.rest) if x is not None]
        worst = max(known, key=lambda x: (x.posterior, x.group), default=None)
        witness: dict[str, object] = {
            "exact_groups": found.exact,
            "bounded_groups": found.groups - found.exact,
        }
        if worst is not None:
            witness |= {"group": worst.group, "exact": worst == found.worst, "value": worst.code}
            witness |= worst.deviation.facts
        if found.worst is not None:
            witness["worst_exact_posterior"] = found.worst.posterior
        return VerdictRow(
            "robustness",
            f"{self.robustness.level}, attributes [{label}]",
            None if worst is None else worst.posterior,
            self.robustness.threshold,
            "<=",
            found.groups,
            found.violations,
            "fail" if found.violations else "pass",
            witness,
            {**self.robustness.parameters, "attributes": label},
        )


def _signature_groups(
    groups: GroupSummaries, chosen: IntArray, priors: tuple[IntArray, FloatArray], bounds: IntArray
) -> SignatureGroups:
    """The chosen groups by signature, with how many of their people share each."""
    rows, table = priors
    lengths = np.diff(bounds)[chosen]
    first = np.cumsum(lengths) - lengths
    places = np.repeat(bounds[:-1][chosen] - first, lengths) + np.arange(int(lengths.sum()))
    keys = np.repeat(np.arange(len(chosen)), lengths) * len(table) + rows[places]
    distinct, people = np.unique(keys, return_counts=True)
    group, signature = np.divmod(distinct, len(table))
    offsets = np.searchsorted(group, np.arange(len(chosen) + 1))
    return SignatureGroups(offsets, people, table[signature], groups.counts[chosen])


def _place_of_largest(values: FloatArray, ids: IntArray) -> int:
    """The first of the largest values, in the order of the groups' names."""
    best = np.flatnonzero(values == values.max())
    return int(best[np.argmin(ids[best])])


def _merged(left: Found, right: Found) -> Found:
    def worse(one: Largest | None, other: Largest | None) -> Largest | None:
        both = [x for x in (one, other) if x is not None]
        return min(both, key=lambda x: (-x.posterior, x.group), default=None)

    return Found(
        left.groups + right.groups,
        left.violations + right.violations,
        left.exact + right.exact,
        worse(left.worst, right.worst),
        worse(left.rest, right.rest),
    )
