"""The priors p(s : x) of the people of one task: what an adversary believes before seeing the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ppdp_spark.core.data.groups import COUNT_CELLS, FloatArray, GroupSummaries, IntArray, PriorExtrema


@dataclass(frozen=True, eq=False)
class PeoplePriors:
    """One table of priors an attribute set, and the row of each person in it.

    where
        rows    signature of each person, one array an attribute set
        tables  prior of each value, shape (signatures, values), one array an attribute set
    """

    rows: tuple[NDArray[np.int32], ...]
    tables: tuple[FloatArray, ...]

    def of(self, people: IntArray) -> PeoplePriors:
        """The priors of some of the people, in the given order."""
        return PeoplePriors(tuple(rows[people] for rows in self.rows), self.tables)

    def classes(self) -> tuple[NDArray[np.int32], tuple[FloatArray, ...]]:
        """People with equal signatures in all attribute sets are one class: numbers and priors of classes."""
        people = len(self.rows[0]) if self.rows else 0
        number = np.zeros(people, np.int64)
        for rows in self.rows:
            number = number * (int(rows.max(initial=0)) + 1) + rows
            _, number = np.unique(number, return_inverse=True)
        _, first = np.unique(number, return_index=True)
        tables = tuple(table[rows[first]] for rows, table in zip(self.rows, self.tables, strict=True))
        return number.astype(np.int32), tables

    def summaries(
        self, values: IntArray, width: int, starts: IntArray, ends: IntArray
    ) -> Iterator[tuple[slice, GroupSummaries]]:
        """Groups [starts, ends) of people, with prior extrema: so many at a time as memory allows.

        `values` are the sensitive values of the same people; extrema of values a group lacks are 0.
        """
        step = max(1, COUNT_CELLS // max(1, width * (1 + 2 * len(self.tables))))
        values = np.ascontiguousarray(values, np.int32)
        for first in range(0, len(starts), step):
            part = slice(first, first + step)
            counts = np.zeros((len(starts[part]), width), np.int64)
            _count(values, starts[part], ends[part], counts)
            priors = tuple(
                PriorExtrema(*_extrema(rows, table, starts[part], ends[part], counts))
                for rows, table in zip(self.rows, self.tables, strict=True)
            )
            yield part, GroupSummaries(ends[part] - starts[part], counts, priors)


def matched(keys: IntArray, known: IntArray) -> NDArray[np.int64]:
    """For each row of `keys` the position of the same row in `known`, −1 where there is none."""
    both = np.concatenate([known, keys]).astype(np.int64)
    number = np.zeros(len(both), np.int64)
    for column in both.T:
        _, codes = np.unique(column, return_inverse=True)
        _, number = np.unique(number * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    place = np.full(int(number.max(initial=-1)) + 1, -1, np.int64)
    place[number[: len(known)]] = np.arange(len(known))
    return np.asarray(place[number[len(known) :]])


def prior_table(values: Sequence[IntArray] | Any, shares: Any, offsets: IntArray, width: int) -> FloatArray:
    """A dense table from lists: signature i has shares[offsets[i] : offsets[i + 1]] of these values."""
    table = np.zeros((len(offsets) - 1, width))
    signature = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    table[signature, values] = shares
    return table


@njit(cache=True, nogil=True)
def _count(values: Any, starts: Any, ends: Any, counts: Any) -> None:
    for g in range(len(starts)):
        for i in range(starts[g], ends[g]):
            counts[g, values[i]] += 1


@njit(cache=True, nogil=True)
def _extrema(rows: Any, table: Any, starts: Any, ends: Any, counts: Any) -> Any:
    """Smallest and largest prior of every value that a group has."""
    groups, width = counts.shape
    lowest, highest = np.zeros((groups, width)), np.zeros((groups, width))
    present = np.empty(width, np.int64)
    seen = np.full(len(table), -1)
    for g in range(groups):
        number = 0
        for value in range(width):
            if counts[g, value] > 0:
                present[number] = value
                number += 1
        for v in present[:number]:
            lowest[g, v] = highest[g, v] = table[rows[starts[g]], v]
        for i in range(starts[g], ends[g]):
            row = rows[i]
            if seen[row] == g:
                continue
            seen[row] = g
            for v in present[:number]:
                lowest[g, v] = min(lowest[g, v], table[row, v])
                highest[g, v] = max(highest[g, v], table[row, v])
    return lowest, highest
