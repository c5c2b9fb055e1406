"""`floor`: what Spark itself takes for the unavoidable parts."""

from __future__ import annotations

from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, count_action, floor_action, scan, spark_session
from benchmarks.tables import GROUP, QUASI_IDENTIFIERS, SENSITIVE, VALUE


def measure(bench: Bench) -> None:
    columns = (*QUASI_IDENTIFIERS, SENSITIVE)
    with spark_session(bench) as spark:

        def read(rows: int, target: Path) -> None:
            scan(spark, bench.table("census", rows), columns)

        bring_into_cache(spark, bench, "census", columns)
        bring_into_cache(spark, bench, "grouped", (GROUP, VALUE))
        runs = {
            "scan": read,
            "count by group": count_action(spark, bench),
            "floor": floor_action(spark, bench),
        }
        bench.compare(runs, JobCount(spark))
