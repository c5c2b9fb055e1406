"""All compiled arithmetic of the skyline: T and V of one group [Skyline, Sec 6.1], and loops over many.

A formula returns 0.0 exactly when it is zero: a positive value too small for a float is raised to the
smallest normal float. So "is it zero" stays an exact question however long the products are. Groups
without σ are neutral (T infinite, V one) and never get as far as the formulas.

Each group is sorted once, as far as the longest ℓ asks; all targets share it. Compiled functions take
their arrays by position. They stand in one file because the compiler's cache on disk notices changes
in the file of the calling function only: a formula elsewhere could be edited and not be used.

where
    case           0 one value per person, 1 a set, 2 a multiset, 3 whole records of several values, 4 the
                   rows of such records, apart from each other
    sizes, counts  people, and occurrences of each value, as in `GroupSummaries`; int64
    points         one row (value, ℓ, k, m, number of this (ℓ, k, m)) a target, ℓ at most the
                   number of other values
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ppdp_spark.core.data.groups import FloatArray, IntArray

SVPI, MVPI_SET, MVPI_MULTISET, MVPI_RECORDS, MVPI_ROWS = 0, 1, 2, 3, 4

SMALLEST = 2.2250738585072014e-308
"""The smallest normal float."""

INSERTION_LIMIT = 48
"""Up to this many leading counts are kept by insertion, beyond it the group is sorted."""

REMEMBERED = 64
"""Statistics of a group are remembered for values that occur less often than this."""

LARGEST_BELOW_ONE = 1.0 - 2.0**-53


@njit(cache=True, error_model="numpy")
def positive(value: float) -> float:
    """A positive quantity, kept from rounding to zero."""
    return max(value, SMALLEST)


@njit(cache=True, error_model="numpy")
def _log_share(part: int, whole: int) -> float:
    """log(part / whole) for 0 < part <= whole, with an error of one rounding or so at both ends."""
    if 2 * part < whole:
        return math.log(part / whole)
    return math.log1p((part - whole) / whole)


@njit(cache=True, error_model="numpy")
def exclusion(case: int, people: int, others: IntArray, length: int) -> float:
    """What knowing ℓ values of the target takes away: the sum #s₍₁..ℓ₎ (SVPI, records) or a factor (MVPI).

    `others[:length]` are the counts of the ℓ most frequent values other than σ.
    """
    total = 0.0
    factor = 1.0
    for i in range(length):
        if others[i] <= 0:
            break
        total += others[i]
        if case == MVPI_SET:
            if others[i] >= people:
                return 0.0
            factor = positive(factor * ((people - others[i]) / people))
    if case == MVPI_MULTISET and total > 0:
        return 0.0 if people <= 1 else positive(math.exp(total * _log_share(people - 1, people)))
    return total if case in (SVPI, MVPI_RECORDS, MVPI_ROWS) else factor


@njit(cache=True, error_model="numpy")
def target_ratio(case: int, people: int, occurrences: int, k: int, excluded: float) -> float:
    """T(g, ℓ, k) of a group with σ; `excluded` is the `exclusion` of the same ℓ.

    SVPI (n − #σ − #s₍₁..ℓ₎ − k)/#σ; set (n − #σ − k)/#σ · factor;
    multiset q/(1−q) · factor with q = ((n−k−1)/(n−k))^#σ;
    records and rows (n − #σ − k)/#σ · (n − #σ − #s₍₁..ℓ₎)/(n − #σ), see `Case` in `points`.
    """
    if case == SVPI:
        left = people - occurrences - k - excluded
        return left / occurrences if left > 0 else 0.0
    if case in (MVPI_RECORDS, MVPI_ROWS):
        others = people - occurrences
        if others - k <= 0 or others - excluded <= 0:
            return 0.0
        return positive((others - k) / occurrences * ((others - excluded) / others))
    if excluded <= 0:
        return 0.0
    if case == MVPI_SET:
        free = people - occurrences - k
        return positive(free / occurrences * excluded) if free > 0 else 0.0
    free = people - k
    if free <= 1:
        return 0.0
    exponent = occurrences * _log_share(free - 1, free)
    return positive(math.exp(exponent) / -math.expm1(exponent) * excluded)


@njit(cache=True, error_model="numpy")
def family_factor(case: int, people: int, occurrences: int, m: int, k: int) -> float:
    """V(g, m, k) of a group with σ.

    SVPI, set, records and rows: ∏_{i<m} (n−#σ−k−i)/(n−k−i), which is symmetric in m and #σ (both count the
    ways to keep #σ occurrences off m people), so the shorter of the two products is taken.
    Multiset: ((n−k−m)/(n−k))^#σ.
    """
    if m == 0:
        return 1.0
    free = people - k
    if case == MVPI_MULTISET:
        return positive(math.exp(occurrences * _log_share(free - m, free))) if free > m else 0.0
    if free - occurrences - m + 1 <= 0:
        return 0.0
    taken = max(m, occurrences)
    product = 1.0
    for i in range(min(m, occurrences)):
        product *= (free - taken - i) / (free - i)
    return positive(product)


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
def excluded_amount(
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
    excluded = excluded_amount(case, people, occurrences, points[t, 1], leading, others)
    five = five_statistics(case, people, occurrences, excluded, points[t, 2], points[t, 3])
    for j in range(5):
        memory[knowledge, slot, j] = five[j]
    return slot


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


@njit(cache=True, error_model="numpy")
def exclusions(case: int, people: IntArray, others: IntArray, length: int) -> FloatArray:
    """What the ℓ = `length` most frequent other values exclude in each group."""
    out = np.empty(len(people))
    for i in range(len(people)):
        out[i] = exclusion(case, people[i], others[i], length)
    return out


@njit(cache=True, error_model="numpy")
def _is_safe(
    case: int,
    people: IntArray,
    occurrences: IntArray,
    excluded: FloatArray,
    k: int,
    m: int,
    least: float,
) -> bool:
    """Whether NR reaches `least` (positive), stopping at the first group that alone is too low."""
    ss2, ss3, ss4, ss5 = np.inf, np.inf, 1.0, 1.0
    for i in range(len(people)):
        five = five_statistics(case, people[i], occurrences[i], excluded[i], k, m)
        ss2, ss3 = min(ss2, five[1]), min(ss3, five[2])
        ss4, ss5 = min(ss4, five[3]), min(ss5, five[4])
        if five[0] < least or ss3 <= 0.0 or ss5 <= 0.0:
            return False
    return max(ss2 * ss5, SMALLEST) >= least and max(ss3 * ss4, SMALLEST) >= least


@njit(cache=True, error_model="numpy")
def fill_largest_k(
    case: int,
    people: IntArray,
    occurrences: IntArray,
    excluded: FloatArray,
    least: FloatArray,
    upper: IntArray,
    out: IntArray,
) -> None:
    """For each m, the largest k <= upper[m] that is safe, −1 if none; `upper[m]` >= −1.

    Safety falls in k and in m, so each m starts from the k of the one before and bisects.
    """
    bound = np.int64(2**62)
    for m in range(len(out)):
        bound = min(bound, upper[m])
        low, high = np.int64(-1), bound
        while low < high:
            middle = (low + high + 1) // 2
            if _is_safe(case, people, occurrences, excluded, int(middle), m, least[m]):
                low = middle
            else:
                high = middle - 1
        out[m] = low
        bound = low


@njit(cache=True, error_model="numpy")
def statistics_at(
    case: int, people: IntArray, occurrences: IntArray, excluded: FloatArray, k: int, m: int
) -> FloatArray:
    """The five statistics of every signature, shape (signatures, 5)."""
    out = np.empty((len(people), 5))
    for i in range(len(people)):
        five = five_statistics(case, people[i], occurrences[i], excluded[i], k, m)
        for j in range(5):
            out[i, j] = five[j]
    return out
