"""`learn`: one round of the learned attack on a bucketized release, against the floor of the same rows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, floor_action, release_spec, spark_session
from benchmarks.tables import QUASI_IDENTIFIERS, SENSITIVE
from ppdp_spark.commands import anonymize, attack
from ppdp_spark.run.results import Run

PRIVACY = {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 2}}


def measure(bench: Bench) -> None:
    with spark_session(bench) as spark:

        @cache
        def release(rows: int) -> Path:
            target = bench.scratch / f"release-{rows}"
            spec = release_spec(
                bench.table("census", rows), target, output={"form": "bucketized"}, privacy=PRIVACY
            )
            anonymize(spec, spark=spark)
            return target

        def ours(rows: int, target: Path) -> Run:
            section = {"release": str(release(rows)), "learn": "naive_bayes"}
            spec = release_spec(bench.table("census", rows), target, attack=section, privacy=PRIVACY)
            return attack(spec, spark=spark)

        bring_into_cache(spark, bench, "census", (*QUASI_IDENTIFIERS, SENSITIVE))
        with bench.phase("making the release"):
            release(bench.rows)
        run = bench.compare({"floor": floor_action(spark, bench), "attack": ours}, JobCount(spark))["attack"]
        found = run.summary["attack"]
        bench.note(
            variables=found["source"]["variables"],
            rounds=found["steps"][-1]["solver"]["iterations"],
            stages={stage["name"]: stage["seconds"] for stage in run.summary["stages"]},
        )
