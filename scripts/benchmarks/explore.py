"""`explore`: the knowledge skyline of every value of a table of groups, against the bare aggregation."""

from __future__ import annotations

from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, count_action, grouped_spec, spark_session
from benchmarks.tables import GROUP, VALUE
from ppdp_spark.commands import explore
from ppdp_spark.run.results import Run


def measure(bench: Bench) -> None:
    with spark_session(bench) as spark:

        def ours(rows: int, target: Path) -> Run:
            wanted = {"values": ["value 1"], "confidence": [0.5, 0.95]}
            return explore(grouped_spec(bench.table("grouped", rows), explore=wanted), spark=spark)

        bring_into_cache(spark, bench, "grouped", (GROUP, VALUE))
        runs = {"count by group": count_action(spark, bench), "explore": ours}
        run = bench.compare(runs, JobCount(spark))["explore"]
        stages = {stage["name"]: stage["seconds"] for stage in run.summary["stages"]}
        points = sum(len(skyline["points"]) for skyline in run.summary["knowledge"])
        bench.note(
            groups=run.summary["release"]["groups"], points=points, driver=stages["explore"], stages=stages
        )
