"""The Spark session a command works on: the caller's."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.errors import SpecError

NO_SESSION = (
    "no Spark session is running: start one with `SparkSession.builder.getOrCreate()`, "
    "or pass yours as `spark=`"
)


def session_of(table: object, spark: SparkSession | None) -> SparkSession:
    """The session of the table if that is Spark's, the one given, or the active one."""
    if isinstance(table, DataFrame):
        return table.sparkSession
    found = spark or SparkSession.getActiveSession()
    if found is None:
        raise SpecError(NO_SESSION)
    return found
