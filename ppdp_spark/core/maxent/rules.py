"""The strongest rules between quasi-identifiers and sensitive values, from counts [MaxEnt, Section 4.4].

A positive rule says that people with Q_v have s, a negative one that they do not; its confidence is the
share of these people for whom it is true, its support their number. Top-(K₊, K₋) are the K₊ positive and
the K₋ negative rules of highest confidence. One of the values of Q_v may be negated: Q ∧ ¬Q' ⇒ s, and ¬Q' ⇒ s
where there is no Q. Beside fewer than three values of Q', that says nothing or what a plain rule says.
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

PLAIN = -1
"""Where a rule would name its negated attribute, and has none."""

FEWEST_VALUES = 3
"""Values beside each other from which on "not this one" is no plain rule."""


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
        negated     the attribute whose value these people do not have, if there is one
    """

    attributes: tuple[int, ...]
    codes: tuple[Any, ...]
    value: int
    positive: bool
    holding: int
    people: int
    negated: int | None = None

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
        negated = PLAIN if self.negated is None else self.negated
        return -self.confidence, -self.holding, size, self.attributes, negated, codes, self.value


def strongest(rules: Iterable[Rule], number: int) -> list[Rule]:
    """The first of some rules, in the order of their ranks."""
    return nsmallest(number, rules, key=lambda rule: rule.rank)


def attribute_sets(attributes: int, sizes: Iterable[int]) -> list[tuple[int, ...]]:
    """All sets of so many attributes, small ones first."""
    return [s for size in sorted(set(sizes)) for s in combinations(range(attributes), size)]


def strongest_rules(
    rollups: Iterable[Rollup],
    *,
    values: int,
    positive: int,
    negative: int,
    support: int,
    negated: bool = False,
) -> tuple[list[Rule], list[Rule]]:
    """The `positive` and `negative` strongest rules of all rollups with at least `support` people.

    With `negated`, one value of each rule may be negated.
    """
    best: dict[bool, list[Rule]] = {True: [], False: []}
    wanted = {True: positive, False: negative}
    for rollup in rollups:
        if not len(rollup.count):
            continue
        counted, places = _Combinations.of(rollup), range(len(rollup.attributes) if negated else 0)
        for side, number in wanted.items():
            if number:
                some = {"values": values, "number": number, "support": support}
                rules = _candidates(counted, (None, *places), positive=side, **some)
                best[side] = strongest([*best[side], *rules], number)
    return best[True], best[False]


def _candidates(
    counted: _Combinations,
    places: Iterable[int | None],
    *,
    values: int,
    number: int,
    positive: bool,
    support: int,
) -> Iterator[Rule]:
    """The strongest rules of one rollup; a value that nobody of a combination has makes a negative rule."""
    rollup = counted.rollup
    for place in places:
        for combos, having, people in counted.blocks(place, max(1, BLOCK_CELLS // max(1, values)), values):
            holding = having if positive else people[:, None] - having
            for at, value in _top(holding, people, number, support):
                yield Rule(
                    attributes=rollup.attributes,
                    codes=tuple(int(code) for code in counted.codes[combos[at]]),
                    value=int(value),
                    positive=positive,
                    holding=int(holding[at, value]),
                    people=int(people[at]),
                    negated=None if place is None else rollup.attributes[place],
                )


@dataclass(frozen=True, eq=False)
class _Combinations:
    """The combinations of a rollup, and its rows by combination.

    where
        codes   of each combination, ascending
        people  who have it
        order   rows, by combination
        starts  the first row of each combination in that order, and the end
    """

    rollup: Rollup
    codes: IntArray
    people: IntArray
    order: IntArray
    starts: IntArray

    @classmethod
    def of(cls, rollup: Rollup) -> _Combinations:
        codes, combo = np.unique(rollup.codes, axis=0, return_inverse=True)
        combo = combo.reshape(-1)
        people = np.zeros(len(codes), np.int64)
        np.add.at(people, combo, rollup.count)
        order = np.argsort(combo, kind="stable")
        starts = np.searchsorted(combo[order], np.arange(len(codes) + 1))
        return cls(rollup, codes, people, order, starts)

    def blocks(
        self, negated: int | None, step: int, values: int
    ) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Combinations in their order, who of Q_v has which value, and people of Q_v; about `step` at a time.

        With a place that is negated, Q_v are those who have the other codes of a combination, but not that.
        """
        if negated is None:
            for low in range(0, len(self.codes), step):
                combos = np.arange(low, min(low + step, len(self.codes)))
                yield combos, self._having(combos, values), self.people[combos]
            return
        rest = np.delete(self.codes, negated, axis=1)
        _, group = np.unique(rest, axis=0, return_inverse=True)
        group = group.reshape(-1)
        order = np.argsort(group, kind="stable")
        ends = np.append(np.flatnonzero(np.diff(group[order])) + 1, len(order))
        low = 0
        while low < len(order):
            high = int(ends[np.searchsorted(ends, min(low + step, len(order)))])
            yield self._others(np.sort(order[low:high]), group, values)
            low = high

    def _having(self, combos: IntArray, values: int) -> IntArray:
        """Who of each combination has which value."""
        sizes = self.starts[combos + 1] - self.starts[combos]
        first = np.repeat(self.starts[combos] - np.cumsum(sizes) + sizes, sizes)
        rows, place = self.order[first + np.arange(len(first))], np.repeat(np.arange(len(combos)), sizes)
        spoken = self.rollup.value[rows] >= 0
        having = np.zeros((len(combos), values), np.int64)
        np.add.at(having, (place[spoken], self.rollup.value[rows[spoken]]), self.rollup.count[rows[spoken]])
        return having

    def _others(self, combos: IntArray, group: IntArray, values: int) -> tuple[IntArray, IntArray, IntArray]:
        """For whole groups of combinations: those of the group who do not have the combination."""
        having, people = self._having(combos, values), self.people[combos]
        _, inverse, size = np.unique(group[combos], return_inverse=True, return_counts=True)
        together = np.zeros((len(size), values), np.int64)
        np.add.at(together, inverse, having)
        everybody = np.zeros(len(size), np.int64)
        np.add.at(everybody, inverse, people)
        kept = size[inverse] >= FEWEST_VALUES
        others = (together[inverse] - having)[kept]
        return combos[kept], others, (everybody[inverse] - people)[kept]


def _top(holding: IntArray, people: IntArray, number: int, support: int) -> Sequence[tuple[int, int]]:
    """Combination and value of the best cells; rows are in the order of their codes already."""
    place, value = np.nonzero(holding >= support)
    kept = holding[place, value]
    best = np.lexsort((value, place, -kept, -(kept / people[place])))[:number]
    return list(zip(place[best].tolist(), value[best].tolist(), strict=True))
