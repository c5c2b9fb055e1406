"""Groups are named by numbers that agree exactly with the equality of their keys, and cannot be forged."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from ppdp_spark import ReleaseSpec, check, explore
from ppdp_spark.spark.judge.counts import group_names, placed_rows

NAN = float("nan")
NOON = datetime(2024, 3, 1, 12, tzinfo=timezone.utc)
ONE = Decimal(1)
TICK = timedelta(microseconds=1)

PAIRS = [
    (
        "a string, b string",
        [
            *(("x", None), (None, "x"), ("x", "x"), (None, None), ("xx", ""), ("", "xx"), ("", None)),
            *(("a", "bc"), ("ab", "c"), ("1:a", ""), ("-", None), (None, "-"), ("a-", "1:a"), ("a", "-1:a")),
        ],
    ),
    ("a double", [(0.0,), (1.5,), (None,), (float("inf"),), (-1.5,), (5e-324,)]),
    ("a float, b int", [(0.0, 0), (1.5, None), (None, 0), (None, None)]),
    ("a array<string>", [(["x", None],), ([None, "x"],), (["x"],), ([],), (None,), (["null", "x"],)]),
    ("a struct<u:string,v:string>", [(("x", None),), ((None, "x"),), ((None, None),), (None,)]),
    ("a bigint", [(0,), (None,), (-1,), (1,)]),
    ("a decimal(20,2), b boolean", [(ONE, True), (ONE, False), (None, True), (2 * ONE, None)]),
    ("a binary", [(b"\xff",), (b"\xfe",), (b"",), (None,)]),
    ("a timestamp", [(NOON,), (NOON + TICK,), (None,)]),
    ("a array<timestamp>", [([NOON],), ([NOON + TICK],), ([None],), ([],)]),
    ("a struct<u:array<struct<v:double>>>", [(([(1.0,)],),), (([(None,)],),), (([None],),), ((None,),)]),
    ("a struct<u:map<string,int>>", [(({"x": 1, "y": 2},),), (({"x": 2, "y": 1},),), (({},),), ((None,),)]),
]


def keys_and_types(table):
    return {name: F.col(name) for name in table.columns}, {f.name: f.dataType for f in table.schema}


def counted(rows, names) -> list[int]:
    return sorted(rows.groupBy(*names).count().toArrow().column("count").to_pylist())


def groups(table) -> list[int]:
    """How many rows each name has: by the words that are compared anywhere, and by what tasks are given."""
    keys, types = keys_and_types(table)
    words = counted(table, group_names(keys, types, as_printed=True))
    placed = placed_rows(table.withColumn("sensitive", F.lit(0)), types, None)
    assert words == counted(placed, placed.drop("sensitive").columns)
    return words


@pytest.mark.parametrize(("schema", "keys"), PAIRS, ids=[schema for schema, _ in PAIRS])
def test_different_keys_have_different_names(spark, schema, keys):
    assert groups(spark.createDataFrame(keys + keys, schema)) == [2] * len(keys)


@pytest.mark.parametrize(
    ("schema", "same"),
    [
        ("a double", [(0.0,), (-0.0,)]),
        ("a double", [(NAN,), (None,)]),
        ("a float, b string", [(NAN, "x"), (None, "x")]),
        ("a array<double>", [([0.0, NAN],), ([-0.0, None],)]),
    ],
)
def test_equal_values_have_one_name_but_groups_are_told_apart_as_they_are_printed(spark, schema, same):
    table = spark.createDataFrame(same, schema)
    assert counted(table, group_names(*keys_and_types(table))) == [2]
    assert groups(table) == [1, 1]


def test_entries_of_a_map_have_no_order(spark):
    same = [(({"x": 1, "y": 2},),), (({"y": 2, "x": 1},),)]
    assert groups(spark.createDataFrame(same, "a struct<u:map<string,int>>")) == [2]


def test_check_does_not_take_nan_and_null_for_one_group(spark):
    table = pa.table({"q": [NAN] * 3 + [None] * 3, "d": ["HIV"] * 3 + ["flu"] * 3})
    columns = {"quasi_identifiers": {"q": "numeric"}, "sensitive": "d"}
    plain = {"version": 1, "dataset": "printed", "input": {"path": "x.parquet"}, "columns": columns}
    privacy = {"k_anonymity": 6, "l_diversity": {"kind": "distinct", "l": 2}}
    run = check(ReleaseSpec.parse({**plain, "privacy": privacy}), table=spark.createDataFrame(table))
    assert not run.ok and {row.groups for row in run.verdict.rows} == {2}


def test_two_instants_that_print_alike_are_two(spark):
    """In the hour when clocks go back every local time occurs twice."""
    seconds = [1_729_989_000, 1_729_992_600]
    table = spark.createDataFrame([(s,) for s in seconds], "s bigint").select(
        F.timestamp_seconds("s").alias("a")
    )
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        assert table.select(F.col("a").cast("string")).distinct().count() == 1
        assert groups(table) == [1, 1]
        assert groups(table.select(F.array("a").alias("a"))) == [1, 1]
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def forged(**privacy) -> tuple[pa.Table, ReleaseSpec]:
    """Two groups whose two xxhash64 values, with and without a word before the keys, are the same."""
    p = [-8090387502428627141] * 6 + [-1092223200874564981] * 6
    q = [7] * 6 + [-7796159226681059990] * 6
    table = pa.table({"p": pa.array(p), "q": pa.array(q), "d": ["HIV"] * 6 + ["flu"] * 6})
    columns = {"quasi_identifiers": {"p": "numeric", "q": "numeric"}, "sensitive": "d"}
    plain = {"version": 1, "dataset": "forged", "input": {"path": "x.parquet"}, "columns": columns}
    return table, ReleaseSpec.parse({**plain, "privacy": privacy})


def test_check_is_not_deceived_by_a_collision_of_fast_hashes(spark):
    table, spec = forged(k_anonymity=12, l_diversity={"kind": "distinct", "l": 2})
    run = check(spec, table=spark.createDataFrame(table))
    assert not run.ok
    assert [(row.value, row.groups, row.violations) for row in run.verdict.rows[:2]] == [(6, 2, 2), (1, 2, 2)]


def test_robustness_is_not_deceived_either(spark):
    sets = [{"attributes": ["p", "q"]}]
    table, spec = forged(robustness={"r": 2, "model": "joint", "priors": sets})
    run = check(spec, table=spark.createDataFrame(table))
    assert {row.groups for row in run.verdict.rows} == {2}


def test_explore_is_not_deceived_either(spark):
    table, spec = forged()
    assert explore(spec, table=spark.createDataFrame(table)).summary["release"]["groups"] == 2
