"""`check`: the verdict on a finished table against the bare aggregation it cannot do without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, count_action, grouped_spec, spark_session
from benchmarks.tables import GROUP, VALUE, VALUES
from ppdp_spark.commands import check
from ppdp_spark.run.results import Run
from ppdp_spark.spec import ReleaseSpec


def spec_of(source: str, points: int) -> ReleaseSpec:
    """k-anonymity, and so many skyline points (none covers another) for every sensitive value."""
    privacy: dict[str, Any] = {"k_anonymity": 2}
    if points:
        skyline = [{"l": i % VALUES, "k": points - i, "m": 1 + i % 3, "c": 0.95} for i in range(points)]
        privacy["skyline"] = {"default": skyline}
    return grouped_spec(source, privacy=privacy)


def measure(bench: Bench) -> None:
    with spark_session(bench) as spark:

        def ours(rows: int, target: Path) -> Run:
            return check(spec_of(bench.table("grouped", rows), bench.parameters["points"]), spark=spark)

        bring_into_cache(spark, bench, "grouped", (GROUP, VALUE))
        runs = {"count by group": count_action(spark, bench), "check": ours}
        run = bench.compare(runs, JobCount(spark))["check"]
        stages = {stage["name"]: stage["seconds"] for stage in run.summary["stages"]}
        bench.note(groups=run.summary["release"]["groups"], stages=stages)
