"""Counting the values of every group inside tasks: one shuffle of narrow rows, no aggregation in the engine.

A group is named by itself and whether it is null, where it is one integer, or by the SHA-256 of all its keys
otherwise (see `naming`). Rows of one group meet in one task, which sorts and counts them as arrays. It sorts
by the first two words of 64 bits; the other two must not vary within a group. To make two groups one,
somebody would have to find two keys with the same SHA-256; with the same first words only, the run stops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.groups import COUNT_CELLS, BoolArray, GroupSummaries, IntArray
from ppdp_spark.errors import FORGED, TWO_WAYS, DataError
from ppdp_spark.spark.data.key_names import is_integer, key_digest, words
from ppdp_spark.spark.engine import column_names as C

MARK = "mark"

PERSON = -1
"""Stands for the person itself among the values of a person, so that one count gives both."""

HELD_ROWS = 1 << 22
"""Rows a task holds before it counts them: a group of any size needs no more memory than this."""


WORDS = 4
"""64-bit words of a SHA-256."""


def group_names(
    keys: Mapping[str, Column],
    types: Mapping[str, T.DataType],
    number: int = 3,
    *,
    as_printed: bool = False,
) -> tuple[Column, ...]:
    """So many 64-bit numbers that are equal exactly when all keys are equal, nulls included.

    For those who must compare names outside a task of their own; three have 192 bits.
    """
    if is_integer(types):
        nothing = (F.lit(0).cast("bigint"),) * (number - 2)
        return (*_integer(next(iter(keys.values()))), *nothing)
    return words(key_digest(keys, types, as_printed=as_printed), number)


def _integer(key: Column) -> tuple[Column, Column]:
    return F.coalesce(key.cast("bigint"), F.lit(0)), key.isNull().cast("bigint")


@dataclass(frozen=True)
class Cells:
    """Counted pairs of a group and a value.

    where
        first, second  the name of the group, or the part of it that groups are sorted by
        third, fourth  the rest of the name: must not vary within a group
        marks          how the group is described: must not vary either
    """

    first: IntArray
    second: IntArray
    third: IntArray
    fourth: IntArray
    marks: IntArray
    codes: IntArray
    counts: IntArray

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Cells:
        named = _words(batch.column("name")) if "name" in batch.schema.names else _pair(batch)
        nothing = np.zeros(batch.num_rows, np.int64)
        marked = MARK in batch.schema.names
        marks = batch.column(MARK).to_numpy(zero_copy_only=False) if marked else nothing
        codes = batch.column(C.SENSITIVE).to_numpy(zero_copy_only=False)
        first, second, third, fourth = named
        counts = nothing + 1
        if C.COUNT in batch.schema.names:
            counts = batch.column(C.COUNT).to_numpy(zero_copy_only=False).astype(np.int64)
        return cls(first, second, third, fourth, marks, codes, counts)

    @classmethod
    def together(cls, parts: list[Cells]) -> Cells:
        pairs = zip(*(part.arrays for part in parts), strict=True)
        return cls(*(np.concatenate(pair) for pair in pairs))

    @property
    def arrays(self) -> tuple[IntArray, ...]:
        return self.first, self.second, self.third, self.fourth, self.marks, self.codes, self.counts

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
        if _varies(cells.third, starts) or _varies(cells.fourth, starts):
            raise DataError(FORGED)
        if _varies(cells.marks, starts):
            raise DataError(TWO_WAYS)
        return cells, starts

    def counted(self) -> Cells:
        """One cell a pair of a group and a value."""
        cells = self.rows(np.lexsort((self.codes, self.second, self.first)))
        keys = (cells.first, cells.second, cells.codes, cells.third, cells.fourth, cells.marks)
        starts = _starts(np.logical_or.reduce([key[1:] != key[:-1] for key in keys]))
        totals = np.add.reduceat(cells.counts, starts)
        return replace(cells.rows(starts), counts=totals)


def _words(names: pa.Array) -> tuple[IntArray, ...]:
    """Names of 32 bytes as four arrays of numbers."""
    fixed = names.cast(pa.binary(8 * WORDS))
    content = np.frombuffer(fixed.buffers()[1], ">i8").reshape(-1, WORDS)
    held = content[fixed.offset : fixed.offset + len(fixed)]
    return tuple(word.astype(np.int64) for word in held.T)


def _pair(batch: pa.RecordBatch) -> tuple[IntArray, ...]:
    """Names that are one integer, which may be null."""
    first, second = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("first", "second"))
    nothing = np.zeros(batch.num_rows, np.int64)
    return first, second, nothing, nothing


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


def placed_rows(
    rows: DataFrame, types: Mapping[str, T.DataType], mark: Column | None, *carried: str
) -> DataFrame:
    """Rows of a group together in one partition, in the columns that `CountGroups` reads; others are carried.

    Among these, `count` says how many people a row stands for, which otherwise is one.
    `types` are those of the columns of `rows` that make its groups.
    """
    keys = {name: F.col(name) for name in types}
    more = [F.col(C.SENSITIVE), *([] if mark is None else [mark.alias(MARK)]), *map(F.col, carried)]
    if is_integer(types):
        first, second = _integer(next(iter(keys.values())))
        return rows.select(first.alias("first"), second.alias("second"), *more).repartition("first")
    name = F.unhex(key_digest(keys, types, as_printed=True)).alias("name")
    return rows.select(name, *more).repartition("name")
