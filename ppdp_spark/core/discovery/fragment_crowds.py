"""The crowds of many column sets among the people of one task, by passes over runs of rows.

Rows are brought together by all columns of a set but the last; sets that begin alike share that. Then one
pass over each run counts the values of the last column in it. No sorting, no hashing: a code is a place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numba import njit

from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.discovery.crowds import SIZES
from ppdp_spark.core.discovery.lattice import ColumnSet


def fragment_crowds(codes: Sequence[IntArray], sets: Sequence[ColumnSet]) -> IntArray:
    """For each set and class of sizes the number of crowds and of the people in them.

    where
        codes  of each column, from 0 without gaps: an int32 for every person
        sets   columns by their place, at least one; sets that begin alike are best next to each other
    """
    found = np.zeros((len(sets), SIZES, 2), np.int64)
    widths = [int(column.max(initial=-1)) + 1 for column in codes]
    counts = np.zeros(max(widths, default=0), np.int32)
    for position, (order, starts, last) in enumerate(_runs(codes, widths, sets)):
        _count(order, starts, codes[last], counts, found[position])
    return found


def _runs(
    codes: Sequence[IntArray], widths: Sequence[int], sets: Sequence[ColumnSet]
) -> Iterator[tuple[IntArray, IntArray, int]]:
    """For each set: rows brought together by all its columns but the last, where runs start, the last."""
    people = len(codes[0])
    held: list[tuple[int, IntArray, IntArray]] = []
    whole = (np.arange(people, dtype=np.int32), np.array([0, people], np.int64))
    for columns in sets:
        *first, last = columns
        shared = 0
        while shared < min(len(held), len(first)) and held[shared][0] == first[shared]:
            shared += 1
        del held[shared:]
        for place in first[shared:]:
            order, starts = held[-1][1:] if held else whole
            held.append((place, *_divided(order, starts, codes[place], widths[place])))
        order, starts = held[-1][1:] if held else whole
        yield order, starts, last


@njit(cache=True, nogil=True)
def _divided(order: Any, starts: Any, codes: Any, width: int) -> Any:
    """Runs divided by one more column: the rows in their new order, and where the new runs start."""
    counts, places = np.zeros(width, np.int32), np.empty(width, np.int64)
    after = np.empty_like(order)
    begun = np.empty(order.size + 1, np.int64)
    runs = 0
    for run in range(starts.size - 1):
        first, end = starts[run], starts[run + 1]
        for i in range(first, end):
            counts[codes[order[i]]] += 1
        position = first
        for i in range(first, end):
            code = codes[order[i]]
            if counts[code]:
                places[code] = begun[runs] = position
                runs += 1
                position += counts[code]
                counts[code] = 0
            after[places[code]] = order[i]
            places[code] += 1
    begun[runs] = order.size
    return after, begun[: runs + 1].copy()


@njit(cache=True, nogil=True)
def _count(order: Any, starts: Any, codes: Any, counts: Any, found: Any) -> None:
    """Add to `found` the crowds that one column makes of each run; `counts` is all zeros, and left so."""
    for run in range(starts.size - 1):
        first, end = starts[run], starts[run + 1]
        if end - first == 1:
            found[0, 0] += 1
            found[0, 1] += 1
            continue
        for i in range(first, end):
            counts[codes[order[i]]] += 1
        for i in range(first, end):
            people = counts[codes[order[i]]]
            if people:
                counts[codes[order[i]]] = 0
                size = 0
                while people >> (size + 1):
                    size += 1
                found[size, 0] += 1
                found[size, 1] += people
