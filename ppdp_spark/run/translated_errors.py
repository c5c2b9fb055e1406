"""Failures inside Spark, told in our own words: Spark's messages may quote rows."""

from __future__ import annotations

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
    reason_of,
)
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.run.scratch import scratch_cleared
from ppdp_spark.stores.failures import StoreError

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
_STORE = re.compile(r"StoreError: ([^\n]*)")
"""What a task was told by a store: our own words."""

_LACKING = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
_NO_STORE = ("No FileSystem for scheme", "ClassNotFoundException: Class org.apache.hadoop.fs")
_REFUSED = ("No space left on device", "Disk quota exceeded", "Read-only file system", "File too large")
"""What systems say when nothing more can be written; Spark passes it on in its own text."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def told_plainly(command: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A command whose failures inside Spark become errors of ours, without Spark's text."""

    @wraps(command)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            with scratch_cleared():
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
        if (refused := _refused_by_store(text)) is not None:
            return refused
        return InternalError(f"Spark could not finish the job ({condition or type(error).__name__})")
    if isinstance(error, OSError):
        if isinstance(error, StoreError):
            return StorageError(f"{error}. Nothing was published")
        return StorageError(f"a file could not be written or read: {reason_of(error)}. Nothing was published")
    return None


def _refused_by_store(text: str) -> StorageError | None:
    """What a store, or Spark's own file system, said to a task."""
    told = _STORE.search(text)
    if told:
        return StorageError(f"{told[1].strip()}. Nothing was published")
    if any(lacking in text for lacking in _NO_STORE):
        return StorageError(
            "Spark has no file system for the store of a path: name a folder on HDFS or one that all nodes "
            "share, or give Spark the jars of the store, such as hadoop-aws. Nothing was published"
        )
    for reason in _REFUSED:
        if reason in text:
            return StorageError(
                f"the output or Spark's scratch space (`spark.local.dir`) cannot be written: {reason}; "
                "make room and run again. Nothing was published"
            )
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
