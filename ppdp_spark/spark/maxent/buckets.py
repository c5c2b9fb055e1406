"""Releases as buckets: who is in each group, which values it holds; one row a bucket for the tasks.

A bucket and a tuple of quasi-identifiers are named by two 64-bit numbers each (see `counting`): an integer,
or the first half of a SHA-256, of which two alike take 2⁶⁴ attempts to find. Numbers are compared as doubles
and everything else as text, so that a release and its original name tuples alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.core.maxent.buckets import Buckets, FloatArray, IntArray
from ppdp_spark.core.maxent.statements.codes import NUMBER, TEXT, Question
from ppdp_spark.core.maxent.statements.rows import Vocabulary
from ppdp_spark.errors import TWO_WAYS
from ppdp_spark.spark.data.profile import labels_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.judge.counts import group_names
from ppdp_spark.spark.judge.grouped_tables import with_codes

GROUP, TUPLE = ("g1", "g2"), ("t1", "t2")
NOTHING_HELD = ValueDomain((), ())
CELLS, VALUES, SHARED, EXPECTED = "cells", "values", "shared", "expected"


@dataclass(frozen=True)
class Source:
    """A release as an adversary reads it.

    where
        kind        the form of the release, or `table`
        cells       `g1, g2` (group), `t1, t2` (tuple), `q0, q1, …` as doubles or texts, `people`,
                    `shared`: whether they are only candidates for the places that others leave in the group,
                    and `expected`: how many of them count here, where shares of people are stated
        held        `g1, g2`, `value` (text), `count`
        attributes  quasi-identifier -> `number` or `text`
        values      sensitive values in code order
        exact       whether it is known who has which quasi-identifiers
        described   whether the release describes groups instead of showing people's quasi-identifiers
        domain      the same values with how often each occurs, and which of them need protection
    """

    kind: str
    cells: DataFrame
    held: DataFrame
    attributes: Mapping[str, str]
    values: tuple[str | None, ...]
    exact: bool = True
    described: bool = False
    domain: ValueDomain = NOTHING_HELD

    @property
    def labels(self) -> tuple[str, ...]:
        return labels_of(self.values)


def kinds_of(table: DataFrame, names: Sequence[str]) -> dict[str, str]:
    """Whether each quasi-identifier holds numbers or is compared as text."""
    types = {name: table.schema[name].dataType for name in names}
    return {name: NUMBER if isinstance(kind, T.NumericType) else TEXT for name, kind in types.items()}


def canonical(table: DataFrame, kinds: Mapping[str, str]) -> list[Column]:
    """The quasi-identifiers as `q0, q1, …`: doubles, NaN as null, or texts."""
    wanted = []
    for j, (name, kind) in enumerate(kinds.items()):
        value = C.column(name)
        if kind == NUMBER:
            double = value.cast("double")
            value = F.when(~F.isnan(double), double + F.lit(0.0))
        wanted.append(value.cast("double" if kind == NUMBER else "string").alias(C.code(j)))
    return wanted


def tuple_names(kinds: Mapping[str, str]) -> list[Column]:
    """The two numbers that name the tuple of `q0, q1, …`."""
    types: dict[str, T.DataType] = {
        C.code(j): T.DoubleType() if kind == NUMBER else T.StringType()
        for j, kind in enumerate(kinds.values())
    }
    names = group_names({name: F.col(name) for name in types}, types, len(TUPLE))
    return [name.alias(alias) for name, alias in zip(names, TUPLE, strict=True)]


def cells_of_people(people: DataFrame, attributes: int) -> DataFrame:
    """The cells of a table that shows who is in each group, one row per person."""
    shown = [F.first(C.code(j)).alias(C.code(j)) for j in range(attributes)]
    counted = people.groupBy(*GROUP, *TUPLE).agg(F.count(F.lit(1)).alias(C.PEOPLE), *shown)
    return counted.withColumn(SHARED, F.lit(False)).withColumn(EXPECTED, F.col(C.PEOPLE).cast("double"))


def bucket_rows(source: Source, question: Question) -> DataFrame:
    """One row a bucket: its cells with the mentioned attributes, and its values; both sorted by content."""
    places = [list(source.attributes).index(name) for name in question.attributes]
    shown = [F.col(C.code(j)).alias(f"a{i}") for i, j in enumerate(places)]
    cell = F.struct(SHARED, *TUPLE, C.PEOPLE, EXPECTED, *shown)
    certain = F.sum(F.when(~F.col(SHARED), F.col(C.PEOPLE)).otherwise(0))
    listed = source.cells.groupBy(*GROUP).agg(
        F.sort_array(F.collect_list(cell)).alias(CELLS),
        certain.alias("certain"),
        F.sum(C.PEOPLE).alias(C.PEOPLE),
    )
    coded = with_codes(source.held, source.values).groupBy(*GROUP, C.SENSITIVE)
    held = coded.agg(F.sum(C.COUNT).cast("bigint").alias(C.COUNT))
    value = F.struct(F.col(C.SENSITIVE).alias(C.VALUE), C.COUNT)
    values = held.groupBy(*GROUP).agg(
        F.sort_array(F.collect_list(value)).alias(VALUES), F.sum(C.COUNT).alias("occurrences")
    )
    both = listed.join(values, list(GROUP), "full")
    fits = F.col("occurrences").between(F.col("certain"), F.col(C.PEOPLE))
    only_certain = F.col("certain") == F.col(C.PEOPLE)
    exact = F.when(only_certain, F.col("occurrences") == F.col("certain")).otherwise(fits)
    agree = F.coalesce(exact, F.lit(False))
    checked = F.when(agree, F.col(GROUP[0])).otherwise(F.raise_error(F.lit(TWO_WAYS)).cast("bigint"))
    return both.select(checked.alias(GROUP[0]), GROUP[1], CELLS, VALUES)


@dataclass(frozen=True, eq=False)
class Read:
    """Buckets of a batch, every cell a tuple of its own.

    where
        group     the two numbers of each bucket
        tuples    the two numbers of each tuple id
        expected  how many people count in each cell, where shares of people are stated
    """

    buckets: Buckets
    vocabulary: Vocabulary
    group: tuple[IntArray, IntArray]
    tuples: tuple[IntArray, IntArray]
    expected: FloatArray


def read_buckets(batch: pa.RecordBatch | pa.Table, question: Question) -> Read:
    """Bucket rows as arrays."""
    if isinstance(batch, pa.Table):
        batch = _one_batch(batch)
    cells, cell_start = _listed(batch.column(CELLS))
    values, value_start = _listed(batch.column(VALUES))
    first, second, people = (cells[name].to_numpy() for name in (*TUPLE, C.PEOPLE))
    shared = cells[SHARED].to_numpy(zero_copy_only=False)
    value_count = values[C.COUNT].to_numpy().astype(np.float64)
    row, row_start, row_count = _rows(
        cell_start, people.astype(np.float64), shared, value_start=value_start, value_count=value_count
    )
    buckets = Buckets(
        ids=np.arange(batch.num_rows),
        cell_start=cell_start,
        cell_qi=np.arange(len(first), dtype=np.int32),
        cell_row=row,
        cell_person=np.full(len(first), -1, dtype=np.int32),
        cell_weight=people.astype(np.float64),
        row_start=row_start,
        row_count=row_count,
        value_start=value_start,
        value_code=values[C.VALUE].to_numpy().astype(np.int32),
        value_count=value_count,
    )
    shown = [cells[f"a{i}"] for i in range(len(question.attributes))]
    group = tuple(batch.column(name).to_numpy() for name in GROUP)
    expected = cells[EXPECTED].to_numpy()
    return Read(buckets, question.vocabulary(shown), (group[0], group[1]), (first, second), expected)


def _rows(
    cell_start: IntArray,
    people: FloatArray,
    shared: NDArray[np.bool_],
    *,
    value_start: IntArray,
    value_count: FloatArray,
) -> tuple[NDArray[np.int32], IntArray, FloatArray]:
    """The row of each cell, where the rows of each bucket start, and people in each row.

    A certain cell is a row of its own; the candidates of a bucket, which come last, share one row with the
    places that the certain ones leave.
    """
    bucket = np.repeat(np.arange(len(cell_start) - 1), np.diff(cell_start))
    begins = ~shared
    begins[1:] |= shared[1:] & (~shared[:-1] | (bucket[1:] != bucket[:-1]))
    begins[:1] = True
    row = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    row_start = np.searchsorted(bucket[first], np.arange(len(cell_start)))
    size = np.bincount(
        np.repeat(np.arange(len(value_start) - 1), np.diff(value_start)), value_count, len(value_start) - 1
    )
    certain = np.bincount(bucket, np.where(shared, 0.0, people), len(cell_start) - 1)
    row_count = np.where(shared[first], (size - certain)[bucket[first]], people[first])
    return (row - row_start[bucket]).astype(np.int32), row_start, row_count


def with_tuple_ids(read: Read) -> Read:
    """The same with one id a tuple, in the order of their numbers."""
    pairs = np.stack(read.tuples, axis=1)
    _, at, ids = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    b = read.buckets
    buckets = Buckets(
        **{name: getattr(b, name) for name in Buckets.__dataclass_fields__ if name != "cell_qi"},
        cell_qi=ids.reshape(-1).astype(np.int32),
    )
    attributes = {name: column[at] for name, column in read.vocabulary.attributes.items()}
    tuples = (read.tuples[0][at], read.tuples[1][at])
    return Read(buckets, Vocabulary(attributes, read.vocabulary.values), read.group, tuples, read.expected)


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    """A table as one batch, in the order of its buckets."""
    order = pc.sort_indices(table.select(list(GROUP)), [(name, "ascending") for name in GROUP])
    columns = [column.combine_chunks() for column in table.take(order).columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _listed(column: pa.Array) -> tuple[dict[str, pa.Array], IntArray]:
    """The fields of a list of structs, flat, and where each list starts."""
    offsets = column.offsets.to_numpy().astype(np.int64) if len(column) else np.zeros(1, np.int64)
    flat = column.flatten()
    fields = zip((field.name for field in flat.type), flat.flatten(), strict=True)
    return dict(fields), offsets - offsets[0]
