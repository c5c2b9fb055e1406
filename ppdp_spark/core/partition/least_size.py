"""The least size K of blind groups, predicted from public facts.

Blind groups are made without a look at sensitive values, and published only if all of them satisfy every
criterion. A second try with another K tells that the first one failed, so K is predicted and not searched:
the smallest one of a grid with which releases drawn at random pass. A draw gives groups of K to 2K − 1
people values of the whole table without replacement, as if values had nothing to do with quasi-identifiers.
Where they do, values crowd in groups and the true chance is lower; the guarantee does not depend on it.

All that goes in is the number of people, the counts of values in the whole table and the criteria, which a
release shows anyway. The draws are seeded with these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ppdp_spark.core.criteria.base import Criterion, LocalCriterion
from ppdp_spark.core.data.groups import GroupSummaries, IntArray

CHANCE = 20
"""Of so many releases one may fail: a chance to pass of 95 %."""

FEWEST, MOST = 20, 400
"""Releases drawn for one K."""

EFFORT = 1 << 22
"""People and counts to draw for one K, if that allows more than the fewest releases."""

LARGEST_RELEASE = 1 << 25
"""Counts of groups in a release to draw: a K that needs more is not tried."""

STEP = 10
"""The grid of K rises by one tenth, and by one at least."""

_PERMUTED = 1 << 20
"""People of whom a permutation is drawn."""

_PART = 1 << 18
"""People, and counts, of the groups that are drawn at once."""


@dataclass(frozen=True)
class Chance:
    """How many of the releases drawn at random pass."""

    passed: int
    drawn: int

    @property
    def share(self) -> float:
        """The chance to pass, as far as that many draws can tell."""
        return self.passed / self.drawn

    @property
    def enough(self) -> bool:
        """Whether at most one in twenty fails."""
        return CHANCE * (self.drawn - self.passed) <= self.drawn


@dataclass(frozen=True)
class LeastSize:
    """The least size of blind groups and where it is from.

    where
        size       K
        predicted  whether it was predicted, not given by hand
        chance     of a release to pass; None where it cannot be predicted
    """

    size: int
    predicted: bool
    chance: Chance | None = None

    @property
    def chosen(self) -> str:
        """Where it is from, in words."""
        return "predicted" if self.predicted else "given by hand"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, as in the summary of a run."""
        chance = None if self.chance is None else self.chance.share
        return {"least_size": self.size, "chosen": self.chosen, "chance": chance}


def predicted_size(criteria: Sequence[Criterion[Any]], counts: IntArray, least: int) -> LeastSize:
    """The smallest K of the grid, from `least` on, with which enough of the releases pass.

    `counts` are those of the values in the whole table. The last K is the number of people: one group.
    """
    people = int(counts.sum())
    for size in _grid(least, people, width=len(counts)):
        chance = chance_to_pass(criteria, counts, likely_sizes(people, size))
        if chance.enough:
            return LeastSize(size, True, chance)
    return LeastSize(max(2, people), True, chance_to_pass(criteria, counts, np.array([people])))


def likely_sizes(people: int, least: int) -> IntArray:
    """Sizes of the groups that cuts at medians make of so many people: evenly from K to 2K − 1."""
    if people < 2 * least:
        return np.array([people])
    groups = max(2, 2 * people // (3 * least - 1))
    return np.rint(np.linspace(least, 2 * least - 1, groups)).astype(np.int64)


def chance_to_pass(criteria: Sequence[Criterion[Any]], counts: IntArray, sizes: IntArray) -> Chance:
    """How many releases of groups of these sizes, with values drawn from the whole table, pass.

    Drawing ends as soon as it is clear that too many fail: the chance is then an upper bound.
    """
    effort = max(int(sizes.sum()), len(sizes) * len(counts))
    releases, passed = int(np.clip(EFFORT // effort, FEWEST, MOST)), 0
    draws = np.random.default_rng([int(counts.sum()), len(counts), len(sizes), int(sizes[0])])
    for drawn in range(1, releases + 1):
        passed += _passes(criteria, counts, sizes, draws)
        if CHANCE * (drawn - passed) > releases:
            return Chance(passed, drawn)
    return Chance(passed, releases)


def _grid(least: int, people: int, *, width: int) -> Iterator[int]:
    """The values of K to try, as far as there are two groups of that size."""
    size = max(2, least, -(-2 * people * width // (3 * LARGEST_RELEASE)))
    while 2 * size <= people:
        yield size
        size += max(1, size // STEP)


def _passes(
    criteria: Sequence[Criterion[Any]], counts: IntArray, sizes: IntArray, draws: np.random.Generator
) -> bool:
    """Whether one release drawn at random satisfies every criterion.

    What each group meets by itself is decided part by part, and the first part that fails ends it; of the
    rest, statistics are merged and decided as for written files.
    """
    local = [criterion for criterion in criteria if isinstance(criterion, LocalCriterion)]
    coupled = [criterion for criterion in criteria if not isinstance(criterion, LocalCriterion)]
    found: list[list[Any]] = [[] for _ in coupled]
    for groups in _drawn(counts, sizes, draws):
        if not all(bool(criterion.allowed(groups).all()) for criterion in local):
            return False
        for criterion, parts in zip(coupled, found, strict=True):
            parts.append(criterion.summarise(groups, np.arange(len(groups))))
    decided = (c.decide(reduce(c.merge, parts)) for c, parts in zip(coupled, found, strict=True))
    return all(row.ok for rows in decided for row in rows)


def _drawn(counts: IntArray, sizes: IntArray, draws: np.random.Generator) -> Iterator[GroupSummaries]:
    """One release drawn at random, in parts; large tables with replacement, which makes no odds there."""
    width, everybody = len(counts), np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    few = len(everybody) <= _PERMUTED
    if few:
        draws.shuffle(everybody)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    step = max(1, _PART // max(width, int(sizes.max())))
    for first in range(0, len(sizes), step):
        some = sizes[first : first + step]
        place = np.arange(bounds[first], bounds[first + len(some)]) % len(everybody)
        values = everybody[place if few else draws.integers(len(everybody), size=len(place))]
        cells = np.repeat(np.arange(len(some)) * width, some) + values
        yield GroupSummaries(some, np.bincount(cells, minlength=len(some) * width).reshape(-1, width))
