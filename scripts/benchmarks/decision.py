"""`suppress-decision`: how many rows of each value go, decided on counts alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import Bench
from benchmarks.suppress import EVERY_LTH, SEED
from benchmarks.tables import FREQUENT_PERCENT
from ppdp_spark.core.suppression.r import r_suppress


def skewed_counts(rows: int, values: int) -> NDArray[np.int64]:
    """Counts of so many values that add up to `rows`: one frequent value, Zipf after it."""
    first = rows * FREQUENT_PERCENT // 100
    weights = 1 / np.arange(1, values, dtype=np.float64)
    others = 1 + np.floor(weights / weights.sum() * (rows - first - values)).astype(np.int64)
    frequent = np.array([rows - int(others.sum())], np.int64)
    return np.concatenate([frequent, others])


def measure(bench: Bench) -> None:
    counts = skewed_counts(bench.rows, bench.parameters["values"])
    np.random.default_rng(SEED).shuffle(counts)

    def sort(rows: int, target: Path) -> Any:
        return np.sort(counts)

    def decide(rows: int, target: Path) -> Any:
        return r_suppress(counts, EVERY_LTH, random.Random(SEED))

    decided = bench.compare({"sort": sort, "decision": decide})["decision"]
    bench.note(suppressed=decided.rate)
