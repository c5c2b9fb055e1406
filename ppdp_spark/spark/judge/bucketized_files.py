"""A bucketized release read by the tasks themselves: its two tables, and the owner's extrema, file by file.

Files of the same name hold the same groups: a task sees them whole, and nothing is shuffled. That they do
is not taken on trust: group numbers must be 1, 2, …, each in one file, and the tables must agree.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.core.data.groups import COUNT_CELLS, FloatArray, GroupSummaries, IntArray, PriorExtrema
from ppdp_spark.errors import TWO_WAYS, DataError
from ppdp_spark.run.storage import QI_TABLE, Folder
from ppdp_spark.spark.data.group_scan import Reduction, merged
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.arrow import codes_of, whole
from ppdp_spark.spark.engine.tasks import in_tasks, one_task_each
from ppdp_spark.spark.engine.versions import from_arrow, to_arrow
from ppdp_spark.spark.judge.adjacent_groups import UNREADABLE, combined
from ppdp_spark.spark.judge.prior_extrema import bound_names


@dataclass(frozen=True)
class BucketFiles:
    """The files of a bucketized release.

    where
        names    files that both tables have, as a table of one row per file
        folder   of both tables
        table    that of values, within the folder
        column   the sensitive one
        values   its values, by code
        single   whether everyone has exactly one
        extrema  folder of the owner's extrema of priors, if they are wanted
        sets     attribute sets they are about
    """

    names: DataFrame
    folder: Folder
    table: str
    column: str
    values: pa.Array
    single: bool
    extrema: Folder | None = None
    sets: int = 0

    @classmethod
    def of(
        cls, spark: SparkSession, folder: Folder, table: str, column: str, values: pa.Array, *, single: bool
    ) -> BucketFiles | None:
        """The files of a folder; None if they do not pair up."""
        names = [[name for name, _ in (folder / t).files(".parquet")] for t in (QI_TABLE, table)]
        if not names[0] or names[0] != names[1]:
            return None
        listed = pa.table({"share": pa.array(range(len(names[0])), pa.int32()), "name": names[0]})
        parts = one_task_each(from_arrow(spark, listed), "share", len(names[0]))
        return cls(parts, folder, table, column, values, single)

    def with_extrema(self, folder: Folder, sets: int) -> BucketFiles:
        """The same with the owner's extrema, file by file."""
        return replace(self, extrema=folder, sets=sets)

    def reduce(self, reductions: Sequence[Reduction[Any]], width: int) -> list[Any] | None:
        """What each reduction makes of the groups; None if the files are not as we write them."""
        table = self.folder / self.table
        reading = ReadBuckets(
            self.folder, table, self.column, self.values, self.single, self.extrema, self.sets
        )
        task = ReduceBuckets(reading, tuple(reductions), width)
        return combined(to_arrow(in_tasks(self.names, task, "reduced binary")), reductions)


@dataclass(frozen=True)
class BucketTables:
    """Groups of a file: number, people, and what is counted of them.

    where
        place   the group of each pair of a group and a value
        counts  how often the value occurs
        bounds  extrema of the value's prior: lowest and highest of each attribute set
    """

    numbers: IntArray
    sizes: IntArray
    place: IntArray
    codes: IntArray
    counts: IntArray
    bounds: tuple[FloatArray, ...]


@dataclass(frozen=True)
class ReadBuckets:
    """Reads the tables of one file name."""

    folder: Folder
    table: Folder
    column: str
    values: pa.Array
    single: bool
    extrema: Folder | None
    sets: int

    def __call__(self, name: str) -> BucketTables:
        numbers, sizes = self._sizes(self.folder / QI_TABLE / name)
        pairs = pq.read_table((self.table / name).arrow_file(), partitioning=None)
        group = whole(pairs, C.GROUP_ID).to_numpy()
        codes, counts = codes_of(whole(pairs, self.column), self.values), whole(pairs, C.COUNT).to_numpy()
        if (np.diff(numbers) <= 0).any() or (np.diff(group) < 0).any():
            raise LookupError("groups do not lie together")
        place = np.minimum(np.searchsorted(numbers, group), len(numbers) - 1)
        people = np.zeros(len(numbers), np.int64)
        np.add.at(people, place, counts)
        differing = (numbers[place] != group).any() or (self.single and (people != sizes).any())
        if differing or (counts < 1).any():
            raise DataError(TWO_WAYS)
        return BucketTables(numbers, sizes, place, codes, counts, self._bounds(name, group, codes, counts))

    def _sizes(self, shown: Folder) -> tuple[IntArray, IntArray]:
        """Numbers of the groups in the order of their rows, and how many rows they have."""
        numbers, sizes = np.empty(0, np.int64), np.empty(0, np.int64)
        with pq.ParquetFile(shown.arrow_file()) as file:
            for batch in file.iter_batches(columns=[C.GROUP_ID], batch_size=1 << 18):
                ids = batch.column(0).to_numpy()
                starts = np.concatenate([[0], np.flatnonzero(np.diff(ids)) + 1])
                found = np.diff(np.append(starts, len(ids)))
                if len(numbers) and numbers[-1] == ids[0]:
                    sizes[-1] += found[0]
                    starts, found = starts[1:], found[1:]
                numbers, sizes = np.concatenate([numbers, ids[starts]]), np.concatenate([sizes, found])
        return numbers, sizes

    def _bounds(
        self, name: str, group: IntArray, codes: IntArray, counts: IntArray
    ) -> tuple[FloatArray, ...]:
        """The owner's extrema of these very pairs."""
        if self.extrema is None:
            return ()
        owned = pq.read_table((self.extrema / name).arrow_file(), partitioning=None)
        same = [whole(owned, C.GROUP_ID).to_numpy(), codes_of(whole(owned, C.VALUE), self.values)]
        same.append(whole(owned, C.COUNT).to_numpy())
        if not all(np.array_equal(*pair) for pair in zip(same, (group, codes, counts), strict=True)):
            raise LookupError("the owner's table is not about these groups, or in another order")
        return tuple(whole(owned, each).to_numpy() for each in bound_names(self.sets))


@dataclass(frozen=True)
class ReduceBuckets:
    """Reduces the groups of files; a task that cannot read one says so with an empty result."""

    reading: ReadBuckets
    reductions: tuple[Reduction[Any], ...]
    width: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reduced: list[Any] | None = None
        spans: list[tuple[int, int]] = []
        try:
            for buckets in (self.reading(name) for b in batches for name in b.column("name").to_pylist()):
                for summaries, ids in self._summaries(buckets):
                    if ids[-1] - ids[0] + 1 != len(ids):
                        raise LookupError("numbers are missing")
                    spans.append((int(ids[0]), int(ids[-1])))
                    found = [reduction.summarise(summaries, ids) for reduction in self.reductions]
                    reduced = found if reduced is None else merged(self.reductions, reduced, found)
            content = pickle.dumps((reduced, [], spans))
        except (OSError, LookupError, pa.ArrowException):
            content = UNREADABLE
        yield pa.RecordBatch.from_pydict({"reduced": pa.array([content], pa.binary())})

    def _summaries(self, buckets: BucketTables) -> Iterator[tuple[GroupSummaries, IntArray]]:
        """Dense counts of so many groups at a time as memory allows."""
        step = max(1, COUNT_CELLS // (self.width * (1 + len(buckets.bounds))))
        for low in range(0, len(buckets.numbers), step):
            ids = buckets.numbers[low : low + step]
            part = slice(*np.searchsorted(buckets.place, (low, low + len(ids))))
            cells = (buckets.place[part] - low) * self.width + buckets.codes[part]
            shape = (len(ids), self.width)
            counts = np.zeros(shape[0] * shape[1], np.int64)
            np.add.at(counts, cells, buckets.counts[part])
            bounds = [self._dense(cells, each[part], shape) for each in buckets.bounds]
            priors = tuple(PriorExtrema(*pair) for pair in zip(bounds[::2], bounds[1::2], strict=True))
            yield GroupSummaries(buckets.sizes[low : low + step], counts.reshape(shape), priors), ids

    def _dense(self, cells: IntArray, values: FloatArray, shape: tuple[int, int]) -> FloatArray:
        table = np.zeros(shape[0] * shape[1])
        table[cells] = values
        return table.reshape(shape)
