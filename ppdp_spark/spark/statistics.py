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
from pyspark.sql import functions as F

from ppdp_spark.core.groups import GroupSummaries, IntArray
from ppdp_spark.core.mondrian import COUNT_CELLS
from ppdp_spark.spark import columns as C

TWO_WAYS = "a group of the release is described in two ways, or its tables disagree about its size"

PERSON = -1
"""Stands for the person itself among the values of a person, so that one count gives both."""


Reduced = TypeVar("Reduced")


class Reduction(Protocol[Reduced]):
    """Many groups to one small value, and such values to one: runs on the executors, then on the driver."""

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> Reduced: ...

    def merge(self, left: Reduced, right: Reduced) -> Reduced: ...


@dataclass(frozen=True)
class ReduceGroups:
    """Reduces the groups of one partition to one value a reduction; runs on the executors."""

    reductions: tuple[Reduction[Any], ...]
    width: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reduced: list[Any] | None = None
        for batch in batches:
            for summaries, ids in self._chunks(batch):
                found = [reduction.summarise(summaries, ids) for reduction in self.reductions]
                reduced = found if reduced is None else merged(self.reductions, reduced, found)
        if reduced is not None:
            yield pa.RecordBatch.from_pydict({"reduced": pa.array([pickle.dumps(reduced)], pa.binary())})

    def _chunks(self, batch: pa.RecordBatch) -> Iterator[tuple[GroupSummaries, IntArray]]:
        """The groups of a batch as dense count matrices of bounded size."""
        step = max(1, COUNT_CELLS // max(1, self.width))
        for first in range(0, batch.num_rows, step):
            part = batch.slice(first, step)
            offsets = part.column(C.VALUE).offsets.to_numpy().astype(np.int64)
            group = np.repeat(np.arange(part.num_rows), np.diff(offsets))
            counts = np.zeros((part.num_rows, self.width), np.int64)
            values = part.column(C.VALUE).flatten().to_numpy(zero_copy_only=False)
            counts[group, values] = part.column(C.COUNT).flatten().to_numpy(zero_copy_only=False)
            sizes = part.column(C.SIZE).to_numpy().astype(np.int64)
            yield GroupSummaries(sizes, counts), part.column(C.GROUP_ID).to_numpy()


def merged(reductions: Sequence[Reduction[Any]], left: list[Any], right: list[Any]) -> list[Any]:
    """The values of two disjoint sets of groups as one, reduction by reduction."""
    return [r.merge(a, b) for r, a, b in zip(reductions, left, right, strict=True)]


def reduce_groups(groups: DataFrame, reductions: Sequence[Reduction[Any]], width: int) -> list[Any]:
    """What each reduction makes of a table of groups, in one scan of it."""
    task = ReduceGroups(tuple(reductions), width)
    found = groups.mapInArrow(task, "reduced binary").toArrow().column(0).to_pylist()
    # Written by this program's own tasks a moment ago, over Spark's channel.
    parts = [pickle.loads(part) for part in found]
    if not parts:
        empty = GroupSummaries(np.empty(0, np.int64), np.empty((0, width), np.int64))
        parts = [[reduction.summarise(empty, np.empty(0, np.int64)) for reduction in reductions]]
    return reduce(lambda left, right: merged(reductions, left, right), parts)


def group_counts(
    values: DataFrame, keys: Sequence[str], *, case: str | None, number: str | None, same: str | None = None
) -> DataFrame:
    """One row a group: its number, its people, and the list of its values with their counts.

    `values` has the key columns and a code in `sensitive`, one row a value of a person (`PERSON` for
    the person itself, with sets and multisets). Two groups are one exactly when all their keys are
    equal, nulls included. `number` names the integer key that numbers groups; without one a hash of
    the keys serves as the name in witnesses. `same` names a column that must not vary within a
    group: where it does, the job stops.
    """
    quoted = [C.quoted(key) for key in keys]
    people, entry = F.col(C.COUNT), F.struct(F.col(C.SENSITIVE).alias(C.VALUE), C.COUNT)
    if case not in (None, "svpi"):
        person = F.col(C.SENSITIVE) == PERSON
        people, entry = F.when(person, people), F.when(~person, entry)
    mark = F.col(same) if same else F.lit(0)
    placed = values.repartition(*quoted).select(*quoted, C.SENSITIVE, mark.alias("mark"))
    marks = [F.min("mark").alias("least"), F.max("mark").alias("most")]
    pairs = placed.groupBy(*quoted, C.SENSITIVE).agg(F.count(F.lit(1)).alias(C.COUNT), *marks)
    merged = [F.sum(people).alias(C.SIZE), F.collect_list(entry).alias("entries")]
    groups = pairs.groupBy(*quoted).agg(*merged, F.min("least").alias("least"), F.max("most").alias("most"))
    size = F.when(F.col("least") == F.col("most"), F.col(C.SIZE)).otherwise(F.raise_error(F.lit(TWO_WAYS)))
    name = C.column(number).cast("bigint") if number else F.xxhash64(*quoted)
    lists = [F.col("entries")[field].alias(field) for field in (C.VALUE, C.COUNT)]
    return groups.select(name.alias(C.GROUP_ID), size.cast("bigint").alias(C.SIZE), *lists)
