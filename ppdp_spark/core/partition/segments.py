"""Compiled loops over the rows of many groups at once: the inner work of Mondrian.

A *table* is a C-ordered int32 matrix, one row per person: one column per attribute, then the payload
columns that travel with the row. A group is a run of rows `starts[g] : ends[g]`. Everything here is
a plain pass over such runs; what to cut and whether a cut is allowed is decided elsewhere, in numpy,
for all groups of a level together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def group_ranges(table: Any, starts: Any, ends: Any, attributes: int) -> Any:
    """Smallest and largest code of every attribute in every group."""
    groups = starts.size
    lowest = np.empty((groups, attributes), np.int32)
    highest = np.empty((groups, attributes), np.int32)
    for g in range(groups):
        first = starts[g]
        for j in range(attributes):
            lowest[g, j] = table[first, j]
            highest[g, j] = table[first, j]
        for i in range(first + 1, ends[g]):
            for j in range(attributes):
                code = table[i, j]
                lowest[g, j] = min(lowest[g, j], code)
                highest[g, j] = max(highest[g, j], code)
    return lowest, highest


@njit(cache=True, nogil=True)
def _kth_smallest(values: Any, size: int, k: int) -> Any:
    """The k-th smallest of values[:size], by selection in place."""
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) >> 1
        a, b, c = values[low], values[middle], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            return values[k]
    return values[k]


@njit(cache=True, nogil=True)
def median_cuts(table: Any, starts: Any, ends: Any, attribute: Any, low: Any, high: Any) -> Any:
    """The most even cut at the median of one attribute a group: rows with code <= cut go left.

    The median value belongs to one side as a whole; of the two cuts around it the more even one is
    taken, the one that puts it left on ties. Needs low < high in every group.
    """
    groups = starts.size
    cuts = np.empty(groups, np.int32)
    left_sizes = np.empty(groups, np.int64)
    largest = 0
    for g in range(groups):
        largest = max(largest, ends[g] - starts[g])
    buffer = np.empty(largest, np.int32)
    histogram = np.zeros(4 * largest + 64, np.int32)
    for g in range(groups):
        first, size, j = starts[g], ends[g] - starts[g], attribute[g]
        target = (size - 1) // 2
        span = np.int64(high[g]) - np.int64(low[g]) + 1
        if span <= 4 * size + 64:
            for i in range(first, ends[g]):
                histogram[table[i, j] - low[g]] += 1
            below = 0
            offset = 0
            while below + histogram[offset] <= target:
                below += histogram[offset]
                offset += 1
            median = low[g] + offset
            upto = below + histogram[offset]
            for offset in range(span):
                histogram[offset] = 0
        else:
            for i in range(size):
                buffer[i] = table[first + i, j]
            median = _kth_smallest(buffer, size, target)
            below = 0
            upto = 0
            for i in range(first, ends[g]):
                below += table[i, j] < median
                upto += table[i, j] <= median
        if upto < size and (below == 0 or min(upto, size - upto) >= min(below, size - below)):
            cuts[g] = median
            left_sizes[g] = upto
        else:
            cuts[g] = median - 1
            left_sizes[g] = below
    return cuts, left_sizes


@njit(cache=True, nogil=True)
def goes_left(code: int, low: int, high: int, members: Any) -> Any:
    """Whether a cut sends a code to the left: from `low` to `high`, and one of the members, if any."""
    if code < low or code > high:
        return False
    return members == 0 or (members >> np.uint64(code)) & np.uint64(1) != 0


@njit(cache=True, nogil=True)
def split_rows(
    source: Any,
    target: Any,
    starts: Any,
    ends: Any,
    attribute: Any,
    low: Any,
    high: Any,
    members: Any,
    left_sizes: Any,
) -> None:
    """Copy every group from source to target, rows on the left first, otherwise in order."""
    width = source.shape[1]
    for g in range(starts.size):
        left = starts[g]
        right = starts[g] + left_sizes[g]
        j = attribute[g]
        for i in range(starts[g], ends[g]):
            if goes_left(source[i, j], low[g], high[g], members[g]):
                place = left
                left += 1
            else:
                place = right
                right += 1
            for c in range(width):
                target[place, c] = source[i, c]


@njit(cache=True, nogil=True)
def value_counts(
    table: Any, column: int, starts: Any, ends: Any, offsets: Any, values: Any, width: int
) -> Any:
    """Occurrences of each sensitive value in each group.

    `table[:, column]` numbers the person; person p has values[offsets[p] : offsets[p + 1]].
    An empty `offsets` means one value per person, stored in the column itself.
    """
    counts = np.zeros((starts.size, width), np.int64)
    for g in range(starts.size):
        for i in range(starts[g], ends[g]):
            person = table[i, column]
            if offsets.size == 0:
                counts[g, person] += 1
            else:
                for v in range(offsets[person], offsets[person + 1]):
                    counts[g, values[v]] += 1
    return counts


@njit(cache=True, nogil=True)
def side_counts(
    table: Any,
    column: int,
    starts: Any,
    ends: Any,
    attribute: Any,
    low: Any,
    high: Any,
    members: Any,
    offsets: Any,
    values: Any,
    width: int,
) -> Any:
    """`value_counts` of the left and of the right side of a cut of each group."""
    left = np.zeros((starts.size, width), np.int64)
    right = np.zeros((starts.size, width), np.int64)
    for g in range(starts.size):
        j = attribute[g]
        for i in range(starts[g], ends[g]):
            person = table[i, column]
            counts = left if goes_left(table[i, j], low[g], high[g], members[g]) else right
            if offsets.size == 0:
                counts[g, person] += 1
            else:
                for v in range(offsets[person], offsets[person + 1]):
                    counts[g, values[v]] += 1
    return left, right


@njit(cache=True, nogil=True)
def side_sums(
    table: Any, starts: Any, ends: Any, attribute: Any, low: Any, high: Any, members: Any, amounts: Any
) -> Any:
    """Sums of whole numbers that people have, on the left and on the right side of a cut of each group.

    The last column of the table numbers the person; the sum of all `amounts` fits into 64 bits.
    """
    column = table.shape[1] - 1
    left = np.zeros(starts.size, np.int64)
    right = np.zeros(starts.size, np.int64)
    for g in range(starts.size):
        j = attribute[g]
        for i in range(starts[g], ends[g]):
            amount = amounts[table[i, column]]
            if goes_left(table[i, j], low[g], high[g], members[g]):
                left[g] += amount
            else:
                right[g] += amount
    return left, right


@njit(cache=True, nogil=True)
def side_households(
    table: Any,
    starts: Any,
    ends: Any,
    attribute: Any,
    low: Any,
    high: Any,
    members: Any,
    households: Any,
    number: int,
) -> Any:
    """Distinct households on the left and on the right side of a cut of each group.

    The last column of the table numbers the person; `households` has codes below `number`.
    """
    column = table.shape[1] - 1
    left = np.zeros(starts.size, np.int64)
    right = np.zeros(starts.size, np.int64)
    seen_left = np.full(number, -1, np.int64)
    seen_right = np.full(number, -1, np.int64)
    for g in range(starts.size):
        j = attribute[g]
        for i in range(starts[g], ends[g]):
            household = households[table[i, column]]
            if goes_left(table[i, j], low[g], high[g], members[g]):
                if seen_left[household] != g:
                    seen_left[household] = g
                    left[g] += 1
            elif seen_right[household] != g:
                seen_right[household] = g
                right[g] += 1
    return left, right
