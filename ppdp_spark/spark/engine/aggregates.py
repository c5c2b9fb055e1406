"""The one row of an aggregate over a whole table."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row

from ppdp_spark.errors import InternalError


def only_row(aggregate: DataFrame) -> Row:
    """The row of an aggregate without keys, which has exactly one even over an empty table."""
    row = aggregate.first()
    if row is None:
        raise InternalError("an aggregate over a whole table returned no row")
    return row
