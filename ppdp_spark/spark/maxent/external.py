"""A generalized release read with an external table of people: who may be in which group.

Everyone whose quasi-identifiers lie in a group's box is a candidate for it. If the table has as many people
as the release, it is taken for the release's population: whoever fits one group only is in it for certain,
and the others are candidates for the places left. Otherwise everybody is a candidate. Candidates of a
group share its free places evenly; that somebody who fits several groups is in one of them only is not
used, which makes the adversary weaker than the best one where boxes overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.attributes import Categorical
from ppdp_spark.core.data.hierarchy import Hierarchy
from ppdp_spark.core.maxent.matching import Boxes, Side, category_side, ordered_side
from ppdp_spark.errors import DataError
from ppdp_spark.run.storage import Folder, data_of
from ppdp_spark.spark.data.physical import to_physical
from ppdp_spark.spark.data.sameness import text_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import from_arrow, to_arrow
from ppdp_spark.spark.maxent.buckets import (
    EXPECTED,
    GROUP,
    SHARED,
    TUPLE,
    Source,
    canonical,
    kinds_of,
    tuple_names,
)
from ppdp_spark.spark.maxent.sources import base_names
from ppdp_spark.spark.parquet.read_folder import read_folder


@dataclass(frozen=True, eq=False)
class FindGroups:
    """Adds to each tuple of a task the groups it may be in; one row a pair."""

    boxes: Boxes
    ids: pa.Array
    places: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [batch.column(f"x{j}") for j in range(self.places)]
            person, group = self.boxes.candidates(columns)
            kept = [name for name in batch.schema.names if not name.startswith("x")]
            rows = batch.select(kept).take(pa.array(person))
            yield pa.RecordBatch.from_arrays(
                [*rows.columns, self.ids.take(pa.array(group))], names=[*kept, "group"]
            )


def resolved(
    source: Source,
    external: DataFrame,
    *,
    release: Folder,
    manifest: Mapping[str, Any],
    hierarchies: Mapping[str, str],
    keep: Callable[[DataFrame], DataFrame],
) -> Source:
    """The release with people of the external table in the place of its labels."""
    names = base_names(manifest["columns"])
    lacking = [name for name in names if name not in external.columns]
    if lacking:
        raise DataError([f"`attack.external`: the table has no column `{name}`" for name in lacking])
    kinds = kinds_of(external, names)
    people = _tuples(external, kinds, manifest["columns"]["ranges"])
    spark = external.sparkSession
    ranges = manifest["columns"]["ranges"]
    groups = described_groups(read_folder(spark, data_of(release, manifest)), names, ranges)
    sides = tuple(
        ordered_groups(groups, j)
        if name in ranges
        else labelled_groups(groups, j, people.select(f"x{j}"), hierarchies.get(name))
        for j, name in enumerate(names)
    )
    task = FindGroups(Boxes.of(sides), groups.column(C.GROUP_ID).combine_chunks(), len(names))
    kept = T.StructType([field for field in people.schema if not field.name.startswith("x")])
    matches = in_tasks(people, task, kept.add("group", T.LongType()))
    cells = _cells(keep(matches), people, groups, len(names))
    return replace(source, cells=cells, attributes=kinds, exact=True)


def _tuples(table: DataFrame, kinds: Mapping[str, str], ranges: list[str]) -> DataFrame:
    """Distinct tuples of the external table: their names, attributes, places in boxes `x0, x1, …`, people."""
    beside = [
        (
            as_double(C.column(name), table.schema[name].dataType)
            if name in ranges
            else text_of(C.column(name), table.schema[name].dataType)
        ).alias(f"x{j}")
        for j, name in enumerate(kinds)
    ]
    codes = [C.code(j) for j in range(len(kinds))]
    shown = table.select(*canonical(table, kinds), *beside)
    places = [f"x{j}" for j in range(len(kinds))]
    counted = shown.groupBy(*codes, *places).agg(F.count(F.lit(1)).alias(C.PEOPLE))
    return counted.select(*tuple_names(kinds), *codes, *places, C.PEOPLE)


def as_double(value: Column, kind: T.DataType) -> Column:
    """An ordered value as a double."""
    moments: dict[type[T.DataType], str] = {
        T.DateType: "date",
        T.TimestampType: "timestamp",
        T.TimestampNTZType: "timestamp_ntz",
    }
    return to_physical(value, moments.get(type(kind), "float")).cast("double")


def described_groups(table: DataFrame, names: list[str], ranges: list[str]) -> pa.Table:
    """One row per group, on the driver: number, people, labels and bounds."""
    wanted = [F.count(F.lit(1)).alias(C.SIZE)]
    for j, name in enumerate(names):
        wanted.append(F.first(C.column(name).cast("string")).alias(f"label{j}"))
        if name in ranges:
            for end in ("min", "max"):
                bound = f"{name}_{end}"
                value = as_double(C.column(bound), table.schema[bound].dataType)
                wanted.append(F.first(value).alias(f"{end}{j}"))
    return to_arrow(table.groupBy(C.GROUP_ID).agg(*wanted)).sort_by(C.GROUP_ID)


def ordered_groups(groups: pa.Table, position: int) -> Side:
    """The groups along a number, date or time."""
    low, high = (groups.column(f"{end}{position}").combine_chunks() for end in ("min", "max"))
    return ordered_side(low, high, groups.column(f"label{position}").combine_chunks())


def labelled_groups(groups: pa.Table, position: int, values: DataFrame, tree: str | None) -> Side:
    """The groups along a category, whose values are those of the hierarchy or of the table of `values`."""
    labels = groups.column(f"label{position}").combine_chunks()
    if tree is not None:
        read = Hierarchy.read(tree)
        return category_side(Categorical("", tuple(read.leaves), hierarchy=read), labels)
    texts = to_arrow(values.distinct()).column(0).drop_null().to_pylist()
    return category_side(Categorical("", tuple(sorted(texts))), labels)


def _cells(matches: DataFrame, people: DataFrame, groups: pa.Table, number: int) -> DataFrame:
    """Who is in each group for certain and who may be; `DataError` if the table cannot fill the groups."""
    listed = groups.select([C.GROUP_ID, C.SIZE]).rename_columns(["group", C.SIZE])
    sizes = from_arrow(matches.sparkSession, listed)
    fits = matches.groupBy(*TUPLE).agg(F.count(F.lit(1)).alias("fits"))
    both = matches.join(fits, list(TUPLE))
    certain = F.sum(F.when(F.col("fits") == 1, F.col(C.PEOPLE)).otherwise(0)).alias("certain")
    filled = sizes.join(both.groupBy("group").agg(certain, F.sum(C.PEOPLE).alias("all")), "group", "left")
    found = only_row(
        filled.agg(
            F.count_if(F.coalesce(F.col("all"), F.lit(0)) < F.col(C.SIZE)).alias("short"),
            F.count_if(F.col("certain") > F.col(C.SIZE)).alias("over"),
            F.sum(C.SIZE).alias("released"),
        )
    )
    total = only_row(people.agg(F.sum(C.PEOPLE).alias(C.PEOPLE)))
    if found["short"]:
        raise DataError(
            f"`attack.external`: {found['short']:,} groups of the release have more people than the table "
            "has in their ranges: it must hold everybody in the release"
        )
    population = not found["over"] and int(total[C.PEOPLE] or 0) == int(found["released"])
    left = filled.select("group", (F.col(C.SIZE) - F.coalesce("certain", F.lit(0))).alias("left"))
    placed = both.join(left, "group").withColumn(SHARED, F.col("fits") > 1 if population else F.lit(True))
    if population:
        placed = placed.where(~F.col(SHARED) | (F.col("left") > 0))
    placed = _expected(placed, int(found["released"]))
    group = [F.col("group").alias(GROUP[0]), F.lit(0).cast("bigint").alias(GROUP[1])]
    codes = [C.code(j) for j in range(number)]
    return placed.select(*group, *TUPLE, *codes, C.PEOPLE, SHARED, EXPECTED)


def _expected(placed: DataFrame, released: int) -> DataFrame:
    """How many of each tuple's people count in each group that they may be in: together all of them.

    So a share of some people is that of the table, which is known, and true statements about it can be true.
    Of a table with more people than the release, as many count as the release has in the mean.
    """
    places = placed.groupBy(*TUPLE).agg(F.count(F.lit(1)).alias("places"))
    shown = placed.join(places, list(TUPLE)).withColumn(EXPECTED, F.col(C.PEOPLE) / F.col("places"))
    total = F.lit(float(only_row(shown.agg(F.sum(EXPECTED).alias(EXPECTED)))[EXPECTED] or 1.0))
    return shown.withColumn(EXPECTED, F.col(EXPECTED) * released / total)
