"""`width`: `anonymize` by the number of quasi-identifiers, against the floor of the same columns."""

from __future__ import annotations

from pathlib import Path

from benchmarks.anonymize import summary_facts
from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, spark_session
from benchmarks.tables import SENSITIVE, WIDE
from ppdp_spark.commands import anonymize
from ppdp_spark.run.results import Run
from ppdp_spark.spec import ReleaseSpec


def measure(bench: Bench) -> None:
    names = WIDE[: bench.parameters["quasi_identifiers"]]
    with spark_session(bench) as spark:

        def floor(rows: int, target: Path) -> None:
            table = spark.read.parquet(bench.table("wide", rows)).select(*names, SENSITIVE)
            table.repartitionByRange(names[0]).write.parquet(str(target))

        def ours(rows: int, target: Path) -> Run:
            plain = {
                "version": 1,
                "dataset": "bench",
                "input": {"path": bench.table("wide", rows), "format": "parquet"},
                "columns": {"quasi_identifiers": {name: {} for name in names}, "sensitive": SENSITIVE},
                "privacy": {"k_anonymity": bench.parameters["k"]},
                "output": {"path": str(target)},
            }
            return anonymize(ReleaseSpec.parse(plain), spark=spark)

        bring_into_cache(spark, bench, "wide", (*names, SENSITIVE))
        found = bench.compare({"floor": floor, "anonymize": ours}, JobCount(spark))
        bench.note(**summary_facts(found["anonymize"]))
