"""`suppress`: suppression of frequent values on Spark against a copy of the same columns."""

from __future__ import annotations

from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, release_spec, spark_session
from benchmarks.tables import PERSON, QUASI_IDENTIFIERS, SENSITIVE
from ppdp_spark.commands import suppress
from ppdp_spark.run.results import Run

EVERY_LTH = 4
"""l: at most a quarter of the people may have one value, and more do."""

SEED = 1
"""Fixed, so that every run takes the same number of rows away; nothing is published here."""


def measure(bench: Bench) -> None:
    wanted = {"method": "r", "l": EVERY_LTH, "budget": 1.0, "unsafe_fixed_seed": SEED}
    columns = (PERSON, *QUASI_IDENTIFIERS, SENSITIVE)
    with spark_session(bench) as spark:

        def copy(rows: int, target: Path) -> None:
            spark.read.parquet(bench.table("skewed", rows)).select(*columns).write.parquet(str(target))

        def ours(rows: int, target: Path) -> Run:
            source = bench.table("skewed", rows)
            spec = release_spec(source, target, columns={"identifiers": [PERSON]}, suppression=wanted)
            return suppress(spec, spark=spark)

        bring_into_cache(spark, bench, "skewed", columns)
        run = bench.compare({"copy": copy, "suppress": ours}, JobCount(spark))["suppress"]
        stages = {stage["name"]: stage["seconds"] for stage in run.summary["stages"]}
        bench.note(suppressed=run.summary["suppression"]["rate"], stages=stages)
