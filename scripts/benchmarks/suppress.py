"""`suppress`: suppression of frequent values on Spark, and `suppress-decision`: its arithmetic alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, release_spec, scan, spark_session
from benchmarks.scenario import Options, Parameters, Scenario
from benchmarks.tables import FREQUENT_PERCENT, PERSON, QUASI_IDENTIFIERS, SENSITIVE
from ppdp_spark.core.suppression import r_suppress
from ppdp_spark.pipeline import suppress
from ppdp_spark.results import Run

EVERY_LTH = 4
"""l: at most a quarter of the people may have one value, and more do."""

SEED = 1
"""Fixed, so that every run takes the same number of rows away; nothing is published here."""

DISTINCT_VALUES = 1_000_000


def measure(bench: Bench) -> None:
    wanted = {"method": "r", "l": EVERY_LTH, "budget": 1.0, "unsafe_fixed_seed": SEED}
    with spark_session(bench) as spark:

        def copy(rows: int, target: Path) -> None:
            table = spark.read.parquet(bench.table("skewed", rows))
            table.select(PERSON, *QUASI_IDENTIFIERS, SENSITIVE).write.parquet(str(target))

        def ours(rows: int, target: Path) -> Run:
            source = bench.table("skewed", rows)
            spec = release_spec(source, target, columns={"identifiers": [PERSON]}, suppression=wanted)
            return suppress(spec, spark=spark)

        if not bench.parameters.get("cold"):
            with bench.phase("reading the input once"):
                scan(spark, bench.table("skewed", bench.rows), (PERSON, *QUASI_IDENTIFIERS, SENSITIVE))
        run = bench.compare({"copy": copy, "suppress": ours}, JobCount(spark))["suppress"]
        stages = {stage["name"]: stage["seconds"] for stage in run.summary["stages"]}
        bench.note(suppressed=run.summary["suppression"]["rate"], stages=stages)


def skewed_counts(rows: int, values: int) -> NDArray[np.int64]:
    """Counts of so many values that add up to `rows`: one frequent value, Zipf after it."""
    first = rows * FREQUENT_PERCENT // 100
    weights = 1 / np.arange(1, values, dtype=np.float64)
    others = 1 + np.floor(weights / weights.sum() * (rows - first - values)).astype(np.int64)
    return np.concatenate([[rows - int(others.sum())], others]).astype(np.int64)


def measure_decision(bench: Bench) -> None:
    counts = skewed_counts(bench.rows, bench.parameters["values"])
    np.random.default_rng(SEED).shuffle(counts)

    def sort(rows: int, target: Path) -> Any:
        return np.sort(counts)

    def decide(rows: int, target: Path) -> Any:
        return r_suppress(counts, EVERY_LTH, random.Random(SEED))

    decided = bench.compare({"sort": sort, "decision": decide})["decision"]
    bench.note(suppressed=decided.rate)


def variants(options: Options) -> list[Parameters]:
    return [options.spark()]


def decision_variants(options: Options) -> list[Parameters]:
    return [{"values": DISTINCT_VALUES, **options.temperature()}]


SCENARIO = Scenario(
    name="suppress",
    about="ppdp suppress of a census where 30 % share a value, against reading and writing the same columns",
    rows=(10_000_000,),
    variants=variants,
    measure=measure,
    ratio=("suppress", "copy"),
    tables=("skewed",),
    facts={"rows suppressed": "suppressed"},
)

DECISION = Scenario(
    name="suppress-decision",
    about="the decision of R-suppression on the counts of a million values, against a sort of the counts",
    rows=(1_000_000_000,),
    variants=decision_variants,
    measure=measure_decision,
    ratio=("decision", "sort"),
    fixed_rows=True,
    facts={"rows suppressed": "suppressed"},
)
