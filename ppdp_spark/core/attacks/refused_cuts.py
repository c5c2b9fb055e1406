"""The cuts that Mondrian tried and refused because of who has which value.

A cut is a function of quasi-identifiers: so are the attribute that comes next, the place of the median and
the sizes of both sides. Whoever knows these, and the program, sees which cuts were tried: all of them in a
finished group, and above, those by attributes that come before the one that was cut. Those that sizes do not
allow tell nothing. All others were refused because of values, and tell that the values are such that they
were [Wong et al. 2007]. A cut that was made tells nothing: the counts of both sides are published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.criteria.anonymity import KAnonymity
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.data.coded_people import Axis, Partition
from ppdp_spark.core.data.groups import BoolArray, GroupSummaries, IntArray
from ppdp_spark.core.partition import segments
from ppdp_spark.core.partition.mondrian import preference


@dataclass(frozen=True)
class RefusedCuts:
    """Cuts that sizes allow and values do not: people whose code is at most `code` would have gone left.

    where
        first      the first group below what was to be cut, by its place among some groups
        last       the group after the last one
        attribute  what it was to be cut by
        code       where
    """

    first: IntArray
    last: IntArray
    attribute: IntArray
    code: IntArray

    def __len__(self) -> int:
        return len(self.code)

    def rows(self, index: IntArray | BoolArray) -> RefusedCuts:
        """Some of them."""
        return RefusedCuts(self.first[index], self.last[index], self.attribute[index], self.code[index])

    def through(self, lowest: IntArray, highest: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
        """Every pair of a cut and a group below, and whether the cut goes through the group.

        `lowest` and `highest` are the least and greatest codes of all groups.
        """
        group, cut = ranges(self.first, self.last)
        attribute, code = self.attribute[cut], self.code[cut]
        return cut, group, (lowest[group, attribute] <= code) & (code < highest[group, attribute])


@dataclass(frozen=True)
class FinishedGroups:
    """Groups as Mondrian made them, with the codes of their people in the order of the groups.

    where
        codes   one row per person, C-ordered
        groups  the groups, and the tree that they are the leaves of
        sizes   criteria that are decided by the sizes of both sides of a cut
    """

    codes: IntArray
    groups: Partition
    axes: Sequence[Axis]
    sizes: tuple[LocalCriterion, ...]

    @classmethod
    def of(
        cls,
        codes: IntArray,
        groups: Partition,
        axes: Sequence[Axis],
        criteria: Sequence[LocalCriterion],
        least: int,
    ) -> FinishedGroups:
        """`least` is the fewest people that a group can have under all of the criteria."""
        sizes = tuple(criterion for criterion in criteria if not criterion.needs_counts)
        in_order = np.ascontiguousarray(codes[groups.order], np.int32)
        return cls(in_order, groups, axes, (*sizes, KAnonymity(least)) if least > 1 else sizes)

    def refused(self, chosen: IntArray, most: int) -> tuple[RefusedCuts, RefusedCuts]:
        """The cuts that were refused in and above the chosen groups; apart, those of more than `most` people.

        `chosen` has whole branches of the tree, of at most so many people unless they are one group.
        """
        above, large = self._above(chosen, most)
        return _together([self._in_groups(chosen), above]), large

    def _in_groups(self, chosen: IntArray) -> RefusedCuts:
        """In a finished group every cut was tried."""
        lowest, highest = self.groups.lowest[chosen], self.groups.highest[chosen]
        group, attribute = np.nonzero(lowest < highest)
        starts, ends = self.groups.starts[chosen], self.groups.starts[chosen + 1]
        code, possible = self._medians(
            (starts[group], ends[group]), attribute, lowest[group, attribute], highest[group, attribute]
        )
        return RefusedCuts(group, group + 1, attribute, code).rows(possible)

    def _above(self, chosen: IntArray, most: int) -> tuple[RefusedCuts, RefusedCuts]:
        """Above, those were tried that come before the cut that was made."""
        starts, cuts = self.groups.starts, self.groups.cuts
        parts: tuple[list[RefusedCuts], list[RefusedCuts]] = ([], [])
        first, last = np.searchsorted(starts, cuts.start), np.searchsorted(starts, cuts.end)
        among = np.searchsorted(chosen, first), np.searchsorted(chosen, last)
        for level in range(int(cuts.level.max(initial=-1)) + 1):
            nodes = np.flatnonzero((cuts.level == level) & (among[0] < among[1]))
            if not len(nodes):
                continue
            lowest = _over(np.minimum, self.groups.lowest, first[nodes], last[nodes])
            highest = _over(np.maximum, self.groups.highest, first[nodes], last[nodes])
            order, _ = preference(lowest, highest, self.axes)
            turn = np.argmax(order == cuts.attribute[nodes, None], axis=1)
            row, place = np.nonzero(np.arange(order.shape[1]) < turn[:, None])
            attribute, node = order[row, place], nodes[row]
            people = cuts.start[node], cuts.end[node]
            code, possible = self._medians(people, attribute, lowest[row, attribute], highest[row, attribute])
            found = RefusedCuts(among[0][node], among[1][node], attribute, code)
            large = people[1] - people[0] > most
            parts[0].append(found.rows(possible & ~large))
            parts[1].append(found.rows(possible & large))
        return _together(parts[0]), _together(parts[1])

    def _medians(
        self, people: tuple[IntArray, IntArray], attribute: IntArray, low: IntArray, high: IntArray
    ) -> tuple[IntArray, BoolArray]:
        """Where each run of people is cut by an attribute of this range, and whether sizes allow it."""
        starts, ends = people
        code, left = segments.median_cuts(self.codes, starts, ends, attribute, low, high)
        none = np.empty((len(left), 0), np.int64)
        sides = GroupSummaries(left, none), GroupSummaries(ends - starts - left, none)
        possible = np.ones(len(left), np.bool_)
        for criterion in self.sizes:
            possible &= criterion.allowed_cuts(*sides)
        return code, possible


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
    none = np.empty(0, np.int64)
    columns = ("first", "last", "attribute", "code")
    return RefusedCuts(
        *(np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in columns)
    )


def _over(extreme: np.ufunc, values: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """The extreme of each column over the rows [first, last); the ranges are disjoint and ascending."""
    padded = np.concatenate([values, values[-1:]])
    borders = np.stack([first, last], axis=1).ravel()
    return np.asarray(extreme.reduceat(padded, borders, axis=0)[::2])
