"""Groups that refused cuts bind together, and their people by the sides of these cuts on which they are.

A cut that was refused above several groups tells about the values of all groups that it goes through at once.
Groups that such cuts bind together are a *bundle*, the smallest being one group with cuts of its own. In a
bundle also stand groups that a cut leaves whole: they add their published counts to one of its sides.

A reader who takes all assignments of groups' values to their people to be equally likely, and knows that
certain cuts were refused, cannot tell people of a group apart who are on the same side of each of these cuts.
An assignment matters only by how many people of each such class have each value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.attacks.assignments import WORD, joined, right_sides
from ppdp_spark.core.attacks.refused_cuts import RefusedCuts, ranges
from ppdp_spark.core.data.groups import BoolArray, IntArray
from ppdp_spark.core.data.sorting import radix_order

MOST_CUTS = 4 * WORD
"""Refused cuts of a bundle that are told apart: one bit each."""


@dataclass(frozen=True)
class Bundles:
    """Bundles of groups, one after the other, down to classes and values of their groups.

    where
        cuts          how many refused cuts each bundle has
        group_starts  where the groups of each bundle begin, and their number at the end
        groups        the group, by its place among those that were given
        class_starts  where the classes of each group begin, and their number at the end
        sizes         people of each class
        left, right   bit j of a row of words: whether the class is on that side of the j-th cut of its bundle
        value_starts  where the values of each group begin, and their number at the end
        values        the sensitive values of each group, ascending
        counts        how many people of the group have the value
        width         how many sensitive values there are
    """

    cuts: IntArray
    group_starts: IntArray
    groups: IntArray
    class_starts: IntArray
    sizes: IntArray
    left: IntArray
    right: IntArray
    value_starts: IntArray
    values: IntArray
    counts: IntArray
    width: int

    def __len__(self) -> int:
        return len(self.cuts)

    @property
    def bundle(self) -> IntArray:
        """The bundle of each group."""
        return np.repeat(np.arange(len(self)), np.diff(self.group_starts))

    @property
    def people(self) -> IntArray:
        """People in each group."""
        return np.add.reduceat(self.sizes, self.class_starts[:-1]) if len(self) else self.cuts

    @property
    def group_cells(self) -> IntArray:
        """Pairs of a class and a value in each group."""
        return np.diff(self.class_starts) * np.diff(self.value_starts)

    @property
    def cells(self) -> IntArray:
        """The same of each bundle."""
        return self.summed(self.group_cells)

    def summed(self, of_groups: IntArray) -> IntArray:
        """Sums over the groups of each bundle."""
        return np.add.reduceat(of_groups, self.group_starts[:-1]) if len(self) else self.cuts

    def rows(self, chosen: IntArray) -> Bundles:
        """Some of the bundles."""
        groups, group_starts = _taken(self.group_starts, chosen)
        classes, class_starts = _taken(self.class_starts, groups)
        held, value_starts = _taken(self.value_starts, groups)
        return Bundles(
            self.cuts[chosen],
            group_starts,
            self.groups[groups],
            class_starts,
            self.sizes[classes],
            self.left[classes],
            self.right[classes],
            value_starts,
            self.values[held],
            self.counts[held],
            self.width,
        )


@dataclass(frozen=True)
class Bound:
    """What binds groups.

    where
        bundles   those that are small enough to look at
        inside    for each group, its place among the groups of the bundles; -1 for one that no refused cut
                  goes through, or only those of no bundle
        tangled   whether the group is bound by more cuts than are told apart
        class_of  for each person of the groups of the bundles, one after the other, the class
    """

    bundles: Bundles
    inside: IntArray
    tangled: BoolArray
    class_of: IntArray


def bound_groups(
    codes: IntArray, values: IntArray, bounds: IntArray, refused: RefusedCuts, width: int
) -> Bound:
    """The bundles of the groups with people bounds[g] : bounds[g + 1] of `codes` and `values`."""
    lowest = np.minimum.reduceat(codes, bounds[:-1], axis=0)
    highest = np.maximum.reduceat(codes, bounds[:-1], axis=0)
    ties = _Ties.of(lowest, highest, refused)
    starts, sizes = bounds[ties.group], np.diff(bounds)[ties.group]
    place, group = ranges(starts, starts + sizes)
    cuts, number = ties.entries, len(ties.group)
    words = 1 + int(ties.cuts.max(initial=1) - 1) // WORD
    sides = (refused.attribute[cuts], refused.low[cuts], refused.high[cuts], refused.members[cuts])
    cover, right = right_sides(codes, place, group, ties.starts, *sides, ties.turn[cuts], number, words)
    order = np.lexsort((*right.T, group))
    first = _changes(group[order], *right[order].T)
    class_of = np.empty(len(order), np.int64)
    class_of[order] = np.cumsum(first) - 1
    class_group, class_right = group[order][first], right[order][first]
    by_value = radix_order([group, values[place]])
    held_group, held = group[by_value], values[place][by_value].astype(np.int64)
    new = _changes(held_group, held)
    bundles = Bundles(
        ties.cuts,
        np.searchsorted(ties.bundle, np.arange(len(ties.cuts) + 1)),
        ties.group,
        np.searchsorted(class_group, np.arange(number + 1)),
        _lengths(first),
        cover[class_group] & ~class_right,
        class_right,
        np.searchsorted(held_group[new], np.arange(number + 1)),
        held[new],
        _lengths(new),
        width,
    )
    return Bound(bundles, ties.inside, ties.tangled, class_of)


@dataclass(frozen=True)
class _Ties:
    """Which groups stand in which bundle, and which of its cuts are made above them.

    where
        bundle, group  of each group in a bundle, bundle by bundle
        starts         where its cuts begin among the entries, and the number of entries at the end
        entries        the cuts, as places among the refused ones
        turn           the bit of each refused cut in its bundle
        cuts           how many cuts each bundle has
    """

    bundle: IntArray
    group: IntArray
    starts: IntArray
    entries: IntArray
    turn: IntArray
    cuts: IntArray
    inside: IntArray
    tangled: BoolArray

    @classmethod
    def of(cls, lowest: IntArray, highest: IntArray, refused: RefusedCuts) -> _Ties:
        groups = len(lowest)
        cut, group, through = refused.through(lowest, highest)
        of_cut = joined(cut[through], group[through], len(refused), groups)
        number = np.bincount(of_cut, minlength=groups + 1)
        few = (number <= MOST_CUTS) & (np.arange(groups + 1) < groups)
        known, tangled = few[of_cut[cut]], np.zeros(groups, np.bool_)
        tangled[group[through & ~known]] = True
        cut, group, through = cut[known], group[known], through[known]
        names, pair = np.unique(of_cut[cut] * groups + group, return_inverse=True)
        inside = np.full(groups, -1)
        inside[group[through]] = pair[through]
        by_pair = np.argsort(pair, kind="stable")
        labels, bundle = np.unique(names // groups, return_inverse=True)
        starts = np.searchsorted(pair[by_pair], np.arange(len(names) + 1))
        return cls(
            bundle, names % groups, starts, cut[by_pair], _turns(of_cut), number[labels], inside, tangled
        )


def _turns(names: IntArray) -> IntArray:
    """How many of the same name come before each."""
    order = np.argsort(names, kind="stable")
    turns = np.empty(len(names), np.int64)
    turns[order] = np.arange(len(names)) - np.searchsorted(names[order], names[order])
    return turns


def _changes(*keys: IntArray) -> BoolArray:
    """Where a row of keys differs from the one before it; the first one does."""
    first = np.ones(len(keys[0]), np.bool_)
    first[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return first


def _lengths(first: BoolArray) -> IntArray:
    """The lengths of the runs that begin where it says."""
    return np.diff(np.append(np.flatnonzero(first), len(first)))


def _taken(starts: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """The places in the chosen runs, one after the other, and where each run begins among them."""
    places, _ = ranges(starts[chosen], starts[chosen + 1])
    return places, np.concatenate([[0], np.cumsum(np.diff(starts)[chosen])])
