"""Values that expressions use and plans do not show.

A literal is part of a plan, and plans are in event logs, in the Spark UI and in logs. What travels as
data is in none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.spark.engine.versions import beside_value, from_arrow

Value = int | float | str


def beside_unseen(rows: DataFrame, name: str, values: Sequence[Value]) -> DataFrame:
    """Rows with a column of constants: 64-bit integers, doubles or texts; its field `c0` is the first."""
    table = from_arrow(rows.sparkSession, pa.table({field(i): _array(v) for i, v in enumerate(values)}))
    return beside_value(rows, name, table.select(F.struct(*table.columns)))


def field(position: int) -> str:
    """The column that holds a hidden value, by its place."""
    return f"c{position}"


def _array(value: Value) -> pa.Array:
    kind = pa.string() if isinstance(value, str) else pa.float64() if isinstance(value, float) else pa.int64()
    return pa.array([value], kind)
