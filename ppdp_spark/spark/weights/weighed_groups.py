"""Verdicts on the weights of groups: of releases that show them, of the owner's table, of any other table.

People and units of weight are counted by the engine, in whole numbers: one row per group comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import Criterion, VerdictRow
from ppdp_spark.core.criteria.release.bookkeeping import WeightConservation
from ppdp_spark.core.data.groups import GroupSummaries, IntArray
from ppdp_spark.run.criteria.population import population_criteria, population_measures
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.data.group_scan import Reduction, reduce_groups
from ppdp_spark.spark.data.sameness import folded
from ppdp_spark.spark.data.survey_weights import units_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.judge.counts import group_names
from ppdp_spark.spark.judge.grouped_tables import Grouped
from ppdp_spark.spark.judge.household_counts import Fingerprint
from ppdp_spark.spark.parquet.read_folder import read_folder
from ppdp_spark.spec import ColumnsSpec, PrivacySpec


@dataclass(frozen=True)
class ReadPopulations:
    """Reads one row per group: its number, its people, the sum of their weights."""

    width: int = 0

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[GroupSummaries, IntArray]]:
        for batch in batches:
            sizes, sums, numbers = (batch.column(name).to_numpy() for name in _READ)
            nothing = np.empty((batch.num_rows, 0), np.int64)
            yield GroupSummaries(sizes, nothing, population=sums), numbers


_READ = (C.SIZE, C.POPULATION, C.GROUP_ID)


def checked(privacy: PrivacySpec, columns: ColumnsSpec, table: DataFrame) -> list[VerdictRow]:
    """The verdict on the weights of any table's groups, and what is measured of them unasked."""
    if columns.weight is None:
        return []
    names = [columns.group] if columns.group else list(columns.quasi_identifiers)
    keys = {f"key{i}": C.column(name) for i, name in enumerate(names)}
    criteria = (*population_criteria(privacy), *population_measures(privacy))
    rows = _judged(_summed(table, keys, units_of(table, columns.weight.column)), criteria)
    return [*rows, alike_in_weight(table, keys, columns.weight.column)] if columns.weight.publish else rows


def verified(
    privacy: PrivacySpec,
    stated: Mapping[str, Any],
    people: DataFrame | None,
    grouped: Grouped,
    owned: Folder,
    *,
    told_apart: bool,
) -> list[VerdictRow]:
    """The verdict on the weights of a release: from its files if they show them, else from the owner's table.

    where
        stated      what the manifest says of weights
        people      one row per person of the release, if it shows weights
        grouped     its groups
        owned       where the owner's table is; without it a demand fails
        told_apart  whether people show their own quasi-identifiers: groups then do not say how many of the
                    population share them, so that nothing is measured
    """
    criteria = population_criteria(privacy)
    measures = () if told_apart else population_measures(privacy)
    key = {C.GROUP_ID: C.column(C.GROUP_ID)}
    if people is not None:
        shown = _summed(people, key, units_of(people, stated["column"]))
        conserved = WeightConservation(stated["population"])
        alike = alike_in_weight(people, key, stated["column"])
        return [*_judged(shown, (*criteria, *measures, conserved)), alike]
    if not owned.exists():
        return [criterion.unknown("the owner's table of weights is not there") for criterion in criteria]
    table = read_folder(grouped.groups.sparkSession, owned)
    kept = _summed(table, key, F.col(C.WEIGHT))
    same = Fingerprint(counted=False)
    if grouped.reduce([same]) != _reduced(kept, [same]):
        reason = "the owner's table of weights is not that of this release"
        return [criterion.unknown(reason) for criterion in criteria]
    return _judged(kept, (*criteria, *measures))


def alike_in_weight(table: DataFrame, keys: Mapping[str, Column], name: str) -> VerdictRow:
    """How many people of a group share a weight that readers see, at the least; nobody demands it.

    Weights follow from how the sample was drawn and may tell more of a person than the group does
    [Waal & Willenborg 1997]: whoever knows a person's weight looks for the person among these.
    """
    words, value = _names(table, keys), folded(C.column(name), table.schema[name].dataType)
    counted = table.select(*words.values(), value.alias(C.WEIGHT)).groupBy(*words, C.WEIGHT).count()
    wanted = {
        "least": F.min("count"),
        "alone": F.count_if(F.col("count") == 1),
        "groups": F.count_distinct(*words),
    }
    found = only_row(counted.agg(*(expression.alias(what) for what, expression in wanted.items())))
    least = None if found["least"] is None else float(found["least"])
    told = "fewest people of a group with the same published weight"
    alone = {"people alone with their weight in their group": found["alone"]}
    return VerdictRow("known_weight", told, least, None, ">=", found["groups"], 0, "measured", alone)


def _names(table: DataFrame, keys: Mapping[str, Column]) -> dict[str, Column]:
    """Numbers that together name the group of a row."""
    types = {
        name: field.dataType for name, field in zip(keys, table.select(*keys.values()).schema, strict=True)
    }
    found = enumerate(group_names(keys, types, as_printed=True))
    return {f"word{i}": word.alias(f"word{i}") for i, word in found}


def _summed(table: DataFrame, keys: Mapping[str, Column], units: Column) -> DataFrame:
    """One row per group: a number that names it, people, and the sum of their weights."""
    words = _names(table, keys)
    rows = table.select(*words.values(), units.alias(C.WEIGHT))
    sums = [F.count(F.lit(1)).alias(C.SIZE), F.coalesce(F.sum(C.WEIGHT), F.lit(0)).alias(C.POPULATION)]
    return rows.groupBy(*words).agg(*sums).select(*_READ[:2], F.col(next(iter(words))).alias(C.GROUP_ID))


def _reduced(sums: DataFrame, reductions: Sequence[Reduction[Any]]) -> list[Any]:
    return reduce_groups(sums, reductions, ReadPopulations())


def _judged(sums: DataFrame, criteria: Sequence[Criterion[Any]]) -> list[VerdictRow]:
    found = _reduced(sums, criteria) if criteria else []
    return [row for c, statistic in zip(criteria, found, strict=True) for row in c.decide(statistic)]
