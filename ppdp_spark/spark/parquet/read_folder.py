"""A folder of Parquet files as a Spark table, also where Spark has no file system for the store.

Then tasks read the files themselves, a few row groups each, through the library that speaks to the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from ppdp_spark.errors import DataError
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.engine.tasks import in_tasks, one_task_each
from ppdp_spark.spark.engine.versions import from_arrow

_SHARE = 4
"""Row groups of one file that a task reads."""

_BATCH_ROWS = 1 << 16
_PLACE = T.StructType(
    [T.StructField("file_name", T.StringType(), False), T.StructField("row_index", T.LongType(), False)]
)
"""What Spark itself tells of a row under the name `_metadata`."""


def read_folder(spark: SparkSession, folder: Folder, *, placed: bool = False) -> DataFrame:
    """The table in a folder; with `placed`, file and row of each row can be asked of `_metadata`."""
    if folder.store.by_spark:
        return spark.read.parquet(folder.literal)
    shares, schema = _shares(folder)
    wanted = from_arrow_schema(schema, prefer_timestamp_ntz=True)
    if placed:
        wanted = wanted.add("_metadata", _PLACE, False)
    parts = one_task_each(from_arrow(spark, shares), "share", shares.num_rows)
    return in_tasks(parts, ReadShares(folder, placed), wanted)


def _shares(folder: Folder) -> tuple[pa.Table, pa.Schema]:
    """Which rows of which files each task reads, and the columns of the first file."""
    rows: list[dict[str, Any]] = []
    schema = None
    for name, _ in folder.files(".parquet"):
        with pq.ParquetFile((folder / name).arrow_file(ranged=True)) as file:
            schema = file.schema_arrow if schema is None else schema
            sizes = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
        for g in range(0, len(sizes), _SHARE):
            end = min(g + _SHARE, len(sizes))
            rows.append({"share": len(rows), "name": name, "first": g, "end": end, "row": sum(sizes[:g])})
    if schema is None:
        raise DataError(f"`{folder}` has no Parquet files")
    columns = [("share", pa.int32()), ("name", pa.string()), ("first", pa.int64()), ("end", pa.int64())]
    return pa.Table.from_pylist(rows, pa.schema([*columns, ("row", pa.int64())])), schema


@dataclass(frozen=True)
class ReadShares:
    """Reads the row groups that a task is given."""

    folder: Folder
    placed: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for share in (share for batch in batches for share in batch.to_pylist()):
            row = share["row"]
            with pq.ParquetFile((self.folder / share["name"]).arrow_file()) as file:
                for batch in file.iter_batches(_BATCH_ROWS, list(range(share["first"], share["end"]))):
                    yield self._with_place(batch, share["name"], row) if self.placed else batch
                    row += batch.num_rows

    def _with_place(self, batch: pa.RecordBatch, name: str, first: int) -> pa.RecordBatch:
        names = pa.array([name]).take(pa.array([0] * batch.num_rows, pa.int32()))
        places = pa.array(range(first, first + batch.num_rows), pa.int64())
        fields = [pa.field("file_name", pa.string(), False), pa.field("row_index", pa.int64(), False)]
        columns = [*batch.columns, pa.StructArray.from_arrays([names, places], fields=fields)]
        return pa.RecordBatch.from_arrays(columns, [*batch.schema.names, "_metadata"])
