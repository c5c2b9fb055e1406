"""The five statistics of many groups and targets at once.

Each group is sorted once, as far as the longest ℓ asks; all targets share it. The loops are compiled,
so they take their arrays by position.

where
    sizes, counts  people, and occurrences of each value, as in `GroupSummaries`; int64
    points         one row (value, ℓ, k, m, number of this (ℓ, k, m)) a target, ℓ at most the
                   number of other values
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ppdp_spark.core.groups import FloatArray, IntArray
from ppdp_spark.core.skyline.formulas import (
    MVPI_SET,
    SVPI,
    exclusion,
    family_factor,
    positive,
    target_ratio,
)

INSERTION_LIMIT = 48
"""Up to this many leading counts are kept by insertion, beyond it the group is sorted."""

REMEMBERED = 64
"""Statistics of a group are remembered for values that occur less often than this."""

LARGEST_BELOW_ONE = 1.0 - 2.0**-53


@njit(cache=True, error_model="numpy")
def _fill_leading(row: IntArray, leading: IntArray) -> None:
    """The largest counts of `row`, in descending order."""
    width = len(leading)
    if width > INSERTION_LIMIT:
        leading[:] = np.sort(row)[::-1][:width]
        return
    leading[:] = -1
    for count in row:
        if count <= leading[width - 1]:
            continue
        i = width - 1
        while i > 0 and leading[i - 1] < count:
            leading[i] = leading[i - 1]
            i -= 1
        leading[i] = count


@njit(cache=True, error_model="numpy")
def _excluded(
    case: int, people: int, occurrences: int, length: int, leading: IntArray, others: IntArray
) -> float:
    """The `exclusion` of the ℓ most frequent values other than σ, from the ℓ+1 leading counts.

    Taking one count equal to #σ out of the leading ones, if there is one among the first ℓ, leaves
    the ℓ largest of the other values; otherwise #σ is smaller than all of them.
    """
    skipped = 0
    for i in range(length):
        if skipped == 0 and leading[i] == occurrences:
            skipped = 1
        others[i] = leading[i + skipped]
        if others[i] <= 0:
            break
    return exclusion(case, people, others, length)


@njit(cache=True, error_model="numpy")
def five_statistics(
    case: int, people: int, occurrences: int, excluded: float, k: int, m: int
) -> tuple[float, float, float, float, float]:
    """minNR(ℓ,k,m), T(ℓ,0), T(ℓ,k), V(m,0), V(m,k) of a group with σ [Skyline, Thm 2]."""
    without = target_ratio(case, people, occurrences, 0, excluded)
    ratio = target_ratio(case, people, occurrences, k, excluded) if k > 0 else without
    family = family_factor(case, people, occurrences, m, 0)
    beside = family_factor(case, people, occurrences, m, k) if k > 0 else family
    inside = family_factor(case, people, occurrences, m, k + 1)
    together = positive(ratio * inside) if ratio > 0.0 and inside > 0.0 else 0.0
    return together, without, ratio, family, beside


@njit(cache=True, error_model="numpy")
def _workspace(points: IntArray) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Leading counts, other counts, and the memory of `_slot` with the groups it was filled for."""
    longest, knowledge = 0, 0
    for t in range(len(points)):
        longest = max(longest, points[t, 1])
        knowledge = max(knowledge, points[t, 4] + 1)
    leading, others = np.empty(longest + 1, dtype=np.int64), np.empty(longest + 1, dtype=np.int64)
    return leading, others, np.empty((knowledge, REMEMBERED + 1, 5)), np.full((knowledge, REMEMBERED), -1)


@njit(cache=True, error_model="numpy")
def _slot(
    case: int,
    g: int,
    people: int,
    occurrences: int,
    points: IntArray,
    t: int,
    leading: IntArray,
    others: IntArray,
    memory: FloatArray,
    filled: IntArray,
) -> int:
    """Where in `memory[knowledge]` the five statistics of group g stand for this #σ.

    They depend on the group, #σ and (ℓ, k, m) only, so values that occur equally often share them.
    """
    knowledge = points[t, 4]
    slot = min(occurrences, REMEMBERED)
    if slot < REMEMBERED:
        if filled[knowledge, slot] == g:
            return slot
        filled[knowledge, slot] = g
    excluded = _excluded(case, people, occurrences, points[t, 1], leading, others)
    five = five_statistics(case, people, occurrences, excluded, points[t, 2], points[t, 3])
    for j in range(5):
        memory[knowledge, slot, j] = five[j]
    return slot


@njit(cache=True, error_model="numpy")
def _consistent(case: int, people: int, row: IntArray) -> bool:
    """Whether the counts of a group can belong to so many people in this case."""
    total = 0
    for count in row:
        if count < 0 or (case == MVPI_SET and count > people):
            return False
        total += count
    if case == SVPI:
        return total == people
    return people > 0 or total == 0


@njit(cache=True, error_model="numpy")
def inconsistent_groups(case: int, sizes: IntArray, counts: IntArray) -> int:
    """How many groups have counts that cannot be in this case."""
    bad = 0
    for g in range(len(sizes)):
        if not _consistent(case, sizes[g], counts[g]):
            bad += 1
    return bad


@njit(cache=True, nogil=True, error_model="numpy")
def fill_statistics(case: int, sizes: IntArray, counts: IntArray, points: IntArray, out: FloatArray) -> None:
    """Write the five statistics of every group and target into `out` (groups, targets, 5).

    Cells of groups without σ are left as they are.
    """
    leading, others, memory, filled = _workspace(points)
    for g in range(len(sizes)):
        _fill_leading(counts[g], leading)
        for t in range(len(points)):
            occurrences = counts[g, points[t, 0]]
            if occurrences > 0:
                slot = _slot(case, g, sizes[g], occurrences, points, t, leading, others, memory, filled)
                for j in range(5):
                    out[g, t, j] = memory[points[t, 4], slot, j]


@njit(cache=True, nogil=True, error_model="numpy")
def update_minima(
    case: int,
    sizes: IntArray,
    counts: IntArray,
    ids: IntArray,
    first_row: int,
    points: IntArray,
    minima: FloatArray,
    rows: IntArray,
    names: IntArray,
) -> None:
    """Lower the running `minima` (targets, 5); `rows` and `names` say which group attains them.

    Of equal groups the one with the smallest id is kept. Rows count from `first_row`.
    """
    leading, others, memory, filled = _workspace(points)
    for g in range(len(sizes)):
        _fill_leading(counts[g], leading)
        for t in range(len(points)):
            occurrences = counts[g, points[t, 0]]
            if occurrences <= 0:
                continue
            slot = _slot(case, g, sizes[g], occurrences, points, t, leading, others, memory, filled)
            for j in range(5):
                statistic = memory[points[t, 4], slot, j]
                lower = statistic < minima[t, j]
                if lower or (statistic == minima[t, j] and (rows[t, j] < 0 or ids[g] < names[t, j])):
                    minima[t, j] = statistic
                    rows[t, j] = first_row + g
                    names[t, j] = ids[g]


@njit(cache=True, nogil=True, error_model="numpy")
def lower_reach(
    case: int, sizes: IntArray, counts: IntArray, points: IntArray, floors: FloatArray, out: FloatArray
) -> None:
    """Lower `out` (groups,) to the smallest quotient statistic / floor over targets and statistics.

    The quotient is at least one exactly when the statistic reaches its (positive) floor.
    """
    leading, others, memory, filled = _workspace(points)
    for g in range(len(sizes)):
        _fill_leading(counts[g], leading)
        for t in range(len(points)):
            occurrences = counts[g, points[t, 0]]
            if occurrences <= 0:
                continue
            slot = _slot(case, g, sizes[g], occurrences, points, t, leading, others, memory, filled)
            for j in range(5):
                statistic = memory[points[t, 4], slot, j]
                reach = statistic / floors[t, j]
                if statistic < floors[t, j]:
                    reach = min(reach, LARGEST_BELOW_ONE)
                out[g] = min(out[g], reach)


@njit(cache=True, nogil=True, error_model="numpy")
def raise_breach(
    case: int, sizes: IntArray, counts: IntArray, points: IntArray, confidences: FloatArray, out: FloatArray
) -> None:
    """Raise `out` (groups,) to the largest BP / c over targets, taking every m as zero."""
    leading, others, memory, filled = _workspace(points)
    for g in range(len(sizes)):
        _fill_leading(counts[g], leading)
        for t in range(len(points)):
            occurrences = counts[g, points[t, 0]]
            if occurrences <= 0:
                continue
            slot = _slot(case, g, sizes[g], occurrences, points, t, leading, others, memory, filled)
            ratio = memory[points[t, 4], slot, 2]
            out[g] = max(out[g], 1.0 / (1.0 + ratio) / confidences[t])
