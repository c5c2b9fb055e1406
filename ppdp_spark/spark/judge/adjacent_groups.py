"""Judging a table whose groups lie together: one scan, no shuffle, no aggregation in the engine.

Rows of a group follow each other, so a task sees most groups whole. Groups at the edges of a task's
share, where a file may have been split, are put together on the driver. That groups do lie together
is not taken on trust: the runs found must number 1, 2, …, each once.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from ppdp_spark.core.data.groups import COUNT_CELLS, GroupSummaries, IntArray
from ppdp_spark.errors import TWO_WAYS, DataError
from ppdp_spark.spark.data.group_scan import Reduction, merged
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow

UNREADABLE = b""
"""What a task gives instead of a result when it cannot read its share."""


@dataclass(frozen=True)
class Runs:
    """Runs of rows with the same group number: number, description, people, counts of values."""

    numbers: IntArray
    marks: IntArray
    sizes: IntArray
    counts: IntArray

    def rows(self, index: Any) -> Runs:
        return Runs(self.numbers[index], self.marks[index], self.sizes[index], self.counts[index])

    def __add__(self, other: Runs) -> Runs:
        pairs = zip(_arrays(self), _arrays(other), strict=True)
        return Runs(*(np.concatenate(pair) for pair in pairs))

    def joined(self) -> Runs:
        """Runs with the same number made one; their descriptions must agree."""
        numbers, inverse = np.unique(self.numbers, return_inverse=True)
        first = np.zeros(len(numbers), np.int64)
        first[inverse[::-1]] = np.arange(len(inverse))[::-1]
        if (self.marks != self.marks[first][inverse]).any():
            raise DataError(TWO_WAYS)
        sizes = np.zeros(len(numbers), np.int64)
        counts = np.zeros((len(numbers), self.counts.shape[1]), np.int64)
        np.add.at(sizes, inverse, self.sizes)
        np.add.at(counts, inverse, self.counts)
        return Runs(numbers, self.marks[first], sizes, counts)


def _arrays(runs: Runs) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    return runs.numbers, runs.marks, runs.sizes, runs.counts


@dataclass(frozen=True)
class ReduceRuns:
    """Reduces the whole groups of one task's share; edge groups and covered numbers come along."""

    reductions: tuple[Reduction[Any], ...]
    width: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state = _Share(self)
        for batch in batches:
            step = max(1, COUNT_CELLS // max(1, self.width))
            for first in range(0, batch.num_rows, step):
                state.take(self._runs(batch.slice(first, step)))
        content = pickle.dumps(state.finished())
        yield pa.RecordBatch.from_pydict({"reduced": pa.array([content], pa.binary())})

    def _runs(self, batch: pa.RecordBatch) -> Runs:
        numbers = batch.column(C.GROUP_ID).to_numpy()
        marks = batch.column("description").to_numpy()
        codes = batch.column(C.SENSITIVE).to_numpy()
        change = np.flatnonzero(np.diff(numbers) != 0) + 1
        starts = np.concatenate([[0], change])
        sizes = np.diff(np.concatenate([starts, [len(numbers)]]))
        run = np.repeat(np.arange(len(starts)), sizes)
        if (marks != marks[starts][run]).any():
            raise DataError(TWO_WAYS)
        counts = np.bincount(run * self.width + codes, minlength=len(starts) * self.width)
        return Runs(numbers[starts], marks[starts], sizes, counts.reshape(len(starts), self.width))


class _Share:
    """What a task has found so far."""

    def __init__(self, task: ReduceRuns) -> None:
        self.task = task
        self.reduced: list[Any] | None = None
        self.edges: list[Runs] = []
        self.spans: list[tuple[int, int]] = []
        self.last: Runs | None = None

    def take(self, runs: Runs) -> None:
        """Runs in the order of the rows; the last one may go on in the next batch."""
        if self.last is not None:
            runs = self.last + runs
            if runs.numbers[0] == runs.numbers[1]:
                runs = runs.rows(slice(0, 2)).joined() + runs.rows(slice(2, None))
        whole, self.last = runs.rows(slice(0, -1)), runs.rows(slice(-1, None))
        if not self.edges and len(whole.numbers):
            self.edges.append(whole.rows(slice(0, 1)))
            whole = whole.rows(slice(1, None))
        if len(whole.numbers):
            self._reduce(whole)

    def _reduce(self, runs: Runs) -> None:
        breaks = np.flatnonzero(np.diff(runs.numbers) != 1) + 1
        for part in np.split(runs.numbers, breaks):
            self.spans.append((int(part[0]), int(part[-1])))
        summaries = GroupSummaries(runs.sizes, runs.counts)
        found = [reduction.summarise(summaries, runs.numbers) for reduction in self.task.reductions]
        self.reduced = found if self.reduced is None else merged(self.task.reductions, self.reduced, found)

    def finished(self) -> tuple[list[Any] | None, list[Runs], list[tuple[int, int]]]:
        if self.last is not None:
            self.edges.append(self.last)
        return self.reduced, self.edges, self.spans


def reduce_runs(rows: DataFrame, reductions: Sequence[Reduction[Any]], width: int) -> list[Any] | None:
    """What each reduction makes of the groups of clustered rows; None if groups do not lie together.

    `rows` has the group number, a hash of the group's description, and the code of the value.
    """
    task = ReduceRuns(tuple(reductions), width)
    wanted = rows.select(C.GROUP_ID, "description", C.SENSITIVE)
    return combined(to_arrow(in_tasks(wanted, task, "reduced binary")), reductions)


def combined(found: pa.Table, reductions: Sequence[Reduction[Any]]) -> list[Any] | None:
    """What the tasks found, put together; None if groups do not lie together or a task found nothing out."""
    if UNREADABLE in found.column(0).to_pylist():
        return None
    # Written by this program's own tasks a moment ago, over Spark's channel.
    shares = [pickle.loads(part) for part in found.column(0).to_pylist()]
    edges = [edge for _, part, _ in shares for edge in part]
    spans = [span for _, _, part in shares for span in part]
    parts = [reduced for reduced, _, _ in shares if reduced is not None]
    if edges:
        last = reduce(Runs.__add__, edges).joined()
        spans += [(int(number), int(number)) for number in last.numbers]
        summaries = GroupSummaries(last.sizes, last.counts)
        parts.append([reduction.summarise(summaries, last.numbers) for reduction in reductions])
    if not parts or not _once_each(spans):
        return None
    whole: list[Any] = reduce(lambda left, right: merged(reductions, left, right), parts)
    return whole


def _once_each(spans: list[tuple[int, int]]) -> bool:
    """Whether the spans of numbers cover 1, 2, … without a gap and without an overlap."""
    expected = 1
    for first, last in sorted(spans):
        if first != expected:
            return False
        expected = last + 1
    return True
