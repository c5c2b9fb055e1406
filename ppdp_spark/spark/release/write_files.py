"""Published tables written by the tasks themselves, column by column.

Spark's writer takes every cell of every row by itself, and most cells of a generalized release repeat
those of the row before. Here they are dictionary columns from the start. A file depends on its groups
alone, so that a task that runs twice writes the same bytes; it appears under its name when it is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import __version__ as spark_version
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from ppdp_spark.errors import InternalError
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.release.described_rows import DescribedRows

CHUNK_ROWS = 250_000
"""People after which a row group of a file ends, with the group they are in."""

_WRITTEN = "folder string, file string, rows bigint"
_MARK = {"org.apache.spark.version": spark_version}
"""Tells Spark that days and moments of all years are in the calendar of today."""

_PLAIN = (
    T.BooleanType,
    T.ByteType,
    T.ShortType,
    T.IntegerType,
    T.LongType,
    T.FloatType,
    T.DoubleType,
    T.DecimalType,
    T.BinaryType,
    T.DateType,
    T.TimestampType,
    T.TimestampNTZType,
)


@dataclass(frozen=True)
class WriteTables:
    """Writes the tables of a partition's sorted groups, a file each; says which, and how many rows."""

    tables: Mapping[Folder, DescribedRows]
    unfinished: Folder

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        files: dict[Folder, _File] = {}
        for groups in chunks(batches):
            name = f"part-{groups.column(C.FRAGMENT)[0].as_py():05d}.parquet"
            for folder, spread in self.tables.items():
                rows = spread.rows(groups)
                if folder not in files:
                    files[folder] = _File.open(folder / name, self.unfinished, rows.schema)
                files[folder].add(rows)
        for file in files.values():
            file.finish()
            said = {"folder": [file.place.parent.path], "file": [file.place.name], "rows": [file.rows]}
            yield pa.RecordBatch.from_pydict(said)


@dataclass
class _File:
    """A file in the making, away from where it will be."""

    place: Folder
    whole: ExitStack
    writer: pq.ParquetWriter
    rows: int = 0

    @classmethod
    def open(cls, place: Folder, unfinished: Folder, schema: pa.Schema) -> _File:
        whole = ExitStack()
        file = whole.enter_context(place.writing(unfinished))
        return cls(place, whole, pq.ParquetWriter(file, schema.with_metadata(_MARK), store_schema=False))

    def add(self, rows: pa.Table) -> None:
        self.writer.write_table(rows, row_group_size=max(1, rows.num_rows))
        self.rows += rows.num_rows

    def finish(self) -> None:
        self.writer.close()
        self.whole.close()


def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Groups of at least `CHUNK_ROWS` people at a time, however they arrive."""
    waiting: list[pa.RecordBatch] = []
    people = 0
    for batch in batches:
        left = batch
        while left.num_rows:
            reached = people + np.cumsum(left.column(C.SIZE).to_numpy(), dtype=np.int64)
            ends = min(int(np.searchsorted(reached, CHUNK_ROWS)) + 1, left.num_rows)
            waiting.append(left.slice(0, ends))
            people, left = int(reached[ends - 1]), left.slice(ends)
            if people >= CHUNK_ROWS:
                yield pa.Table.from_batches(waiting)
                waiting, people = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def write_tables(
    groups: DataFrame, tables: Sequence[tuple[Folder, DescribedRows]], unfinished: Folder
) -> list[int]:
    """Write tables of numbered groups, each to its folder, and say how many rows each has."""
    unfinished.create(private=True)
    task = WriteTables({folder.create(): spread for folder, spread in tables}, unfinished)
    written = to_arrow(in_tasks(groups, task, _WRITTEN)).to_pylist()
    found = []
    for folder, _ in tables:
        own = {row["file"]: row["rows"] for row in written if row["folder"] == folder.path}
        if sorted(own) != [name for name, _ in folder.files()]:
            raise InternalError("the files of the release are not those that the tasks wrote")
        found.append(sum(own.values()))
    return found


def writable(types: Iterable[T.DataType]) -> bool:
    """Whether tasks can write values of these types as Spark would."""
    return all(map(_plain, types))


def _plain(kind: T.DataType) -> bool:
    if isinstance(kind, T.StructType):
        return all(_plain(field.dataType) for field in kind.fields)
    if isinstance(kind, T.ArrayType):
        return _plain(kind.elementType)
    if isinstance(kind, T.MapType):
        return _plain(kind.keyType) and _plain(kind.valueType)
    return type(kind) in _PLAIN or kind == T.StringType()
