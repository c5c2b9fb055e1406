"""How good groups are: what their descriptions lose, and how well they answer queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from ppdp_spark.run.results import Stages
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.utility.loss import group_metrics
from ppdp_spark.spark.utility.queries import query_error


@dataclass(frozen=True)
class Questions:
    """What queries are about.

    where
        rows    encoded rows of all people that the release is about, those suppressed included
        people  how many there are
        number  of queries to draw
    """

    rows: DataFrame
    people: int
    number: int


def measure(groups: DataFrame, layout: Layout, stages: Stages, asked: Questions | None) -> dict[str, Any]:
    """The metrics of described groups, and the error of queries if any are asked."""
    with stages.stage("measure") as counts:
        rows = f"size({C.SENSITIVE})" if layout.of_rows else None
        metrics = group_metrics(groups, layout.attributes, weighted=layout.weighted, rows=rows)
        counts["groups"] = metrics["groups"]
    if asked is not None:
        with stages.stage("query") as counts:
            counts["rows"] = asked.people
            found = query_error(asked.rows, groups, layout, number=asked.number, people=asked.people)
            metrics["queries"] = found
            if found is not None and "weighted" in found:
                metrics["weighted"]["queries"] = found.pop("weighted")
    return metrics
