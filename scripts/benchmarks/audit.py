"""`audit`: the worst posteriors of a finished table of groups against the bare aggregation of its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, count_action, grouped_spec, spark_session
from benchmarks.tables import GROUP, REGION, SEX, VALUE
from ppdp_spark.commands import check
from ppdp_spark.run.results import Run
from ppdp_spark.spec import ReleaseSpec

R = 2


def spec_of(source: str, model: str) -> ReleaseSpec:
    """r-robustness for two attribute sets, priors learned from the table."""
    priors = [{"attributes": [SEX]}, {"attributes": [REGION, SEX]}]
    columns: dict[str, Any] = {"quasi_identifiers": {SEX: {}, REGION: {}}}
    privacy = {"robustness": {"r": R, "model": model, "priors": priors}}
    return grouped_spec(source, columns=columns, privacy=privacy)


def measure(bench: Bench) -> None:
    model = bench.parameters["model"]
    with spark_session(bench) as spark:

        def ours(rows: int, target: Path) -> Run:
            return check(spec_of(bench.table("signed", rows), model), spark=spark)

        bring_into_cache(spark, bench, "signed", (GROUP, VALUE, SEX, REGION))
        runs = {"count by group": count_action(spark, bench, "signed"), "audit": ours}
        run = bench.compare(runs, JobCount(spark))["audit"]
        robust = [row for row in run.verdict.rows if row.criterion == "robustness"]
        bench.note(
            groups=robust[0].groups,
            worst=max(row.value or 0.0 for row in robust),
            stages={stage["name"]: stage["seconds"] for stage in run.summary["stages"]},
        )
