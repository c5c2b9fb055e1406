"""Input on a store that Spark has no file system for: tasks copy the files to where Spark reads them.

What is read is then a copy that nobody changes. Where Spark has a file system for the store, such as
`s3a` with the jars of hadoop-aws, it reads the store itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from pyspark.sql import SparkSession

from ppdp_spark.errors import CHANGED, DataError
from ppdp_spark.run.scratch import opened, scratch_elsewhere
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.parquet.write_folder import copy_files
from ppdp_spark.stores.addresses import remote
from ppdp_spark.stores.store import Stored

_LACKING = ("No FileSystem for scheme", "ClassNotFoundException")
_PATTERN = re.compile(r"[*?\[]")


def brought(spark: SparkSession, path: str, scratch: str | None = None) -> str:
    """A path that Spark can read, with the files at `path`: itself, or that of a copy."""
    if not remote(path) or Folder.at(path).store.by_spark or _known(spark, path):
        return path
    place = opened(scratch_elsewhere(scratch, f"the store of the input ({path})", spark))
    source, inside = _source(path)
    before = _listed(source, inside)
    if not before:
        raise DataError(f"the input `{path}` does not exist: correct the path")
    copy_files(spark, source, place, [name for name, _ in before])
    if _listed(source, inside) != before:
        raise DataError(CHANGED)
    return str(place / inside) if [name for name, _ in before] == [inside] else str(place)


def _known(spark: SparkSession, path: str) -> bool:
    """Whether Spark has a file system for the store; what else is wrong it will say itself."""
    try:
        _ = spark.read.format("text").load(path).schema
    except Exception as error:
        return not any(lacking in str(error) for lacking in _LACKING)
    return True


def _source(path: str) -> tuple[Folder, str]:
    """The folder above a file or a pattern, and the pattern; of a folder itself and nothing."""
    found = _PATTERN.search(path)
    if found is not None:
        above = path[: found.start()].rpartition("/")[0]
        return Folder.at(above), path[len(above) + 1 :]
    place = Folder.at(path)
    info = place.info()
    return (place, "") if info is None or info.folder else (place.parent, place.name)


def _listed(source: Folder, inside: str) -> Sequence[tuple[str, Stored]]:
    if inside and not _PATTERN.search(inside):
        info = (source / inside).info()
        return [] if info is None else [(inside, info)]
    return [(name, entry) for name, entry in source.files() if not inside or _fits(name, inside)]


def _fits(name: str, pattern: str) -> bool:
    """Whether a file, or a folder it is in, is named by a pattern; a star stays within one folder."""
    parts, wanted = name.split("/"), pattern.rstrip("/").split("/")
    return len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted))
