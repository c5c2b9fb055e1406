"""What differs between versions of Spark, from 3.5 on; nothing else asks for one.

Each function asks whether what it is given has a method, and not for a number: platforms ship what is new
under numbers of their own. Spark 3.5 has no public way to and from Arrow; there we call what `toPandas` and
`createDataFrame` call themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

import pyarrow as pa
from pyspark import inheritable_thread_target
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.errors import MISPLACED
from ppdp_spark.spark.engine.partition_keys import keys_of_partitions

Found = TypeVar("Found")

VARIANT: tuple[type[T.DataType], ...] = (T.VariantType,) if hasattr(T, "VariantType") else ()
"""The type of values of any type, from 4.0 on."""


def to_arrow(frame: DataFrame) -> pa.Table:
    """The rows of a small table on the driver; `toArrow`, which is there from 4.0 on."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    schema = to_arrow_schema(frame.schema)
    batches = frame._collect_as_arrow()  # type: ignore[operator]
    return pa.Table.from_batches(batches).cast(schema) if batches else schema.empty_table()


def from_arrow(session: SparkSession, table: pa.Table) -> DataFrame:
    """A table of the driver's as Spark's; timestamps without a zone stay without one.

    Before 4.0 it goes through pandas, in columns that keep null, NaN and all 64 bits apart.
    """
    schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    if hasattr(DataFrame, "toArrow"):
        return session.createDataFrame(table, schema)
    made: DataFrame = session._create_from_pandas_with_arrow(_pandas(table), schema, "UTC")  # type: ignore[call-arg]
    return made


def beside_value(rows: DataFrame, name: str, value: DataFrame) -> DataFrame:
    """Rows with the only cell of another table in a column: by a subquery, before 4.0 by a join."""
    if hasattr(value, "scalar"):
        return rows.withColumn(name, value.scalar())
    return rows.crossJoin(F.broadcast(value.toDF(name)))


def one_partition_each(rows: DataFrame, number: int, place: Column) -> DataFrame:
    """Rows in `number` partitions, each in the one whose number is its `place`.

    Before 4.1, which has `repartitionById`, Spark is given keys instead of numbers.
    """
    if hasattr(rows, "repartitionById"):
        return rows.repartitionById(number, place)
    return _by_keys(rows, number, place, keys_of_partitions(number))


def _by_keys(rows: DataFrame, number: int, place: Column, keys: IntArray) -> DataFrame:
    """Rows by the hash of their place's key. Were it not ours, as in another engine, the job would stop."""
    listed = F.expr(f"array({', '.join(map(str, keys.tolist()))})")
    placed = rows.repartition(number, F.element_at(listed, place + 1))
    stop = F.raise_error(F.lit(MISPLACED)).cast("boolean")
    return placed.where(F.when(F.spark_partition_id() == place, F.lit(True)).otherwise(stop))


def type_of(name: str) -> T.DataType:
    """The type of a name that Spark gives it, `decimal(9,2)`; to be asked where a session is running."""
    if hasattr(T.DataType, "fromDDL"):
        return T.DataType.fromDDL(name)
    found: T.DataType = T._parse_datatype_string(name)
    return found


def settings_of(session: SparkSession) -> Collection[str]:
    """The names of the settings that somebody made."""
    if hasattr(type(session.conf), "getAll"):
        return session.conf.getAll
    return set(to_arrow(session.sql("SET").select("key")).column(0).to_pylist())


def in_thread(session: SparkSession, job: Callable[[], Found]) -> Callable[[], Found]:
    """A job for another thread, with what its caller has set for its own, such as a job group.

    From 4.0 on the session says which kind it is; before, there is one kind.
    """
    decorate: Any = inheritable_thread_target
    if hasattr(DataFrame, "toArrow"):
        decorate = inheritable_thread_target(session)
    wrapped: Callable[[], Found] = decorate(job)
    return wrapped


def _pandas(table: pa.Table) -> Any:
    """The table in columns of pandas that are Arrow's, so that no value changes; lists are Python's."""
    import pandas as pd  # not for tasks, which start sooner without

    plain = {
        i: pd.arrays.ArrowExtensionArray(column.combine_chunks()) for i, column in enumerate(table.columns)
    }
    nested = [i for i, column in enumerate(table.columns) if pa.types.is_nested(column.type)]
    return pd.DataFrame(plain | {i: pd.Series(table.column(i).to_pylist(), dtype=object) for i in nested})
