"""`discover`: all minimal sets of columns that single people out, against the floor of the same columns."""

from __future__ import annotations

from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, spark_session
from benchmarks.tables import COLUMNS
from ppdp_spark import discover
from ppdp_spark.run.discovery import Discovery


def measure(bench: Bench) -> None:
    names = [f"column{i}" for i in range(COLUMNS)]
    with spark_session(bench) as spark:

        def floor(rows: int, target: Path) -> None:
            table = spark.read.parquet(bench.table("columns", rows))
            table.repartitionByRange(names[-1]).write.parquet(str(target))

        def ours(rows: int, target: Path) -> Discovery:
            return discover(bench.table("columns", rows), spark=spark)

        bring_into_cache(spark, bench, "columns", tuple(names))
        found = bench.compare({"floor": floor, "discover": ours}, JobCount(spark))["discover"]
        bench.note(sets=len(found.sets))
