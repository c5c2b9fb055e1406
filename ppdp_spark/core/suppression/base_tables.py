"""The base tables from which R-suppression may have made a given T_P, and how likely each makes it.

**Where T may differ from T_P.** STEP-2 only cuts down to the top level of T_P, or, if it stops inside a
level, to one below; the latter only where l-candidacy is reached in that very step. All other suppressed
records are S_1's. So T is T_P plus an allocation of |T_S| records over S_1 and those few values.

**Likelihood.** Let U be the result of Unsafe D on T, and L its level. STEP-1 levels from L up all end in
U, because nothing with less suppression satisfies both conditions [Skewed, Thm 2]. Below L, STEP-2 ends
no later than the start of the level drawn, so S_1 keeps exactly that level. So at most one stretch of
levels leads from T to T_P, and Pr(T_P | T) is a sum of l fractions, one an interval of STEP-1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray
from ppdp_spark.core.suppression.d import exact_total


@dataclass(frozen=True)
class Release:
    """T_P as the adversary sees it, and the numbers that every hypothesis about T shares.

    `beside` rows of T and T_P have values that need no protection, and no place in `counts`.
    """

    counts: NDArray[np.int64]
    total: int
    l: int
    beside: int = 0

    @cached_property
    def published(self) -> int:
        return exact_total(self.counts) + self.beside

    @property
    def suppressed(self) -> int:
        return self.total - self.published

    @cached_property
    def top(self) -> int:
        return int(self.counts.max())

    @cached_property
    def lth(self) -> int:
        return int(np.partition(self.counts, -self.l)[-self.l])

    @property
    def bound(self) -> int:
        """⌊|T|/l⌋: a count violates, and l-candidacy holds, above it."""
        return self.total // self.l

    @property
    def may_end_inside_a_level(self) -> bool:
        return self.lth + self.suppressed == self.bound + 1

    def stopped_before(self, level: int, tied: int, steps: int) -> bool:
        """Whether D-suppression stops in `level` before its `steps`-th removal, with `tied` values there.

        Earlier levels need no look: had it stopped in one, it would be stopped at this level's start. With l
        values tied it is at or past the state of Safe D, which satisfies both conditions [Skewed, Thm 1].
        """
        if tied >= self.l:
            return True
        first = max(0, self.bound + 1 - self.lth - (self.suppressed - steps))
        return first < steps and level * self.l <= self.published + steps - first


@dataclass(frozen=True)
class Hypothesis:
    """S_1 is the value at `first`; STEP-2 cut so many others.

    `touched` values it cut down to the top level of T_P; `below` more ended one under it, so that STEP-2
    stopped inside the level. Which they are, and how much each lost, is what `tables` and `draws` vary.
    """

    release: Release
    first: int
    touched: int
    below: int

    @property
    def free(self) -> int:
        """Records left to allocate once S_1 has enough of them to violate."""
        return self.release.suppressed - (self.release.bound + 1 - int(self.release.counts[self.first]))

    @cached_property
    def choices(self) -> tuple[IntArray, IntArray]:
        """Values that STEP-2 may have cut to the top level, and to one below."""
        counts, top = self.release.counts, self.release.top
        other = np.arange(counts.size) != self.first
        return np.flatnonzero(other & (counts == top)), np.flatnonzero(other & (counts == top - 1))

    def number(self) -> int:
        at_top, under = self.choices
        return (
            math.comb(at_top.size, self.touched)
            * math.comb(under.size, self.below)
            * math.comb(self.free, self.touched + self.below)
        )

    @property
    def possible(self) -> bool:
        """Whether there is an allocation, and STEP-2 would not have stopped earlier on all of them."""
        if self.touched + self.below > self.free:
            return False
        return self._reached(first_cut_too=False) or self._reached(first_cut_too=True)

    def _reached(self, *, first_cut_too: bool) -> bool:
        """Whether D-suppression passes every earlier state; `first_cut_too`: S_1 is cut by STEP-2 as well."""
        release, top = self.release, self.release.top
        if first_cut_too and int(release.counts[self.first]) < top:
            return False
        if self.below:
            tied = int(np.count_nonzero(release.counts == top)) + self.below
            return not release.stopped_before(top, tied, self.below)
        tied = self.touched + first_cut_too
        return not release.stopped_before(top + 1, tied, tied)

    def hits(self, cut: IntArray, extra: IntArray) -> tuple[IntArray, IntArray]:
        """Levels of each interval of STEP-1 that lead to T_P, and the interval's length: (tables, l) each.

        Row r is the base table in which value `cut[r, c]` had `extra[r, c]` more records than in T_P, and
        S_1 the rest.
        """
        release, counts = self.release, self.release.counts
        first_level = int(counts[self.first])
        first_count = first_level + release.suppressed - extra.sum(axis=1)
        cut_counts = counts[cut] + extra
        valid = self._first_is_on_top(first_count, cut, cut_counts) & self._lowest_ranks_below(
            cut, cut_counts
        )
        on_path_of_d = self._reached(first_cut_too=True)
        highest = first_count if on_path_of_d else np.full(len(cut), first_level)
        ranked = self._top_counts(cut, first_count, cut_counts)
        lower, upper = ranked[:, 1:], ranked[:, :-1]
        overlap = np.minimum(upper, highest[:, None]) - np.maximum(lower, first_level) + 1
        favourable = valid & (on_path_of_d or self._reached(first_cut_too=False))
        return np.where(favourable[:, None], np.maximum(overlap, 0), 0), upper - lower + 1

    def _first_is_on_top(self, first_count: IntArray, cut: IntArray, cut_counts: IntArray) -> BoolArray:
        beats = (first_count[:, None] > cut_counts) | (
            (first_count[:, None] == cut_counts) & (self.first < cut)
        )
        return np.asarray(beats.all(axis=1))

    def _lowest_ranks_below(self, cut: IntArray, cut_counts: IntArray) -> BoolArray:
        """Stopped inside a level: those one below the top ranked under all that are still at the top."""
        if not self.below:
            return np.ones(len(cut), dtype=bool)
        release = self.release
        under, over = cut_counts[:, self.touched :], cut_counts[:, : self.touched]
        best_under = under.max(axis=1)
        index_under = np.where(under == best_under[:, None], cut[:, self.touched :], release.counts.size)
        at_top, _ = self.choices
        lies_at_top = np.zeros((len(cut), at_top.size), dtype=np.int64) + release.top
        where = np.searchsorted(at_top, cut[:, : self.touched])
        np.put_along_axis(lies_at_top, where, over, axis=1)
        above = (lies_at_top > best_under[:, None]) | (
            (lies_at_top == best_under[:, None]) & (at_top < index_under.min(axis=1)[:, None])
        )
        return np.asarray(above.all(axis=1))

    def _top_counts(self, cut: IntArray, first_count: IntArray, cut_counts: IntArray) -> IntArray:
        """F_1 .. F_{l+1} of each base table, 0 where there are fewer values."""
        release = self.release
        depth = release.l + 1
        rank = np.argsort(-release.counts, kind="stable")[: depth + cut.shape[1] + 1]
        lead = np.broadcast_to(release.counts[rank], (len(cut), rank.size)).copy()
        lead[:, rank == self.first] = 0
        for column in range(cut.shape[1]):
            lead[rank[None, :] == cut[:, [column]]] = 0
        table = np.concatenate(
            [lead, cut_counts, first_count[:, None], np.zeros((len(cut), depth), dtype=np.int64)], axis=1
        )
        return np.asarray(-np.sort(-table, axis=1)[:, :depth])

    def tables(self) -> tuple[IntArray, IntArray]:
        """All base tables of the hypothesis, as `hits` takes them."""
        at_top, under = self.choices
        k = self.touched + self.below
        if k == 0:
            return np.zeros((1, 0), dtype=np.int64), np.zeros((1, 0), dtype=np.int64)
        cuts = itertools.product(
            itertools.combinations(at_top.tolist(), self.touched),
            itertools.combinations(under.tolist(), self.below),
        )
        cut = np.array([[*a, *b] for a, b in cuts], dtype=np.int64)
        marks = np.array(list(itertools.combinations(range(1, self.free + 1), k)), dtype=np.int64)
        extra = np.diff(marks, axis=1, prepend=0)
        return np.repeat(cut, len(extra), axis=0), np.tile(extra, (len(cut), 1))

    def draws(self, size: int, rng: np.random.Generator) -> tuple[IntArray, IntArray, FloatArray]:
        """`size` independent base tables of the hypothesis, and their weights against uniform draws.

        Half the draws are uniform over the allocations; in the other half one cut value, picked at
        random, gets log-uniformly many records and the rest is uniform. The likelihood grows like 1/n as the
        smallest allocation n shrinks, and uniform draws alone would hardly ever see that.
        """
        at_top, under = self.choices
        cut = np.concatenate(
            [
                at_top[_subsets(at_top.size, self.touched, size, rng) - 1],
                under[_subsets(under.size, self.below, size, rng) - 1],
            ],
            axis=1,
        )
        k = self.touched + self.below
        if k == 0:
            return cut, np.zeros((size, 0), dtype=np.int64), np.ones(size)
        half = size // 2
        extra = np.concatenate([_allocations(self.free, k, size - half, rng), self._small_ones(k, half, rng)])
        return cut, extra, 1 / (0.5 + 0.5 * self._density_of_small_ones(extra))

    def _small_ones(self, k: int, size: int, rng: np.random.Generator) -> IntArray:
        most = self.free - k + 1
        small = np.minimum(np.exp(rng.random(size) * math.log(most + 1)).astype(np.int64), most)
        marks = _subsets(self.free - small, k - 1, size, rng)
        rest = np.diff(np.sort(marks, axis=1), axis=1, prepend=0)
        return rng.permuted(np.concatenate([small[:, None], rest], axis=1), axis=1)

    def _density_of_small_ones(self, extra: IntArray) -> FloatArray:
        """Density of `_small_ones` relative to the uniform one."""
        k = extra.shape[1]
        drawn = np.log1p(1 / extra) / math.log(self.free - k + 2)
        ratio = np.full(extra.shape, self.free / k)
        for r in range(k - 1):
            ratio *= (self.free - 1 - r) / (self.free - extra - r)
        return np.asarray((drawn * ratio).mean(axis=1))


def _allocations(free: int, k: int, size: int, rng: np.random.Generator) -> IntArray:
    """`size` uniform vectors of k positive integers with a sum of at most `free`."""
    chosen = np.sort(_subsets(free, k, size, rng), axis=1).astype(np.int64, copy=False)
    return np.diff(chosen, axis=1, prepend=0)


def _subsets(n: int | IntArray, k: int, size: int, rng: np.random.Generator) -> IntArray:
    """`size` uniform k-subsets of 1..n, one a row, by Floyd's algorithm."""
    chosen = np.zeros((size, k), dtype=np.int64)
    for column in range(k):
        last = np.broadcast_to(np.asarray(n) - k + column + 1, (size,))
        pick = rng.integers(1, last + 1)
        taken = (chosen[:, :column] == pick[:, None]).any(axis=1)
        chosen[:, column] = np.where(taken, last, pick)
    return chosen


def hypotheses(release: Release, first: int) -> Iterator[Hypothesis]:
    """Every hypothesis with S_1 at `first` under which T_P is possible."""
    plain = Hypothesis(release, first, 0, 0)
    at_top, under = (min(values.size, plain.free) for values in plain.choices)
    for below in range(under + 1 if release.may_end_inside_a_level else 1):
        for touched in range(at_top + 1):
            hypothesis = Hypothesis(release, first, touched, below)
            if hypothesis.possible:
                yield hypothesis
