"""What the knowledge explorer must know of a release for one value: the groups that can matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.criteria.skyline.batches import batches
from ppdp_spark.core.criteria.skyline.formulas import exclusions
from ppdp_spark.core.criteria.skyline.points import Case, case_code
from ppdp_spark.core.data.groups import GroupSummaries, IntArray
from ppdp_spark.core.explorer.staircase import staircase
from ppdp_spark.errors import DataError, SpecError

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Signatures:
    """Distinct (n, #σ, counts of the most frequent other values) of groups that contain σ.

    Only those are kept that attain a minimum for some (ℓ, k, m) with ℓ up to the width.

    where
        case         how many values a person has
        value        code of σ
        groups       groups looked at, with σ or without
        people       n, shape (signatures,)
        occurrences  #σ
        others       largest counts of other values, descending, shape (signatures, width)
        ids          smallest id of a group with this signature
        values       the codes that `others` belong to in that group, −1 where the count is zero
    """

    case: Case
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


def signatures(groups: GroupSummaries, ids: IntArray, value: int, *, case: Case, max_l: int) -> Signatures:
    """The signatures of `groups` for σ = `value`, with the `max_l` most frequent other values."""
    if not 0 <= value < groups.counts.shape[1]:
        raise DataError(f"value code {value} is not among the {groups.counts.shape[1]} values counted")
    if max_l < 0:
        raise SpecError(f"`max_l` ({max_l}) must not be negative")
    ids = np.asarray(ids, dtype=np.int64)
    if len(ids) != len(groups):
        raise DataError(f"{len(ids)} ids for {len(groups)} groups")
    none, wide = np.zeros(0, dtype=np.int64), np.zeros((0, max_l), dtype=np.int64)
    parts = [Signatures(case, value, 0, none, none, wide, none, wide)]
    for start, sizes, counts in batches(groups, case_code(case)):
        names = ids[start : start + len(sizes)]
        parts.append(_described(case, value, sizes=sizes, counts=counts, ids=names, width=max_l))
    return merge_signatures(parts)


def merge_signatures(parts: Sequence[Signatures]) -> Signatures:
    """One set of signatures from those of disjoint sets of groups, in any order."""
    first = parts[0]
    if any((p.case, p.value, p.width) != (first.case, first.value, first.width) for p in parts):
        raise DataError("signatures of different cases, values or widths cannot be merged")
    rows = np.concatenate([np.column_stack([p.people, p.occurrences, p.others]) for p in parts])
    ids = np.concatenate([p.ids for p in parts])
    values = np.concatenate([p.values for p in parts])
    kept = _necessary(first.case, rows, ids)
    rows, groups = rows[kept], sum(p.groups for p in parts)
    return Signatures(
        first.case,
        first.value,
        groups,
        people=rows[:, 0],
        occurrences=rows[:, 1],
        others=rows[:, 2:],
        ids=ids[kept],
        values=values[kept],
    )


def _described(
    case: Case, value: int, *, sizes: IntArray, counts: IntArray, ids: IntArray, width: int
) -> Signatures:
    """The necessary signatures of one batch of groups."""
    here, groups = counts[:, value] > 0, len(sizes)
    sizes, counts, ids = sizes[here], counts[here], ids[here]
    rest = np.delete(counts, value, axis=1)
    kept = min(width, rest.shape[1])
    others = np.zeros((len(rest), width), dtype=np.int64)
    others[:, :kept] = np.sort(np.partition(rest, -kept, axis=1)[:, -kept:] if kept else rest[:, :0])[:, ::-1]
    rows = np.column_stack([sizes, counts[:, value], others])
    chosen = _distinct(rows, ids)
    chosen = chosen[_necessary(case, rows[chosen], ids[chosen])]
    rank = np.argsort(-rest[chosen], axis=1, kind="stable")[:, :width]
    values = np.full((len(chosen), width), -1, dtype=np.int64)
    values[:, :kept] = np.where(others[chosen, :kept] > 0, rank + (rank >= value), -1)
    rows = rows[chosen]
    return Signatures(case, value, groups, rows[:, 0], rows[:, 1], rows[:, 2:], ids[chosen], values)


def _distinct(rows: IntArray, ids: IntArray) -> IntArray:
    """Positions of one row of each kind, the one with the smallest id.

    Rows are told apart by a 64-bit hash, which is then confirmed; a collision costs time only.
    """
    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    hashed = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T.astype(np.uint64):
        hashed = (hashed ^ column) * _MIX
        hashed ^= hashed >> np.uint64(29)
    order = np.lexsort((ids, hashed))
    new = np.r_[True, np.diff(hashed[order]) != 0]
    kinds = np.cumsum(new) - 1
    if not np.array_equal(rows[order], rows[order[new]][kinds]):
        order = np.lexsort((ids, *rows.T[::-1]))
        new = np.r_[True, (rows[order][1:] != rows[order][:-1]).any(axis=1)]
    chosen: IntArray = order[new]
    return chosen


def _necessary(case: Case, rows: IntArray, ids: IntArray) -> IntArray:
    """Positions of the rows (n, #σ, counts) on the staircase of some ℓ, in the order of the rows.

    Dropping those that are on none loses no minimum, and doing so part by part first gives the same.
    """
    code, needed = case_code(case), np.zeros(len(rows), dtype=bool)
    people, occurrences, others = rows[:, 0].copy(), rows[:, 1].copy(), rows[:, 2:].copy()
    for length in range(others.shape[1] + 1):
        excluded = exclusions(code, people, others, length)
        needed[staircase(code, people, occurrences, excluded, ids)] = True
    index = np.flatnonzero(needed)
    ordered: IntArray = index[np.lexsort(rows[index].T[::-1])]
    return ordered
