"""Each column by itself: how many people share each of its values, and what its texts look like."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.discovery.column_facts import SHAPES, ColumnFacts
from ppdp_spark.core.discovery.crowds import Crowds
from ppdp_spark.errors import CHANGED, DataError
from ppdp_spark.spark.data.sameness import folded
from ppdp_spark.spark.data.tables import KINDS, beyond_exact_digits
from ppdp_spark.spark.engine.column_names import column
from ppdp_spark.spark.engine.parallel_jobs import all_at_once
from ppdp_spark.spark.engine.versions import to_arrow

VALUE, PEOPLE, SIZE = "value", "people", "size"
_DATES = T.DateType | T.TimestampType | T.TimestampNTZType


def comparable(kind: T.DataType) -> bool:
    """Whether it is known when two values of that type are the same: plain ones, and arrays of them."""
    plain = kind.elementType if isinstance(kind, T.ArrayType) else kind
    if isinstance(plain, T.StringType) and plain != T.StringType():
        return False
    return type(plain) in KINDS or isinstance(plain, T.BinaryType)


def values_of(table: DataFrame, name: str) -> Column:
    """The values of a column with all that counts as the same made equal."""
    return folded(column(name), table.schema[name].dataType)


def surveyed(table: DataFrame, names: Sequence[str]) -> list[ColumnFacts]:
    """What is to be known of each column: one aggregation for each, in the order of the names."""
    facts = all_at_once(table.sparkSession, [partial(_facts, table, name) for name in names])
    if len({each.people for each in facts}) > 1:
        raise DataError(CHANGED)
    return facts


def _facts(table: DataFrame, name: str) -> ColumnFacts:
    kind = table.schema[name].dataType
    counted = table.select(values_of(table, name).alias(VALUE)).groupBy(VALUE)
    values = counted.agg(F.count(F.lit(1)).alias(PEOPLE))
    value, people = F.col(VALUE), F.col(PEOPLE)
    shaped = SHAPES if isinstance(kind, T.StringType) else {}
    told = [
        F.sum(F.when(value.rlike(pattern), people)).alias(f"shape{j}")
        for j, pattern in enumerate(shaped.values())
    ]
    if isinstance(kind, _DATES):
        told += [F.min(F.year(value)).alias("first"), F.max(F.year(value)).alias("last")]
    sizes = values.groupBy(size_class(people).alias(SIZE)).agg(
        F.count(F.lit(1)).alias("crowds"),
        F.sum(people).alias("held"),
        F.max(people).alias("heaviest"),
        F.sum(F.when(value.isNull(), people)).alias("nulls"),
        *told,
    )
    rows = to_arrow(sizes).to_pylist()
    return ColumnFacts(
        name,
        "other" if beyond_exact_digits(kind) else KINDS.get(type(kind), "other"),
        Crowds.of((row[SIZE], row["crowds"], row["held"]) for row in rows),
        max((row["heaviest"] for row in rows), default=0),
        sum(row["nulls"] or 0 for row in rows),
        {shape: sum(row[f"shape{j}"] or 0 for row in rows) for j, shape in enumerate(shaped)},
        _span(rows),
    )


def size_class(people: Column) -> Column:
    """The class of a crowd's size: the place of the highest bit, exactly."""
    return F.length(F.bin(people)) - 1


def _span(rows: Sequence[dict[str, int | None]]) -> int:
    """From the earliest to the latest year; 0 if there are none."""
    first = [year for row in rows if (year := row.get("first")) is not None]
    last = [year for row in rows if (year := row.get("last")) is not None]
    return max(last) - min(first) if first and last else 0
