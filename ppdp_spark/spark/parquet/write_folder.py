"""A Spark table as a folder of Parquet files, also where Spark has no file system for the store.

Then Spark writes to scratch, and tasks copy the files through the library that speaks to the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.errors import InternalError
from ppdp_spark.run.storage import Folder, copy_file, tidy_table
from ppdp_spark.spark.engine.tasks import in_tasks, one_task_each
from ppdp_spark.spark.engine.versions import from_arrow, to_arrow


def write_folder(table: DataFrame, folder: Folder, scratch: Folder) -> None:
    """Write a table to a folder that is not there yet."""
    if folder.store.by_spark:
        table.write.parquet(str(folder))
        return
    written = scratch / uuid4().hex
    table.write.parquet(str(written))
    tidy_table(written)
    names = [name for name, _ in written.files(".parquet")]
    copy_files(table.sparkSession, written, folder, names)
    written.delete()


def copy_files(spark: SparkSession, source: Folder, target: Folder, names: Sequence[str]) -> None:
    """Copy files from a folder of one store to a folder of another, a task each."""
    if not names:
        return
    listed = pa.table({"share": pa.array(range(len(names)), pa.int32()), "name": list(names)})
    parts = one_task_each(from_arrow(spark, listed), "share", len(names))
    told = to_arrow(in_tasks(parts, CopyFiles(source, target), "name string"))
    copied = told.column(0).to_pylist()
    if sorted(copied) != sorted(names):
        raise InternalError("the files that were copied are not those that were there")


@dataclass(frozen=True)
class CopyFiles:
    """Copies the files that a task is given; says which."""

    source: Folder
    target: Folder

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for name in (name for batch in batches for name in batch.column("name").to_pylist()):
            copy_file(self.source / name, self.target / name)
            yield pa.RecordBatch.from_pydict({"name": [name]})
