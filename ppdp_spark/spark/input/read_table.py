"""Reading the table that a spec names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.errors import DataError
from ppdp_spark.run.translated_errors import condition_of
from ppdp_spark.spark.input.brought_files import brought
from ppdp_spark.spark.input.csv_files import CsvColumns, read_csv

if TYPE_CHECKING:
    from ppdp_spark.spec import InputSpec


def read_table(
    spark: SparkSession, source: InputSpec, known: CsvColumns | None = None, scratch: str | None = None
) -> DataFrame:
    """The input table, or a `DataError` that says what could not be read.

    `known` is what is declared of its columns, for files that do not say it themselves; `scratch` is where
    files go that Spark cannot read where they are.
    """
    name = source.table or str(source.path)
    try:
        if source.table:
            return spark.table(source.table)
        path = brought(spark, name, scratch)
        if source.format == "csv":
            return read_csv(spark, source, known or CsvColumns(), path)
        return spark.read.format(source.format or "parquet").options(**source.options).load(path)
    except AnalysisException as error:
        reason = condition_of(error) or "unreadable"
        raise DataError(
            f"`input` ({name}) cannot be read: {reason}. Check the path and the format."
        ) from None
    except PySparkException as error:
        raise DataError(
            f"`input` ({name}) cannot be read as {source.format}: {condition_of(error)}."
        ) from None
