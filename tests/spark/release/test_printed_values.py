"""Nobody's own value is the edge of a box, unless the spec asks for tight bounds."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

from ppdp_spark import anonymize, verify
from ppdp_spark.errors import DataError
from support.released.edges import outside, read_in_print

ROWS = 3_000
MIDNIGHT = dt.datetime(2021, 3, 1, tzinfo=dt.timezone.utc)


def people() -> pa.Table:
    """Ordered columns of all kinds: dense ones with a lonely tail, sparse ones, ends of types, nulls."""
    rng = random.Random("edges")
    draw = range(ROWS)
    age = [min(80, 17 + int(rng.expovariate(1 / 20))) for _ in draw]
    age[:3] = [90, 88, None]
    return pa.table(
        {
            "age": pa.array(age, pa.int8()),
            "income": pa.array([round(rng.lognormvariate(10, 1)) for _ in draw], pa.int64()),
            "height": pa.array([None if rng.random() < 0.02 else rng.gauss(170, 9) for _ in draw]),
            "share": pa.array([rng.randrange(4_000) / 100 - 20 for _ in draw], pa.float32()),
            "paid": pa.array([Decimal(rng.randrange(99_999)) / 100 for _ in draw], pa.decimal128(10, 2)),
            "born": pa.array([dt.date(1930, 1, 1) + dt.timedelta(rng.randrange(30_000)) for _ in draw]),
            "seen": pa.array(
                [MIDNIGHT + dt.timedelta(hours=rng.randrange(9_000)) for _ in draw],
                pa.timestamp("us", tz="UTC"),
            ),
            "local": pa.array(
                [dt.datetime(1969, 12, 1) + dt.timedelta(seconds=rng.randrange(6_000_000)) for _ in draw],
                pa.timestamp("us"),
            ),
            "job": pa.array([rng.choice("abcd") for _ in draw]),
        }
    )


def framed(spark: Any, table: pa.Table) -> Any:
    """The table for Spark, which takes local times for moments where it is not told."""
    return spark.createDataFrame(table).withColumn("local", F.col("local").cast("timestamp_ntz"))


def spec(out: Path, *names: str, **output: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "dataset": "edges",
        "columns": {"quasi_identifiers": {name: {} for name in names}, "sensitive": "job"},
        "privacy": {"k_anonymity": 5},
        "output": {"path": str(out), **output},
    }


PAIRS = [("age", "income"), ("height", "share"), ("paid", "born"), ("seen", "local")]


@pytest.mark.parametrize(
    "names",
    [pair if pair in PAIRS[::3] else pytest.param(pair, marks=pytest.mark.slow) for pair in PAIRS],
    ids="-".join,
)
def test_nobody_finds_their_own_value_in_print(spark, tmp_path, names):
    table = people()
    run = anonymize(spec(tmp_path / "out", *names), table=framed(spark, table))
    found = read_in_print(tmp_path / "out", table)
    assert {name: printed for name, (printed, _) in found.items()} == dict.fromkeys(names, 0)
    assert all(single for _, single in found.values())
    (row,) = [row for row in run.verdict.rows if row.criterion == "printed_values"]
    assert (row.status, row.value, row.threshold) == ("pass", 0.0, 0.0)
    assert outside(tmp_path / "out", table, {name: name for name in names}) == 0


def test_tight_bounds_print_what_the_verdict_counts(spark, tmp_path):
    table = people()
    run = anonymize(
        spec(tmp_path / "out", "age", "income", bounds="tight"), table=spark.createDataFrame(table)
    )
    found = read_in_print(tmp_path / "out", table)
    (row,) = [row for row in run.verdict.rows if row.criterion == "printed_values"]
    assert row.status == "measured" and row.value == sum(printed for printed, _ in found.values()) > 100


def test_verify_derives_the_grid_again_and_says_what_it_cannot_see(spark, tmp_path):
    anonymize(spec(tmp_path / "out", "age", "income"), table=spark.createDataFrame(people()))
    rows = {row.criterion: row for row in verify(tmp_path / "out").verdict.rows}
    assert (rows["bounds_on_grid"].status, rows["bounds_on_grid"].value) == ("pass", 0.0)
    unseen = rows["printed_values"]
    assert unseen.status == "measured" and unseen.value is None and "original" in unseen.witness["reason"]
    (file,) = (tmp_path / "out/release/data").glob("*.parquet")
    table = pq.read_table(file)
    lows, groups = (table.column(name).to_pylist() for name in ("income_min", "group_id"))
    moved = [low - (group == 1) for low, group in zip(lows, groups, strict=True)]
    place = table.column_names.index("income_min")
    pq.write_table(table.set_column(place, "income_min", pa.array(moved, pa.int64())), file)
    rows = {row.criterion: row for row in verify(tmp_path / "out").verdict.rows}
    assert (rows["bounds_on_grid"].status, rows["bounds_on_grid"].violations) == ("fail", 1)


def test_one_person_at_the_very_end_of_a_type(spark, tmp_path):
    table = pa.table({"age": pa.array([127, *[20, 30] * 20], pa.int8()), "job": ["a"] * 41})
    with pytest.raises(DataError, match="`age` has one person's value at the very end"):
        anonymize(spec(tmp_path / "out", "age"), table=spark.createDataFrame(table))
    table = pa.table({"age": pa.array([127, 127, *[20, 30] * 20], pa.int8()), "job": ["a"] * 42})
    assert anonymize(spec(tmp_path / "out", "age"), table=spark.createDataFrame(table)).ok
    assert read_in_print(tmp_path / "out", table) == {"age": (0, 0)}
