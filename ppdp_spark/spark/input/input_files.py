"""Whether the files of a table are the ones that were there when the run began.

A run reads its input several times. What is published is judged by the published files alone, so a
change in between cannot make a bad release pass; but its facts would be those of no table at all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.errors import CHANGED, DataError
from ppdp_spark.run.translated_errors import condition_of
from ppdp_spark.spark.engine.aggregates import only_row


@dataclass(frozen=True)
class InputFiles:
    """The files that a table is read from, and a digest of their names, sizes and times.

    A table that is not read from files has none: then the counts of rows and the domains of columns,
    which every pass compares, are all there is.
    """

    spark: SparkSession
    paths: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, table: DataFrame) -> InputFiles:
        """The files as they are now: to be asked before the first row is read."""
        paths = tuple(sorted(table.inputFiles()))
        _reject_empty(paths)
        return cls(table.sparkSession, paths, _digest(table.sparkSession, paths))

    def require_same(self) -> None:
        """Raise if a file was changed, replaced or removed since."""
        if _digest(self.spark, self.paths) != self.digest:
            raise DataError(CHANGED)


def _reject_empty(paths: Sequence[str]) -> None:
    """A file of nothing is a Parquet or ORC file cut off at its start; Spark would pass over its rows."""
    local = [Path(unquote(urlsplit(path).path)) for path in paths if urlsplit(path).scheme in ("", "file")]
    known = [path for path in local if path.suffix in (".parquet", ".orc") and path.exists()]
    empty = [path.name for path in known if path.stat().st_size == 0]
    if empty:
        raise DataError(f"the input has {len(empty):,} empty files ({empty[0]!r}): restore them")


def _digest(spark: SparkSession, paths: Sequence[str]) -> str:
    local = [path for path in paths if urlsplit(path).scheme in ("", "file")]
    remote = [path for path in paths if urlsplit(path).scheme not in ("", "file")]
    states = [*map(_local_state, local), _remote_state(spark, remote) if remote else ""]
    return hashlib.sha256("\n".join(states).encode(errors="surrogateescape")).hexdigest()


def _local_state(path: str) -> str:
    try:
        found = Path(unquote(urlsplit(path).path)).stat()
    except OSError:
        return f"{path} absent"
    return f"{path} {found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _remote_state(spark: SparkSession, paths: Sequence[str]) -> str:
    """Number, total size and a digest of names, sizes and times, by Spark's own listing; reads no content.

    For accidents: who writes the input can deceive it, and gains nothing by it.
    """
    literal = [re.sub(r"([\[\]{}*?\\])", r"\\\1", unquote(path)) for path in paths]
    try:
        files = spark.read.format("binaryFile").load(literal)
        state = F.bit_xor(F.xxhash64("path", "length", "modificationTime"))
        return str(tuple(only_row(files.agg(F.count(F.lit(1)), F.sum("length"), state))))
    except AnalysisException as error:
        return f"absent {condition_of(error)}"
