"""(k, e)-anonymity: in every group, at least k different numbers over a range of e [Zhang et al. 2007].

Distinct ℓ-diversity is content with the salaries 50,000, 50,001 and 50,002, which tell the salary of
everybody in the group. (k, e)-anonymity asks that the largest and the smallest differ by e.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.exact import agreeing
from ppdp_spark.core.criteria.family import CriterionWords, Family, Parameters, Traits, Unasked, number, whole
from ppdp_spark.core.criteria.parameters import Number, positive, whole_number
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.errors import DataError


@dataclass(frozen=True)
class KEAnonymity(LocalCriterion):
    """At least k different values in every group, the largest at least e above the smallest.

    where
        k        different values needed, at least 2
        e        the range needed; counts as its decimal text says
        numbers  the sensitive values of the table as numbers, in the order of their codes

    The range is compared with e in fractions, never in floats.

    Closed under union: a union has the values of both, so neither their number nor their range shrinks.
    """

    k: int
    e: Number
    numbers: tuple[Fraction, ...]

    name: ClassVar[str] = "ke_anonymity"
    higher_is_safer: ClassVar[bool] = True
    relation: ClassVar[str] = ">="

    def __post_init__(self) -> None:
        whole_number("k", self.k, least=2)
        positive("e", self.e)

    @property
    def level(self) -> str:
        return f"k = {self.k}, e = {self.e}"

    @property
    def threshold(self) -> float:
        return float(self.e)

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """The range of each group; 0 for a group of fewer than k different values."""
        smallest, largest, enough = self._ends(groups)
        rising = np.array(sorted(map(float, self.numbers)))
        ranges = np.where(enough, rising[largest] - rising[smallest], 0.0)
        return agreeing(ranges, self.allowed(groups), self.threshold, self.relation)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        smallest, largest, enough = self._ends(groups)
        return np.asarray(enough & (largest >= self._far_enough[smallest]))

    def _ends(self, groups: GroupSummaries) -> tuple[IntArray, IntArray, BoolArray]:
        """Of each group, the ranks of its smallest and its largest value, and whether it has k values."""
        rising = sorted(range(len(self.numbers)), key=lambda code: self.numbers[code])
        held = groups.counts[:, rising] > 0
        last = len(rising) - 1
        return held.argmax(axis=1), last - held[:, ::-1].argmax(axis=1), held.sum(axis=1) >= self.k

    @cached_property
    def _far_enough(self) -> IntArray:
        """For the value of each rank, the rank of the first value that is at least e above it."""
        rising, e = sorted(self.numbers), positive("e", self.e)
        return np.array([bisect_left(rising, number + e) for number in rising], dtype=np.int64)


def build(given: Parameters, domain: ValueDomain) -> KEAnonymity:
    """The criterion for the values of a table, which must be numbers."""
    try:
        numbers = tuple(Fraction(label) for label in domain.labels)
    except (ValueError, ZeroDivisionError):
        numbers = ()
    if not numbers or len(set(numbers)) < len(numbers):
        raise DataError("`privacy.ke_anonymity` needs numbers in the sensitive column, none of them missing")
    return KEAnonymity(given["k"], given["e"], numbers)


KE_ANONYMITY = Family(
    field="ke_anonymity",
    names=(KEAnonymity.name,),
    summary="(k, e)-anonymity: k different numbers in every group, over a range of e.",
    parameters=(
        whole("k", least=2, example=3, description="Different values that every group has at least."),
        number("e", example=10_000, description="How far the largest is above the smallest at least."),
    ),
    build=build,
    traits=Traits(least_size=lambda given: int(given["k"])),
    measures=(Unasked("smallest range", {"k": 2, "e": 1}),),
    words={
        KEAnonymity.name: CriterionWords(
            title="(k, e)-anonymity, k = {k}, e = {e}",
            claim="Every group holds at least {k} values of {sensitive}, over a range of {e} or more.",
            broken="{groups} hold fewer than {k} values of {sensitive}, or a range below {e}.",
            margin="Smallest range of a group",
            against="Somebody who knows the person's group and nothing else, and guesses the value roughly.",
            limits=(
                "A good guess: most of a group may lie close together, with one value far away. Somebody who "
                "can rule out values, or who knows the values of others in the group."
            ),
        )
    },
)
