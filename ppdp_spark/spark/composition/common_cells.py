"""People as cells: those who share the groups of every release, and those whose groups are not certain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, mul, or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ppdp_spark.spark.composition.group_passes import group_of, unseen
from ppdp_spark.spark.composition.people_in_groups import MOST_FITS, fits, fitting, surplus
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.maxent.buckets import TUPLE

MOST_COMBINATIONS = 256
"""Ways to place somebody in groups of all releases; who has more is not looked at, and counted."""


def cells_of(people: DataFrame, places: Sequence[int]) -> DataFrame:
    """One row per cell of the releases at some places, which are then numbered from 0.

    Whoever fits several groups of a release has a row for each way to choose one of them in every release, of
    which one is true: what each tells is an answer to what such a person has at the worst.
    """
    shown = _numbered(people, places)
    number = len(places)
    groups = [group_of(place) for place in range(number)]
    several = shown.where(~_certain(number) & (_ways(number) <= MOST_COMBINATIONS))
    counted = shown.where(_certain(number)).groupBy(*groups).agg(F.sum(C.PEOPLE).alias(C.PEOPLE))
    cells = _told(counted, True, F.lit(0).cast("bigint"), F.lit(0).cast("bigint"), F.col(C.PEOPLE))
    cells = cells.withColumn("together", F.array(*(_together(groups, place) for place in range(number))))
    listed = [fits(place) for place in range(number)]
    open_ones = several.groupBy(*TUPLE, *listed).agg(F.sum(C.PEOPLE).alias("weight"))
    for group, each in zip(groups, listed, strict=True):
        open_ones = open_ones.withColumn(group, F.explode_outer(each)).fillna(0, [group])
    one = F.lit(1).cast("bigint")
    rest = _told(
        open_ones.withColumn(C.PEOPLE, one), False, F.col(TUPLE[0]), F.col(TUPLE[1]), F.col("weight")
    )
    rest = rest.withColumn("together", F.array(*(one for _ in range(number))))
    columns = [*TUPLE, "counted", "weight", C.PEOPLE, *groups, "together"]
    return unseen(cells.select(*columns).unionByName(rest.select(*columns)))


def unplaced(people: DataFrame, places: Sequence[int]) -> Column:
    """Of `people`: how many fit so many groups that they are not looked at."""
    shown = [F.coalesce(fitting(place), F.lit(0)) for place in places]
    several = reduce(mul, (F.greatest(each, F.lit(1)).cast("double") for each in shown))
    far = reduce(or_, (each > MOST_FITS for each in shown)) | (several > MOST_COMBINATIONS)
    return F.coalesce(F.sum(F.when(far, F.col(C.PEOPLE))), F.lit(0))


def _numbered(people: DataFrame, places: Sequence[int]) -> DataFrame:
    """People who are in any of the releases, with the groups of these alone."""
    columns = {}
    for place, old in enumerate(places):
        columns[fits(place)] = F.coalesce(fits(old), F.array().cast("array<bigint>"))
        columns[fitting(place)] = F.coalesce(fitting(old), F.lit(0).cast("bigint"))
        columns[surplus(place)] = F.coalesce(surplus(old), F.lit(False))
    chosen = [F.col(name) for name in (*TUPLE, C.PEOPLE)]
    shown = people.select(*chosen, *(column.alias(name) for name, column in columns.items()))
    anywhere = reduce(or_, (F.col(fitting(place)) > 0 for place in range(len(places))))
    near = reduce(and_, (F.col(fitting(place)) <= MOST_FITS for place in range(len(places))))
    first = {
        group_of(place): F.coalesce(F.get(fits(place), F.lit(0)), F.lit(0).cast("bigint"))
        for place in range(len(places))
    }
    return shown.where(anywhere & near).withColumns(first)


def _certain(number: int) -> Column:
    """Whether everybody of a row is in one group of each release, or in none."""
    return reduce(and_, ((F.col(fitting(p)) <= 1) & ~F.col(surplus(p)) for p in range(number)))


def _ways(number: int) -> Column:
    shown = (F.greatest(F.col(fitting(place)), F.lit(1)) for place in range(number))
    return reduce(mul, (each.cast("double") for each in shown))


def _told(cells: DataFrame, counted: bool, first: Column, second: Column, weight: Column) -> DataFrame:
    named = {TUPLE[0]: first, TUPLE[1]: second, "weight": weight, "counted": F.lit(counted)}
    return cells.withColumns(named)


def _together(groups: Sequence[str], place: int) -> Column:
    """People who are in the same groups of the releases up to one."""
    if place == 0 or place == len(groups) - 1:
        return F.col(C.PEOPLE)
    return F.sum(C.PEOPLE).over(Window.partitionBy(*groups[: place + 1]))
