"""Our side of a comparison with other implementations: the whole command, and the kernel alone."""

from __future__ import annotations

from pathlib import Path

from benchmarks.anonymize import summary_facts
from benchmarks.bench import Bench
from benchmarks.coded import Coded
from benchmarks.on_spark import release_spec, spark_session
from ppdp_spark.commands import anonymize
from ppdp_spark.run.results import Run


def run_ours(bench: Bench, coded: Coded) -> None:
    """Runs `anonymize` (read, partition, write, verify; warm) and `kernel`; Spark is down afterwards."""
    k = bench.parameters["k"]
    with spark_session(bench) as spark:

        def whole(rows: int, target: Path) -> Run:
            spec = release_spec(bench.table("census", rows), target, privacy={"k_anonymity": k})
            return anonymize(spec, spark=spark)

        bench.warm_up(whole)
        for _ in range(bench.repeats):
            run = bench.run("anonymize", whole, bench.rows)
    found = summary_facts(run)
    bench.note(ours={key: found[key] for key in ("verdict", "groups", "mean_size", "ncp")})
    coded.partition(k)
    bench.run("kernel", lambda rows, target: coded.partition(k), bench.rows)
