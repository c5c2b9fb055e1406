"""`anonymize`: the whole command against the floor of the same rows, in the same session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, floor_action, release_spec, spark_session
from benchmarks.tables import QUASI_IDENTIFIERS, SENSITIVE
from ppdp_spark.commands import anonymize
from ppdp_spark.run.results import Run


def measure(bench: Bench) -> None:
    k, form = bench.parameters["k"], bench.parameters["form"]
    with spark_session(bench) as spark:

        def ours(rows: int, target: Path) -> Run:
            source = bench.table("census", rows)
            spec = release_spec(source, target, privacy={"k_anonymity": k}, output={"form": form})
            return anonymize(spec, spark=spark)

        bring_into_cache(spark, bench, "census", (*QUASI_IDENTIFIERS, SENSITIVE))
        runs = {"floor": floor_action(spark, bench), "anonymize": ours}
        bench.note(**summary_facts(bench.compare(runs, JobCount(spark))["anonymize"]))


def summary_facts(run: Run) -> dict[str, Any]:
    """What the run says of itself: its verdict, seconds of stages, quality."""
    metrics = run.summary["metrics"]
    stages = {stage["name"]: stage["seconds"] for stage in run.summary["stages"]}
    between = max(0.0, run.summary["seconds"] - sum(stages.values()))
    return {
        "verdict": "pass" if run.ok else "fail",
        "stages": {**stages, "between": round(between, 3)},
        "groups": run.summary["release"]["groups"],
        "mean_size": metrics["sizes"]["mean"],
        "ncp": metrics["gcp"],
    }
