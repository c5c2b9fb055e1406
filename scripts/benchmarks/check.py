"""`check`: the verdict on a finished table against the bare aggregation it cannot do without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, scan, spark_session
from benchmarks.scenario import Options, Parameters, Scenario
from benchmarks.tables import GROUP, VALUE, VALUES
from ppdp_spark.pipeline import check
from ppdp_spark.results import Run
from ppdp_spark.spec import ReleaseSpec

POINTS = 20


def variants(options: Options) -> list[Parameters]:
    return [{"points": points, **options.spark()} for points in (0, POINTS)]


def spec_of(source: str, points: int) -> ReleaseSpec:
    """k-anonymity, and so many skyline points (none covers another) for every sensitive value."""
    privacy: dict[str, Any] = {"k_anonymity": 2}
    if points:
        skyline = [{"l": i % VALUES, "k": points - i, "m": 1 + i % 3, "c": 0.95} for i in range(points)]
        privacy["skyline"] = {"default": skyline}
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "bench",
            "input": {"path": source, "format": "parquet"},
            "columns": {"group": GROUP, "sensitive": VALUE},
            "privacy": privacy,
        }
    )


def measure(bench: Bench) -> None:
    with spark_session(bench) as spark:

        def count(rows: int, target: Path) -> None:
            pairs = spark.read.parquet(bench.table("grouped", rows)).groupBy(GROUP, VALUE).count()
            pairs.write.format("noop").mode("overwrite").save()

        def ours(rows: int, target: Path) -> Run:
            return check(spec_of(bench.table("grouped", rows), bench.parameters["points"]), spark=spark)

        if not bench.parameters.get("cold"):
            with bench.phase("reading the input once"):
                scan(spark, bench.table("grouped", bench.rows), (GROUP, VALUE))
        run = bench.compare({"count by group": count, "check": ours}, JobCount(spark))["check"]
        stages = {stage["name"]: stage["seconds"] for stage in run.summary["stages"]}
        bench.note(groups=run.summary["release"]["groups"], stages=stages)


SCENARIO = Scenario(
    name="check",
    about="ppdp check of groups of 20 people, 20 values, against a bare groupBy(group, sensitive).count()",
    rows=(20_000_000,),
    variants=variants,
    measure=measure,
    ratio=("check", "count by group"),
    tables=("grouped",),
    facts={"groups": "groups"},
)
