"""Values that expressions use and plans do not show.

A literal is part of a plan, and plans are in event logs, in the Spark UI and in logs. What travels as
data is in none of them. A subquery of one value is read before the job and compiled into its code:
it costs nothing a row.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

Value = int | float | str


def unseen(session: SparkSession, value: Value) -> Column:
    """A constant: a 64-bit integer, a double or a text."""
    return session.createDataFrame(pa.table({"value": _array(value)})).scalar()


def unseen_struct(session: SparkSession, values: Sequence[Value]) -> Column:
    """Many constants as one column; field `c0` is the first. To be added to a table once, then used."""
    table = session.createDataFrame(pa.table({field(i): _array(value) for i, value in enumerate(values)}))
    return table.select(F.struct(*table.columns)).scalar()


def field(position: int) -> str:
    """The column that holds a hidden value, by its place."""
    return f"c{position}"


def _array(value: Value) -> pa.Array:
    kind = pa.string() if isinstance(value, str) else pa.float64() if isinstance(value, float) else pa.int64()
    return pa.array([value], kind)
