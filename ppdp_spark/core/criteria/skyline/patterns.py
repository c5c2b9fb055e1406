"""The minima of many alike groups: statistics are taken once a pattern, not once per group.

The five statistics of a group for σ depend only on its people, on #σ and on its largest counts
[Skyline, Thm 2]. Small groups have few such patterns: a million groups of twenty people have hundreds.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ppdp_spark.core.criteria.skyline.formulas import excluded_amount, five_statistics
from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray

FEWER = 4
"""Patterns must be so many times fewer than groups to be worth it."""

TABLE_CELLS = 1 << 22
"""Cells of the table (values, patterns, occurrences) at most."""

_MIX = np.uint64(0x9E3779B97F4A7C15)


def lower_by_pattern(
    case: int,
    groups: tuple[IntArray, IntArray, IntArray],
    first_row: int,
    points: IntArray,
    found: tuple[FloatArray, IntArray, IntArray],
) -> bool:
    """What `update_minima` does, pattern by pattern; False, with nothing done, where that is no gain.

    `groups` are sizes, counts and ids; `found` are the running minima, rows and names.
    """
    sizes, counts, ids = groups
    longest = int(points[:, 1].max()) + 1
    occurrences = int(counts.max(initial=0)) + 1
    most = min(len(sizes) // FEWER, TABLE_CELLS // max(1, counts.shape[1] * occurrences))
    if not most:
        return False
    keys = np.column_stack([sizes, -np.sort(-counts, axis=1)[:, :longest]])
    kinds, representatives = same_rows(keys)
    if len(representatives) > most:
        return False
    patterns = keys[representatives]
    table = np.full((counts.shape[1], len(patterns), occurrences), -1)
    _least_rows(kinds, counts, ids, table)
    _lower(case, patterns, points, ids, first_row, table, *found)
    return True


def same_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """For each row the number of its kind, and one row of each kind; rows of a kind are equal."""
    hashed = np.zeros(len(rows), np.uint64)
    for column in rows.T.astype(np.uint64):
        hashed = (hashed ^ column) * _MIX
        hashed ^= hashed >> np.uint64(29)
    _, representatives, kinds = np.unique(hashed, return_index=True, return_inverse=True)
    equal: BoolArray = (rows == rows[representatives[kinds]]).all(axis=1)
    if not equal.all():
        _, representatives, kinds = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return kinds.reshape(-1), representatives


@njit(cache=True, nogil=True, error_model="numpy")
def _least_rows(kinds: IntArray, counts: IntArray, ids: IntArray, table: IntArray) -> None:
    """For each value, pattern and number of occurrences: the group with the smallest id."""
    for g in range(len(kinds)):
        for value in range(counts.shape[1]):
            occurrences = counts[g, value]
            if occurrences > 0:
                row = table[value, kinds[g], occurrences]
                if row < 0 or ids[g] < ids[row]:
                    table[value, kinds[g], occurrences] = g


@njit(cache=True, nogil=True, error_model="numpy")
def _lower(
    case: int,
    patterns: IntArray,
    points: IntArray,
    ids: IntArray,
    first_row: int,
    table: IntArray,
    minima: FloatArray,
    rows: IntArray,
    names: IntArray,
) -> None:
    others = np.empty(patterns.shape[1], np.int64)
    for t in range(len(points)):
        value = points[t, 0]
        for kind in range(len(patterns)):
            for occurrences in range(1, table.shape[2]):
                row = table[value, kind, occurrences]
                if row < 0:
                    continue
                people = patterns[kind, 0]
                excluded = excluded_amount(
                    case, people, occurrences, points[t, 1], patterns[kind, 1:], others
                )
                five = five_statistics(case, people, occurrences, excluded, points[t, 2], points[t, 3])
                for j in range(5):
                    lower = five[j] < minima[t, j]
                    if lower or (five[j] == minima[t, j] and (rows[t, j] < 0 or ids[row] < names[t, j])):
                        minima[t, j] = five[j]
                        rows[t, j] = first_row + row
                        names[t, j] = ids[row]
