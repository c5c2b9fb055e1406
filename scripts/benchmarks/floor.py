"""`floor`: what Spark itself takes for the unavoidable parts."""

from __future__ import annotations

from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, floor_action, scan, spark_session
from benchmarks.scenario import Options, Parameters, Scenario
from benchmarks.tables import GROUP, QUASI_IDENTIFIERS, SENSITIVE, VALUE


def variants(options: Options) -> list[Parameters]:
    return [options.spark()]


def measure(bench: Bench) -> None:
    with spark_session(bench) as spark:

        def read(rows: int, target: Path) -> None:
            scan(spark, bench.table("census", rows), (*QUASI_IDENTIFIERS, SENSITIVE))

        def count(rows: int, target: Path) -> None:
            pairs = spark.read.parquet(bench.table("grouped", rows)).groupBy(GROUP, VALUE).count()
            pairs.write.format("noop").mode("overwrite").save()

        read(bench.rows, bench.scratch)
        count(bench.rows, bench.scratch)
        runs = {"scan": read, "count by group": count, "floor": floor_action(spark, bench)}
        bench.compare(runs, JobCount(spark))


SCENARIO = Scenario(
    name="floor",
    about="Spark alone: read, one range shuffle, write; a bare groupBy(group, sensitive).count(); a scan",
    rows=(1_000_000, 10_000_000),
    variants=variants,
    measure=measure,
    ratio=("floor", "scan"),
    tables=("census", "grouped"),
)
