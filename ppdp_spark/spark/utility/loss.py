"""Utility of a release from its table of groups, in one aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.data.attributes import Attribute
from ppdp_spark.spark.engine import column_names as C

_UNITS = 1_000_000
"""Penalties are summed in whole units: such sums do not depend on the order of addition."""


def group_metrics(
    groups: DataFrame, attributes: Sequence[Attribute], *, rows: Column | None = None
) -> dict[str, Any]:
    """Sizes, discernibility and certainty penalties, and how many rows people have if a column says so.

    where
        discernibility  Σ size² over groups [Bayardo & Agrawal 2005]
        ncp             mean normalized certainty penalty of each attribute over people [Xu et al. 2006]
        histogram       groups and people by size, in classes that double: 1, 2–3, 4–7, …
    """
    size = F.col(C.SIZE).cast("bigint")
    wanted = {
        "groups": F.count(F.lit(1)),
        "people": F.sum(size),
        "smallest": F.min(size),
        "largest": F.max(size),
        "squares": F.sum((size * size).cast("decimal(38,0)")),
        "written": F.sum(F.lit(0) if rows is None else rows.cast("bigint")),
    }
    for j in range(len(attributes)):
        units = F.round(F.element_at(C.PENALTY, j + 1) * _UNITS).cast("bigint")
        wanted[f"penalty_{j}"] = F.sum(units * size)
    power = F.floor(F.log2(F.col(C.SIZE).cast("double"))).cast("int").alias("power")
    columns = [expression.alias(name) for name, expression in wanted.items()]
    classes = sorted(groups.groupBy(power).agg(*columns).toArrow().to_pylist(), key=lambda row: row["power"])
    people = sum(row["people"] for row in classes)
    ncp = {
        attribute.name: sum(row[f"penalty_{j}"] for row in classes) / _UNITS / max(1, people)
        for j, attribute in enumerate(attributes)
    }
    return {
        "groups": sum(row["groups"] for row in classes),
        "people": people,
        "smallest": min((row["smallest"] for row in classes), default=0),
        "largest": max((row["largest"] for row in classes), default=0),
        "discernibility": int(sum(row["squares"] for row in classes)),
        "ncp": ncp,
        **({} if rows is None else {"written": sum(row["written"] for row in classes)}),
        "histogram": [_size_class(row) for row in classes],
    }


def _size_class(row: dict[str, Any]) -> dict[str, int]:
    first = 1 << row["power"]
    return {"from": first, "to": 2 * first - 1, "groups": row["groups"], "rows": row["people"]}
