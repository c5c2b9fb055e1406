"""Proximity: numbers as secrets, protected against near misses [Li et al. 2008].

Salaries of 50,000, 50,001 and 50,002 are three different values and one secret. Distinct values do not
count here; how many of them lie close together does.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.exact import agreeing, integers, product_at_most
from ppdp_spark.core.criteria.family import Family, Parameters, Traits, number, share
from ppdp_spark.core.criteria.parameters import Number, positive
from ppdp_spark.core.criteria.protected_values import of_protected
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray
from ppdp_spark.core.data.value_names import NUMBERS, ValueDomain
from ppdp_spark.errors import SpecError


@dataclass(frozen=True)
class Proximity(LocalCriterion):
    """No closed interval of width 2ε holds more than a share α of the people of a group.

    where
        within    ε: values that differ from a guess by no more than this are near it
        share     α: the largest share of a group that may be near any one guess
        numbers   the sensitive values as exact numbers, in the order of their codes; None for null and for
                  infinite ones, each of which is near itself alone

    (ε, m)-anonymity of the paper, with α = 1/m, looks only at intervals around values that somebody of the
    group has. Here a guess may be any number, which is at least as strict: an interval that holds the most
    people can be moved to the right until it begins at one of their values. ε and α count as their decimal
    text says; widths are compared in fractions and shares in integers.

    Closed under union, unlike the definition of the paper: for each interval the share in a union lies
    between the shares in its parts.
    """

    within: Number
    share: Number
    numbers: tuple[Fraction | None, ...]

    name: ClassVar[str] = "proximity"
    higher_is_safer: ClassVar[bool] = False
    relation: ClassVar[str] = "<="

    def __post_init__(self) -> None:
        positive("within", self.within)
        if positive("share", self.share) > 1:
            raise SpecError(f"`share` ({self.share!s}) must be at most 1")

    @property
    def level(self) -> str:
        return f"ε = {self.within}, share = {self.share}"

    @property
    def threshold(self) -> float:
        return float(self.share)

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """The largest share of a group's people in one interval; 0 for people without a value."""
        shares = self._most(groups) / np.maximum(integers(groups.sizes), 1)
        return agreeing(shares, self.allowed(groups), self.threshold, self.relation)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        limit, sizes = positive("share", self.share), integers(groups.sizes)
        return product_at_most([self._most(groups), limit.denominator], [sizes, limit.numerator])

    def _most(self, groups: GroupSummaries) -> IntArray:
        """The most people of each group whose values lie in one interval."""
        if not groups.counts.size:
            return np.zeros(len(groups), np.int64)
        order, ends = self._intervals
        before = np.zeros((len(groups), len(order) + 1), np.int64)
        np.cumsum(integers(groups.counts)[:, order], axis=1, out=before[:, 1:])
        near = before[:, ends] - before[:, :-1]
        return np.asarray(near.max(axis=1, initial=0))

    @cached_property
    def _intervals(self) -> tuple[IntArray, IntArray]:
        """Codes from the smallest number up, and for each place the one after its interval ends."""
        width = 2 * positive("within", self.within)
        known = sorted((number, code) for code, number in enumerate(self.numbers) if number is not None)
        rising = [number for number, _ in known]
        others = [code for code, number in enumerate(self.numbers) if number is None]
        ends = [bisect_right(rising, number + width) for number in rising]
        ends += range(len(known) + 1, len(self.numbers) + 1)
        return np.array([code for _, code in known] + others, np.int64), np.array(ends, np.int64)


def _proximity(given: Parameters, domain: ValueDomain) -> Proximity:
    if not domain.kind.startswith(NUMBERS):
        raise SpecError(
            f"`privacy.proximity` is about numbers, but the sensitive column is {domain.kind}: remove it, or "
            "cast the column"
        )
    return Proximity(given["within"], given["share"], tuple(map(_number, domain.labels)))


def _number(label: str) -> Fraction | None:
    try:
        return Fraction(label)
    except ValueError:
        return None


PROXIMITY = Family(
    field="proximity",
    names=(Proximity.name,),
    summary="No guess is within ε of the sensitive numbers of more than a share of a group.",
    parameters=(
        number("within", example=1000, description="ε: a guess that is off by no more than this is good."),
        share("share", example=0.5, description="Largest share of a group's people near any one guess."),
    ),
    build=_proximity,
    of_some=of_protected(_proximity),
    traits=Traits(least_size=lambda given: math.ceil(1 / positive("share", given["share"]))),
)
