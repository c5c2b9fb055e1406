"""Whether the order of published values tells nothing: a column that is sorted within each group.

Where several sensitive attributes are published independently, the rows of a group must not tell which values
belong together. A column in the order of its own values is a function of their counts, so it says no more
than these; that every column is in this order is not taken on trust.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.data.encode import typed_values
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.arrow import codes_of
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import from_arrow, to_arrow
from ppdp_spark.spark.judge.adjacent_groups import UNREADABLE
from ppdp_spark.spark.judge.generalized_files import batches_of_share, shares_of_files
from ppdp_spark.spark.parquet.read_folder import read_folder
from ppdp_spark.stores.store import Store

_FILE, _ROW = "file", "row"
_FOUND = "found binary"


@dataclass(frozen=True)
class Stretch:
    """Rows of one file that follow each other: number of the first row, and what the first and last say.

    where
        first, last  group number, then the code of each value
    """

    file: int
    row: int
    first: tuple[int, ...]
    last: tuple[int, ...]


@dataclass(frozen=True)
class FindDisorder:
    """Counts rows that stand before one they should follow, and tells the ends of each stretch of rows.

    where
        values  every value of each column, by its code
    """

    values: tuple[pa.Array, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        wrong, stretches = 0, list[Stretch]()
        for batch in batches:
            if batch.num_rows:
                found, more = self._looked_at(batch)
                wrong += found
                stretches += more
        content = pickle.dumps((wrong, stretches))
        yield pa.RecordBatch.from_pydict({"found": pa.array([content], pa.binary())})

    def _looked_at(self, batch: pa.RecordBatch) -> tuple[int, list[Stretch]]:
        file, row, group = (batch.column(i).to_numpy(zero_copy_only=False) for i in range(3))
        codes = [codes_of(batch.column(3 + i), known) for i, known in enumerate(self.values)]
        told = np.stack([group, *codes], axis=1).astype(np.int64)
        breaks = np.flatnonzero((file[1:] != file[:-1]) | (row[1:] != row[:-1] + 1)) + 1
        follows = np.ones(len(row), np.bool_)
        follows[np.append(0, breaks)] = False
        wrong = int(np.count_nonzero(_disorder(told[:-1], told[1:]) & follows[1:]))
        edges = zip([0, *breaks], [*(breaks - 1), len(row) - 1], strict=True)
        ends = [
            (int(file[a]), int(row[a]), tuple(told[a].tolist()), tuple(told[b].tolist())) for a, b in edges
        ]
        return wrong, [Stretch(*each) for each in ends]


@dataclass(frozen=True)
class FindDisorderInFiles:
    """The same of shares of files, which the task reads by itself; nothing if it cannot read one."""

    task: FindDisorder
    store: Store
    columns: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shares = [share for batch in batches for share in batch.to_pylist()]
        try:
            found = list(self.task(self._rows(shares)))
        except (OSError, LookupError, pa.ArrowException):
            found = [pa.RecordBatch.from_pydict({"found": pa.array([UNREADABLE], pa.binary())})]
        yield from found

    def _rows(self, shares: Iterable[Mapping[str, Any]]) -> Iterator[pa.RecordBatch]:
        for share in shares:
            first = share["row"]
            for batch in batches_of_share(self.store, share, [C.GROUP_ID, *self.columns]):
                rows = np.arange(first, first + batch.num_rows)
                groups = batch.column(0).cast(pa.int64())
                first += batch.num_rows
                placed = [pa.array(np.full(batch.num_rows, share["file"])), pa.array(rows), groups]
                arrays = [*placed, *batch.columns[1:]]
                yield pa.RecordBatch.from_arrays(arrays, [_FILE, _ROW, C.GROUP_ID, *self.columns])


def _disorder(before: IntArray, after: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether groups go back, or within a group the values of any column do."""
    back = np.asarray(after < before)
    same = after[:, 0] == before[:, 0]
    return np.asarray(back[:, 0] | (same & back[:, 1:].any(axis=1)))


def out_of_order(spark: SparkSession, folder: Folder, columns: Mapping[str, Sequence[str | None]]) -> int:
    """Rows of a published table that stand before a row they should follow: by group, then by each column.

    `columns` are those that must be sorted within each group, with all their values in the order of codes.
    """
    table = read_folder(spark, folder, placed=True)
    kinds = {name: table.schema[name].dataType.simpleString() for name in columns}
    task = FindDisorder(tuple(typed_values(spark, values, kinds[name]) for name, values in columns.items()))
    shares = shares_of_files(spark, folder)
    if shares is not None:
        found = to_arrow(in_tasks(shares, FindDisorderInFiles(task, folder.store, tuple(columns)), _FOUND))
        if UNREADABLE not in found.column(0).to_pylist():
            return _disorder_in_all(found, lambda file: file)
    return _out_of_order_rows(table, [name for name, _ in folder.files(".parquet")], task, columns)


def _out_of_order_rows(
    table: DataFrame, files: Sequence[str], task: FindDisorder, columns: Iterable[str]
) -> int:
    """The same where only the engine can read the files, whose names are in their order."""
    session = table.sparkSession
    listed = from_arrow(session, pa.table({"name": pa.array(files, pa.string())}))
    hashes = to_arrow(listed.select("name", F.xxhash64("name").alias("hash"))).to_pylist()
    place = {each["hash"]: files.index(each["name"]) for each in hashes}
    wanted = [
        F.xxhash64(F.col("_metadata.file_name")).alias(_FILE),
        F.col("_metadata.row_index").alias(_ROW),
        F.col(C.GROUP_ID).cast("bigint").alias(C.GROUP_ID),
        *(C.column(name) for name in columns),
    ]
    return _disorder_in_all(to_arrow(in_tasks(table.select(*wanted), task, _FOUND)), place.__getitem__)


def _disorder_in_all(found: pa.Table, place: Callable[[int], int]) -> int:
    """What the tasks found, put together; `place` is that of a file among all."""
    # Written by this program's own tasks a moment ago, over Spark's channel.
    parts = [pickle.loads(part) for part in found.column(0).to_pylist()]
    stretches = sorted((one for _, more in parts for one in more), key=lambda one: (place(one.file), one.row))
    return sum(int(wrong) for wrong, _ in parts) + _between(stretches)


def _between(stretches: Sequence[Stretch]) -> int:
    """Disorder where one stretch ends and the next begins."""
    if len(stretches) < 2:
        return 0
    before = np.array([one.last for one in stretches[:-1]])
    after = np.array([one.first for one in stretches[1:]])
    return int(np.count_nonzero(_disorder(before, after)))


def unlinked_row(wrong: int, groups: int) -> VerdictRow:
    """The verdict on the order of published values."""
    level = "the values of each attribute are in an order of their own"
    status = "fail" if wrong else "pass"
    return VerdictRow("unlinked", level, float(wrong), 0.0, "<=", groups, wrong, status)
