"""The single-scan check: summaries of groups by partition, statistics merged on the driver."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from ppdp_spark.core.data.groups import COUNT_CELLS, GroupSummaries, IntArray
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow

Reduced = TypeVar("Reduced")


class Reduction(Protocol[Reduced]):
    """Many groups to one small value, and such values to one: runs on the executors, then on the driver."""

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> Reduced: ...

    def merge(self, left: Reduced, right: Reduced) -> Reduced: ...


Chunks = Iterator[tuple[GroupSummaries, IntArray]]


class GroupReading(Protocol):
    """Turns the batches of a partition into summaries of whole groups, of so many values each."""

    @property
    def width(self) -> int: ...

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Chunks: ...


@dataclass(frozen=True)
class ReduceGroups:
    """Reduces the groups of one partition to one value a reduction; runs on the executors."""

    reductions: tuple[Reduction[Any], ...]
    reading: GroupReading

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reduced: list[Any] | None = None
        for summaries, ids in self.reading(batches):
            found = [reduction.summarise(summaries, ids) for reduction in self.reductions]
            reduced = found if reduced is None else merged(self.reductions, reduced, found)
        if reduced is not None:
            yield pa.RecordBatch.from_pydict({"reduced": pa.array([pickle.dumps(reduced)], pa.binary())})


@dataclass(frozen=True)
class ListedGroups:
    """Reads one row per group: its number, its people, the list of its values and that of their counts."""

    width: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Chunks:
        step = max(1, COUNT_CELLS // max(1, self.width))
        for part in (
            batch.slice(first, step) for batch in batches for first in range(0, batch.num_rows, step)
        ):
            offsets = part.column(C.VALUE).offsets.to_numpy().astype(np.int64)
            group = np.repeat(np.arange(part.num_rows), np.diff(offsets))
            counts = np.zeros((part.num_rows, self.width), np.int64)
            values = part.column(C.VALUE).flatten().to_numpy(zero_copy_only=False)
            number = part.column(C.COUNT).flatten().to_numpy(zero_copy_only=False)
            np.add.at(counts, (group, values), number)
            sizes = part.column(C.SIZE).to_numpy().astype(np.int64)
            yield GroupSummaries(sizes, counts), part.column(C.GROUP_ID).to_numpy()


def merged(reductions: Sequence[Reduction[Any]], left: list[Any], right: list[Any]) -> list[Any]:
    """The values of two disjoint sets of groups as one, reduction by reduction."""
    return [r.merge(a, b) for r, a, b in zip(reductions, left, right, strict=True)]


def reduce_groups(
    groups: DataFrame, reductions: Sequence[Reduction[Any]], reading: GroupReading
) -> list[Any]:
    """What each reduction makes of a table of groups, in one scan of it."""
    task = ReduceGroups(tuple(reductions), reading)
    found = to_arrow(in_tasks(groups, task, "reduced binary")).column(0).to_pylist()
    # Written by this program's own tasks a moment ago, over Spark's channel.
    parts = [pickle.loads(part) for part in found]
    if not parts:
        empty = GroupSummaries(np.empty(0, np.int64), np.empty((0, reading.width), np.int64))
        parts = [[reduction.summarise(empty, np.empty(0, np.int64)) for reduction in reductions]]
    return reduce(lambda left, right: merged(reductions, left, right), parts)
