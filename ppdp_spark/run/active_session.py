"""The Spark session a command works on: the caller's."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.errors import SpecError


def session_of(table: DataFrame | None, spark: SparkSession | None) -> SparkSession:
    """The session of the table, the one given, or the active one."""
    if table is not None:
        return table.sparkSession
    found = spark or SparkSession.getActiveSession()
    if found is None:
        raise SpecError("no Spark session is running: pass `spark=` or `table=`")
    return found
