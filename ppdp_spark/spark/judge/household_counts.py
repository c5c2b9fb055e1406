"""Counting the households of every group inside tasks, where the rows of a group meet as in `counts`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ppdp_spark.core.data.groups import COUNT_CELLS, GroupSummaries, IntArray
from ppdp_spark.core.data.households import Households, codes_of_names
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.judge.counts import Cells


@dataclass(frozen=True)
class CountHouseholds:
    """Rows of one partition, held together, to summaries of its groups with their households."""

    width: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[GroupSummaries, IntArray]]:
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        words = pa.Table.from_batches(
            [part.select(list(C.HOUSEHOLD_NAME)) for part in parts]
        ).combine_chunks()
        household = codes_of_names(*(words.column(name).to_numpy() for name in C.HOUSEHOLD_NAME)).astype(
            np.int64
        )
        cells = Cells.together([Cells.of(part) for part in parts])
        named = replace(cells, codes=household * self.width + cells.codes)
        cells, starts = named.by_group()
        yield from self._summaries(cells, starts)

    def _summaries(self, cells: Cells, starts: IntArray) -> Iterator[tuple[GroupSummaries, IntArray]]:
        bounds, step = np.append(starts, len(cells.first)), max(1, COUNT_CELLS // self.width)
        household, value = np.divmod(cells.codes, self.width)
        for low in range(0, len(starts), step):
            high = min(low + step, len(starts))
            part = slice(bounds[low], bounds[high])
            sizes = np.diff(bounds[low : high + 1])
            group = np.repeat(np.arange(high - low), sizes)
            counts = np.bincount(group * self.width + value[part], minlength=(high - low) * self.width)
            together = Households.of(group, household[part], value[part], high - low)
            table = counts.reshape(-1, self.width)
            yield GroupSummaries(sizes, table, households=together), cells.first[starts[low:high]]


@dataclass(frozen=True)
class Fingerprint:
    """A number for groups with their sizes and counts, whatever their order; it notices accidents."""

    counted: bool

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> tuple[int, int]:
        whole = _mixed(np.asarray(ids).astype(np.uint64)) + np.asarray(groups.sizes).astype(np.uint64)
        if self.counted:
            places = _mixed(np.arange(groups.counts.shape[1], dtype=np.uint64) + np.uint64(1))
            whole = whole ^ _mixed(groups.counts.astype(np.uint64) @ places)
        return len(groups), int(_mixed(whole).sum())

    def merge(self, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
        return left[0] + right[0], (left[1] + right[1]) % 2**64


def _mixed(numbers: IntArray) -> IntArray:
    """Numbers of 64 bits stirred, each into one of its own."""
    found = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)))
