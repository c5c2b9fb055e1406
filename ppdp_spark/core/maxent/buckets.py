"""A bucketized release as flat arrays, and the variables P(q, s, b) it leaves open.

Amounts are expected numbers of records, x = |T| · P(q, s, b): the invariants of a bucket are then its
published counts. Inside a bucket the variables form a block, cells (quasi-identifier tuples) by values,
cell-major; no variable has an index array of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ppdp_spark.errors import DataError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def spans(starts: IntArray, lengths: IntArray) -> IntArray:
    """The indices start, …, start + length − 1 of every span, one after the other."""
    before = np.cumsum(lengths) - lengths
    indices: IntArray = np.repeat(starts - before, lengths)
    return indices + np.arange(len(indices), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Buckets:
    """Buckets, each with its cells, its rows and its values.

    A row is a published quasi-identifier tuple with its multiplicity. A cell is who may fill it: the row
    itself, unless people are known by name; then a named person and the rest are cells of one row.

    where
        ids           name of each bucket, shape (buckets,)
        cell_start    first cell of each bucket, shape (buckets + 1,)
        cell_qi       id of the quasi-identifier tuple of each cell
        cell_row      row of each cell, counted inside its bucket
        cell_person   index of the person a cell belongs to, −1 for nobody in particular
        cell_weight   how many people of the release a cell stands for
        row_start     first row of each bucket
        row_count     people in each row
        value_start   first sensitive value of each bucket
        value_code    code of each sensitive value
        value_count   its occurrences in the bucket
    """

    ids: IntArray
    cell_start: IntArray
    cell_qi: NDArray[np.int32]
    cell_row: NDArray[np.int32]
    cell_person: NDArray[np.int32]
    cell_weight: FloatArray
    row_start: IntArray
    row_count: FloatArray
    value_start: IntArray
    value_code: NDArray[np.int32]
    value_count: FloatArray

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def widths(self) -> IntArray:
        """Distinct sensitive values of each bucket."""
        return np.diff(self.value_start)

    @property
    def variable_start(self) -> IntArray:
        """First variable of each bucket, shape (buckets + 1,)."""
        return np.concatenate([[0], np.cumsum(np.diff(self.cell_start) * self.widths)])

    @property
    def variables(self) -> int:
        return int(self.variable_start[-1])

    @property
    def records(self) -> float:
        return float(self.value_count.sum())

    @property
    def cell_bucket(self) -> IntArray:
        """Position of the bucket of each cell."""
        return np.repeat(np.arange(len(self)), np.diff(self.cell_start))

    def variables_of(self, cells: IntArray) -> tuple[IntArray, IntArray]:
        """All variables of some cells, and the position of each one's sensitive value in `value_code`."""
        bucket = np.searchsorted(self.cell_start, cells, side="right") - 1
        width = self.widths[bucket]
        first = self.variable_start[bucket] + (cells - self.cell_start[bucket]) * width
        return spans(first, width), spans(self.value_start[bucket], width)

    def take(self, chosen: IntArray) -> Buckets:
        """Some of the buckets, in the order given."""
        cells, cell_start = _gathered(self.cell_start, chosen)
        rows, row_start = _gathered(self.row_start, chosen)
        values, value_start = _gathered(self.value_start, chosen)
        return Buckets(
            ids=self.ids[chosen],
            cell_start=cell_start,
            cell_qi=self.cell_qi[cells],
            cell_row=self.cell_row[cells],
            cell_person=self.cell_person[cells],
            cell_weight=self.cell_weight[cells],
            row_start=row_start,
            row_count=self.row_count[rows],
            value_start=value_start,
            value_code=self.value_code[values],
            value_count=self.value_count[values],
        )


def variables_in(buckets: Buckets, chosen: IntArray) -> IntArray:
    """Indices of all variables of some buckets, bucket by bucket."""
    start = buckets.variable_start
    return spans(start[chosen], start[chosen + 1] - start[chosen])


def buckets_from_rows(bucket: ArrayLike, qi: ArrayLike, sensitive: ArrayLike) -> Buckets:
    """Buckets of a table with one row per person; which value lies beside which tuple is not used."""
    return buckets_from_tables(bucket, qi, bucket, sensitive)


def buckets_from_tables(
    qi_bucket: ArrayLike,
    qi: ArrayLike,
    value_bucket: ArrayLike,
    value: ArrayLike,
    *,
    qi_count: ArrayLike | None = None,
    value_count: ArrayLike | None = None,
) -> Buckets:
    """Buckets of a published pair of tables: (bucket, tuple id, count) and (bucket, value code, count)."""
    rows = _counted(qi_bucket, qi, qi_count, "quasi-identifier")
    values = _counted(value_bucket, value, value_count, "sensitive")
    ids = np.unique(np.concatenate([rows[0], values[0]]))
    row_start, value_start = (np.searchsorted(t[0], np.append(ids, ids[-1:] + 1)) for t in (rows, values))
    if not len(ids):
        row_start = value_start = np.zeros(1, dtype=np.int64)
    _check_totals(ids, rows, values)
    cells = len(rows[0])
    return Buckets(
        ids=ids,
        cell_start=row_start,
        cell_qi=rows[1].astype(np.int32),
        cell_row=(np.arange(cells) - np.repeat(row_start[:-1], np.diff(row_start))).astype(np.int32),
        cell_person=np.full(cells, -1, dtype=np.int32),
        cell_weight=rows[2].astype(np.float64),
        row_start=row_start,
        row_count=rows[2].astype(np.float64),
        value_start=value_start,
        value_code=values[1].astype(np.int32),
        value_count=values[2].astype(np.float64),
    )


def closed_form(buckets: Buckets) -> FloatArray:
    """x(q, s, b) = n(q, b) · share of s in b: maximum entropy without knowledge [MaxEnt, Thm 5].

    A person in one of several buckets is as likely at every occurrence of the tuple [MaxEnt, Section 6].
    """
    bucket = buckets.cell_bucket
    row = buckets.row_start[bucket] + buckets.cell_row
    weights = np.bincount(row, weights=buckets.cell_weight, minlength=len(buckets.row_count))
    people = buckets.row_count[row] * buckets.cell_weight / weights[row]
    value_bucket = np.repeat(np.arange(len(buckets)), buckets.widths)
    size = np.bincount(value_bucket, weights=buckets.value_count, minlength=len(buckets))
    share = buckets.value_count / size[value_bucket]
    width = buckets.widths[bucket]
    solution: FloatArray = np.repeat(people, width) * share[spans(buckets.value_start[bucket], width)]
    return solution


def _gathered(start: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    lengths = np.diff(start)[chosen]
    return spans(start[chosen], lengths), np.concatenate([[0], np.cumsum(lengths)])


def _counted(
    bucket: ArrayLike, code: ArrayLike, count: ArrayLike | None, kind: str
) -> tuple[IntArray, IntArray, IntArray]:
    """Distinct (bucket, code) in order, with summed counts."""
    buckets, codes = np.asarray(bucket, dtype=np.int64), np.asarray(code, dtype=np.int64)
    counts = np.ones(len(buckets), dtype=np.int64) if count is None else np.asarray(count, dtype=np.int64)
    if not len(buckets) == len(codes) == len(counts):
        raise DataError(f"the {kind} table has columns of different lengths")
    if len(codes) and (codes.min() < 0 or counts.min() < 1):
        raise DataError(f"the {kind} table needs codes of at least 0 and counts of at least 1")
    order = np.lexsort((codes, buckets))
    buckets, codes, counts = buckets[order], codes[order], counts[order]
    new = np.ones(len(buckets), dtype=bool)
    new[1:] = (np.diff(buckets) != 0) | (np.diff(codes) != 0)
    first = np.flatnonzero(new)
    sums = np.add.reduceat(counts, first) if len(first) else counts
    return buckets[first], codes[first], sums


def _check_totals(
    ids: IntArray, rows: tuple[IntArray, IntArray, IntArray], values: tuple[IntArray, IntArray, IntArray]
) -> None:
    people, occurrences = (
        np.bincount(np.searchsorted(ids, t[0]), weights=t[2], minlength=len(ids)) for t in (rows, values)
    )
    wrong = np.flatnonzero(people != occurrences)
    if len(wrong):
        raise DataError(
            [
                f"bucket {ids[b]}: {people[b]:.0f} people and {occurrences[b]:.0f} sensitive values; "
                "every person needs exactly one"
                for b in wrong[:20]
            ]
            + ([f"and {len(wrong) - 20} more buckets"] if len(wrong) > 20 else [])
        )
