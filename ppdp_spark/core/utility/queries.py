"""COUNT queries on quasi-identifiers and one sensitive value: how well a release answers them.

A query asks how many people lie in a range of each of d quasi-identifiers and have a given value. Places
of an attribute are its codes (1, 2, …; null is 0 and never asked for), or its numbers where those are too
many for codes. A set of categories is a run of codes: neighbours in the hierarchy or in the sorted order.

The workload is in the manner of [Xiao & Tao: Anatomy], with two departures: one sensitive value instead of
a set of them, and hence a selectivity s that counts quasi-identifiers alone. Each of the d ranges takes
s^(1/d) of its attribute's domain, so that the queried box has the share s of the space, not of the people.
A query that hardly anybody answers says nothing of a release: whatever is published answers it with about
nobody. More queries are drawn than wanted, and those whose true answer is large enough are asked.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.data.boxes import Box, Range
from ppdp_spark.core.data.groups import FloatArray, IntArray

SELECTIVITIES = (0.01, 0.05, 0.1)
MOST_DIMENSIONS = 5
SEED = 20_070_917
"""Public and fixed: the same table and spec have the same queries."""

CANDIDATES = 4
"""Queries drawn for each one that is wanted."""


@dataclass(frozen=True)
class Domain:
    """Where an attribute's values lie: places low … high, whole numbers unless `continuous`."""

    low: int | float
    high: int | float
    continuous: bool = False

    def draw(self, share: float, rng: random.Random) -> tuple[int | float, int | float]:
        """Bounds of a range, both included, that takes `share` of the domain, anywhere in it."""
        if self.continuous:
            width = share * (self.high - self.low)
            start = self.low + rng.random() * (self.high - self.low - width)
            return start, start + width
        places = int(self.high) - int(self.low) + 1
        width = min(places, max(1, round(share * places)))
        first = int(self.low) + rng.randrange(places - width + 1)
        return first, first + width - 1


@dataclass(frozen=True)
class Query:
    """How many people lie in all ranges and have the sensitive value with code `value`?"""

    value: int
    selectivity: float
    ranges: tuple[Range, ...]

    @property
    def dimension(self) -> int:
        return len(self.ranges)


def draw_queries(domains: Sequence[Domain | None], values: int, number: int) -> tuple[Query, ...]:
    """`number` queries, evenly over dimensions 1 … 5 and selectivities; None is a domain without values."""
    usable = [j for j, domain in enumerate(domains) if domain is not None]
    if not usable or values < 1:
        return ()
    rng = random.Random(SEED)
    cells = [(d, s) for d in range(1, min(len(usable), MOST_DIMENSIONS) + 1) for s in SELECTIVITIES]
    drawn = []
    for i in range(number):
        dimension, selectivity = cells[i % len(cells)]
        chosen = sorted(rng.sample(usable, dimension))
        share = selectivity ** (1 / dimension)
        ranges = tuple(
            Range(j, *domain.draw(share, rng)) for j in chosen if (domain := domains[j]) is not None
        )
        drawn.append(Query(rng.randrange(values), selectivity, ranges))
    return tuple(drawn)


def with_answers(queries: Sequence[Query], truths: FloatArray, number: int, least: float) -> IntArray:
    """The places of the `number` queries to ask: the first of each cell that at least `least` people answer.

    A cell, which is a dimension and a selectivity, has no more of them than its turns among `number` draws,
    and fewer if its candidates run out.
    """
    cells = [(query.dimension, query.selectivity) for query in queries]
    left, chosen = Counter(cells[:number]), []
    for place in np.flatnonzero(truths >= least).tolist():
        if left[cells[place]] > 0:
            left[cells[place]] -= 1
            chosen.append(place)
    return np.array(chosen, np.int64)


@dataclass(frozen=True)
class Holders:
    """Who has each sensitive value: `owner[starts[v] : starts[v + 1]]` with their `count` of value v.

    Counts are sums of weights where occurrences have weights.
    """

    owner: IntArray
    count: IntArray | FloatArray
    starts: IntArray

    @classmethod
    def of(cls, owner: IntArray, values: IntArray, width: int, weights: FloatArray | None = None) -> Holders:
        """From one entry an occurrence, each perhaps with a weight; equal ones are added up."""
        span = int(owner.max(initial=0)) + 1
        pairs, count = values.astype(np.int64) * span + owner, None
        if weights is None:
            keys, count = np.unique(pairs, return_counts=True)
        else:
            keys, place = np.unique(pairs, return_inverse=True)
            count = np.bincount(place.ravel(), weights, minlength=len(keys))
        value, who = np.divmod(keys, span)
        return cls(who, count, np.searchsorted(value, np.arange(width + 1)))

    def having(self, value: int) -> tuple[IntArray, IntArray | FloatArray]:
        inside = slice(self.starts[value], self.starts[value + 1])
        return self.owner[inside], self.count[inside]


def true_answers(queries: Sequence[Query], places: Sequence[NDArray[Any]], holders: Holders) -> FloatArray:
    """Occurrences of each query's value among the people inside its ranges; `places` by attribute."""
    answers = np.zeros(len(queries))
    for i, query in enumerate(queries):
        people, count = holders.having(query.value)
        for bounds in query.ranges:
            inside = bounds.contains(places[bounds.attribute][people])
            people, count = people[inside], count[inside]
        answers[i] = count.sum()
    return answers


def generalized_answers(queries: Sequence[Query], boxes: Sequence[Box], holders: Holders) -> FloatArray:
    """Estimates from boxes: people spread evenly over their group's box, whatever value they have."""
    answers = np.zeros(len(queries))
    for i, query in enumerate(queries):
        groups, count = holders.having(query.value)
        expected = count.astype(np.float64)
        for bounds in query.ranges:
            expected *= boxes[bounds.attribute].share(groups, bounds)
        answers[i] = expected.sum()
    return answers


def bucketized_answers(
    queries: Sequence[Query],
    places: Sequence[NDArray[Any]],
    group: IntArray,
    holders: Holders,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Estimates from true quasi-identifiers: whoever matches has the value with its share in the group.

    With `weights` of people they count as many people as they stand for; `holders` are unweighted.
    """
    sizes = np.bincount(group)
    answers = np.zeros(len(queries))
    for i, query in enumerate(queries):
        groups, count = holders.having(query.value)
        share = np.zeros(len(sizes))
        share[groups] = count / sizes[groups]
        matching = group
        people: IntArray | None = None
        for bounds in query.ranges:
            column = places[bounds.attribute]
            inside = np.flatnonzero(bounds.contains(column if people is None else column[people]))
            people = inside if people is None else people[inside]
            matching = matching[inside]
        expected = share[matching]
        if weights is not None:
            expected = expected * (weights if people is None else weights[people])
        answers[i] = expected.sum()
    return answers
