"""Which values people of several releases can still have: intersections, and bounds by counting.

People who are in the same groups of every release make a cell. For a cell of m people and a value s the
number of people who have s lies between `least` and `most`, in every world that agrees with the releases:

    Σ_s c(cell, s) = m                  everybody has one value
    Σ_{cells of g} c(cell, s) = n_g(s)  every group publishes its counts

Each bound follows from the bounds of the others in such a sum [Dobra, Fienberg 2000]. What is not between
the bounds is impossible, whatever anybody assumes; a value between them need not be possible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ppdp_spark.core.composition.fused_shares import FusedGroups, fused
from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray
from ppdp_spark.core.maxent.buckets import spans


@dataclass(frozen=True, eq=False)
class GroupValues:
    """Groups of a release: how often each has each value.

    where
        size   people of each group
        start  where the values of each group start, and behind the last where they end
        code   the values, ascending within a group
        count  how many people of the group have the value
    """

    size: IntArray
    start: IntArray
    code: IntArray
    count: IntArray


@dataclass(frozen=True, eq=False)
class CommonCells:
    """Cells, and the values their people can still have.

    where
        people   of each cell
        counted  whether it is certain that they are in their groups, so that they take places there
        start    where the values of each cell start, and behind the last where they end
        code     the values, ascending within a cell
        least    how many people of the cell have the value at least
        most     … and at most
        share    what part of them is likely to have it, by the releases looked at so far
    """

    people: IntArray
    counted: BoolArray
    start: IntArray
    code: IntArray
    least: IntArray
    most: IntArray
    share: FloatArray

    @property
    def owner(self) -> IntArray:
        """The cell of each value."""
        return np.repeat(np.arange(len(self.people)), np.diff(self.start))

    @property
    def believed(self) -> FloatArray:
        """The likely shares of the values that are left, within what is certain."""
        owner, number = self.owner, len(self.people)
        whole = np.bincount(owner, self.share, number)[owner]
        people = self.people[owner]
        share = self.share / np.where(whole > 0, whole, 1)
        return np.asarray(np.clip(share, self.least / people, np.minimum(1, self.most / people)))

    def keep(self, wanted: BoolArray) -> CommonCells:
        """The same without some of the values."""
        kept = np.bincount(self.owner[wanted], minlength=len(self.people))
        named = {name: getattr(self, name)[wanted] for name in ("code", "least", "most", "share")}
        return replace(self, start=np.concatenate([[0], np.cumsum(kept)]), **named)

    def within(self) -> CommonCells:
        """Bounds that follow from the others of a cell; values that nobody can have are dropped.

        A cell whose bounds contradict each other has no values left.
        """
        owner, number = self.owner, len(self.people)
        people = self.people[owner]
        lowest = _sums(owner, self.least, number)[owner] - self.least
        highest = _sums(owner, self.most, number)[owner] - self.most
        least = np.maximum(self.least, people - highest)
        most = np.minimum(self.most, people - lowest)
        torn = np.zeros(number, bool)
        torn[owner[least > most]] = True
        torn |= _sums(owner, most, number) < self.people
        bounded = replace(self, least=least, most=most)
        return bounded.keep((most > 0) & ~torn[owner])


def _sums(owner: IntArray, values: IntArray, number: int) -> IntArray:
    found = np.zeros(number, np.int64)
    np.add.at(found, owner, values)
    return found


def of_group(people: IntArray, counted: BoolArray, groups: GroupValues, group: IntArray) -> CommonCells:
    """Cells as one release alone shows them; `group` is the place of each cell's group."""
    length = np.diff(groups.start)[group]
    at = spans(groups.start[group].astype(np.int64), length.astype(np.int64))
    owner = np.repeat(np.arange(len(people)), length)
    most = np.minimum(groups.count[at], people[owner])
    share = groups.count[at] / groups.size[group][owner]
    start = np.concatenate([[0], np.cumsum(length)])
    least = np.zeros(len(at), np.int64)
    return CommonCells(people, counted, start, groups.code[at], least, most, share).within()


@dataclass(frozen=True)
class Together:
    """People who are in the same groups as those of each cell: in the releases so far, and in one more."""

    before: IntArray
    now: IntArray


def joined(
    cells: CommonCells, together: Together, groups: GroupValues, group: IntArray, table: FloatArray
) -> CommonCells:
    """The same cells with what one more release says of them.

    where
        group  the place of each cell's group in this release
        table  how frequent each value is in all, by code
    """
    owner, width = cells.owner, len(table)
    at = _places(groups, group[owner], cells.code, width)
    shown = at >= 0
    kept, at = cells.keep(shown), at[shown]
    before, owner = together.before, kept.owner
    sources = FusedGroups(kept.share * before[owner], before, groups.count[at], groups.size[group])
    share = fused(sources, together.now, kept.start, table[kept.code])
    most = np.minimum(kept.most, groups.count[at])
    return replace(kept, most=most, share=share).within()


def _places(groups: GroupValues, group: IntArray, code: IntArray, width: int) -> IntArray:
    """Where each value stands among those of its group; −1 where the group does not have it."""
    owner = np.repeat(np.arange(len(groups.size)), np.diff(groups.start))
    keys = owner * width + groups.code
    wanted = group * width + code
    at = np.searchsorted(keys, wanted)
    found = np.minimum(at, max(0, len(keys) - 1))
    return np.where(keys[found] == wanted, found, -1) if len(keys) else np.full(len(wanted), -1)


def counted_out(cells: CommonCells, groups: GroupValues, group: IntArray, width: int) -> CommonCells:
    """Bounds that follow from the counts of the groups of one release.

    People of a group who are in no cell may have any of its values. Where cells have more people than the
    group, some are not in it, and nothing follows. Cells that are not `counted` take no places; whoever is
    in one still needs a place that the others leave.
    """
    owner = cells.owner
    at = _places(groups, group[owner], cells.code, width)
    counted = cells.counted[owner]
    number, taken = len(groups.code), np.where(counted, at, 0)
    lows = _sums(taken, np.where(counted, cells.least, 0), number)
    highs = _sums(taken, np.where(counted, cells.most, 0), number)
    inside = _sums(group, np.where(cells.counted, cells.people, 0), len(groups.size))
    unknown = (groups.size - inside)[group][owner]
    others_low = lows[at] - np.where(counted, cells.least, 0)
    others_high = highs[at] - np.where(counted, cells.most, 0) + np.minimum(unknown, groups.count[at])
    least = np.where(counted, np.maximum(cells.least, groups.count[at] - others_high), cells.least)
    most = np.minimum(cells.most, np.maximum(groups.count[at] - others_low, 0))
    fits = unknown >= 0
    bounded = replace(cells, least=np.where(fits, least, cells.least), most=np.where(fits, most, cells.most))
    return bounded.within()
