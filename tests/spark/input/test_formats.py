"""Every input format gives the same release, and input that cannot be read is named."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.core.data.attributes import Ordered
from ppdp_spark.errors import DataError
from ppdp_spark.spark.data.physical import from_physical, to_physical


def spec_for(folder, source) -> ReleaseSpec:
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "formats",
            "input": source,
            "columns": {"quasi_identifiers": {"age": {}, "city": {}}, "sensitive": "job"},
            "privacy": {"k_anonymity": 5},
            "output": {"path": str(folder)},
        }
    )


def test_same_release_from_every_format(spark, tmp_path):
    table = spark.range(300).select(
        F.pmod(F.hash("id"), F.lit(40)).cast("int").alias("age"),
        F.when(F.col("id") % 9 > 0, F.concat(F.lit("c"), F.col("id") % 4)).alias("city"),
        F.concat(F.lit("job"), F.pmod(F.hash("id"), F.lit(5))).alias("job"),
    )
    sources = {"table": {"table": "people_view"}}
    table.createOrReplaceTempView("people_view")
    for name in ("parquet", "orc", "json", "csv"):
        options = {"header": "true"} if name == "csv" else {}
        table.write.format(name).options(**options).save(str(tmp_path / f"people.{name}"))
        sources[name] = {"path": str(tmp_path / f"people.{name}")}
    first = None
    for name, source in sources.items():
        assert anonymize(spec_for(tmp_path / "out" / name, source), spark=spark).ok
        found = pd.read_parquet(tmp_path / "out" / name / "release/data")
        first = found if first is None else first
        pd.testing.assert_frame_equal(found, first, check_dtype=False)


@pytest.mark.parametrize("source", [{"table": "no_such_table"}, {"path": "/nowhere/at.parquet"}])
def test_missing_input_is_named(spark, tmp_path, source):
    with pytest.raises(DataError, match="`input`"):
        anonymize(spec_for(tmp_path / "out", source), spark=spark)
    assert not (tmp_path / "out/release").exists()


def test_moments_keep_their_microsecond_over_ten_thousand_years(spark):
    """A range's bound must not move to the next day, however far it is and however close to midnight."""
    moments = [dt.datetime(1, 1, 1), dt.datetime.max, dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)]
    moments += [
        dt.datetime(1970, 1, 1),
        dt.datetime(2500, 2, 28, 23, 59, 59, 999_999),
        dt.datetime(1600, 3, 1),
    ]
    micros = [(moment - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1) for moment in moments]
    table = spark.createDataFrame(pa.table({"at": pa.array(moments, pa.timestamp("us"))}))
    number = to_physical(F.col("at"), "timestamp_ntz")
    attribute = Ordered("at", "timestamp_ntz", "timestamp_ntz", min(micros), max(micros))
    found = table.select(number.alias("number"), from_physical(number, attribute).alias("back")).toArrow()
    assert found["number"].to_pylist() == micros
    assert found["back"].to_pylist() == moments


@pytest.mark.parametrize("scale", [0, 2, 7, 10, 17, 18])
def test_decimals_keep_every_digit(spark, scale):
    values = [Decimal(n).scaleb(-scale) for n in (1, -1, 10**18 - 1, 1 - 10**18, 123_456_789_012_345_678)]
    table = spark.createDataFrame(pa.table({"x": pa.array(values, pa.decimal128(18, scale))}))
    number = to_physical(F.col("x"), "decimal", scale)
    attribute = Ordered("x", "decimal", f"decimal(18,{scale})", -(10**18), 10**18, scale=scale)
    assert (
        table.select(from_physical(number, attribute).alias("back")).toArrow()["back"].to_pylist() == values
    )
