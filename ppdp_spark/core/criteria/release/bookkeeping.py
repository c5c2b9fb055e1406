"""What a release must still show besides privacy: nobody lost, no value too frequent, no group too small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ppdp_spark.core.criteria.anonymity import KAnonymity
from ppdp_spark.core.criteria.base import Criterion, VerdictRow
from ppdp_spark.core.criteria.protected_values import Mask
from ppdp_spark.core.data.groups import GroupSummaries, IntArray
from ppdp_spark.core.data.weight_units import decimal_text, in_people, population_of
from ppdp_spark.core.suppression.r import has_l_candidacy, is_p_eligible


@dataclass(frozen=True)
class Conservation(Criterion[tuple[int, int, int]]):
    """People and groups of a release add up to what was announced, and rows where they are not people."""

    people: int
    groups: int
    rows: int | None = None

    name: ClassVar[str] = "conservation"
    needs_counts: ClassVar[bool] = False

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> tuple[int, int, int]:
        return int(groups.sizes.sum()), len(groups), 0 if self.rows is None else int(groups.counts.sum())

    def merge(self, left: tuple[int, int, int], right: tuple[int, int, int]) -> tuple[int, int, int]:
        return left[0] + right[0], left[1] + right[1], left[2] + right[2]

    def decide(self, statistic: tuple[int, int, int]) -> list[VerdictRow]:
        people, groups, rows = statistic
        missing = abs(people - self.people) + abs(groups - self.groups) + abs(rows - (self.rows or 0))
        of_rows = "" if self.rows is None else f" with {self.rows} rows"
        level = f"{self.people} people{of_rows} in {self.groups} groups"
        status = "fail" if missing else "pass"
        return [VerdictRow(self.name, level, float(people), float(self.people), "=", groups, missing, status)]


@dataclass(frozen=True)
class WeightConservation(Criterion[int]):
    """Published weights add up to what was announced, to the last unit.

    where
        population  the sum as its decimal text
    """

    population: str

    name: ClassVar[str] = "weight_conservation"
    needs_counts: ClassVar[bool] = False
    needs_weights: ClassVar[bool] = True

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> int:
        return int(population_of(groups).sum(dtype=np.int64))

    def merge(self, left: int, right: int) -> int:
        return left + right

    def decide(self, statistic: int) -> list[VerdictRow]:
        wrong = int(decimal_text(statistic) != self.population)
        level, status = f"weights of {self.population} people", "fail" if wrong else "pass"
        announced = float(self.population)
        return [VerdictRow(self.name, level, in_people(statistic), announced, "=", 0, wrong, status)]


@dataclass(frozen=True)
class LeastPeople(KAnonymity):
    """Blind groups have the least size that they were made with.

    where
        chosen  where it is from: `predicted` or `given by hand`
    """

    chosen: str = "predicted"

    name: ClassVar[str] = "blind_grouping"

    @property
    def level(self) -> str:
        return f"K = {self.k}, {self.chosen}"


@dataclass(frozen=True)
class Eligibility(Criterion[IntArray]):
    """P-eligibility F'_1 <= |T_P|/l and, if rows were suppressed, l-candidacy [Skewed, Defs 1 and 2].

    A table that was eligible has no value that is too frequent, and l-candidacy hides which one it was: where
    nothing was suppressed, and people are missing for want of a place, it is not asked.

    The statistic is the published count of every value, merged by addition; one value per person.

    where
        l      the l of the spec
        total  |T|: people before suppression
        protected  whether each value needs protection; None if all do. F'_1 and F'_l are of those that do
        already    whether nothing was suppressed, because the table was eligible
    """

    l: int
    total: int
    protected: Mask | None = None
    already: bool = False

    name: ClassVar[str] = "l_eligibility"

    @classmethod
    def stated(cls, facts: Mapping[str, Any], protected: Mask | None) -> Eligibility:
        """The criterion of a release from what its manifest says of suppression."""
        return cls(facts["l"], facts["total"], protected, facts.get("already_eligible") is True)

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> IntArray:
        return np.asarray(groups.counts.sum(axis=0, dtype=np.int64))

    def merge(self, left: IntArray, right: IntArray) -> IntArray:
        return np.asarray(left + right)

    def decide(self, statistic: IntArray) -> list[VerdictRow]:
        published = int(statistic.sum())
        if self.protected is not None:
            statistic = statistic[np.array(self.protected)]
        beside = published - int(statistic.sum())
        share = int(statistic.max(initial=0)) / published if published else 0.0
        eligible = is_p_eligible(statistic, self.l, beside)
        rows = [self._row("share of the most frequent value", share, 1 / self.l, "<=", eligible)]
        if published < self.total and not self.already:
            ranked = np.sort(statistic)[::-1]
            reach = int(ranked[self.l - 1]) + self.total - published if ranked.size >= self.l else 0
            held = has_l_candidacy(statistic, self.total, self.l, beside)
            candidacy = bool(not statistic.any() or held)
            level = f"at least {self.l} values may have been the most frequent"
            rows.append(self._row(level, reach / self.total, 1 / self.l, ">", candidacy))
        return rows

    def _row(self, level: str, value: float, threshold: float, relation: str, holds: bool) -> VerdictRow:
        status = "pass" if holds else "fail"
        return VerdictRow(
            self.name, f"l = {self.l}, {level}", value, threshold, relation, 0, int(not holds), status
        )
