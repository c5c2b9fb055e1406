"""What a reader concludes about people who knows that certain cuts were refused.

All assignments of groups' values to their people are as likely to the reader, and those that would have
allowed one of the cuts are impossible:

    p(t : x | release) = Σ P(a) a_{cx} / m_c  over the outcomes a that refuse every cut,

where t is one of the m_c people of class c, and a_{cx} of them have the value x. Bundles of groups with few
outcomes are computed exactly. Of the others, assignments are drawn until enough of them refuse every cut or
the work is done; that drawing ends with enough of them does not bias those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.attacks.assignments import (
    add_outcomes,
    all_outcomes,
    dealt_outcomes,
    number_of_outcomes,
    sides_of,
)
from ppdp_spark.core.attacks.bound_groups import Bundles
from ppdp_spark.core.attacks.intervals import mean_limits
from ppdp_spark.core.attacks.refused_cuts import ranges
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.data.groups import COUNT_CELLS, BoolArray, FloatArray, GroupSummaries, IntArray

FEW_ASSIGNMENTS = 36 * np.log(2)
"""Logarithm of a number of assignments up to which floats count them exactly."""


@dataclass(frozen=True)
class AuditEffort:
    """How much is done for one bundle at most; it depends on the bundle alone.

    where
        outcomes  outcomes of a bundle that is computed exactly
        wanted    draws that refuse every cut, of a bundle that is not: no more are drawn after that
        draws     assignments that are drawn in one turn
        turns     how often more are drawn
        cells     counts that criteria look at, and places that are dealt, if that allows fewer
    """

    outcomes: int = 4096
    wanted: int = 1000
    draws: int = 1000
    turns: int = 16
    cells: int = 1 << 22

    def most_outcomes(self, bundles: Bundles) -> IntArray:
        """Outcomes of each bundle that are looked at, if there are no more."""
        return np.minimum(self.outcomes, self.cells // _cost(bundles))

    def most_draws(self, bundles: Bundles) -> IntArray:
        """Draws of each bundle in one turn."""
        return np.clip(self.cells // _cost(bundles) // max(1, self.turns), 16, self.draws)


def _cost(bundles: Bundles) -> IntArray:
    """What it takes to look at one outcome: its people, and both sides of the first few cuts."""
    looked = np.minimum(bundles.cuts, 3)
    return np.asarray(np.maximum(1, np.maximum(bundles.summed(bundles.people), 2 * bundles.width * looked)))


@dataclass(frozen=True)
class ProgramPosteriors:
    """Posteriors of all classes of bundles, cell by cell: a class of a group and a value of that group.

    where
        bundles   the bundles
        shares    the share of the value in the group
        found     the posterior, or what draws say of it
        low       its least value that draws do not contradict; itself, if it is exact
        high      its largest such value
        sums      the posterior times the sum of all values of the class
        exact     whether the posteriors of a bundle were computed exactly
        integers  whether the sums of a bundle are numbers of assignments
        accepted  outcomes or draws of each bundle that refuse every cut
    """

    bundles: Bundles
    shares: FloatArray
    found: FloatArray
    low: FloatArray
    high: FloatArray
    sums: FloatArray
    exact: BoolArray
    integers: BoolArray
    accepted: IntArray

    def largest(self, cells: FloatArray) -> FloatArray:
        """The largest of the given cells of each group."""
        starts = _borders(self.bundles.group_cells)[:-1]
        return np.maximum.reduceat(cells, starts) if len(starts) else cells[:0]

    @property
    def group(self) -> IntArray:
        """The group of each class."""
        return np.repeat(np.arange(len(self.bundles.groups)), np.diff(self.bundles.class_starts))

    def dense(self, classes: IntArray, cells: FloatArray) -> FloatArray:
        """Some of the classes as rows, with a column for every sensitive value."""
        b, group = self.bundles, self.group
        number = np.diff(b.value_starts)[group]
        starts, own = _borders(number)[:-1][classes], group[classes]
        place, row = ranges(starts, starts + number[classes])
        held, _ = ranges(b.value_starts[own], b.value_starts[own + 1])
        out = np.zeros((len(classes), b.width))
        out[row, b.values[held]] = cells[place]
        return out


def program_posteriors(
    bundles: Bundles,
    criteria: Sequence[LocalCriterion],
    seeds: IntArray,
    chance: FloatArray,
    effort: AuditEffort,
) -> ProgramPosteriors:
    """The posteriors of bundles in which cuts were refused by the criteria.

    where
        seeds   of the draws, one for each bundle
        chance  that an interval of the bundle misses, all of its intervals together
    """
    b, limits = bundles, effort.most_outcomes(bundles)
    numbers = number_of_outcomes(b.group_starts, b.class_starts, b.sizes, b.value_starts, b.counts, limits)
    exact, sums = numbers <= limits, _Sums.of(b)
    cost = np.maximum(b.cells, b.width)
    for some in _parts(np.flatnonzero(exact), numbers * cost):
        sums.add(some, _every_outcome(b.rows(some), numbers[some]), criteria)
    drawn, draws = np.flatnonzero(~exact), effort.most_draws(b)
    for turn in range(effort.turns):
        left = drawn[sums.accepted[drawn] < effort.wanted]
        for some in _parts(left, draws * cost):
            dealt = _dealt_outcomes(b.rows(some), seeds[some], turn * effort.draws, draws[some])
            sums.add(some, dealt, criteria)
    return sums.posteriors(exact, chance)


@dataclass(frozen=True)
class _Outcomes:
    """Outcomes of some bundles.

    where
        bundle   the bundle of each outcome
        firsts   where its cells begin
        weights  how likely it is, up to a constant of its bundle
    """

    bundles: Bundles
    bundle: IntArray
    firsts: IntArray
    tables: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, bundles: Bundles, numbers: IntArray, tables: IntArray, weights: FloatArray) -> _Outcomes:
        bundle = np.repeat(np.arange(len(bundles)), numbers)
        return cls(bundles, bundle, _borders(bundles.cells[bundle])[:-1], tables, weights)

    def refusing(self, criteria: Sequence[LocalCriterion]) -> BoolArray:
        """Whether each outcome refuses every cut of its bundle."""
        refuses, b = np.ones(len(self.bundle), np.bool_), self.bundles
        step = max(1, COUNT_CELLS // (2 * b.width))
        for cut in range(int(b.cuts.max(initial=0))):
            asked = np.flatnonzero(refuses & (b.cuts[self.bundle] > cut))
            for first in range(0, len(asked), step):
                some = asked[first : first + step]
                sides = self._sides(some, cut)
                allowed = np.ones(len(some), np.bool_)
                for criterion in criteria:
                    allowed &= criterion.allowed_cuts(*sides)
                refuses[some] = ~allowed
        return refuses

    def _sides(self, some: IntArray, cut: int) -> tuple[GroupSummaries, GroupSummaries]:
        """The sides of one cut in some of the outcomes."""
        b = self.bundles
        left, right = sides_of(
            some,
            self.bundle,
            self.firsts,
            self.tables,
            cut,
            b.group_starts,
            b.class_starts,
            b.left,
            b.right,
            b.value_starts,
            b.values,
            b.width,
        )
        return GroupSummaries(left.sum(axis=1), left), GroupSummaries(right.sum(axis=1), right)


def _every_outcome(bundles: Bundles, numbers: IntArray) -> _Outcomes:
    """All outcomes of bundles, each with the number of its assignments, or in proportion to that."""
    b = bundles
    log_factorials = _log_factorials(b)
    tables, logs = all_outcomes(
        b.group_starts,
        b.class_starts,
        b.sizes,
        b.value_starts,
        b.counts,
        numbers,
        _borders(numbers * b.cells),
        log_factorials,
    )
    number, constant = _assignments(b)
    likeliest = np.maximum.reduceat(logs, _borders(numbers)[:-1])
    few = number < FEW_ASSIGNMENTS
    weights = np.exp(logs + np.repeat(np.where(few, constant, -likeliest), numbers))
    return _Outcomes.of(b, numbers, tables, np.where(np.repeat(few, numbers), np.rint(weights), weights))


def _assignments(bundles: Bundles) -> tuple[FloatArray, FloatArray]:
    """The logarithm of the number of assignments of each bundle, and what that of an outcome lacks.

    Groups that no cut goes through take part with one assignment.
    """
    b, log_factorials = bundles, _log_factorials(bundles)
    group = np.repeat(np.arange(len(b.groups)), np.diff(b.value_starts))
    of_values = np.bincount(group, log_factorials[b.counts], len(b.groups))
    of_class = np.repeat(np.arange(len(b.groups)), np.diff(b.class_starts))
    of_classes = np.bincount(of_class, log_factorials[b.sizes], len(b.groups))
    divided = np.diff(b.class_starts) > 1
    number = np.where(divided, log_factorials[b.people] - of_values, 0.0)
    constant = np.where(divided, of_classes, of_values)
    sums = np.bincount(b.bundle, number, len(b)), np.bincount(b.bundle, constant, len(b))
    return sums[0].astype(np.float64), sums[1].astype(np.float64)


def _log_factorials(bundles: Bundles) -> FloatArray:
    """ln n! for every n up to the people of the largest group."""
    logs = np.log(np.arange(1.0, int(bundles.people.max(initial=0)) + 1))
    return np.concatenate([[0.0], np.cumsum(logs)])


def _dealt_outcomes(bundles: Bundles, seeds: IntArray, begin: int, draws: IntArray) -> _Outcomes:
    """Draws of bundles, all of the same weight."""
    b = bundles
    dealt = dealt_outcomes(
        b.group_starts,
        b.class_starts,
        b.sizes,
        b.value_starts,
        b.counts,
        seeds,
        begin,
        draws,
        _borders(draws * b.cells),
    )
    return _Outcomes.of(b, draws, dealt, np.ones(int(draws.sum())))


@dataclass(frozen=True)
class _Sums:
    """Sums over the outcomes that refuse every cut: of their weights, and of each cell."""

    bundles: Bundles
    cells: FloatArray
    weights: FloatArray
    accepted: IntArray

    @classmethod
    def of(cls, bundles: Bundles) -> _Sums:
        number = len(bundles)
        return cls(bundles, np.zeros(int(bundles.cells.sum())), np.zeros(number), np.zeros(number, np.int64))

    def add(self, chosen: IntArray, outcomes: _Outcomes, criteria: Sequence[LocalCriterion]) -> None:
        """Add the outcomes of the chosen bundles that refuse every cut."""
        good = np.flatnonzero(outcomes.refusing(criteria))
        starts = _borders(outcomes.bundles.cells)
        held = np.zeros(starts[-1])
        add_outcomes(good, outcomes.bundle, outcomes.firsts, outcomes.tables, outcomes.weights, starts, held)
        firsts = _borders(self.bundles.cells)[:-1][chosen]
        self.cells[ranges(firsts, firsts + outcomes.bundles.cells)[0]] += held
        bundle = outcomes.bundle[good]
        self.weights[chosen] += np.bincount(bundle, outcomes.weights[good], len(chosen))
        self.accepted[chosen] += np.bincount(bundle, minlength=len(chosen))

    def posteriors(self, exact: BoolArray, chance: FloatArray) -> ProgramPosteriors:
        """What the sums say; without any outcome that refuses every cut, nothing is known."""
        b = self.bundles
        bundle = np.repeat(np.arange(len(b)), b.cells)
        people, size, held = _margins(b)
        shares, weight = held / people, self.weights[bundle]
        found = np.divide(self.cells, weight * size, out=shares.copy(), where=weight > 0)
        low, high = found.copy(), found.copy()
        drawn = np.flatnonzero(~exact[bundle])
        limits = mean_limits(
            np.clip(found[drawn], 0, 1),
            self.accepted[bundle[drawn]].astype(np.float64),
            (chance / np.maximum(1, b.cells))[bundle[drawn]],
        )
        low[drawn] = np.maximum(limits[0], (np.maximum(0, held - (people - size)) / size)[drawn])
        high[drawn] = np.minimum(limits[1], (np.minimum(size, held) / size)[drawn])
        integers = exact & (_assignments(b)[0] < FEW_ASSIGNMENTS)
        return ProgramPosteriors(b, shares, found, low, high, self.cells, exact, integers, self.accepted)


def _margins(bundles: Bundles) -> tuple[FloatArray, FloatArray, FloatArray]:
    """People of the group and of the class, and those of the group who have the value, of each cell."""
    b = bundles
    group = np.repeat(np.arange(len(b.groups)), np.diff(b.class_starts))
    held, of_class = ranges(b.value_starts[group], b.value_starts[group + 1])
    found = b.people[group[of_class]], b.sizes[of_class], b.counts[held]
    return found[0].astype(np.float64), found[1].astype(np.float64), found[2].astype(np.float64)


def _parts(chosen: IntArray, cost: IntArray) -> Iterator[IntArray]:
    """The chosen bundles in parts of about as much work as is done at once."""
    part = np.cumsum(cost[chosen]) // COUNT_CELLS
    return iter(np.split(chosen, np.flatnonzero(np.diff(part)) + 1)) if len(chosen) else iter(())


def _borders(lengths: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
