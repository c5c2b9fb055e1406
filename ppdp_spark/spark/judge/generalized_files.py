"""A generalized release read by the tasks themselves, dictionaries and all, for judgement.

The engine would unpack every text of every row only to hash it. Here a text is hashed once for each
dictionary that has it. What cannot be read in this way is left to the engine, which says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.data.group_scan import Reduction
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.arrow import codes_of, encoded
from ppdp_spark.spark.engine.tasks import in_tasks, one_task_each
from ppdp_spark.spark.engine.versions import from_arrow, to_arrow
from ppdp_spark.spark.judge.adjacent_groups import UNREADABLE, ReduceRuns, combined
from ppdp_spark.stores.store import Store

_SHARE = 4
"""Row groups of one file that a task reads."""

_BATCH_ROWS = 1 << 18
_PRIME, _TURN, _NOTHING = np.uint64(0x9E3779B97F4A7C15), np.uint64(29), np.uint64(0x2545F4914F6CDD1D)


def shares_of_files(spark: SparkSession, folder: Folder) -> DataFrame | None:
    """Which row groups of which file each task reads; None if there are none, or one is broken.

    `row` is the number of the first row of a share in its file, and `file` that of the file in the folder.
    """
    rows = []
    for file, (name, _) in enumerate(folder.files(".parquet")):
        place = folder / name
        try:
            metadata = pq.read_metadata(place.arrow_file(ranged=True))
        except (OSError, pa.ArrowException):
            return None
        groups = metadata.num_row_groups
        ends = np.cumsum([0, *(metadata.row_group(g).num_rows for g in range(groups))])
        firsts = range(0, groups, _SHARE)
        rows += [(place.path, file, g, min(g + _SHARE, groups), int(ends[g])) for g in firsts]
    if not rows:
        return None
    columns = zip(("path", "file", "first", "end", "row"), zip(*rows, strict=True), strict=True)
    table = pa.table({"share": pa.array(range(len(rows)), pa.int32()), **dict(columns)})
    return one_task_each(from_arrow(spark, table), "share", len(rows))


def batches_of_share(
    store: Store, share: Mapping[str, Any], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The columns of one share of a file, texts by their dictionaries."""
    with pq.ParquetFile(store.open(share["path"]), read_dictionary=list(columns)) as file:
        chosen = list(range(share["first"], share["end"]))
        yield from file.iter_batches(_BATCH_ROWS, row_groups=chosen, columns=list(columns))


@dataclass(frozen=True)
class ReleaseFiles:
    """The data files of a release, whose groups are supposed to lie together.

    where
        store      where they are
        parts      which row groups of which files a task reads
        described  columns that must not vary within a group
        sensitive  the column of values, if there is one
        values     every value, by its code
    """

    store: Store
    parts: DataFrame
    described: tuple[str, ...]
    sensitive: str | None
    values: pa.Array

    @classmethod
    def of(
        cls,
        spark: SparkSession,
        folder: Folder,
        described: Sequence[str],
        sensitive: str | None,
        values: pa.Array,
    ) -> ReleaseFiles | None:
        """The files of a folder; None if not all are in order."""
        parts = shares_of_files(spark, folder)
        return None if parts is None else cls(folder.store, parts, tuple(described), sensitive, values)

    def with_extrema(self, folder: Folder, sets: int) -> None:
        """None: the owner's extrema lie in files of their own order."""

    def reduce(self, reductions: Sequence[Reduction[Any]], width: int) -> list[Any] | None:
        """What each reduction makes of the groups; None if they do not lie together, or are not readable."""
        runs = ReduceRuns(tuple(reductions), width)
        task = ReduceFiles(runs, self.store, self.described, self.sensitive, self.values)
        return combined(to_arrow(in_tasks(self.parts, task, "reduced binary")), reductions)


@dataclass(frozen=True)
class ReduceFiles:
    """Reads row groups and reduces their groups; a task that cannot read says so with an empty result."""

    task: ReduceRuns
    store: Store
    described: tuple[str, ...]
    sensitive: str | None
    values: pa.Array

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shares = [share for batch in batches for share in batch.to_pylist()]
        try:
            found = list(self.task(self._rows(shares)))
        except (OSError, LookupError, pa.ArrowException):
            found = [pa.RecordBatch.from_pydict({"reduced": pa.array([UNREADABLE], pa.binary())})]
        yield from found

    def _rows(self, shares: Sequence[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
        """Group number, hash of the description and code of the value, of every row."""
        wanted = [C.GROUP_ID, *self.described, *([] if self.sensitive is None else [self.sensitive])]
        for share in shares:
            yield from map(self._narrow, batches_of_share(self.store, share, wanted))

    def _narrow(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        marks = np.zeros(batch.num_rows, np.uint64)
        for name in self.described:
            marks = ((marks << _TURN) | (marks >> (np.uint64(64) - _TURN))) ^ _hashes(batch.column(name))
            marks = marks * _PRIME
        ids = batch.column(C.GROUP_ID).cast(pa.int64())
        return pa.RecordBatch.from_pydict(
            {C.GROUP_ID: ids, "description": pa.array(marks.view(np.int64)), C.SENSITIVE: self._codes(batch)}
        )

    def _codes(self, batch: pa.RecordBatch) -> pa.Array:
        if self.sensitive is None:
            return pa.array(np.zeros(batch.num_rows, np.int64))
        return pa.array(codes_of(batch.column(self.sensitive), self.values))


def _hashes(column: pa.Array) -> NDArray[np.uint64]:
    """A 64-bit number for each value, equal for equal values in every file.

    Groups are told apart by their number; this notices accidents, a second description.
    """
    told = encoded(column)
    values = told.dictionary
    if pa.types.is_date32(values.type) or pa.types.is_timestamp(values.type):
        values = values.cast(pa.int32() if pa.types.is_date32(values.type) else pa.int64())
    elif not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        values = values.cast(pa.string())
    plain = values.to_numpy(zero_copy_only=False)
    known = np.append(pd.util.hash_array(plain, categorize=False), _NOTHING)
    hashes: NDArray[np.uint64] = known[told.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)]
    return hashes
