"""Counts by rank, and the path of D-suppression over them, walked by level instead of by record.

A path is searched, never stepped: the stop of D-suppression costs O(m log m) for the ranking and
O(log m log F) after it, however many records go.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.errors import DataError, InfeasibleError, SpecError

Counts = IntArray | Sequence[int]

_INT64_END = 2**63


def exact_total(counts: IntArray) -> int:
    """Σ counts as a Python integer, whatever its size."""
    if counts.size == 0:
        return 0
    if int(counts.max()) * counts.size < _INT64_END:
        return int(counts.sum())
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())


def count_vector(counts: Counts) -> NDArray[np.int64]:
    """`counts` as a checked int64 vector."""
    vector = np.asarray(counts)
    if vector.size == 0 and vector.ndim == 1:
        return np.zeros(0, dtype=np.int64)
    if vector.ndim != 1 or vector.dtype.kind not in "iu":
        raise DataError(
            f"`counts` ({vector.dtype}, {vector.ndim} dimensions) must be one vector of 64-bit integers"
        )
    if vector.dtype.kind == "u" and int(vector.max()) >= _INT64_END:
        raise DataError("`counts` (uint64) must be below 2**63")
    if vector.min() < 0:
        raise DataError("`counts` (negative) must be 0 or more")
    return vector.astype(np.int64)


def checked_l(l: int) -> int:
    """`l` as an int; `SpecError` unless it is a whole number of at least 1."""
    try:
        value = operator.index(l)
    except TypeError:
        raise SpecError(f"`l` ({type(l).__name__}) must be an integer") from None
    if isinstance(l, bool) or value < 1:
        raise SpecError(f"`l` ({l}) must be an integer of at least 1")
    return value


class Ranking:
    """The base table's counts by rank, S_1 apart from the others, with their running sums.

    `beside` rows have values that need no protection: they stay, and count in |T| and in |T_P|.
    """

    def __init__(self, counts: Counts, l: int, beside: int = 0) -> None:
        self.counts = count_vector(counts)
        self.l = checked_l(l)
        self.total = exact_total(self.counts) + beside
        self.order = np.argsort(-self.counts, kind="stable")
        ranked = self.counts[self.order]
        self.first = int(ranked[0]) if ranked.size else 0
        self.others = ranked[1:]
        self.descending = -self.others
        wide = self.total >= _INT64_END
        self.sums = np.cumsum(self.others.astype(object) if wide else self.others)
        self.eligible = self.first * self.l <= self.total
        distinct = int(np.count_nonzero(self.counts))
        if not self.eligible and self.l > distinct:
            raise InfeasibleError(
                f"`l` ({self.l}) must be at most the number of sensitive values that occur ({distinct})"
            )

    def frequency(self, rank: int) -> int:
        """F_rank, and 0 beyond the last rank."""
        if rank == 1:
            return self.first
        return int(self.others[rank - 2]) if rank - 2 < self.others.size else 0

    def intervals(self) -> Iterator[tuple[int, int]]:
        """[F_{h+1}, F_h] for h = 1..l, both ends in, from which STEP-1 draws its level."""
        for h in range(1, self.l + 1):
            yield self.frequency(h + 1), self.frequency(h)


class DSuppression:
    """The path of D-suppression after S_1 was cut to `first`; a state is (level, j).

    (L, j) means: every count above L is cut to L, and then the j lowest ranks at L lose one more.
    """

    def __init__(self, ranking: Ranking, first: int) -> None:
        self.ranking = ranking
        self.l = ranking.l
        self.first = first
        self.start = max(first, ranking.frequency(2))
        self.lth = self._lth_count()

    def _lth_count(self) -> int:
        above = self.ranking.frequency(self.l) if self.l > 1 else self.first
        return max(self.ranking.frequency(self.l + 1), min(above, self.first))

    def _others_at_least(self, level: int) -> int:
        return int(np.searchsorted(self.ranking.descending, -level, side="right"))

    def at_least(self, level: int) -> int:
        return self._others_at_least(level) + (self.first >= level)

    def suppressed(self, level: int, j: int = 0) -> int:
        """|T_S| in state (level, j), STEP-1 included."""
        above = self._others_at_least(level)
        cut = int(self.ranking.sums[above - 1]) - above * level if above else 0
        return self.ranking.first - min(self.first, level) + cut + j

    def candidacy(self, level: int, j: int = 0) -> bool:
        top = self.at_least(level)
        lth = level - (j > top - self.l) if top >= self.l else self.lth
        return (lth + self.suppressed(level, j)) * self.l > self.ranking.total

    def eligible(self, level: int, j: int = 0) -> bool:
        return level * self.l <= self.ranking.total - self.suppressed(level, j)

    def stop(self) -> tuple[int, int]:
        """The first state with both conditions.

        l-candidacy never becomes false again. P-eligibility fails for the rest of a level once it
        fails in it, and holds at every later level start once it holds at one. So: the first state
        with candidacy, and if that is not eligible, the first eligible level start after it.
        """
        level, j = self._first_candidacy()
        if self.eligible(level, j):
            return level, j
        return _largest(self.eligible, level - 1), 0

    def _first_candidacy(self) -> tuple[int, int]:
        level = _largest(self.candidacy, self.start)
        if level == self.start:
            return level, 0
        above, top = level + 1, self.at_least(level + 1)
        j = top - _largest(lambda back: self.candidacy(above, top - back), top - 1)
        return (above, j) if j < top else (level, 0)

    def kept(self, level: int, j: int) -> IntArray:
        """Counts by rank in state (level, j)."""
        others = np.minimum(self.ranking.others, level)
        top = self._others_at_least(level)
        others[top - j : top] -= 1
        return np.concatenate([np.array([min(self.first, level)], dtype=np.int64), others])


def _largest(holds: Callable[[int], bool], high: int) -> int:
    """The largest integer of 0..high at which `holds`; it holds up to there and at 0."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
