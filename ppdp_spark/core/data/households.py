"""Which people of many groups belong together: the households of each group, and who they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.data.groups import COUNT_CELLS, GroupSummaries, IntArray
from ppdp_spark.errors import InternalError

_UNKNOWN = "households of people are not known here"


@dataclass(frozen=True)
class HouseholdMembers:
    """The households of many groups with the values of their members; a *part* is a household in a group.

    Parts are in the order of their groups. A household with people in two groups has a part in each.

    where
        group   the group of each part, ascending
        people  members of the household in the group
        part    the part of each cell, a pair of a part and a value that occurs in it, ascending
        value   the value of each cell
        count   how many members have it
    """

    group: IntArray
    people: IntArray
    part: IntArray
    value: IntArray
    count: IntArray

    def rows(self, chosen: IntArray, groups: int) -> HouseholdMembers:
        """The parts of some of so many groups, which are numbered anew."""
        renumbered = np.full(groups, -1, np.int64)
        renumbered[chosen] = np.arange(len(chosen))
        group = renumbered[self.group]
        order = np.flatnonzero(group >= 0)
        order = order[np.argsort(group[order], kind="stable")]
        place = np.full(len(self.group), -1, np.int64)
        place[order] = np.arange(len(order))
        part = place[self.part]
        cells = np.flatnonzero(part >= 0)
        cells = cells[np.argsort(part[cells], kind="stable")]
        held = (part[cells], self.value[cells], self.count[cells])
        return HouseholdMembers(group[order], self.people[order], *held)

    def others(self, groups: GroupSummaries) -> Iterator[tuple[IntArray, GroupSummaries]]:
        """For every part the group without it: the group's number, and what is left of it.

        Groups that consist of one household have nothing left, and are left out. Counts are held for
        `COUNT_CELLS` pairs of a part and a value at a time.
        """
        left = np.asarray(groups.sizes)[self.group] - self.people
        parts, width = np.flatnonzero(left > 0), groups.counts.shape[1]
        step = max(1, COUNT_CELLS // max(1, width))
        for first in range(0, len(parts), step):
            some = parts[first : first + step]
            owner = self.group[some]
            counts = np.array(groups.counts[owner], np.int64)
            low, high = np.searchsorted(self.part, [some[0], some[-1] + 1])
            place = np.searchsorted(some, self.part[low:high])
            inside = some[np.minimum(place, len(some) - 1)] == self.part[low:high]
            cells = np.arange(low, high)[inside]
            counts[place[inside], self.value[cells]] -= self.count[cells]
            yield owner, GroupSummaries(left[some], counts)


@dataclass(frozen=True)
class Households:
    """How many distinct households each of many groups has, and their members where those are needed."""

    number: IntArray
    members: HouseholdMembers | None = None

    @classmethod
    def of(cls, group: IntArray, household: IntArray, value: IntArray, groups: int) -> Households:
        """From the group, the household and the sensitive value of every person, all counted from 0."""
        width = int(household.max(initial=0)) + 1
        names, part = np.unique(group.astype(np.int64) * width + household, return_inverse=True)
        values = int(value.max(initial=0)) + 1
        cells, count = np.unique(part.ravel().astype(np.int64) * values + value, return_counts=True)
        people = np.bincount(part.ravel(), minlength=len(names))
        members = HouseholdMembers(names // width, people, cells // values, cells % values, count)
        return cls(np.bincount(members.group, minlength=groups), members)

    def rows(self, index: Any) -> Households:
        """Those of the groups selected by a slice, a mask or an index array."""
        chosen = np.arange(len(self.number))[index]
        members = None if self.members is None else self.members.rows(chosen, len(self.number))
        return Households(self.number[index], members)


def households_of(groups: GroupSummaries) -> Households:
    """The households of groups, which must be known if there are any groups."""
    if groups.households is not None:
        return groups.households
    if len(groups):
        raise InternalError(_UNKNOWN)
    none = np.empty(0, np.int64)
    return Households(none, HouseholdMembers(none, none, none, none, none))


def members_of(groups: GroupSummaries) -> HouseholdMembers:
    """The members of the households of groups, which must be known."""
    members = households_of(groups).members
    if members is None:
        raise InternalError(_UNKNOWN)
    return members


def codes_of_names(first: IntArray, second: IntArray) -> NDArray[np.int32]:
    """Codes 0, 1, … of households that two numbers name together, in the order of these."""
    codes = np.unique(first, return_inverse=True)[1].ravel()
    if len(second) and (second != second[0]).any():
        names, place = np.unique(second, return_inverse=True)
        codes = np.unique(codes * len(names) + place.ravel(), return_inverse=True)[1].ravel()
    return np.asarray(codes, np.int32)


def numbered_within(
    households: IntArray, value: IntArray, bounds: IntArray
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The household of each person, numbered from 1 within the group, and the person's value.

    Group g has the people bounds[g] : bounds[g + 1]; they come out in an order of their own, that of numbers
    and values, which is a function of content: nothing that is published has it.
    """
    group = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    width = int(households.max(initial=0)) + 1
    names, part = np.unique(group * width + households, return_inverse=True)
    number = part.ravel() - np.searchsorted(names, group * width) + 1
    order = np.lexsort((value, number, group))
    return number[order].astype(np.int32), value[order].astype(np.int32)
