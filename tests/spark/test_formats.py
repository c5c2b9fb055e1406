"""Every input format gives the same release, and input that cannot be read is named."""

from __future__ import annotations

import pandas as pd
import pytest
from pyspark.sql import functions as F

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.errors import DataError


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
