"""Whether the order of published values tells nothing: a column that is sorted within each group.

Where several sensitive attributes are published independently, the rows of a group must not tell which values
belong together. A column in the order of its own values is a function of their counts, so it says no more
than these; that every column is in this order is not taken on trust.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.spark.data.encode import typed_values
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.arrow import codes_of
from ppdp_spark.spark.engine.tasks import in_tasks

_FILE, _ROW = "file", "row"


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


def _disorder(before: IntArray, after: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether groups go back, or within a group the values of any column do."""
    back = np.asarray(after < before)
    same = after[:, 0] == before[:, 0]
    return np.asarray(back[:, 0] | (same & back[:, 1:].any(axis=1)))


def out_of_order(table: DataFrame, files: Iterable[str], columns: Mapping[str, Sequence[str | None]]) -> int:
    """Rows of a table that stand before a row they should follow: by group, then by each column.

    where
        files    names of the files that the table is read from, in their order
        columns  those that must be sorted within each group, with all their values in the order of codes
    """
    session, names = table.sparkSession, list(files)
    listed = session.createDataFrame(pa.table({"name": pa.array(names, pa.string())}))
    hashes = listed.select("name", F.xxhash64("name").alias("hash")).toArrow().to_pylist()
    place = {each["hash"]: names.index(each["name"]) for each in hashes}
    wanted = [
        F.xxhash64(F.col("_metadata.file_name")).alias(_FILE),
        F.col("_metadata.row_index").alias(_ROW),
        F.col(C.GROUP_ID).cast("bigint").alias(C.GROUP_ID),
        *(C.column(name) for name in columns),
    ]
    kinds = {name: table.schema[name].dataType.simpleString() for name in columns}
    known = tuple(typed_values(session, values, kinds[name]) for name, values in columns.items())
    found = in_tasks(table.select(*wanted), FindDisorder(known), "found binary").toArrow().column(0)
    # Written by this program's own tasks a moment ago, over Spark's channel.
    parts = [pickle.loads(part) for part in found.to_pylist()]
    stretches = sorted((one for _, more in parts for one in more), key=lambda one: (place[one.file], one.row))
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
