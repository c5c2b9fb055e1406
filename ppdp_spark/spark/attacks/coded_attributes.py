"""Classes of the quasi-identifiers of a release, from how many people have each value.

A quasi-identifier with very many different numbers is looked at in a sample of these numbers, chosen by a
hash of each: the same whatever the partitioning.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.attacks.attribute_codes import (
    MOST_NAMES,
    MOST_NUMBER_CLASSES,
    AttributeCodes,
    NameClasses,
    NumberClasses,
    most_classes,
)
from ppdp_spark.core.maxent.statements.codes import NUMBER
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.maxent.buckets import CELLS

MOST_NUMBERS = 20_000
"""Different numbers of a quasi-identifier that come to the driver."""

_PLACE, _NUMBER, _NAME = "place", "number", "name"


def coded_attributes(rows: DataFrame, kinds: Sequence[str], values: int) -> tuple[AttributeCodes, ...]:
    """The classes of each quasi-identifier; the cells of bucket `rows` have all of them as `a0` and on."""
    cells, most = rows.select(F.inline(CELLS)), most_classes(len(kinds), values)
    numbers = [j for j, kind in enumerate(kinds) if kind == NUMBER]
    steps = _steps(cells, numbers)
    parts = [
        _numbers(cells, j, steps[j]) if j in steps else _names(cells, j, most) for j in range(len(kinds))
    ]
    found = to_arrow(reduce(DataFrame.unionByName, parts))
    place = found.column(_PLACE).to_numpy()
    return tuple(
        _classes(found.filter(pa.array(place == j)), number=j in steps, most=most) for j in range(len(kinds))
    )


def _steps(cells: DataFrame, numbers: Sequence[int]) -> dict[int, int]:
    """One of how many different numbers of each quasi-identifier is looked at."""
    if not numbers:
        return {}
    found = only_row(cells.agg(*(F.approx_count_distinct(C.kept(j)).alias(C.kept(j)) for j in numbers)))
    return {j: max(1, -(-int(found[C.kept(j)]) // MOST_NUMBERS)) for j in numbers}


def _numbers(cells: DataFrame, j: int, step: int) -> DataFrame:
    value = F.col(C.kept(j))
    chosen = cells.where(value.isNotNull() & (F.pmod(F.xxhash64(value), F.lit(step)) == 0))
    counted = chosen.groupBy(value.alias(_NUMBER)).agg(F.sum(C.PEOPLE).alias(C.PEOPLE))
    return counted.select(F.lit(j).alias(_PLACE), _NUMBER, F.lit(None).cast("string").alias(_NAME), C.PEOPLE)


def _names(cells: DataFrame, j: int, most: int) -> DataFrame:
    value = F.col(C.kept(j))
    counted = cells.where(value.isNotNull()).groupBy(value.alias(_NAME)).agg(F.sum(C.PEOPLE).alias(C.PEOPLE))
    frequent = counted.orderBy(F.col(C.PEOPLE).desc(), _NAME).limit(min(most, MOST_NAMES))
    return frequent.select(F.lit(j).alias(_PLACE), F.lit(None).cast("double").alias(_NUMBER), _NAME, C.PEOPLE)


def _classes(found: pa.Table, *, number: bool, most: int) -> AttributeCodes:
    if number:
        ordered = found.sort_by(_NUMBER)
        values = ordered.column(_NUMBER).to_numpy().astype(np.float64)
        return NumberClasses.of(values, ordered.column(C.PEOPLE).to_numpy(), min(most, MOST_NUMBER_CLASSES))
    ordered = found.sort_by([(C.PEOPLE, "descending"), (_NAME, "ascending")])
    return NameClasses.of(ordered.column(_NAME).to_pylist(), min(most, MOST_NAMES))
