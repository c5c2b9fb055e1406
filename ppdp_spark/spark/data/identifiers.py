"""Identifiers tell people apart: every guarantee counts records, so one that repeats stops the run.

That nothing repeats is proved cheaply: equal identifiers have equal hashes, so if no hash occurs twice, no
identifier does. Only where a hash does are the identifiers themselves counted, which decides: a mere
collision of hashes, also one that somebody made, costs time and changes nothing. Where the same text may
be written in several ways, hashes tell nothing, and the identifiers are counted at once.

Households say which people belong together: everybody must have one, and one only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.errors import DataError
from ppdp_spark.spark.data.key_names import is_integer, key_digest, words
from ppdp_spark.spark.data.sameness import folded, hashed_alike, holds
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.parallel_jobs import all_at_once
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import VARIANT, to_arrow

if TYPE_CHECKING:
    from ppdp_spark.spec import ColumnsSpec

_FIX = (
    "guarantees count one row per person: say that rows with the same value are one person "
    "(`columns.person` in place of `identifiers`; several sensitive values need `case: mvpi-set`), or list "
    "the column in `columns.may_repeat` if it does not tell people apart, such as a name (a household is "
    "`columns.household`)"
)


def require_one_row_each(table: DataFrame, columns: ColumnsSpec) -> None:
    """Raise one `DataError` with every identifier that stands on several rows; never which value does.

    Where rows of a person were brought together, `columns.person` is what tells people apart.
    """
    if columns.person is None:
        _require(table, columns, _problem)


def require_one_person_each(table: DataFrame, columns: ColumnsSpec) -> None:
    """Raise one `DataError` with every identifier that stands with several people.

    Whoever has several rows may have several values of it, such as numbers of visits; nobody else has them.
    """
    person = columns.person
    if person is not None:
        _require(table, columns, partial(_shared, person=person.column))


def _require(table: DataFrame, columns: ColumnsSpec, problem: Callable[[DataFrame, str], str | None]) -> None:
    """Raise one `DataError` with the problems of all identifiers that must not repeat."""
    names = [name for name in columns.identifiers if name not in columns.may_repeat]
    if not names:
        return
    types = {name: table.schema[name].dataType for name in names}
    unfit = [
        f"`columns.identifiers`: `{name}` is {kind.simpleString()}, which cannot be compared; "
        "cast it to text, or list it in `columns.may_repeat`"
        for name, kind in types.items()
        if holds(kind, T.MapType, *VARIANT)
    ]
    if unfit:
        raise DataError(unfit)
    found = all_at_once(table.sparkSession, [partial(problem, table, name) for name in names])
    problems = [problem for problem in found if problem is not None]
    if problems:
        raise DataError(problems)


def _problem(table: DataFrame, name: str) -> str | None:
    kind = table.schema[name].dataType
    value = folded(C.column(name), kind)
    if hashed_alike(kind) and not some_hash_repeats(table, F.xxhash64(value)):
        return None
    return repeats_told(table, name, value)


def _shared(table: DataFrame, name: str, *, person: str) -> str | None:
    value, owner = (folded(C.column(one), table.schema[one].dataType) for one in (name, person))
    pairs = table.select(value.alias("value"), owner.alias("person")).distinct()
    if hashed_alike(table.schema[name].dataType) and not some_hash_repeats(pairs, F.xxhash64("value")):
        return None
    counted = pairs.groupBy("value").count()
    shared = F.count_if(F.col("count") > 1).alias("values")
    row = only_row(counted.agg(shared, F.max("count").alias("most")))
    if not row["values"]:
        return None
    return (
        f"`columns.identifiers`: {row['values']:,} values of `{name}` belong to several people, one of them "
        f"to {row['most']:,}; see whether `columns.person` ({person}) is what a person is, or list the "
        "column in `columns.may_repeat`"
    )


def some_hash_repeats(table: DataFrame, hashed: Column) -> bool:
    """Whether any of the 64-bit numbers stands on two rows, by one shuffle of the numbers alone."""
    placed = table.select(hashed.alias("hash")).repartition("hash")
    return bool(to_arrow(in_tasks(placed, _find_repeats, "repeats boolean")).num_rows)


def _find_repeats(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row if a number of the partition occurs twice, none if not."""
    parts = [batch.column(0).to_numpy() for batch in batches if batch.num_rows]
    if parts:
        ordered = np.sort(np.concatenate(parts))
        if (ordered[1:] == ordered[:-1]).any():
            yield pa.RecordBatch.from_pydict({"repeats": pa.array([True])})


def repeats_told(table: DataFrame, name: str, value: Column) -> str | None:
    """What is wrong with an identifier, from exact counts; None if no value stands on several rows."""
    counted = table.select(value.alias("value")).groupBy("value").count()
    some = F.col("count") > 1
    row = only_row(
        counted.agg(
            F.count_if(some).alias("values"),
            F.max("count").alias("most"),
            F.max(F.when(F.col("value").isNull(), F.col("count"))).alias("nulls"),
        )
    )
    if not row["values"]:
        return None
    missing = f" ({row['nulls']:,} rows have none)" if row["nulls"] else ""
    return (
        f"`columns.identifiers`: {row['values']:,} values of `{name}` stand on several rows, one of them on "
        f"{row['most']:,}{missing}; {_FIX}"
    )


def require_households(table: DataFrame, columns: ColumnsSpec) -> None:
    """Raise one `DataError` unless every person has a household, and no more than one.

    Two people without one may live together or not: neither may be assumed.
    """
    if columns.household is None:
        return
    name = columns.household.column
    kind = table.schema[name].dataType
    if isinstance(kind, (T.MapType, *VARIANT)):
        raise DataError(
            f"`columns.household`: `{name}` is {kind.simpleString()}, which cannot be compared; "
            "cast it to text"
        )
    value, problems = folded(C.column(name), kind), []
    found = only_row(table.agg(F.count(F.lit(1)).alias("rows"), F.count(value).alias("held")))
    if found["held"] < found["rows"]:
        problems.append(
            f"`columns.household`: {found['rows'] - found['held']:,} of {found['rows']:,} people have no "
            f"`{name}`, so it is not known with whom they belong together; fill it (a value of its own for "
            "whoever lives alone), or remove these rows"
        )
    if columns.person is not None:
        told = table.groupBy(C.column(columns.person.column)).agg(F.min(value) != F.max(value))
        several = only_row(told.agg(F.count_if(F.col(told.columns[1]))))[0]
        if several:
            problems.append(
                f"`columns.household`: {several:,} people have several values of `{name}`; clean the table"
            )
    if problems:
        raise DataError(problems)


def household_words(table: DataFrame, name: str) -> list[Column]:
    """Two 64-bit numbers that name the household of a row: they are equal exactly where its values are.

    The value itself if it is an integer, else the first half of the SHA-256 of its text, which nobody can
    forge: a function of content, so that everything derived from them is.
    """
    types = {name: table.schema[name].dataType}
    if is_integer(types):
        named: tuple[Column, ...] = (C.column(name).cast("bigint"), F.lit(0).cast("bigint"))
    else:
        named = words(key_digest({name: C.column(name)}, types), len(C.HOUSEHOLD_NAME))
    return [word.alias(alias) for word, alias in zip(named, C.HOUSEHOLD_NAME, strict=True)]
