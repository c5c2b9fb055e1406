"""What the newest Spark does by itself is the same where an older one is helped along."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from ppdp_spark import check
from ppdp_spark.errors import MachineError
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.engine import versions
from ppdp_spark.spark.engine.hidden_values import beside_unseen, field
from ppdp_spark.spark.engine.parallel_jobs import all_at_once
from ppdp_spark.spark.engine.partition_keys import keys_of_partitions
from ppdp_spark.spark.engine.versions import from_arrow, one_partition_each, settings_of, to_arrow
from support.sessions import set_to

pytestmark = pytest.mark.versions

MOMENT = dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)
TABLE = pa.table(
    {
        "long": pa.array([2**53 + 1, None, -(2**63)], pa.int64()),
        "int": pa.array([None, 0, -1], pa.int32()),
        "double": pa.array([float("nan"), None, -0.0]),
        "text": pa.array(["", None, "Köln\0"]),
        "bytes": pa.array([b"\xff", None, b""]),
        "true": pa.array([True, None, False]),
        "day": pa.array([dt.date(1, 1, 1), None, dt.date(9999, 12, 31)]),
        "moment": pa.array([MOMENT, None, MOMENT], pa.timestamp("us")),
        "instant": pa.array([MOMENT, None, MOMENT], pa.timestamp("us", "UTC")),
        "exact": pa.array([Decimal("0.001"), None, Decimal("-99.999")], pa.decimal128(5, 3)),
        "list": pa.array([["a", None], None, []], pa.list_(pa.string())),
        "numbers": pa.array([[2**53 + 1, None], None, []], pa.list_(pa.int64())),
    }
)


def printed(table: pa.Table) -> list[str]:
    """Rows as texts, in which NaN equals itself and -0.0 is not 0.0."""
    return [repr(row) for row in table.to_pylist()]


def test_tables_come_back_from_spark_as_they_went(spark):
    frame = from_arrow(spark, TABLE)
    assert [kind for _, kind in frame.dtypes] == [
        "bigint", "int", "double", "string", "binary", "boolean", "date", "timestamp_ntz", "timestamp",
        "decimal(5,3)", "array<string>", "array<bigint>",
    ]  # fmt: skip
    back = to_arrow(frame)
    assert printed(back) == printed(TABLE)
    assert [f.type for f in back.schema if f.name not in ("list", "numbers")] == [
        f.type for f in TABLE.schema if f.name not in ("list", "numbers")
    ]
    assert frame.where(F.isnan("double")).count() == 1 and frame.where(F.col("double").isNull()).count() == 1


def test_empty_tables_keep_their_types(spark):
    for frame in (from_arrow(spark, TABLE.slice(0, 0)), from_arrow(spark, TABLE).where("int > 5")):
        back = to_arrow(frame)
        assert back.num_rows == 0 and back.column_names == TABLE.column_names
        assert back.schema.field("instant").type == pa.timestamp("us", "UTC")


@pytest.mark.parametrize("number", [1, 2, 7, 300])
def test_each_number_is_the_partition_of_its_rows(spark, number):
    rows = spark.range(0, 4 * number, numPartitions=3).withColumn("place", (F.col("id") % number).cast("int"))
    keys = keys_of_partitions(number)
    for placed in (
        one_partition_each(rows, number, F.col("place")),
        versions._by_keys(rows, number, F.col("place"), keys),
    ):
        found = to_arrow(placed.select("place", F.spark_partition_id().alias("partition")))
        assert found.num_rows == 4 * number
        assert found["place"].to_pylist() == found["partition"].to_pylist()


def test_another_hash_than_ours_stops_the_job(spark):
    rows = spark.range(50).withColumn("place", (F.col("id") % 5).cast("int"))
    wrong = keys_of_partitions(6)[1:]
    with pytest.raises(MachineError, match="did not send rows"):
        told_plainly(to_arrow)(versions._by_keys(rows, 5, F.col("place"), wrong))


def test_hidden_values_are_beside_every_row_and_in_no_plan(spark, capsys):
    values = (2**53 + 1, 0.1, "CANARY")
    rows = beside_unseen(spark.range(5), "hidden", values)
    shown = rows.select(*(F.col("hidden")[field(i)].alias(field(i)) for i in range(3)))
    assert [tuple(row.values()) for row in to_arrow(shown).to_pylist()] == [values] * 5
    shown.explain("extended")
    plan = capsys.readouterr().out
    assert "Plan" in plan and not any(str(value) in plan for value in values)


def test_settings_are_those_that_somebody_made(spark):
    with set_to(spark, {"spark.sql.shuffle.partitions": "3"}):
        made = settings_of(spark)
    assert {"spark.sql.shuffle.partitions", "spark.driver.memory"} <= set(made)
    assert "spark.sql.autoBroadcastJoinThreshold" not in made


@pytest.mark.filterwarnings("error::UserWarning:pyspark")
def test_jobs_side_by_side_are_those_of_their_caller(spark):
    spark.sparkContext.setLocalProperty("spark.job.description", "ours")
    try:
        jobs = [lambda: spark.sparkContext.getLocalProperty("spark.job.description")] * 3
        assert all_at_once(spark, jobs) == ["ours"] * 3
    finally:
        spark.sparkContext.setLocalProperty("spark.job.description", None)


def test_a_session_without_ansi_mode_is_refused(spark):
    spec = {
        "version": 1,
        "dataset": "lenient",
        "columns": {"quasi_identifiers": {"age": "numeric"}, "sensitive": "job", "group": "team"},
        "privacy": {"k_anonymity": 2},
    }
    people = pd.DataFrame({"age": [1, 1], "job": ["a", "b"], "team": [1, 1]})
    with (
        set_to(spark, {"spark.sql.ansi.enabled": "false"}),
        pytest.raises(MachineError, match="ANSI mode"),
    ):
        check(spec, table=people, spark=spark)
