"""The strongest rules between quasi-identifiers and sensitive values, from counts [MaxEnt, Section 4.4].

A positive rule says that people with Q_v have s, a negative one that they do not; its confidence is the
share of these people for whom it is true, its support their number. Top-(K₊, K₋) are the K₊ positive and
the K₋ negative rules of highest confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

BLOCK_CELLS = 1 << 22
"""Pairs of a combination and a value looked at together."""


@dataclass(frozen=True, eq=False)
class Rollup:
    """Counts by some of the attributes and the sensitive value, each combination once.

    where
        attributes  positions of the attributes
        codes       code of each attribute, shape (rows, attributes)
        value       code of the sensitive value; −1 for one that no rule can speak of
        count       people
    """

    attributes: tuple[int, ...]
    codes: IntArray
    value: IntArray
    count: IntArray


@dataclass(frozen=True)
class Rule:
    """Q_v ⇒ s or Q_v ⇒ ¬s.

    where
        attributes  positions of the attributes of Q_v, ascending
        codes       their values: codes, numbers or texts, None for null
        value       code of s
        positive    whether it says that people have s
        holding     people with Q_v for whom it is true: its support
        people      people with Q_v
    """

    attributes: tuple[int, ...]
    codes: tuple[Any, ...]
    value: int
    positive: bool
    holding: int
    people: int

    @property
    def confidence(self) -> float:
        return self.holding / self.people

    @property
    def share(self) -> float:
        """P(s | Q_v), whichever way the rule puts it."""
        return (self.holding if self.positive else self.people - self.holding) / self.people

    @property
    def rank(self) -> tuple[Any, ...]:
        """Stronger rules first, then those with more support; equals by attributes and codes, null first."""
        size, codes = len(self.attributes), tuple((code is not None, code) for code in self.codes)
        return -self.confidence, -self.holding, size, self.attributes, codes, self.value


def strongest(rules: Iterable[Rule], number: int) -> list[Rule]:
    """The first of some rules, in the order of their ranks."""
    return nsmallest(number, rules, key=lambda rule: rule.rank)


def attribute_sets(attributes: int, sizes: Iterable[int]) -> list[tuple[int, ...]]:
    """All sets of so many attributes, small ones first."""
    return [s for size in sorted(set(sizes)) for s in combinations(range(attributes), size)]


def strongest_rules(
    rollups: Iterable[Rollup], *, values: int, positive: int, negative: int, support: int
) -> tuple[list[Rule], list[Rule]]:
    """The `positive` and `negative` strongest rules of all rollups with at least `support` people."""
    best: dict[bool, list[Rule]] = {True: [], False: []}
    wanted = {True: positive, False: negative}
    for rollup in rollups:
        for side, number in wanted.items():
            found = [*best[side], *_candidates(rollup, values, number, side, support)] if number else []
            best[side] = strongest(found, number)
    return best[True], best[False]


def _candidates(rollup: Rollup, values: int, number: int, positive: bool, support: int) -> Iterator[Rule]:
    """The strongest rules of one rollup; a value that nobody of a combination has makes a negative rule."""
    if not len(rollup.count):
        return
    combos, combo = np.unique(rollup.codes, axis=0, return_inverse=True)
    combo = combo.reshape(-1)
    people = np.zeros(len(combos), np.int64)
    np.add.at(people, combo, rollup.count)
    order = np.argsort(combo, kind="stable")
    starts = np.searchsorted(combo[order], np.arange(len(combos) + 1))
    step = max(1, BLOCK_CELLS // max(1, values))
    for low in range(0, len(combos), step):
        high = min(low + step, len(combos))
        rows = order[starts[low] : starts[high]]
        rows = rows[rollup.value[rows] >= 0]
        having = np.zeros((high - low, values), np.int64)
        np.add.at(having, (combo[rows] - low, rollup.value[rows]), rollup.count[rows])
        holding = having if positive else people[low:high, None] - having
        for place, value in _top(holding, people[low:high], number, support):
            at = int(low + place)
            yield Rule(
                attributes=rollup.attributes,
                codes=tuple(int(code) for code in combos[at]),
                value=int(value),
                positive=positive,
                holding=int(holding[place, value]),
                people=int(people[at]),
            )


def _top(holding: IntArray, people: IntArray, number: int, support: int) -> Sequence[tuple[int, int]]:
    """Combination and value of the best cells; rows are in the order of their codes already."""
    place, value = np.nonzero(holding >= support)
    kept = holding[place, value]
    best = np.lexsort((value, place, -kept, -(kept / people[place])))[:number]
    return list(zip(place[best].tolist(), value[best].tolist(), strict=True))
