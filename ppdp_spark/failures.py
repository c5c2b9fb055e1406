"""Failures inside Spark, told in our own words: Spark's messages may quote rows."""

from __future__ import annotations

from pyspark.errors import PySparkException

from ppdp_spark.errors import DataError, InternalError, PpdpError
from ppdp_spark.spark.profile import CHANGED
from ppdp_spark.spark.statistics import TWO_WAYS

_UNREADABLE = (
    "FAILED_READ_FILE",
    "CANNOT_READ_FILE_FOOTER",
    "MALFORMED_RECORD_IN_PARSING",
    "PARQUET_COLUMN_DATA_TYPE_MISMATCH",
    "FILE_NOT_EXIST",
    "CAST_INVALID_INPUT",
)


def explained(error: BaseException) -> PpdpError | None:
    """What a failure of a Spark job means for the user; None if it is not one."""
    if isinstance(error, PpdpError):
        return error
    if isinstance(error, PySparkException) or type(error).__module__.startswith("py4j"):
        text = str(error)
        for known in (CHANGED, TWO_WAYS):
            if known in text:
                return DataError(known)
        condition = error.getCondition() if isinstance(error, PySparkException) else None
        for code in _UNREADABLE:
            if (condition and condition.startswith(code)) or f"[{code}" in text:
                return DataError(
                    f"the input cannot be read ({code}): a file is damaged, gone or of another format"
                )
        return InternalError(f"Spark could not finish the job ({condition or type(error).__name__})")
    if isinstance(error, OSError):
        return InternalError(f"a file could not be written or read: {error.strerror or type(error).__name__}")
    return None
