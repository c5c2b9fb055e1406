"""The table of a command: the one given in place of the spec's input, from Spark or pandas, or that input."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from ppdp_spark.errors import DataError
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.run.active_session import session_of
from ppdp_spark.spark.engine.versions import from_arrow
from ppdp_spark.spark.input.csv_files import CsvColumns
from ppdp_spark.spark.input.read_table import read_table

if TYPE_CHECKING:
    from ppdp_spark.spec import ReleaseSpec

TableLike: TypeAlias = DataFrame | pd.DataFrame
"""What commands take in place of the spec's input."""

GIVEN = "a table given by the caller"
"""What a summary says of where such a table is from."""


def table_of(spec: ReleaseSpec, table: TableLike | None, spark: SparkSession | None) -> DataFrame:
    """The table given, as a Spark frame, or else the spec's input."""
    session = session_of(table, spark)
    if table is not None:
        return spark_frame(table, session)
    assert spec.input is not None
    return read_table(session, spec.input, CsvColumns.of(spec.columns), spec.scratch)


def source_of(spec: ReleaseSpec, table: TableLike | None) -> str:
    """Where the rows of a run are from, for its summary."""
    if table is not None:
        return GIVEN
    assert spec.input is not None
    return spec.input.table or str(spec.input.path)


def spark_frame(table: TableLike, spark: SparkSession) -> DataFrame:
    """A Spark frame as it is, or a pandas frame sent to Spark through Arrow.

    The index of a pandas frame is not a column. What pandas calls missing, NaN included, is null;
    timestamps without a zone stay without one.
    """
    if isinstance(table, DataFrame):
        return table
    if not isinstance(table, pd.DataFrame):
        raise DataError(f"`table` ({type(table).__name__}) must be a Spark or a pandas DataFrame")
    _require_names(table)
    columns = {name: _arrow_column(values) for name, values in table.items()}
    problems = [_unfit(table[name]) for name, column in columns.items() if column is None]
    if problems:
        raise DataError(problems)
    return from_arrow(spark, pa.table(columns))


def _require_names(table: pd.DataFrame) -> None:
    """Columns of Spark have a name each, which is text."""
    odd = [name for name in table.columns if not isinstance(name, str)]
    twice = [printable(name) for name, number in Counter(table.columns).items() if number > 1]
    problems = []
    if odd:
        problems.append(f"the pandas table has {len(odd):,} columns whose names are not text: rename them")
    if twice:
        problems.append(f"the pandas table has several columns of one name ({', '.join(twice)}): rename them")
    if problems:
        raise DataError(problems)


def _arrow_column(values: pd.Series) -> pa.Array | pa.ChunkedArray | None:
    """A column as Spark can take it; None if it cannot. What Arrow says of it would quote values."""
    try:
        found = pa.array(values, from_pandas=True)
        plain = found.cast(_plain(found.type))
        from_arrow_schema(pa.schema([("column", plain.type)]))
    except (pa.ArrowException, PySparkException, TypeError, ValueError, OverflowError):
        return None
    return plain


def _unfit(values: pd.Series) -> str:
    return (
        f"column `{printable(values.name)}` of the pandas table has dtype {printable(values.dtype)} and "
        "values that Spark cannot take: use numbers, text, dates, timestamps to the microsecond, booleans, "
        "or lists of these, or drop the column"
    )


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of Spark's own that holds all values of an Arrow type."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return _PLAIN.get(kind, kind)


_PLAIN = {
    pa.null(): pa.string(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.float16(): pa.float32(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.int64(),
}
