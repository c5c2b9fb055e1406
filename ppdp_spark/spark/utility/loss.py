"""Utility of a release from its table of groups, in one aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.data.attributes import Attribute
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.versions import to_arrow

_UNITS = 1_000_000
"""Penalties are summed in whole units: such sums do not depend on the order of addition."""


def group_metrics(
    groups: DataFrame, attributes: Sequence[Attribute], *, weighted: bool = False, rows: str | None = None
) -> dict[str, Any]:
    """Sizes, discernibility and certainty penalties, the latter also weighted if people have weights.

    How many rows people have is counted, too, if `rows` says so in SQL.

    where
        discernibility  Σ size² over groups [Bayardo & Agrawal 2005]
        ncp             mean normalized certainty penalty of each attribute over people [Xu et al. 2006]
        histogram       groups and people by size, in classes that double: 1, 2–3, 4–7, …
        weighted        sum of weights in units, and the mean penalties over the population that they make up
    """
    size = f"CAST({C.SIZE} AS BIGINT)"
    wanted = {
        "groups": "count(1)",
        "people": f"sum({size})",
        "smallest": f"min({size})",
        "largest": f"max({size})",
        "squares": f"sum(CAST({size} * {size} AS DECIMAL(38,0)))",
        "written": f"sum(CAST({rows or 0} AS BIGINT))",
    }
    for j in range(len(attributes)):
        units = f"CAST(round(element_at({C.PENALTY}, {j + 1}) * {_UNITS}) AS BIGINT)"
        wanted[f"penalty_{j}"] = f"sum({units} * {size})"
        if weighted:
            weight = f"CAST({C.POPULATION} AS DECIMAL(28,0))"
            wanted[f"weighted_{j}"] = f"sum({weight} * CAST({units} AS DECIMAL(9,0)))"
    if weighted:
        wanted["units"] = f"sum({C.POPULATION})"
    power = F.expr(f"CAST(floor(log2(CAST({C.SIZE} AS DOUBLE))) AS INT) AS power")
    columns = [F.expr(f"{expression} AS {name}") for name, expression in wanted.items()]
    classes = sorted(to_arrow(groups.groupBy(power).agg(*columns)).to_pylist(), key=lambda row: row["power"])
    people = sum(row["people"] for row in classes)
    ncp = {
        attribute.name: sum(row[f"penalty_{j}"] for row in classes) / _UNITS / max(1, people)
        for j, attribute in enumerate(attributes)
    }
    measured = {"weighted": _weighted(classes, attributes)} if weighted else {}
    return {
        "groups": sum(row["groups"] for row in classes),
        "people": people,
        "smallest": min((row["smallest"] for row in classes), default=0),
        "largest": max((row["largest"] for row in classes), default=0),
        "discernibility": int(sum(row["squares"] for row in classes)),
        "ncp": ncp,
        **({} if rows is None else {"written": sum(row["written"] for row in classes)}),
        "histogram": [_size_class(row) for row in classes],
        **measured,
    }


def _weighted(classes: Sequence[dict[str, Any]], attributes: Sequence[Attribute]) -> dict[str, Any]:
    """The sum of weights, and the penalty of each attribute where every person counts by weight."""
    units = sum(row["units"] for row in classes)
    ncp = {
        attribute.name: float(sum(row[f"weighted_{j}"] for row in classes)) / _UNITS / max(1, units)
        for j, attribute in enumerate(attributes)
    }
    return {"units": units, "ncp": ncp}


def _size_class(row: dict[str, Any]) -> dict[str, int]:
    first = 1 << row["power"]
    return {"from": first, "to": 2 * first - 1, "groups": row["groups"], "rows": row["people"]}
