"""`audit`: the worst posteriors of a finished table of groups against the bare aggregation of its rows."""

from __future__ import annotations

from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, spark_session
from benchmarks.tables import GROUP, REGION, SEX, VALUE
from ppdp_spark.pipeline import check
from ppdp_spark.results import Run
from ppdp_spark.spec import ReleaseSpec

R = 2


def spec_of(source: str, model: str) -> ReleaseSpec:
    """r-robustness for two attribute sets, priors learned from the table."""
    priors = [{"attributes": [SEX]}, {"attributes": [REGION, SEX]}]
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "bench",
            "input": {"path": source, "format": "parquet"},
            "columns": {"group": GROUP, "sensitive": VALUE},
            "privacy": {"robustness": {"r": R, "model": model, "priors": priors}},
        }
    )


def measure(bench: Bench) -> None:
    model = bench.parameters["model"]
    with spark_session(bench) as spark:

        def count(rows: int, target: Path) -> None:
            pairs = spark.read.parquet(bench.table("signed", rows)).groupBy(GROUP, VALUE).count()
            pairs.write.format("noop").mode("overwrite").save()

        def ours(rows: int, target: Path) -> Run:
            return check(spec_of(bench.table("signed", rows), model), spark=spark)

        bring_into_cache(spark, bench, "signed", (GROUP, VALUE, SEX, REGION))
        run = bench.compare({"count by group": count, "audit": ours}, JobCount(spark))["audit"]
        robust = [row for row in run.verdict.rows if row.criterion == "robustness"]
        bench.note(
            groups=robust[0].groups,
            worst=max(row.value or 0.0 for row in robust),
            stages={stage["name"]: stage["seconds"] for stage in run.summary["stages"]},
        )
