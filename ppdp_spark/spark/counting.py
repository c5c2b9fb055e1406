"""Counting the values of every group inside tasks: one shuffle of narrow rows, no aggregation in the engine.

A group is named by two 64-bit numbers: itself and whether it is null, where it is an integer, or two
hashes of all its keys otherwise. Rows of one group meet in one task, which sorts and counts them as
arrays. That two groups share both hashes has a probability below 10⁻²⁰ for 10⁹ groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.groups import BoolArray, GroupSummaries, IntArray
from ppdp_spark.core.mondrian import COUNT_CELLS
from ppdp_spark.errors import DataError
from ppdp_spark.spark import columns as C

TWO_WAYS = "a group of the release is described in two ways, or its tables disagree about its size"

PERSON = -1
"""Stands for the person itself among the values of a person, so that one count gives both."""

HELD_ROWS = 1 << 22
"""Rows a task holds before it counts them: a group of any size needs no more memory than this."""


def group_names(keys: Mapping[str, Column], types: Mapping[str, T.DataType]) -> tuple[Column, Column]:
    """Two 64-bit numbers that are equal exactly when all keys are equal, nulls included."""
    if len(keys) == 1:
        name, key = next(iter(keys.items()))
        if isinstance(types[name], T.IntegralType):
            return F.coalesce(key.cast("bigint"), F.lit(0)), key.isNull().cast("bigint")
    comparable = [_comparable(key, types[name]) for name, key in keys.items()]
    missing = [key.isNull() for key in keys.values()]
    return F.xxhash64(*missing, *comparable), F.xxhash64(F.lit("second"), *missing, *comparable)


def _comparable(key: Column, kind: T.DataType) -> Column:
    """A key whose hash agrees with its equality: hashes tell 0.0 from -0.0 and skip nulls inside."""
    if isinstance(kind, T.DoubleType | T.FloatType):
        return F.when(key == 0, F.lit(0.0)).otherwise(key.cast("double"))
    if isinstance(kind, T.ArrayType | T.StructType):
        return F.to_json(F.struct(key), {"ignoreNullFields": "false"})
    return key


@dataclass(frozen=True)
class Cells:
    """Counted pairs of a group and a value; `mark` must not vary within a group."""

    first: IntArray
    second: IntArray
    marks: IntArray
    codes: IntArray
    counts: IntArray

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Cells:
        first, second, codes = (batch.column(i).to_numpy(zero_copy_only=False) for i in range(3))
        marked = batch.num_columns > 3
        marks = batch.column(3).to_numpy(zero_copy_only=False) if marked else np.zeros_like(first)
        return cls(first, second, marks, codes, np.ones(batch.num_rows, np.int64))

    @classmethod
    def together(cls, parts: list[Cells]) -> Cells:
        pairs = zip(*(part.arrays for part in parts), strict=True)
        return cls(*(np.concatenate(pair) for pair in pairs))

    @property
    def arrays(self) -> tuple[IntArray, ...]:
        return self.first, self.second, self.marks, self.codes, self.counts

    def rows(self, index: IntArray | BoolArray | slice) -> Cells:
        return Cells(*(array[index] for array in self.arrays))

    def by_group(self) -> tuple[Cells, IntArray]:
        """The same cells with those of a group side by side, and where each group starts."""
        cells = self.rows(np.argsort(self.first, kind="stable"))
        starts = _starts(cells.first[1:] != cells.first[:-1])
        if _varies(cells.second, starts):
            cells = self.rows(np.lexsort((self.second, self.first)))
            other = (cells.first[1:] != cells.first[:-1]) | (cells.second[1:] != cells.second[:-1])
            starts = _starts(other)
        if _varies(cells.marks, starts):
            raise DataError(TWO_WAYS)
        return cells, starts

    def counted(self) -> Cells:
        """One cell a pair of a group and a value."""
        cells = self.rows(np.lexsort((self.codes, self.second, self.first)))
        keys = (cells.first, cells.second, cells.codes, cells.marks)
        starts = _starts(np.logical_or.reduce([key[1:] != key[:-1] for key in keys]))
        totals = np.add.reduceat(cells.counts, starts)
        return replace(cells.rows(starts), counts=totals)


def _starts(changes: BoolArray) -> IntArray:
    return np.concatenate([np.zeros(1, np.int64), np.flatnonzero(changes) + 1])


def _varies(values: IntArray, starts: IntArray) -> bool:
    """Whether any run that begins at `starts` has two different values."""
    changed = values[1:] != values[:-1]
    changed[starts[1:] - 1] = False
    return bool(changed.any())


@dataclass(frozen=True)
class CountGroups:
    """Rows of one partition to summaries of its groups, in chunks of bounded size."""

    width: int
    people_counted: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[GroupSummaries, IntArray]]:
        held: list[Cells] = []
        number = 0
        for batch in batches:
            if batch.num_rows == 0:
                continue
            held.append(Cells.of(batch))
            number += batch.num_rows
            if number > HELD_ROWS:
                held = [Cells.together(held).counted()]
                number = len(held[0].first)
        if held:
            yield from self._summaries(*Cells.together(held).by_group())

    def _summaries(self, cells: Cells, starts: IntArray) -> Iterator[tuple[GroupSummaries, IntArray]]:
        bounds = np.append(starts, len(cells.first))
        shift = 1 if self.people_counted else 0
        width = self.width + shift
        step = max(1, COUNT_CELLS // width)
        for low in range(0, len(starts), step):
            high = min(low + step, len(starts))
            part = slice(bounds[low], bounds[high])
            group = np.repeat(np.arange(high - low), np.diff(bounds[low : high + 1]))
            places = group * width + (cells.codes[part] + shift)
            counts = np.zeros((high - low) * width, np.int64)
            np.add.at(counts, places, cells.counts[part])
            table = counts.reshape(-1, width)
            sizes = table[:, 0] if shift else table.sum(axis=1)
            yield GroupSummaries(sizes, table[:, shift:]), cells.first[starts[low:high]]


def placed_rows(rows: DataFrame, names: tuple[Column, Column], mark: Column | None) -> DataFrame:
    """Rows of a group together in one partition, in the columns that `CountGroups` reads."""
    wanted = [names[0].alias("first"), names[1].alias("second"), F.col(C.SENSITIVE)]
    return rows.select(*wanted, *([] if mark is None else [mark])).repartition("first")
