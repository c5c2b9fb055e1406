"""The Spark session a command works on: the caller's."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.errors import MachineError, SpecError

NO_SESSION = (
    "no Spark session is running: start one with `SparkSession.builder.getOrCreate()`, "
    "or pass yours as `spark=`"
)

LENIENT = (
    "ANSI mode is off in this Spark session, where numbers that overflow change and texts that are no number "
    "become null without a word: turn it on with `spark.conf.set('spark.sql.ansi.enabled', 'true')`"
)


def session_of(table: object, spark: SparkSession | None) -> SparkSession:
    """The session of the table if that is Spark's, the one given, or the active one; it must be strict."""
    found = table.sparkSession if isinstance(table, DataFrame) else spark or SparkSession.getActiveSession()
    if found is None:
        raise SpecError(NO_SESSION)
    if found.conf.get("spark.sql.ansi.enabled") != "true":
        raise MachineError(LENIENT)
    return found
