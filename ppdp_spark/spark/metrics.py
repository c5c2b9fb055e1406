"""Utility of a release from its table of groups, in one aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.attributes import Attribute, Ordered
from ppdp_spark.spark import columns as C


def group_metrics(groups: DataFrame, attributes: Sequence[Attribute]) -> dict[str, Any]:
    """Sizes, discernibility, certainty penalties, and how many distinct descriptions each attribute has.

    where
        discernibility  Σ size² over groups [Bayardo & Agrawal 2005]
        ncp             mean normalized certainty penalty of each attribute over people [Xu et al. 2006]
        distinct        approximate number of lower bounds or labels of each attribute
    """
    size = F.col(C.SIZE).cast("bigint")
    wanted = [
        F.count(F.lit(1)).alias("groups"),
        F.sum(size).alias("people"),
        F.min(size).alias("smallest"),
        F.max(size).alias("largest"),
        F.sum((size * size).cast("decimal(38,0)")).alias("discernibility"),
    ]
    for j, attribute in enumerate(attributes):
        first = C.low(j) if isinstance(attribute, Ordered) else C.label(j)
        # Exact sums of micro-units do not depend on the order of addition.
        penalty = F.round(F.element_at(C.PENALTY, j + 1) * 1e9).cast("bigint").cast("decimal(38,0)") * size
        wanted += [
            F.approx_count_distinct(first).alias(f"distinct_{j}"),
            F.sum(penalty).alias(f"penalty_{j}"),
        ]
    found = groups.agg(*wanted).first().asDict()
    people = int(found["people"] or 0)
    ncp = {a.name: float(found[f"penalty_{j}"] or 0) / 1e9 / max(1, people) for j, a in enumerate(attributes)}
    return {
        "groups": int(found["groups"]),
        "people": people,
        "smallest": int(found["smallest"] or 0),
        "largest": int(found["largest"] or 0),
        "discernibility": int(found["discernibility"] or 0),
        "ncp": ncp,
        "distinct": [int(found[f"distinct_{j}"]) for j in range(len(attributes))],
    }


def size_histogram(groups: DataFrame) -> list[dict[str, int]]:
    """Groups and people by size, in classes that double: 1, 2–3, 4–7, …"""
    power = F.floor(F.log2(F.col(C.SIZE).cast("double"))).cast("int")
    found = groups.groupBy(power.alias("power")).agg(F.count(F.lit(1)), F.sum(C.SIZE)).toArrow().to_pylist()
    rows = sorted(tuple(row.values()) for row in found)
    return [
        {"from": 1 << power, "to": (1 << power + 1) - 1, "groups": groups, "rows": people}
        for power, groups, people in rows
    ]
