"""Groups are named by numbers that agree exactly with the equality of their keys."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from ppdp_spark.spark.counting import group_names

PAIRS = [
    (
        "a string, b string",
        [("x", None), (None, "x"), ("x", "x"), (None, None), ("xx", ""), ("", "xx"), ("", None)],
    ),
    ("a double", [(0.0,), (1.5,), (float("nan"),), (None,)]),
    ("a array<string>", [(["x", None],), ([None, "x"],), (["x"],), ([],), (None,), (["null", "x"],)]),
    ("a struct<u:string,v:string>", [(("x", None),), ((None, "x"),), ((None, None),), (None,)]),
    ("a bigint", [(0,), (None,), (-1,), (1,)]),
]


@pytest.mark.parametrize(("schema", "keys"), PAIRS, ids=[schema for schema, _ in PAIRS])
def test_different_keys_have_different_names(spark, schema, keys):
    table = spark.createDataFrame(keys + keys, schema)
    columns = {name: F.col(name) for name in table.columns}
    types = {field.name: field.dataType for field in table.schema}
    found = table.groupBy(*group_names(columns, types)).count().toArrow().column("count").to_pylist()
    assert sorted(found) == [2] * len(keys)


def test_minus_zero_is_zero(spark):
    table = spark.createDataFrame([(0.0,), (-0.0,)], "a double")
    names = group_names({"a": F.col("a")}, {"a": table.schema["a"].dataType})
    assert table.groupBy(*names).count().count() == 1
