"""Who is left after the rounds is added to finished groups that stay within the condition."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ppdp_spark.core.data.groups import BoolArray, IntArray
from ppdp_spark.core.partition.art.condition import PlaceablePeople, Rules, Tally, allowed, compatible
from ppdp_spark.core.partition.art.rounds import Groups, Sizes, has_value, join

PASSES = 4
"""Passes that add people to groups without their value."""

OFFERS = 64
"""Groups that one person is offered to in a pass, at most: it bounds the work."""


_FREE = -1
"""All values that need no protection: they may repeat, so that no group counts as having one."""


class Shelf(NamedTuple):
    """Groups by place: the mean position of their people in the order of the tree."""

    order: IntArray
    places: IntArray

    def of_groups(self, chosen: BoolArray) -> Shelf:
        """Only some of the groups."""
        kept = chosen[self.order]
        return Shelf(self.order[kept], self.places[kept])


class Offer(NamedTuple):
    """How a pass goes: whether to groups with the person's value, the largest group."""

    repeats: bool
    most: int


def join_residue(rules: Rules, people: PlaceablePeople, sizes: Sizes, groups: Groups, tally: Tally) -> None:
    """Passes that offer everybody without a group to the groups nearest to them, value by value.

    Each pass looks at groups one person larger, hence fewer and farther ones: by [Robust, Thm 2] they
    bear larger differences. In the joint model a last pass allows values that a group already has.
    """
    kinds = np.where(rules.protected[people.values], people.values, _FREE)
    by_value = np.argsort(kinds, kind="stable")
    ordered = kinds[by_value]
    for turn, repeats in enumerate([False] * PASSES + [True] * rules.joint):
        waiting = np.flatnonzero(groups.of < 0)
        if not len(waiting) or not groups.used[0]:
            return
        offer = Offer(repeats, sizes.most)
        shelf = _by_place(groups, sizes.least + (0 if repeats else turn))
        for some in _by_value(kinds, waiting):
            kind = kinds[some[0]]
            first, last = np.searchsorted(ordered, kind + np.arange(2))
            alike = by_value[first:last] if kind != _FREE else by_value[:0]
            these = shelf.of_groups(_having(groups, alike) == repeats)
            _one_pass(rules, people, some, these, offer, groups, tally)


def _by_value(values: IntArray, waiting: IntArray) -> list[IntArray]:
    """Those who wait, apart by value: the value that most of them have comes first."""
    order = waiting[np.argsort(values[waiting], kind="stable")]
    parts = np.split(order, 1 + np.flatnonzero(np.diff(values[order])))
    return sorted(parts, key=len, reverse=True)


def _having(groups: Groups, chosen: IntArray) -> BoolArray:
    """Which groups have some of the chosen people."""
    there = groups.of[chosen]
    having = np.zeros(int(groups.used[0]), np.bool_)
    having[there[there >= 0]] = True
    return having


def _by_place(groups: Groups, least: int) -> Shelf:
    """The groups of at least so many people."""
    placed = np.flatnonzero(groups.of >= 0)
    used = int(groups.used[0])
    sums = np.bincount(groups.of[placed], weights=placed, minlength=used)
    places = (sums / groups.sizes[:used]).astype(np.int64)
    large = np.flatnonzero(groups.sizes[:used] >= least)
    order = large[np.argsort(places[large], kind="stable")]
    return Shelf(order, places[order])


@njit(cache=True, nogil=True)
def _fits(rules: Any, people: Any, person: int, group: int, groups: Any, room: Any, tally: Any) -> bool:
    """Whether the group stays allowed when it takes the person; `room` holds its people meanwhile."""
    room[0], size, other = person, 1, groups.head[group]
    while other >= 0:
        room[size] = other
        size += 1
        other = groups.following[other]
    return allowed(rules, people, room[:size], tally)


@njit(cache=True, nogil=True)
def _one_pass(rules: Any, people: Any, waiting: Any, shelf: Any, offer: Any, groups: Any, tally: Any) -> None:
    """Offer everybody who waits to the groups around them, the nearest first."""
    room = np.empty(offer.most + 1, np.int32)
    there = len(shelf.order)
    for person in waiting:
        centre = np.searchsorted(shelf.places, person)
        for k in range(min(OFFERS, 2 * there)):
            at = centre + (k + 1) // 2 * (1 if k % 2 else -1)
            if not 0 <= at < there:
                continue
            group = shelf.order[at]
            size = groups.sizes[group]
            if (
                size < offer.most
                and compatible(rules, people, person, groups.head[group], size + 1)
                and has_value(groups, people.dealt, group, people.dealt[person]) == offer.repeats
                and _fits(rules, people, person, group, groups, room, tally)
            ):
                join(groups, person, group)
                break
