"""`art`: people placed bottom-up into r-robust groups against ℓ-diverse Mondrian on the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.anonymize import summary_facts
from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, release_spec, spark_session
from benchmarks.tables import QUASI_IDENTIFIERS, SENSITIVE
from ppdp_spark.commands import anonymize
from ppdp_spark.run.results import Run

BASELINE, SUBJECT = "mondrian", "art"
ATTRIBUTE_SETS = (("sex",), ("education", "sex"), ("age", "sex"))


def measure(bench: Bench) -> None:
    sections = specs(bench.parameters["r"], bench.parameters["model"])
    with spark_session(bench) as spark:

        def release(name: str, rows: int, target: Path) -> Run:
            source, output = bench.table("census", rows), {"form": "bucketized"}
            return anonymize(release_spec(source, target, output=output, **sections[name]), spark=spark)

        bring_into_cache(spark, bench, "census", (*QUASI_IDENTIFIERS, SENSITIVE))
        runs = {
            BASELINE: lambda rows, target: release(BASELINE, rows, target),
            SUBJECT: lambda rows, target: release(SUBJECT, rows, target),
        }
        found = bench.compare(runs, JobCount(spark))
        suppressed = found[SUBJECT].summary["release"]["suppressed"]["rate"]
        bench.note(**summary_facts(found[SUBJECT]), suppressed=suppressed)
        if BASELINE in found:
            bench.note(baseline=summary_facts(found[BASELINE]))


def specs(r: int, model: str) -> dict[str, dict[str, Any]]:
    """At equal r: no value has more than 1/r of a group; nor, with ART, of what a reader infers."""
    priors = [{"attributes": list(attributes)} for attributes in ATTRIBUTE_SETS]
    return {
        BASELINE: {"privacy": {"alpha_k": {"alpha": 1 / r, "k": 2}}},
        SUBJECT: {
            "partitioner": "art",
            "privacy": {"robustness": {"r": r, "model": model, "priors": priors}},
        },
    }
