"""Generalized rows written by the tasks themselves: a group's description is told once, not once a person.

Spark's writer takes every cell of every row by itself, and most cells of a generalized release repeat
those of the row before. Here they are dictionary columns from the start. A file depends on its groups
alone, so that a task that runs twice writes the same bytes; it appears under its name when it is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import __version__ as spark_version
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from ppdp_spark.errors import InternalError
from ppdp_spark.spark import columns as C
from ppdp_spark.storage import Folder

CHUNK_ROWS = 250_000
"""People after which a row group of a file ends, with the group they are in."""

_WRITTEN = "file string, people bigint"
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
class GroupColumns:
    """How a table of groups becomes a table of people.

    where
        repeated  columns of groups that every person of the group gets, with their published names
        listed    lists of what people have, with their published names
        values    for listed columns of codes: the value of each code
    """

    repeated: Mapping[str, str]
    listed: Mapping[str, str]
    values: Mapping[str, pa.Array]

    def rows(self, groups: pa.Table) -> pa.Table:
        sizes = groups.column(C.SIZE).to_numpy()
        group = pa.array(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
        columns = {}
        for name, published in self.repeated.items():
            columns[published] = _compact(_whole(groups, name)).take(group)
        for name, published in self.listed.items():
            held = _whole(groups, name).flatten()
            columns[published] = _decoded(held, self.values[name]) if name in self.values else held
        return pa.table(columns)


@dataclass(frozen=True)
class WriteRows:
    """Writes the people of sorted groups to the file of their partition; says which, and how many."""

    columns: GroupColumns
    folder: str
    scratch: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        writer, people, name = None, 0, ""
        unfinished = f"{self.scratch}/{uuid4().hex}.parquet"
        for groups in chunks(batches):
            rows = self.columns.rows(groups)
            if writer is None:
                name = f"part-{groups.column(C.FRAGMENT)[0].as_py():05d}.parquet"
                writer = pq.ParquetWriter(unfinished, rows.schema.with_metadata(_MARK), store_schema=False)
            writer.write_table(rows, row_group_size=rows.num_rows)
            people += rows.num_rows
        if writer is not None:
            writer.close()
            Path(unfinished).replace(Path(self.folder) / name)
            yield pa.RecordBatch.from_pydict({"file": [name], "people": [people]})


def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Groups of at least `CHUNK_ROWS` people at a time, however they arrive."""
    waiting: list[pa.RecordBatch] = []
    people = 0
    for batch in batches:
        while batch.num_rows:
            reached = people + np.cumsum(batch.column(C.SIZE).to_numpy(), dtype=np.int64)
            ends = int(np.searchsorted(reached, CHUNK_ROWS)) + 1
            waiting.append(batch.slice(0, ends))
            people = int(reached[min(ends, batch.num_rows) - 1])
            batch = batch.slice(ends)
            if people >= CHUNK_ROWS:
                yield pa.Table.from_batches(waiting)
                waiting, people = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _whole(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _compact(column: pa.Array) -> pa.Array:
    """Texts as a dictionary column, which the writer takes as it is."""
    return column.dictionary_encode() if pa.types.is_string(column.type) else column


def _decoded(codes: pa.Array, values: pa.Array) -> pa.Array:
    """The values of codes. A dictionary of texts holds those that occur and no other: it is published."""
    used, place = np.unique(codes.to_numpy(zero_copy_only=False), return_inverse=True)
    found, place = values.take(pa.array(used)), place.ravel().astype(np.int32)
    if not pa.types.is_string(values.type):
        return found.take(pa.array(place))
    known = found.is_valid().to_numpy(zero_copy_only=False)
    index = (np.cumsum(known, dtype=np.int32) - 1)[place]
    return pa.DictionaryArray.from_arrays(pa.array(index, mask=~known[place]), found.drop_null())


def written_by_tasks(groups: DataFrame, columns: GroupColumns, folder: Folder, scratch: Folder) -> int:
    """Write the people of numbered groups, and say how many there are."""
    folder.create()
    scratch.create(private=True)
    task = WriteRows(columns, folder.path, scratch.path)
    written = groups.mapInArrow(task, _WRITTEN).toArrow()
    names = written.column("file").to_pylist()
    if sorted(names) != folder.children():
        raise InternalError("the files written are not those that were to be written")
    return sum(written.column("people").to_pylist())


def writable(schema: T.StructType, folder: Folder) -> bool:
    """Whether tasks can reach the folder themselves, and write columns of these types as Spark would."""
    return folder.local and _plain(schema)


def _plain(kind: T.DataType) -> bool:
    if isinstance(kind, T.StructType):
        return all(_plain(field.dataType) for field in kind.fields)
    if isinstance(kind, T.ArrayType):
        return _plain(kind.elementType)
    if isinstance(kind, T.MapType):
        return _plain(kind.keyType) and _plain(kind.valueType)
    return type(kind) in _PLAIN or kind == T.StringType()
