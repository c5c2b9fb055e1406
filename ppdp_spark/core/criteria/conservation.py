"""Nothing is lost and nothing is added: the release has the people and groups it should have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ppdp_spark.core.criteria.base import Criterion, VerdictRow
from ppdp_spark.core.data.groups import GroupSummaries, IntArray


@dataclass(frozen=True)
class Conservation(Criterion[tuple[int, int]]):
    """People and groups of a release add up to what was announced."""

    people: int
    groups: int

    name: ClassVar[str] = "conservation"
    needs_counts: ClassVar[bool] = False

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> tuple[int, int]:
        return int(groups.sizes.sum()), len(groups)

    def merge(self, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
        return left[0] + right[0], left[1] + right[1]

    def decide(self, statistic: tuple[int, int]) -> list[VerdictRow]:
        people, groups = statistic
        missing = abs(people - self.people) + abs(groups - self.groups)
        level = f"{self.people} people in {self.groups} groups"
        status = "fail" if missing else "pass"
        return [VerdictRow(self.name, level, float(people), float(self.people), "=", groups, missing, status)]
