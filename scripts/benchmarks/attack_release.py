"""`attack-release`: `ppdp attack` of a bucketized release on Spark, against a bare count of its people."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, release_spec, spark_session
from benchmarks.tables import QUASI_IDENTIFIERS, SENSITIVE
from ppdp_spark.commands import anonymize, attack
from ppdp_spark.run.results import Run

PRIVACY = {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 2}}
ATTRIBUTES = [1, 2]


def measure(bench: Bench) -> None:
    half = int(bench.parameters["statements"]) // 2
    with spark_session(bench) as spark:

        @cache
        def release(rows: int) -> Path:
            target = bench.scratch / f"release-{rows}"
            output = {"form": "bucketized"}
            spec = release_spec(bench.table("census", rows), target, output=output, privacy=PRIVACY)
            anonymize(spec, spark=spark)
            return target

        def count(rows: int, target: Path) -> None:
            people = spark.read.parquet(str(release(rows) / "release/data/qi"))
            people.groupBy("group_id").count().write.format("noop").mode("overwrite").save()

        def ours(rows: int, target: Path) -> Run:
            source = bench.table("census", rows)
            mine = {"positive": [half], "negative": [half], "attributes": ATTRIBUTES, "support": 3}
            section = {"release": str(release(rows)), "original": source, "mine": mine}
            spec = release_spec(source, target, attack=section, privacy=PRIVACY)
            return attack(spec, spark=spark)

        bring_into_cache(spark, bench, "census", (*QUASI_IDENTIFIERS, SENSITIVE))
        with bench.phase("making the release"):
            release(bench.rows)
        run = bench.compare({"count by group": count, "attack": ours}, JobCount(spark))["attack"]
        found = run.summary["attack"]
        (step,) = found["steps"]
        bench.note(
            buckets=found["source"]["buckets"],
            variables=found["source"]["variables"],
            touched=found["source"]["touched_buckets"],
            solver=step["solver"],
            largest=step["max_posterior"],
            stages={stage["name"]: stage["seconds"] for stage in run.summary["stages"]},
        )
