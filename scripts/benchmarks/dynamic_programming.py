"""The worst case of a release by dynamic programming: the baseline of SkylineCheck [Skyline, Sec 7.1].

It spreads the k known people and the m people of the family over all groups in every possible way, without
using that the worst case congregates them [Skyline, Thm 1]. One value per person. The formulas are
written anew, so that agreement with the package says something. All in one file, because the
compiler's cache on disk notices changes in the file of the calling function only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ppdp_spark.core.data.groups import FloatArray, IntArray


@njit(cache=True, error_model="numpy")
def _largest_sum(row: IntArray, value: int, largest: IntArray) -> int:
    """Occurrences of the most frequent values other than `value`, as many as `largest` has places."""
    largest[:] = 0
    for x in range(len(row)):
        count, i = row[x], len(largest) - 1
        if x == value or i < 0 or count <= largest[i]:
            continue
        while i > 0 and largest[i - 1] < count:
            largest[i] = largest[i - 1]
            i -= 1
        largest[i] = count
    return int(largest.sum())


@njit(cache=True, error_model="numpy")
def _fill_factors(
    people: int, occurrences: int, excluded: int, ratio: FloatArray, family: FloatArray
) -> None:
    """T with p known people, and V with p known people and q of the family, of one group (SVPI).

    Knowledge that leaves nobody without σ makes a factor zero.
    """
    for p in range(len(ratio)):
        ratio[p] = max(0, people - occurrences - excluded - p) / occurrences
    for p in range(family.shape[0]):
        family[p, 0] = 1.0
        for q in range(1, family.shape[1]):
            free = people - p - q + 1
            left = free - occurrences
            family[p, q] = family[p, q - 1] * (left / free) if left > 0 else 0.0


@njit(cache=True, error_model="numpy")
def _add_group(before: FloatArray, ratio: FloatArray, family: FloatArray, after: FloatArray) -> None:
    """Lower the states `after` a group by every way to have p known people and q of the family in it.

    `before[0]` are the states without the target, `before[1]` those with it. A state that cannot be reached
    is infinite; infinity times zero compares as not smaller. The innermost loop runs along memory.
    """
    after[:] = before
    known, members = before.shape[1], before.shape[2]
    for p in range(known):
        for q in range(members):
            beside, inside = family[p, q], ratio[p] * family[p + 1, q]
            for i in range(known - p):
                for j in range(members - q):
                    product, lowest = before[0, i, j] * beside, after[0, i + p, j + q]
                    after[0, i + p, j + q] = product if product < lowest else lowest
                    product, lowest = before[1, i, j] * beside, after[1, i + p, j + q]
                    lowest = product if product < lowest else lowest
                    product = before[0, i, j] * inside
                    after[1, i + p, j + q] = product if product < lowest else lowest


@njit(cache=True, error_model="numpy")
def dynamic_ratio(sizes: IntArray, counts: IntArray, value: int, l: int, k: int, m: int) -> float:
    """NR by dynamic programming over groups: O(groups · k² · m²) [Martin et al., adapted to SVPI].

    The state is whether the target is in the groups so far, how many known people and how many of the
    family they hold; its value is the least product of their factors T and V. Groups without σ add
    nothing.
    """
    before = np.full((2, k + 1, m + 1), np.inf)
    before[0, 0, 0] = 1.0
    after = before.copy()
    ratio, family = np.empty(k + 1), np.empty((k + 2, m + 1))
    largest = np.empty(min(l, counts.shape[1] - 1), dtype=np.int64)
    for g in range(len(sizes)):
        occurrences = counts[g, value]
        if occurrences > 0:
            excluded = _largest_sum(counts[g], value, largest)
            _fill_factors(sizes[g], occurrences, excluded, ratio, family)
            _add_group(before, ratio, family, after)
            before, after = after, before
    return float(before[1, k, m])
