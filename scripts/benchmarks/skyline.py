"""`skyline`: `anonymize` with one skyline point for every value against k-anonymity on the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.anonymize import summary_facts
from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, release_spec, spark_session
from benchmarks.tables import QUASI_IDENTIFIERS, SENSITIVE
from ppdp_spark.commands import anonymize
from ppdp_spark.run.results import Run

BASELINE, SUBJECT = "k-anonymity", "skyline"


def measure(bench: Bench) -> None:
    compare_releases(bench, "census", (*QUASI_IDENTIFIERS, SENSITIVE), {})


def compare_releases(bench: Bench, kind: str, read: tuple[str, ...], columns: dict[str, Any]) -> None:
    """Both releases of the same table; `columns` are those of the spec that are not the census's."""
    point = {name: bench.parameters[name] for name in ("l", "k", "m", "c")}
    privacy = {
        BASELINE: {"k_anonymity": bench.parameters["against_k"]},
        SUBJECT: {"skyline": {"default": [point]}},
    }
    with spark_session(bench) as spark:

        def release(name: str, rows: int, target: Path) -> Run:
            spec = release_spec(bench.table(kind, rows), target, privacy=privacy[name], columns=columns)
            return anonymize(spec, spark=spark)

        bring_into_cache(spark, bench, kind, read)
        runs = {
            BASELINE: lambda rows, target: release(BASELINE, rows, target),
            SUBJECT: lambda rows, target: release(SUBJECT, rows, target),
        }
        found = bench.compare(runs, JobCount(spark))
        bench.note(**summary_facts(found[SUBJECT]))
        if BASELINE in found:
            bench.note(baseline=summary_facts(found[BASELINE]))
