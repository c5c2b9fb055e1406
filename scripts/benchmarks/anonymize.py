"""`anonymize`: the whole command against the floor of the same rows, in the same session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, floor_action, release_spec, scan, spark_session
from benchmarks.scenario import Options, Parameters, Scenario
from benchmarks.tables import QUASI_IDENTIFIERS, SENSITIVE
from ppdp_spark.pipeline import anonymize
from ppdp_spark.results import Run


def variants(options: Options) -> list[Parameters]:
    return [{"k": k, "form": form, **options.spark()} for form in options.forms for k in options.k]


def measure(bench: Bench) -> None:
    k, form = bench.parameters["k"], bench.parameters["form"]
    with spark_session(bench) as spark:

        def ours(rows: int, target: Path) -> Run:
            source = bench.table("census", rows)
            spec = release_spec(source, target, privacy={"k_anonymity": k}, output={"form": form})
            return anonymize(spec, spark=spark)

        if not bench.parameters.get("cold"):
            with bench.phase("reading the input once"):
                scan(spark, bench.table("census", bench.rows), (*QUASI_IDENTIFIERS, SENSITIVE))
        runs = {"floor": floor_action(spark, bench), "anonymize": ours}
        bench.note(**summary_facts(bench.compare(runs, JobCount(spark))["anonymize"]))


def summary_facts(run: Run) -> dict[str, Any]:
    """What the run says of itself: its verdict, seconds of stages, quality."""
    metrics = run.summary["metrics"]
    return {
        "verdict": "pass" if run.ok else "fail",
        "stages": {stage["name"]: stage["seconds"] for stage in run.summary["stages"]},
        "groups": run.summary["release"]["groups"],
        "mean_size": metrics["sizes"]["mean"],
        "ncp": metrics["gcp"],
    }


SCENARIO = Scenario(
    name="anonymize",
    about="ppdp anonymize on a census, 8 quasi-identifiers, from reading to the verified release",
    rows=(1_000_000, 10_000_000),
    variants=variants,
    measure=measure,
    ratio=("anonymize", "floor"),
    tables=("census",),
    facts={"verdict": "verdict", "people a group": "mean_size", "NCP": "ncp"},
)
