"""SkylineAnonymize for points with m > 0: groups are coupled through five minima of the whole release.

[Skyline, Fig 6], distributed. First every task cuts under floors that are safe together, whatever the
other tasks do. Then rounds use up what is left: all slack goes to one factor, then to the other; then
tasks name the first cut of each group that is safe with the release so far, both its sides together, and
the driver accepts them one after the other in the order of the tree.

The rounds end with a minimal release (with one value per person) [Skyline, Thm 5]. A cut that is named is
safe with the minima so far, so the first one named is always accepted, and the minima with it are floors
under which its group is cut: every round in which a cut is named cuts a group. And when none is named, no
group has an allowed cut along any attribute that leaves the release safe. How many cuts a batch names in
one round does not matter for either. Statistics only ever fall, so a cut once refused stays refused.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.skyline import LocalThreshold, SkylineCriterion, slack_floors
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries
from ppdp_spark.core.partition.mondrian import cuttable
from ppdp_spark.core.partition.partitioners import CutsName
from ppdp_spark.core.partition.people_rows import Rows
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.partition.cut_people import CutGroups, people_of

log = logging.getLogger(__name__)

NAMED_CUTS = 4_096
"""Cuts a batch may name in one round; the rest wait for the next, so the driver stays small."""


@dataclass(frozen=True)
class StillSafe(LocalCriterion):
    """Allows a group, or both sides of a cut together, if the release stays safe, given the minima so far."""

    skyline: SkylineCriterion
    minima: FloatArray

    name = "skyline_so_far"
    higher_is_safer = True
    relation = ">="

    @property
    def level(self) -> str:
        return "safe with the release so far"

    @property
    def threshold(self) -> float:
        return 1.0

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        return self.allowed(groups).astype(np.float64)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        return self._safe(self.skyline.statistics(groups))

    def allowed_cuts(self, left: GroupSummaries, right: GroupSummaries) -> BoolArray:
        """Sides that are safe one by one may not be so together: the minima of both count."""
        return self._safe(np.minimum(*map(self.skyline.statistics, (left, right))))

    def _safe(self, statistics: FloatArray) -> BoolArray:
        return self.skyline.safe(np.minimum(statistics, self.minima))


@dataclass(frozen=True)
class FindMinima:
    """The five statistics of the groups of a partition, reduced to their minima."""

    layout: Layout
    skyline: SkylineCriterion

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = None
        for batch in batches:
            people, bounds = people_of(batch, self.layout)
            rows = Rows(np.empty((people.sensitive.people, 0), np.int32), people.sensitive)
            summaries = rows.summaries(bounds[:-1], bounds[1:])
            minima = self.skyline.statistics(summaries).min(axis=0)
            found = minima if found is None else np.minimum(found, minima)
        if found is not None:
            yield pa.RecordBatch.from_pydict({"minima": pa.array([found.tobytes()], pa.binary())})


@dataclass(frozen=True)
class NameCuts:
    """The first safe cut of each group, given the minima so far: path, and the minima of both sides."""

    layout: Layout
    criteria: tuple[LocalCriterion, ...]
    skyline: SkylineCriterion
    minima: FloatArray
    cuts: CutsName

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        still_safe = StillSafe(self.skyline, self.minima)
        for batch in batches:
            people, bounds = people_of(batch, self.layout)
            criteria = (*self.criteria, still_safe)
            found, sides = cuttable(
                people.codes, people.sensitive, people.axes, criteria, bounds=bounds, cuts=self.cuts
            )
            found = found[:NAMED_CUTS]
            lowest = np.minimum(*(self.skyline.statistics(side.rows(slice(NAMED_CUTS))) for side in sides))
            paths = batch.column(C.PATH).take(pa.array(found))
            statistics = pa.array([row.tobytes() for row in lowest], pa.binary())
            yield pa.RecordBatch.from_pydict({C.PATH: paths, "statistics": statistics})


@dataclass(frozen=True)
class Coupling:
    """What the rounds need: the layout of groups, the local criteria, and the coupled skyline."""

    layout: Layout
    criteria: tuple[LocalCriterion, ...]
    skyline: SkylineCriterion
    cuts: CutsName = "median"

    def floored(self, floors: FloatArray) -> tuple[LocalCriterion, ...]:
        """The local criteria and floors under which any groups are safe together."""
        return (*self.criteria, LocalThreshold(self.skyline.case, self.skyline.targets, floors))

    def settle(self, groups: DataFrame, save: Callable[[DataFrame], DataFrame]) -> DataFrame:
        """Cut raw groups until no further cut is safe; `save` stores a table and reads it back."""
        minima = self._minima(groups)
        for number in range(1, 1_000):
            for give in ("target", "family"):
                floors = slack_floors(self.skyline.targets, minima, give)
                groups = save(self._cut(groups, floors))
                minima = self._minima(groups)
            accepted = self._accepted(groups, minima)
            log.info("round %d: %d further cuts", number, accepted[0])
            if not accepted[0]:
                return groups
            groups = save(self._cut(groups, accepted[1]))
            minima = self._minima(groups)
        raise AssertionError("every round cuts at least one group")

    def _cut(self, groups: DataFrame, floors: FloatArray) -> DataFrame:
        return in_tasks(groups, CutGroups(self.layout, self.floored(floors), self.cuts), groups.schema)

    def _minima(self, groups: DataFrame) -> FloatArray:
        found = to_arrow(in_tasks(groups, FindMinima(self.layout, self.skyline), "minima binary"))
        return reduce(np.minimum, (self._array(part) for part in found.column(0).to_pylist()))

    def _accepted(self, groups: DataFrame, minima: FloatArray) -> tuple[int, FloatArray]:
        """How many named cuts are safe one after the other, and the minima with them."""
        task = NameCuts(self.layout, self.criteria, self.skyline, minima, self.cuts)
        named = to_arrow(in_tasks(groups, task, f"{C.PATH} string, statistics binary"))
        named = named.sort_by(C.PATH)
        statistics = [self._array(part) for part in named.column("statistics").to_pylist()]
        return accept_in_order(self.skyline, minima, np.array(statistics).reshape(-1, *minima.shape))

    def _array(self, content: bytes) -> FloatArray:
        return np.frombuffer(content).reshape(len(self.skyline.targets), 5)


def accept_in_order(
    skyline: SkylineCriterion, minima: FloatArray, cuts: FloatArray
) -> tuple[int, FloatArray]:
    """Accept cuts from first to last as long as the release stays safe, refusing those that do not fit.

    `cuts` has the minima of both sides of each cut, shape (cuts, targets, 5).
    """
    accepted = 0
    while len(cuts):
        cuts = cuts[skyline.safe(np.minimum(cuts, minima))]
        if not len(cuts):
            break
        running = np.minimum(np.minimum.accumulate(cuts, axis=0), minima)
        fits = skyline.safe(running)
        taken = len(cuts) if fits.all() else int(np.argmin(fits))
        minima = running[taken - 1]
        accepted += taken
        cuts = cuts[taken + 1 :]
    return accepted, minima
