"""SkylineCheck: one scan of the groups, five minima a target, one verdict row a target [Skyline, Sec 5.1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ppdp_spark.core.criteria.base import Criterion, VerdictRow
from ppdp_spark.core.criteria.skyline.batches import batches, point_rows
from ppdp_spark.core.criteria.skyline.decision import (
    PRODUCTS,
    breach_probability,
    ratio_products,
    safe,
    safe_targets,
)
from ppdp_spark.core.criteria.skyline.formulas import fill_statistics, update_minima
from ppdp_spark.core.criteria.skyline.patterns import lower_by_pattern
from ppdp_spark.core.criteria.skyline.points import Case, Target, case_code
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray
from ppdp_spark.errors import DataError, SpecError

NEUTRAL = (np.inf, np.inf, np.inf, 1.0, 1.0)
"""The statistics of groups without σ: the target cannot be there, and nobody of the family has σ."""

LISTED_VALUES = 32
"""A witness names at most so many of the ℓ values."""

PLACES = {"SS1": (0, 0, 0), "SS2·SS5": (1, 4, 4), "SS3·SS4": (2, 2, 3)}
"""The statistics whose groups hold the target, the k people and the m people of each product."""


@dataclass(frozen=True, eq=False)
class SkylineStatistic:
    """The five minima of each target, and facts about the groups that attain them.

    where
        groups       groups looked at
        minima       SS1..SS5, shape (targets, 5)
        ids          group attaining each minimum (smallest id of equals), −1 if σ is nowhere
        people       people in that group
        occurrences  occurrences of σ in it
        values       codes of its ℓ most frequent values other than σ, for SS1..SS3, shape
                     (targets, 3, listed), −1 where there are fewer
    """

    groups: int
    minima: FloatArray
    ids: IntArray
    people: IntArray
    occurrences: IntArray
    values: IntArray


@dataclass(frozen=True)
class SkylineCriterion(Criterion[SkylineStatistic]):
    """A release is safe iff the breach probability of every target stays below its c [Skyline, Sec 4.2].

    Safety of a split implies safety of the whole in SVPI only [Skyline, Thm 4 and Corollary].
    """

    case: Case
    targets: tuple[Target, ...]

    name: ClassVar[str] = "skyline"

    def __post_init__(self) -> None:
        case_code(self.case)
        if not self.targets:
            raise SpecError("`skyline` needs at least one point that applies to a value")

    @property
    def union_closed(self) -> bool:  # type: ignore[override]
        return self.case == "svpi"

    def statistics(self, groups: GroupSummaries) -> FloatArray:
        """The five statistics of every group by itself, shape (groups, targets, 5)."""
        out = np.empty((len(groups), len(self.targets), 5))
        out[...] = NEUTRAL
        points, case = point_rows(self.targets, groups.counts.shape[1]), case_code(self.case)
        for start, sizes, counts in batches(groups, case):
            fill_statistics(case, sizes, counts, points, out[start : start + len(sizes)])
        return out

    def safe(self, statistics: FloatArray) -> BoolArray:
        """Whether minima of shape (…, targets, 5) are safe for all targets."""
        return safe(self.targets, statistics)

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> SkylineStatistic:
        ids = np.asarray(ids, dtype=np.int64)
        if len(ids) != len(groups):
            raise DataError(f"{len(ids)} ids for {len(groups)} groups")
        shape = (len(self.targets), 5)
        minima, rows, names = np.full(shape, np.inf), np.full(shape, -1), np.full(shape, -1)
        points, case = point_rows(self.targets, groups.counts.shape[1]), case_code(self.case)
        for start, sizes, counts in batches(groups, case):
            part, found = ids[start : start + len(sizes)], (minima, rows, names)
            if not lower_by_pattern(case, (sizes, counts, part), start, points, found):
                update_minima(case, sizes, counts, part, start, points, *found)
        minima = np.where(rows < 0, NEUTRAL, minima)
        return self._described(groups, minima, rows, names)

    def merge(self, left: SkylineStatistic, right: SkylineStatistic) -> SkylineStatistic:
        last = np.iinfo(np.int64).max
        left_id, right_id = (np.where(s.ids < 0, last, s.ids) for s in (left, right))
        equal = (right.minima == left.minima) & (right_id < left_id)
        take = (right.minima < left.minima) | equal
        return SkylineStatistic(
            left.groups + right.groups,
            np.where(take, right.minima, left.minima),
            np.where(take, right.ids, left.ids),
            np.where(take, right.people, left.people),
            np.where(take, right.occurrences, left.occurrences),
            np.where(take[:, :3, None], right.values, left.values),
        )

    def decide(self, statistic: SkylineStatistic) -> list[VerdictRow]:
        products = ratio_products(statistic.minima)
        probabilities = breach_probability(products.min(axis=-1))
        verdicts = safe_targets(self.targets, statistic.minima)
        return [
            VerdictRow(
                criterion=self.name,
                level=target.level,
                value=float(probabilities[t]),
                threshold=target.point.c,
                relation="<",
                groups=statistic.groups,
                violations=0 if verdicts[t] else 1,
                status="pass" if verdicts[t] else "fail",
                witness=self._witness(statistic, t, products[t]),
                parameters=target.parameters,
            )
            for t, target in enumerate(self.targets)
        ]

    def _described(
        self, groups: GroupSummaries, minima: FloatArray, rows: IntArray, names: IntArray
    ) -> SkylineStatistic:
        """The minima with sizes, counts and most frequent values of the groups that attain them."""
        found = rows >= 0
        codes = np.array([target.value for target in self.targets])
        people, occurrences = np.zeros_like(rows), np.zeros_like(rows)
        people[found] = groups.sizes[rows[found]]
        occurrences[found] = groups.counts[rows, codes[:, None]][found] if len(groups) else 0
        values = self._most_frequent(groups, rows[:, :3])
        return SkylineStatistic(len(groups), minima, names, people, occurrences, values)

    def _most_frequent(self, groups: GroupSummaries, rows: IntArray) -> IntArray:
        """Codes of the ℓ most frequent values other than σ in the given row of each target."""
        listed = min(LISTED_VALUES, max(target.point.l for target in self.targets))
        out = np.full((*rows.shape, listed), -1)
        distinct = np.unique(rows[rows >= 0])
        if not listed or not len(distinct):
            return out
        counts = groups.counts[distinct].astype(np.int64)
        order = np.argsort(-counts, axis=1, kind="stable")[:, : listed + 1]
        occurring = np.take_along_axis(counts, order, axis=1) > 0
        t, j = np.nonzero(rows >= 0)
        row = np.searchsorted(distinct, rows[t, j])
        codes, lengths = np.array([(x.value, x.point.l) for x in self.targets]).T
        wanted = occurring[row] & (order[row] != codes[t][:, None])
        first = np.argsort(~wanted, axis=1, kind="stable")[:, :listed]
        ranked = np.where(wanted, order[row], -1)
        chosen = np.take_along_axis(ranked, first, axis=1)
        chosen[np.arange(chosen.shape[1]) >= lengths[t][:, None]] = -1
        out[t, j, : chosen.shape[1]] = chosen
        return out

    def _witness(self, statistic: SkylineStatistic, t: int, products: FloatArray) -> dict[str, Any]:
        """Where the adversary would look: which group holds the target, the k people and the m people."""
        target = self.targets[t]
        point, lowest = target.point, int(np.argmin(products))
        if statistic.ids[t, 1] < 0:
            return {"present": False, "margin": point.c}
        place, beside, family = PLACES[PRODUCTS[lowest]]
        ids, people = statistic.ids[t], statistic.people[t]
        values = statistic.values[t, place]
        needed = 1 + (point.k if beside == place else 0) + (point.m if family == place else 0)
        return {
            "present": True,
            "margin": point.c - float(breach_probability(products[lowest])),
            "negated_ratio": float(products[lowest]),
            "product": PRODUCTS[lowest],
            "statistics": [float(x) for x in statistic.minima[t]],
            "group": int(ids[place]),
            "group_people": int(people[place]),
            "group_occurrences": int(statistic.occurrences[t, place]),
            "excluded_values": [int(v) for v in values[values >= 0]],
            "known_people": {"group": int(ids[beside]), "people": point.k},
            "family": {"group": int(ids[family]), "people": point.m},
            "knowledge_fits": bool(needed <= people[place]),
        }
