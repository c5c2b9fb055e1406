"""In which groups of each release people may be, by their quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.maxent.matching import Boxes
from ppdp_spark.core.maxent.statements.codes import NUMBER
from ppdp_spark.errors import DataError
from ppdp_spark.report.format.quoted_names import name as quoted
from ppdp_spark.spark.composition.published_groups import PublishedGroups
from ppdp_spark.spark.data.sameness import text_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.judge.counts import group_names
from ppdp_spark.spark.maxent.buckets import TUPLE, canonical, kinds_of
from ppdp_spark.spark.maxent.external import as_double, described_groups, labelled_groups, ordered_groups

MOST_FITS = 64
"""Groups of a release that a person may be in; who fits more is not looked at, and counted."""

_FITS = "array<bigint>"


def fits(place: int) -> str:
    """The column with the groups of the release at `place` that somebody may be in."""
    return f"fits{place}"


def fitting(place: int) -> str:
    """The column with the number of these groups."""
    return f"fitting{place}"


def surplus(place: int) -> str:
    """The column that says whether more people are like this than the release shows."""
    return f"surplus{place}"


@dataclass(frozen=True, eq=False)
class FindFits:
    """Adds the groups of releases whose boxes hold a person.

    where
        boxes  by the place of the release: its boxes, their group numbers, and the columns that they bound
        kept   columns that stay
    """

    boxes: Mapping[int, tuple[Boxes, pa.Array, tuple[str, ...]]]
    kept: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns, names = [batch.column(name) for name in self.kept], list(self.kept)
            for place, (boxes, ids, wanted) in self.boxes.items():
                person, group = boxes.candidates([batch.column(name) for name in wanted])
                number = np.bincount(person, minlength=batch.num_rows)
                few = number[person] <= MOST_FITS
                offsets = np.concatenate([[0], np.cumsum(np.where(number <= MOST_FITS, number, 0))])
                listed = pa.ListArray.from_arrays(
                    pa.array(offsets, pa.int32()), ids.take(pa.array(group[few])).cast(pa.int64())
                )
                columns += [listed, pa.array(number)]
                names += [fits(place), fitting(place)]
            yield pa.RecordBatch.from_arrays(columns, names=names)


def people_in_groups(
    table: DataFrame, releases: Mapping[int, PublishedGroups], person: str | None, origin: str
) -> DataFrame:
    """People with the groups of some releases, by the place of each: `t1`, `t2`, `people`, and `fits0`, ….

    `t1` and `t2` name the person by the key column or, without one, by all quasi-identifiers together.
    """
    names = list(dict.fromkeys(name for release in releases.values() for name in release.names))
    wanted = [*names, *([] if person is None else [person])]
    lacking = [name for name in wanted if name not in table.columns]
    if lacking:
        raise DataError([f"{origin} has no column {quoted(name)}" for name in lacking])
    kinds = kinds_of(table, names)
    ordered = {name for release in releases.values() for name in release.ranges}
    keys = [person] if person is not None else names
    types = {name: table.schema[name].dataType for name in keys}
    shown = table.select(
        *(word.alias(alias) for word, alias in zip(_names(keys, types), TUPLE, strict=True)),
        F.lit(1).cast("bigint").alias(C.PEOPLE),
        *canonical(table, kinds),
        *(
            text_of(C.column(name), table.schema[name].dataType).alias(f"x{j}")
            for j, name in enumerate(names)
        ),
        *(
            as_double(C.column(name), table.schema[name].dataType).alias(f"n{j}")
            for j, name in enumerate(names)
            if name in ordered
        ),
    )
    if person is not None:
        _require_one_row_each(shown, table, person, origin)
    codes = [C.code(j) for j in range(len(names))]
    found = _described(shown, {p: r for p, r in releases.items() if not r.shows_people}, names, codes)
    if any(release.shows_people for release in releases.values()):
        others = [name for name in found.columns if name != C.PEOPLE]
        found = found.groupBy(*others).agg(F.sum(C.PEOPLE).alias(C.PEOPLE))
    for place, release in releases.items():
        if release.shows_people:
            found = _exactly(found, place, release, kinds, origin)
    told = [name for place in releases for name in (fits(place), fitting(place), surplus(place))]
    for place, release in releases.items():
        if not release.shows_people:
            found = found.withColumn(surplus(place), F.lit(False))
    return found.select(*TUPLE, C.PEOPLE, *told)


def by_key(tables: Sequence[DataFrame]) -> DataFrame:
    """People of several tables brought together by their key."""

    def both(left: DataFrame, right: DataFrame) -> DataFrame:
        return left.join(right.drop(C.PEOPLE), list(TUPLE), "full")

    joined = reduce(both, tables)
    return joined.withColumn(C.PEOPLE, F.coalesce(C.PEOPLE, F.lit(1).cast("bigint")))


def _names(keys: Sequence[str], types: Mapping[str, T.DataType]) -> tuple[Column, ...]:
    columns = {f"key{i}": text_of(C.column(name), types[name]) for i, name in enumerate(keys)}
    return group_names(columns, dict.fromkeys(columns, T.StringType()), len(TUPLE))


def _require_one_row_each(shown: DataFrame, table: DataFrame, person: str, origin: str) -> None:
    """`DataError` where the key does not name everybody, or somebody twice."""
    missing = only_row(table.agg(F.count_if(C.column(person).isNull()).alias("missing")))["missing"]
    if missing:
        raise DataError(f"{origin}: {quoted(person)} is null in {missing:,} rows: give everybody a key")
    repeated = shown.groupBy(*TUPLE).agg(F.count(F.lit(1)).alias(C.COUNT)).where(F.col(C.COUNT) > 1).count()
    if repeated:
        raise DataError(
            f"{origin}: {repeated:,} keys in {quoted(person)} have several rows: give one row per person, as "
            "the release describes them"
        )


def _described(
    people: DataFrame, releases: Mapping[int, PublishedGroups], names: Sequence[str], codes: Sequence[str]
) -> DataFrame:
    """People with the groups of releases that describe groups."""
    spark, boxes = people.sparkSession, {}
    for place, release in releases.items():
        groups = described_groups(release.described(spark), release.names, release.ranges)
        columns, sides = [], []
        for position, name in enumerate(release.names):
            at = names.index(name)
            ordered = name in release.ranges
            columns.append(f"n{at}" if ordered else f"x{at}")
            sides.append(
                ordered_groups(groups, position)
                if ordered
                else labelled_groups(groups, position, people.select(f"x{at}"), release.hierarchies.get(name))
            )
        ids = groups.column(C.GROUP_ID).combine_chunks()
        boxes[place] = (Boxes.of(tuple(sides)), ids, tuple(columns))
    kept = [*TUPLE, C.PEOPLE, *codes]
    if not boxes:
        return people.select(*kept)
    schema = T.StructType([people.schema[name] for name in kept])
    for place in boxes:
        schema = schema.add(fits(place), T.ArrayType(T.LongType())).add(fitting(place), T.LongType())
    return in_tasks(people, FindFits(boxes, tuple(kept)), schema)


def _exactly(
    people: DataFrame, place: int, release: PublishedGroups, kinds: Mapping[str, str], origin: str
) -> DataFrame:
    """People with the groups in which a release shows somebody with just their quasi-identifiers."""
    shown = release.people(people.sparkSession)
    own = kinds_of(shown, release.names)
    differing = [name for name in release.names if own[name] != kinds[name]]
    if differing:
        raise DataError(
            [
                f"{origin}: {quoted(name)} is not of the same type as in `{release.place}`"
                for name in differing
            ]
        )
    types: dict[str, T.DataType] = {
        C.code(j): T.DoubleType() if own[name] == NUMBER else T.StringType()
        for j, name in enumerate(release.names)
    }
    keys = {code: F.col(code) for code in types}
    words = [word.alias(f"b{i}") for i, word in enumerate(group_names(keys, types, 2))]
    named = shown.select(C.GROUP_ID, *canonical(shown, own)).select(C.GROUP_ID, *words)
    counted = named.groupBy("b0", "b1", C.GROUP_ID).agg(F.count(F.lit(1)).alias(C.COUNT))
    listed = counted.groupBy("b0", "b1").agg(
        F.sort_array(F.collect_list(F.col(C.GROUP_ID).cast("bigint"))).alias("all"),
        F.sum(C.COUNT).alias("shown"),
    )
    at = {C.code(j): F.col(C.code(list(kinds).index(name))) for j, name in enumerate(release.names)}
    mine = [word.alias(f"m{i}") for i, word in enumerate(group_names(at, types, 2))]
    both = people.select("*", *mine).join(
        listed, (F.col("m0") == F.col("b0")) & (F.col("m1") == F.col("b1")), "left"
    )
    number = F.when(F.col("all").isNull(), 0).otherwise(F.size("all")).cast("bigint")
    few = F.when(number <= MOST_FITS, F.col("all"))
    alike = F.sum(C.PEOPLE).over(Window.partitionBy("m0", "m1"))
    return both.withColumns(
        {
            fits(place): F.coalesce(few, F.array().cast(_FITS)),
            fitting(place): number,
            surplus(place): F.coalesce(alike > F.col("shown"), F.lit(False)),
        }
    ).drop("b0", "b1", "m0", "m1", "all", "shown")
