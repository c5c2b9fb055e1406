"""Failures inside Spark, told in our own words: Spark's messages may quote rows."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar
from urllib.parse import unquote

from pyspark.errors import PySparkException

from ppdp_spark.errors import (
    MISPLACED,
    TOLD_BY_TASKS,
    DataError,
    InternalError,
    MachineError,
    PpdpError,
    StorageError,
)
from ppdp_spark.report.format.quoted_names import printable

_UNREADABLE = (
    "FAILED_READ_FILE",
    "CANNOT_READ_FILE_FOOTER",
    "MALFORMED_RECORD_IN_PARSING",
    "PARQUET_COLUMN_DATA_TYPE_MISMATCH",
    "FILE_NOT_EXIST",
    "CAST_INVALID_INPUT",
)


_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]*)\]")
_FILE = re.compile(r"\b[Ff]ile \w+:[^\n]*/([^/=\n]+?)(?: does not exist|\.\s|\.$)")
_LACKING = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
_REFUSED = ("No space left on device", "Disk quota exceeded", "Read-only file system", "File too large")
"""What systems say when nothing more can be written; Spark passes it on in its own text."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def told_plainly(command: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A command whose failures inside Spark become errors of ours, without Spark's text."""

    @wraps(command)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return command(*args, **kwargs)
        except PpdpError:
            raise
        except Exception as error:
            known = explained(error)
            if known is None:
                raise
            raise known from None

    return guarded


def explained(error: Exception) -> PpdpError | None:
    """What a failure of Spark or of the file system means for the user; None if it is neither."""
    if isinstance(error, PySparkException) or type(error).__module__.startswith("py4j"):
        text = str(error)
        for known in TOLD_BY_TASKS:
            if known in text:
                return DataError(known)
        if MISPLACED in text:
            return MachineError(MISPLACED)
        condition = condition_of(error)
        for code in _UNREADABLE:
            if (condition and condition.startswith(code)) or f"[{code}" in text:
                return DataError(
                    f"the input cannot be read ({code}{_file_named(text)}): "
                    "a file is damaged, gone or of another format"
                )
        lacking = _LACKING.search(text)
        if lacking or "[PYTHON_VERSION_MISMATCH]" in text:
            found = f"has no package `{lacking[1]}`" if lacking else "has another version than the driver's"
            return MachineError(
                f"the Python of Spark's workers {found}: they need the driver's version with ppdp-spark and "
                "what it needs. In local mode set PYSPARK_PYTHON to the interpreter that runs this; on a "
                "cluster ship an environment (`make package`) or install it on every node"
            )
        for reason in _REFUSED:
            if reason in text:
                return StorageError(
                    f"the output or Spark's scratch space (`spark.local.dir`) cannot be written: {reason}; "
                    "make room and run again. Nothing was published"
                )
        return InternalError(f"Spark could not finish the job ({condition or type(error).__name__})")
    if isinstance(error, OSError):
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        return StorageError(f"a file could not be written or read: {reason}. Nothing was published")
    return None


def condition_of(error: Exception) -> str | None:
    """Spark's short name of what went wrong, which errors tell from 4.0 on and begin with before."""
    if hasattr(error, "getCondition"):
        told: str | None = error.getCondition()
        return told
    found = _CONDITION.match(str(error)) if isinstance(error, PySparkException) else None
    return found[1] if found else None


def _file_named(text: str) -> str:
    """The last part of the path that Spark names; folders above may hold values of columns."""
    found = _FILE.search(text)
    return f", file {printable(unquote(found[1]))}" if found else ""
