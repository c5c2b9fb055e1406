"""What the knowledge explorer must know of a release for one value: its distinct group signatures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ppdp_spark.core.groups import GroupSummaries, IntArray
from ppdp_spark.core.skyline.batches import batches
from ppdp_spark.core.skyline.points import Case, case_code
from ppdp_spark.errors import DataError, SpecError

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Signatures:
    """Distinct (n, #σ, counts of the most frequent other values) of the groups that contain σ.

    where
        value        code of σ
        groups       groups looked at, with σ or without
        people       n, shape (signatures,)
        occurrences  #σ
        others       largest counts of other values, descending, shape (signatures, width)
        ids          smallest id of a group with this signature
        values       the codes that `others` belong to in that group, −1 where the count is zero
    """

    value: int
    groups: int
    people: IntArray
    occurrences: IntArray
    others: IntArray
    ids: IntArray
    values: IntArray

    @property
    def width(self) -> int:
        return int(self.others.shape[1])

    def __len__(self) -> int:
        return len(self.people)

    def merged(self, other: Signatures) -> Signatures:
        """The signatures of both sets of groups; associative and commutative."""
        return merge_signatures([self, other])


def _distinct(rows: IntArray, ids: IntArray) -> IntArray:
    """Positions of one row of each kind, the one with the smallest id, in the order of the rows.

    Rows are told apart by a 64-bit hash first, which is then confirmed; a collision costs time only.
    """
    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    hashed = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T.astype(np.uint64):
        hashed = (hashed ^ column) * _MIX
        hashed ^= hashed >> np.uint64(29)
    order = np.lexsort((ids, hashed))
    new = np.r_[True, hashed[order][1:] != hashed[order][:-1]]
    chosen = order[new]
    if not np.array_equal(
        rows[order], np.repeat(rows[chosen], np.diff(np.r_[np.flatnonzero(new), len(rows)]), 0)
    ):
        order = np.lexsort((ids, *rows.T[::-1]))
        chosen = order[np.r_[True, (rows[order][1:] != rows[order][:-1]).any(axis=1)]]
    return chosen[np.lexsort(rows[chosen].T[::-1])]


def _kept(value: int, groups: int, rows: IntArray, ids: IntArray, values: IntArray) -> Signatures:
    chosen = _distinct(rows, ids)
    rows = rows[chosen]
    return Signatures(value, groups, rows[:, 0], rows[:, 1], rows[:, 2:], ids[chosen], values[chosen])


def _batch(value: int, sizes: IntArray, counts: IntArray, ids: IntArray, width: int) -> Signatures:
    here = counts[:, value] > 0
    rest = np.delete(counts[here], value, axis=1)
    kept = min(width, rest.shape[1])
    others = np.zeros((len(rest), width), dtype=np.int64)
    if kept < rest.shape[1]:
        top = np.partition(rest, rest.shape[1] - kept, axis=1)[:, rest.shape[1] - kept :]
    else:
        top = rest
    others[:, :kept] = np.sort(top, axis=1)[:, ::-1]
    rows = np.column_stack([sizes[here], counts[here, value], others])
    ids = ids[here]
    chosen = _distinct(rows, ids)
    rank = np.argsort(-rest[chosen], axis=1, kind="stable")[:, :width]
    values = np.full((len(chosen), width), -1, dtype=np.int64)
    values[:, :kept] = np.where(others[chosen, :kept] > 0, rank + (rank >= value), -1)
    return _kept(value, len(sizes), rows[chosen], ids[chosen], values)


def signatures(groups: GroupSummaries, ids: IntArray, value: int, *, case: Case, max_l: int) -> Signatures:
    """The signatures of `groups` for σ = `value`, with the `max_l` most frequent other values."""
    if not 0 <= value < groups.counts.shape[1]:
        raise DataError(f"value code {value} is not among the {groups.counts.shape[1]} values counted")
    if max_l < 0:
        raise SpecError(f"`max_l` ({max_l}) must not be negative")
    ids = np.asarray(ids, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    empty = Signatures(value, 0, none, none, none.reshape(0, max_l), none, none.reshape(0, max_l))
    parts = [
        _batch(value, sizes, counts, ids[start : start + len(sizes)], max_l)
        for start, sizes, counts in batches(groups, case_code(case))
    ]
    return merge_signatures([empty, *parts])


def merge_signatures(parts: Iterable[Signatures]) -> Signatures:
    """One set of signatures from those of disjoint sets of groups, in any order."""
    return reduce(_merge, parts)


def _merge(left: Signatures, right: Signatures) -> Signatures:
    if (left.value, left.width) != (right.value, right.width):
        raise DataError("signatures of different values or widths cannot be merged")
    rows = [np.column_stack([s.people, s.occurrences, s.others]) for s in (left, right)]
    return _kept(
        left.value,
        left.groups + right.groups,
        np.concatenate(rows),
        np.concatenate([left.ids, right.ids]),
        np.concatenate([left.values, right.values]),
    )
