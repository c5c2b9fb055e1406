"""Whether an identifier repeats is decided exactly, for values of every kind that tables hold."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import functions as F

from ppdp_spark.errors import DataError
from ppdp_spark.spark.data.identifiers import require_one_person_each, require_one_row_each
from ppdp_spark.spark.data.tables import assign_roles, require_columns
from ppdp_spark.spec import ColumnsSpec

NAN = float("nan")

REPEATED = {
    "two_nulls": ("string", [None, None, "a"]),
    "nan_and_nan": ("double", [NAN, NAN, 1.0]),
    "nan_and_null": ("float", [NAN, None, 1.0]),
    "minus_zero": ("double", [-0.0, 0.0, 1.0]),
    "zeros_in_arrays": ("array<double>", [[-0.0], [0.0], None]),
    "zeros_in_structs": ("struct<a:double>", [(-0.0,), (0.0,), (NAN,)]),
    "nans_in_structs": ("struct<a:double>", [(NAN,), (NAN,), (0.0,)]),
    "lists": ("array<string>", [["a", None], ["a", None], []]),
    "binary": ("binary", [b"\0", b"\0", b""]),
    "whole_numbers": ("bigint", [2**62, 2**62, 0]),
}
DIFFERENT = {
    "one_null": ("string", [None, "", " "]),
    "texts_of_numbers": ("string", ["1", "1.0", "01"]),
    "close_floats": ("double", [0.1 + 0.2, 0.3, 1e-320]),
    "nothing_and_lists": ("array<int>", [None, [], [None]]),
    "case_matters": ("string", ["a", "A", "a "]),
    "halves_of_a_pair": ("struct<a:string,b:string>", [("ab", "c"), ("a", "bc"), ("abc", None)]),
}


def declared(*names, **more):
    plain = {"identifiers": list(names), "quasi_identifiers": {"age": {}}, **more}
    return ColumnsSpec.model_validate(plain)


def named(error):
    return [re.findall("values of `([a-z_0-9]+)`", problem)[0] for problem in error.value.problems]


def test_values_of_every_kind(spark):
    kinds = REPEATED | DIFFERENT
    rows = list(zip(*(values for _, values in kinds.values()), strict=True))
    table = spark.createDataFrame(rows, ", ".join(f"{name} {kind}" for name, (kind, _) in kinds.items()))
    table = table.withColumn("any_case", F.collate("case_matters", "UTF8_LCASE"))
    table = table.withColumn("lists_of_any_case", F.array(F.collate("case_matters", "UTF8_LCASE")))
    table = table.withColumn("trimmed", F.collate("case_matters", "UTF8_BINARY_RTRIM"))
    names = [*REPEATED, *DIFFERENT, "any_case", "lists_of_any_case", "trimmed"]
    with pytest.raises(DataError) as told:
        require_one_row_each(table, declared(*names))
    assert named(told) == [*REPEATED, "any_case", "lists_of_any_case", "trimmed"]
    require_one_row_each(table, declared(*DIFFERENT))
    owned = table.withColumn("who", F.monotonically_increasing_id())
    with pytest.raises(DataError) as told:
        require_one_person_each(owned, declared("any_case", "case_matters", person="who"))
    assert named(told) == ["any_case"]


def test_one_repeat_among_many(spark):
    numbers = spark.range(100_000)
    last = F.when(F.col("id") == 99_999, 5).otherwise(F.col("id"))
    table = numbers.select("id", last.alias("number"), last.cast("string").alias("text"))
    require_one_row_each(numbers, declared("id"))
    with pytest.raises(DataError) as told:
        require_one_row_each(table, declared("id", "number", "text"))
    assert named(told) == ["number", "text"]
    assert all("1 values of" in problem and "one of them on 2;" in problem for problem in told.value.problems)


def test_maps_inside_cannot_be_compared(spark):
    table = spark.createDataFrame([(({"a": 1},),)], "id struct<m:map<string,int>>")
    with pytest.raises(DataError, match="which cannot be compared; cast it to text"):
        require_one_row_each(table, declared("id"))


@pytest.mark.parametrize("required", [assign_roles, require_columns])
def test_what_counts_is_told_apart_by_its_bytes(spark, required):
    """`Flu` and `flu` are one value to Spark here, and would make a group look diverse."""
    table = spark.createDataFrame(
        [("Flu", "flu", 1), ("flu", "FLU", 2)], "plain string, also string, age int"
    )
    lists = F.array(F.collate("plain", "UTF8_LCASE"))
    table = table.withColumns({"any_case": F.collate("plain", "UTF8_LCASE"), "lists": lists})
    for fields in (
        {"sensitive": "any_case"},
        {"sensitive": {"column": "lists", "case": "mvpi-set"}},
        {"sensitive": ["plain", "any_case"]},
        {"sensitive": "plain", "household": "any_case"},
        {"sensitive": "plain", "person": "any_case"},
    ):
        with pytest.raises(DataError, match="texts that differ may be the same") as told:
            required(table, declared(**fields))
        assert len(told.value.problems) == 1
    required(table, declared(sensitive=["plain", "also"]))
