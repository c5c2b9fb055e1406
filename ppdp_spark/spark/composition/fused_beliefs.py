"""What follows for people from cells whose bounds have settled, in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.data.groups import BoolArray
from ppdp_spark.spark.composition.group_passes import GroupPass, cells_in, group_of
from ppdp_spark.spark.composition.published_groups import CommonValues
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.held_tables import Save
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.maxent.buckets import TUPLE

MOST_ROUNDS = 8
"""Rounds over all releases in which bounds are narrowed; where more would be needed, it is said."""

BINS = 20
WORST = 10


@dataclass(frozen=True)
class Beliefs:
    """What somebody concludes who holds some releases.

    where
        people        who are in at least two of them
        once          who are in one of them only
        unsure        those of `people` who fit several groups of a release: numbers are the largest possible
        contradicted  those of whom no value is possible
        cells         cells of people in at least two
        pinned        people left with one value, a protected one, that no release alone shows
        alone         people left with one by a release alone
        highest       the largest share of a protected value
        highest_alone the largest by one release alone
        beyond        people with a share above the threshold; None without one
        histogram     people by their largest share, in bins of equal width
        worst         places where it is largest
        settled       whether bounds were narrowed until they stayed
    """

    people: int
    once: int
    unsure: int
    contradicted: int
    cells: int
    pinned: int
    alone: int
    highest: float
    highest_alone: float
    beyond: int | None
    histogram: tuple[int, ...]
    worst: tuple[dict[str, Any], ...]
    settled: bool

    def to_dict(self) -> dict[str, Any]:
        bins = [{"from": i / BINS, "to": (i + 1) / BINS, "people": n} for i, n in enumerate(self.histogram)]
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**plain, "histogram": bins, "worst": list(self.worst)}


def settled(
    cells: DataFrame, groups: Sequence[DataFrame], values: CommonValues, hold: Save
) -> tuple[DataFrame, bool]:
    """Cells with what all releases say of them, and whether the bounds have stopped narrowing."""

    def passed(rows: DataFrame, place: int, *, entering: bool) -> DataFrame:
        return GroupPass(place, entering, values.table, values.protected).over(rows, groups[place])

    for place in range(len(groups)):
        cells = passed(cells, place, entering=True)
    # What the last release says has just been used; the earlier ones have not seen it.
    places = list(range(len(groups) - 1))
    for _ in range(MOST_ROUNDS):
        cells = hold(cells).withColumn("changed", F.lit(False))
        for place in places:
            cells = passed(cells, place, entering=False)
        cells = hold(cells)
        if cells.where("changed").isEmpty():
            return cells, True
        places = list(range(len(groups)))
    return cells, False


@dataclass(frozen=True, eq=False)
class Conclude:
    """Cells to what is concluded of their people: how many values are left, the likeliest, the only one."""

    protected: BoolArray
    kept: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            cells = cells_in(rows)
            owner, number = cells.owner, batch.num_rows
            share = np.where(self.protected[cells.code], cells.believed, 0.0)
            possible = np.diff(cells.start)
            order = np.lexsort((-cells.code, share, owner))
            last = order[np.cumsum(possible)[possible > 0] - 1]
            top, code, only = np.zeros(number), np.full(number, -1), np.full(number, -1)
            top[possible > 0], code[possible > 0] = share[last], cells.code[last]
            single = possible == 1
            only[single] = cells.code[cells.start[:-1][single]]
            told = {
                "possible": pa.array(possible, pa.int32()),
                "top": pa.array(top),
                "code": pa.array(code, pa.int32()),
                "only": pa.array(only, pa.int32()),
            }
            kept = [batch.column(name) for name in self.kept]
            yield pa.RecordBatch.from_arrays([*kept, *told.values()], names=[*self.kept, *told])


def concluded(
    cells: DataFrame, values: CommonValues, releases: int, threshold: float | None, *, settled: bool
) -> Beliefs:
    """What is concluded of everybody, in numbers."""
    groups = tuple(group_of(place) for place in range(releases))
    kept = (*TUPLE, "counted", "weight", "seen", "alone", "sole", *groups)
    schema = ", ".join(
        [f"{name} {cells.schema[name].dataType.simpleString()}" for name in kept]
        + ["possible int", "top double", "code int", "only int"]
    )
    found = in_tasks(cells, Conclude(values.protected, kept), schema)
    people = _people(found, groups).persist()
    try:
        return _numbers(people, values, groups, threshold, settled=settled)
    finally:
        people.unpersist()


def _people(found: DataFrame, groups: Sequence[str]) -> DataFrame:
    """One row per cell of people; of those who fit several groups one, with the worst of what is possible."""
    columns = ["weight", "seen", "alone", "sole", "possible", "top", "code", "only", "counted", *groups]
    certain = found.where("counted").select(*columns)
    open_ones = found.where(~F.col("counted")).groupBy(*TUPLE)
    feasible = F.col("possible") > 0
    worst = F.max_by(F.struct("code", *groups), F.struct("top", *groups)).alias("worst")
    only = F.when(feasible, F.col("only"))
    gathered = open_ones.agg(
        F.first("weight").alias("weight"),
        F.max("seen").alias("seen"),
        F.max("alone").alias("alone"),
        F.min("sole").alias("sole"),
        F.max("possible").alias("possible"),
        F.max("top").alias("top"),
        F.when(F.min(only) == F.max(only), F.min(only)).otherwise(-1).alias("only"),
        worst,
    )
    rest = gathered.select(
        "weight", "seen", "alone", "sole", "possible", "top", "only", F.lit(False).alias("counted"), "worst.*"
    )
    return certain.unionByName(rest)


def _numbers(
    people: DataFrame, values: CommonValues, groups: Sequence[str], threshold: float | None, *, settled: bool
) -> Beliefs:
    hidden = F.array(*(F.lit(int(code)) for code in np.flatnonzero(values.protected)))
    fixed = F.array_contains(hidden, F.col("only"))
    both, weight = F.col("seen") > 1, F.col("weight")

    def number(wanted: Any) -> Any:
        return F.coalesce(F.sum(F.when(wanted, weight)), F.lit(0)).cast("bigint")

    beyond = both & (F.col("top") > (2.0 if threshold is None else threshold))
    place = F.least(F.floor(F.col("top") * BINS), F.lit(BINS - 1))
    bins = [number(both & (place == i)).alias(f"bin{i}") for i in range(BINS)]
    told = only_row(
        people.agg(
            number(both).alias(C.PEOPLE),
            number(F.col("seen") == 1).alias("once"),
            number(both & ~F.col("counted")).alias("unsure"),
            number(both & (F.col("possible") == 0)).alias("contradicted"),
            F.count_if(both).alias("cells"),
            number(both & fixed & ~F.col("sole")).alias("pinned"),
            number(both & F.col("sole")).alias("alone"),
            F.coalesce(F.max(F.when(both, F.col("top"))), F.lit(0.0)).alias("highest"),
            F.coalesce(F.max(F.when(both, F.col("alone"))), F.lit(0.0)).alias("highest_alone"),
            number(beyond).alias("beyond"),
            *bins,
        )
    )
    order = [F.col("top").desc(), F.col("weight").desc(), *(F.col(name) for name in groups)]
    worst = people.where(both & (F.col("possible") > 0)).orderBy(*order).limit(WORST)
    return Beliefs(
        **{
            name: told[name]
            for name in ("people", "once", "unsure", "contradicted", "cells", "pinned", "alone")
        },
        highest=told["highest"],
        highest_alone=told["highest_alone"],
        beyond=None if threshold is None else told["beyond"],
        histogram=tuple(told[f"bin{i}"] for i in range(BINS)),
        worst=tuple(_place(row, values, groups) for row in to_arrow(worst).to_pylist()),
        settled=settled,
    )


def _place(row: dict[str, Any], values: CommonValues, groups: Sequence[str]) -> dict[str, Any]:
    """A place where the share is large: groups, people, the value, and how many values are left."""
    return {
        "groups": [row[name] or None for name in groups],
        "people": row["weight"],
        "value": values.labels[row["code"]] if row["code"] >= 0 else None,
        "posterior": row["top"],
        "possible_values": row["possible"],
    }
