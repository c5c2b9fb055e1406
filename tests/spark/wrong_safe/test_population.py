"""Groups that are large in the sample and stand for few people of the population, and the other way round."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, check, eligibility, verify
from ppdp_spark.errors import DataError, InfeasibleError, SpecError
from ppdp_spark.spark.partition import fragments

K, POPULATION = 4, 400
SPEC: dict[str, Any] = {
    "columns": {
        "identifiers": ["id"],
        "weight": "w",
        "quasi_identifiers": {"age": "numeric", "zip": "numeric"},
        "sensitive": "ill",
    },
    "privacy": {"k_anonymity": K, "l_diversity": {"kind": "distinct", "l": 2}},
    "output": {"bounds": "tight"},
}
DEMANDED = {**SPEC["privacy"], "estimated_population": POPULATION}


def surveyed(rows=240, seed=5) -> dict[str, list[Any]]:
    """People of whom the young were asked much more often than the old, with weights that are no sums of bits."""
    rng = random.Random(seed)
    age = [rng.randrange(20, 60) for _ in range(rows)]
    return {
        "id": list(range(rows)),
        "age": age,
        "zip": [rng.randrange(30) for _ in range(rows)],
        "w": [round(rng.choice([3.1, 7.7]) if a < 40 else rng.choice([120.4, 333.3]), 1) for a in age],
        "ill": [rng.choice("abcd") for _ in range(rows)],
    }


def changed(columns=None, privacy=None, **rest):
    found = {**SPEC, "columns": {**SPEC["columns"], **(columns or {})}, **rest}
    return {**found, "privacy": SPEC["privacy"] if privacy is None else privacy}


def units(weight) -> int:
    """Millionths of a person, as the decimal text of a weight says, rounded down."""
    return int(Decimal(repr(weight)) * 10**6 // 1)


def published(out: Path, table: str = "data") -> pd.DataFrame:
    return pd.read_parquet(out / "release" / table)


def sums_by_group(table, out: Path) -> dict[int, int]:
    """What each group stands for, by the ranges that are published: groups of Mondrian do not overlap."""
    sums: dict[int, int] = defaultdict(int)
    boxes = published(out).groupby("group_id").first()
    for age, place, weight in zip(table["age"], table["zip"], table["w"], strict=True):
        inside = boxes[
            boxes.age_min.le(age) & boxes.age_max.ge(age) & boxes.zip_min.le(place) & boxes.zip_max.ge(place)
        ]
        (group,) = inside.index
        sums[group] += units(weight)
    return sums


def row_of(run, criterion):
    (found,) = [row for row in run.verdict.rows if row.criterion == criterion]
    return found


def test_every_group_stands_for_so_many_people(run):
    """k people of the sample are few of the population among the young: that must not pass where it is demanded."""
    table = surveyed()
    alone, out = run(anonymize, table, SPEC, "alone")
    few = sums_by_group(table, out)
    measured = row_of(alone, "estimated_population")
    assert alone.ok and min(few.values()) < POPULATION * 10**6
    assert (measured.status, measured.value) == ("measured", min(few.values()) / 10**6)
    assert few[measured.witness["group"]] == min(few.values())
    together, out = run(anonymize, table, changed(privacy=DEMANDED))
    sums, found = sums_by_group(table, out), row_of(together, "estimated_population")
    assert together.ok and 1 < len(sums) < len(few)
    assert min(sums.values()) / 10**6 == found.value >= POPULATION and found.status == "pass"
    assert "estimated" in found.level and row_of(together, "k_anonymity").value >= K
