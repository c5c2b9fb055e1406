"""The cuts that Mondrian tried and refused because of who has which value.

A cut is a function of quasi-identifiers: so are the order in which cuts are tried and the sizes of both
sides. Whoever knows these, and the program, sees which cuts were tried: all of them in a finished group, and
above, those that come before the one that was made. Those that sizes do not allow tell nothing. All others
were refused because of values, and tell that the values are such that they were [Wong et al. 2007]. A cut
that was made tells nothing: the counts of both sides are published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ppdp_spark.core.criteria.anonymity import KAnonymity
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.data.coded_people import Axis, Cuts, Partition
from ppdp_spark.core.data.groups import BoolArray, GroupSummaries, IntArray
from ppdp_spark.core.partition.cut_choice import first_tries, least_side, tries
from ppdp_spark.core.partition.partitioners import CutsName
from ppdp_spark.core.partition.people_rows import Level, Tried
from ppdp_spark.errors import InternalError


@dataclass(frozen=True)
class RefusedCuts:
    """Cuts that sizes allow and values do not.

    where
        first      the first group below what was to be cut, by its place among some groups
        last       the group after the last one
        attribute  what it was to be cut by
        low, high  codes that would have gone left
        members    bits of those of them that would; 0 for all
    """

    first: IntArray
    last: IntArray
    attribute: IntArray
    low: IntArray
    high: IntArray
    members: IntArray

    @classmethod
    def none(cls) -> RefusedCuts:
        """No cuts."""
        nothing = np.empty(0, np.int64)
        return cls.of(nothing, nothing, Tried.none(0))

    @classmethod
    def of(cls, first: IntArray, last: IntArray, cuts: Tried) -> RefusedCuts:
        """Cuts of what consists of the groups from `first` to `last`."""
        return cls(first, last, *cuts.sides)

    def __len__(self) -> int:
        return len(self.attribute)

    def rows(self, index: IntArray | BoolArray) -> RefusedCuts:
        """Some of them."""
        return RefusedCuts(*(getattr(self, one.name)[index] for one in fields(self)))

    def through(self, lowest: IntArray, highest: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
        """Every pair of a cut and a group below, and whether the cut may go through the group.

        `lowest` and `highest` are the least and greatest codes of all groups. Where they leave it open, it is
        taken to go through: groups are then bound together that need not be, which changes no posterior.
        """
        group, cut = ranges(self.first, self.last)
        least, most = lowest[group, self.attribute[cut]], highest[group, self.attribute[cut]]
        low, high = self.low[cut], self.high[cut]
        left = (low <= least) & (most <= high) & ((self.members[cut] == 0) | (least == most))
        return cut, group, ~left & (low <= most) & (least <= high)


@dataclass(frozen=True)
class FinishedGroups:
    """Groups as Mondrian made them, with the codes of their people in the order of the groups.

    where
        codes   one row per person, C-ordered
        groups  the groups, and the tree that they are the leaves of
        sizes   criteria that are decided by the sizes of both sides of a cut
        least   people on each side of a cut that is tried, at least
        cuts    which cuts were tried, and in which order
    """

    codes: IntArray
    groups: Partition
    axes: Sequence[Axis]
    sizes: tuple[LocalCriterion, ...]
    least: int
    cuts: CutsName

    @classmethod
    def of(
        cls,
        codes: IntArray,
        groups: Partition,
        axes: Sequence[Axis],
        criteria: Sequence[LocalCriterion],
        *,
        least: int,
        cuts: CutsName,
    ) -> FinishedGroups:
        """`least` is the fewest people that a group can have under all of the criteria."""
        sizes = tuple(criterion for criterion in criteria if not criterion.needs_counts)
        sizes = (*sizes, KAnonymity(least)) if least > 1 else sizes
        in_order = np.ascontiguousarray(codes[groups.order], np.int32)
        return cls(in_order, groups, axes, sizes, least_side(criteria), cuts)

    def refused(self, chosen: IntArray, most: int) -> tuple[RefusedCuts, RefusedCuts]:
        """The cuts that were refused in and above the chosen groups; apart, those of more than `most` people.

        `chosen` has whole branches of the tree, of at most so many people unless they are one group.
        """
        above, large = self._above(chosen, most)
        return _together([self._in_groups(chosen), above]), large

    def _in_groups(self, chosen: IntArray) -> RefusedCuts:
        """In a finished group every cut was tried."""
        starts, ends = self.groups.starts[chosen], self.groups.starts[chosen + 1]
        level = Level(starts, ends, self.groups.lowest[chosen], self.groups.highest[chosen])
        group, tried = self._possible(level, *tries(self.codes, level, self.axes, self.least, self.cuts))
        return RefusedCuts.of(group, group + 1, tried)

    def _above(self, chosen: IntArray, most: int) -> tuple[RefusedCuts, RefusedCuts]:
        """Above, those were tried that come before the cut that was made."""
        starts, cuts = self.groups.starts, self.groups.cuts
        parts: tuple[list[RefusedCuts], list[RefusedCuts]] = ([], [])
        first, last = np.searchsorted(starts, cuts.start), np.searchsorted(starts, cuts.end)
        among = np.searchsorted(chosen, first), np.searchsorted(chosen, last)
        for depth in range(int(cuts.level.max(initial=-1)) + 1):
            nodes = np.flatnonzero((cuts.level == depth) & (among[0] < among[1]))
            if not len(nodes):
                continue
            lowest = _over(np.minimum, self.groups.lowest, first[nodes], last[nodes])
            highest = _over(np.maximum, self.groups.highest, first[nodes], last[nodes])
            borders = cuts.start[nodes].astype(np.int64), cuts.end[nodes].astype(np.int64)
            level = Level(*borders, lowest.astype(np.int32), highest.astype(np.int32))
            row, tried = self._before(level, _made(cuts, nodes))
            node = nodes[row]
            found = RefusedCuts.of(among[0][node], among[1][node], tried)
            large = cuts.end[node] - cuts.start[node] > most
            parts[0].append(found.rows(~large))
            parts[1].append(found.rows(large))
        return _together(parts[0]), _together(parts[1])

    def _before(self, level: Level, made: Tried) -> tuple[IntArray, Tried]:
        """The cuts of each group that come before the one that was made and that sizes allow."""
        other = np.flatnonzero(~made.same(first_tries(self.codes, level, self.axes, self.least, self.cuts)))
        some = level.rows(other)
        group, tried = tries(self.codes, some, self.axes, self.least, self.cuts)
        here = np.flatnonzero(tried.same(made.rows(other[group])))
        here = here[np.unique(group[here], return_index=True)[1]]
        if not np.array_equal(group[here], np.arange(len(other))):
            raise InternalError("a cut that was made is none of those that are tried")
        end = here
        before = np.arange(len(group)) < end[group]
        kept, allowed = self._possible(some, group[before], tried.rows(before))
        return other[kept], allowed

    def _possible(self, level: Level, group: IntArray, tried: Tried) -> tuple[IntArray, Tried]:
        """Those of the cuts, of groups of a level, that sizes allow."""
        none = np.empty((len(tried), 0), np.int64)
        right = (level.ends - level.starts)[group] - tried.left
        sides = GroupSummaries(tried.left, none), GroupSummaries(right, none)
        possible = np.ones(len(tried), np.bool_)
        for criterion in self.sizes:
            possible &= criterion.allowed_cuts(*sides)
        return group[possible], tried.rows(possible)


def branches(groups: Partition, most: int) -> IntArray:
    """The first group of each largest part of the tree that has so many people at most, or one group."""
    cuts = groups.cuts
    small = cuts.end - cuts.start <= most
    return np.flatnonzero(~np.isin(groups.starts[:-1], cuts.middle[small]))


def ranges(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """Every number in the ranges [first, last), and the range that it is in."""
    lengths = last - first
    which = np.repeat(np.arange(len(first)), lengths)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return first[which] + within, which


def _together(parts: Sequence[RefusedCuts]) -> RefusedCuts:
    every = [RefusedCuts.none(), *parts]
    return RefusedCuts(
        *(np.concatenate([getattr(part, one.name) for part in every]) for one in fields(RefusedCuts))
    )


def _made(cuts: Cuts, nodes: IntArray) -> Tried:
    """The cuts of some nodes of the tree."""
    sides = (cuts.attribute[nodes], cuts.low[nodes], cuts.high[nodes], cuts.members[nodes])
    return Tried(*sides, (cuts.middle - cuts.start)[nodes])


def _over(extreme: np.ufunc, values: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """The extreme of each column over the rows [first, last); the ranges are disjoint and ascending."""
    padded = np.concatenate([values, values[-1:]])
    borders = np.stack([first, last], axis=1).ravel()
    return np.asarray(extreme.reduceat(padded, borders, axis=0)[::2])
