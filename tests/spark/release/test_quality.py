"""Speed is not bought with quality: the groups of a whole run are as good as those of sequential Mondrian."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
import pytest

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.spark.synthetic.census import census

pytestmark = pytest.mark.slow

K = 10
ROWS = 100_000
NUMBERS = ("age", "hours", "birth_date")
NAMES = (*NUMBERS, "sex", "education", "marital", "race", "state")


def sequential(codes: np.ndarray) -> list[np.ndarray]:
    """Strict Mondrian, group after group: the widest attribute, cut around its median, k on each side."""
    domain = np.maximum(1, codes.max(axis=0) - codes.min(axis=0))
    waiting, done = [np.arange(len(codes))], []
    while waiting:
        people = waiting.pop()
        part = codes[people]
        ranges = (part.max(axis=0) - part.min(axis=0)) / domain
        for j in np.argsort(-ranges, kind="stable"):
            values = part[:, j]
            median = np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2]
            sides = max((values <= median, values < median), key=lambda left: min(left.sum(), (~left).sum()))
            if min(sides.sum(), (~sides).sum()) >= K:
                waiting += [people[sides], people[~sides]]
                break
        else:
            done.append(people)
    return done


def penalty(codes: np.ndarray, groups: list[np.ndarray]) -> float:
    """Mean certainty penalty over people and attributes: ranges of numbers, numbers of categories."""
    domain = np.maximum(1, codes.max(axis=0) - codes.min(axis=0))
    total = 0.0
    for people in groups:
        part = codes[people]
        shares = (part.max(axis=0) - part.min(axis=0)) / domain
        for j in range(len(NUMBERS), codes.shape[1]):
            shares[j] = (len(np.unique(part[:, j])) - 1) / domain[j]
        total += len(people) * shares.mean()
    return total / len(codes)


def test_as_good_as_sequential_mondrian(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("ppdp_spark.spark.partition.fragments.FRAGMENT_ROWS", 20_000)
    monkeypatch.setattr("ppdp_spark.spark.partition.fragments.FRAGMENT_SAMPLE_ROWS", 1_000)
    census(spark, ROWS).select(*NAMES, "occupation").write.parquet(str(tmp_path / "census.parquet"))
    spec = ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "census",
            "input": {"path": str(tmp_path / "census.parquet")},
            "columns": {"quasi_identifiers": {name: {} for name in NAMES}, "sensitive": "occupation"},
            "privacy": {"k_anonymity": K},
            "output": {"path": str(tmp_path / "out")},
        }
    )
    found = anonymize(spec, spark=spark).summary["metrics"]
    table = spark.read.parquet(str(tmp_path / "census.parquet")).toArrow()
    assert not any(table.column(name).null_count for name in NAMES)
    ranked = [pc.rank(table.column(name), tiebreaker="dense").to_numpy() for name in NAMES[len(NUMBERS) :]]
    numbers = [table.column(name).cast("int32").to_numpy() for name in NUMBERS]
    codes = np.stack([*numbers, *ranked], axis=1).astype(np.int64)
    groups = sequential(codes)
    assert found["sizes"]["mean"] <= 1.02 * ROWS / len(groups)
    assert found["gcp"] <= 1.02 * penalty(codes, groups)
