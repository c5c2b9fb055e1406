"""Bottom-up rounds over the tree of similarity [ART, Section V]: each node deals who is left in it.

Departure from the paper: instead of merging one violating group at a time, a node deals all its people
without a group at once into groups of N distinct values, for growing N, and keeps the groups that satisfy the
condition; by Theorem 2 a larger N relaxes it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.partition.art.condition import allowed
from ppdp_spark.core.partition.art.deal import NO_VALUES, deal, most_groups

NEIGHBOURS = 64
"""Groups of the own class that somebody left over in it is offered to."""


class Groups(NamedTuple):
    """Groups under construction: the people of a group are a linked list.

    where
        of         group of each person, −1 if none
        following  next person of the same group, −1 at the end
        head       first person of each group
        sizes      people in each group
        used       one number: groups there are
    """

    of: IntArray
    following: IntArray
    head: IntArray
    sizes: IntArray
    used: IntArray

    @classmethod
    def of_nobody(cls, people: int) -> Groups:
        of, following, head = (np.full(people, -1, np.int32) for _ in range(3))
        return cls(of, following, head, np.zeros(people, np.int32), np.zeros(1, np.int64))


class Due(NamedTuple):
    """What the people of one class who have no group yet can become.

    where
        values  the distinct values of the class, ascending
        counts  people without a group who have each
        groups  one number: the groups of least size that are still to be made
    """

    values: IntArray
    counts: IntArray
    groups: IntArray


class Sizes(NamedTuple):
    """People in a group: the fewest, and the most that are dealt or added to one."""

    least: int
    most: int


@njit(cache=True, nogil=True)
def join(groups: Any, person: int, group: int) -> None:
    """Put a person at the head of a group's list."""
    groups.of[person] = group
    groups.following[person] = groups.head[group]
    groups.head[group] = person
    groups.sizes[group] += 1


@njit(cache=True, nogil=True)
def has_value(groups: Any, values: Any, group: int, value: int) -> bool:
    """Whether somebody in the group has the sensitive value."""
    person = groups.head[group]
    while person >= 0:
        if values[person] == value:
            return True
        person = groups.following[person]
    return False


@njit(cache=True, nogil=True)
def _found(groups: Any, items: Any, first: int, step: int) -> None:
    """A new group of every `step`-th item from `first` on."""
    group = groups.used[0]
    groups.used[0] += 1
    for i in range(first, len(items), step):
        join(groups, items[i], group)


@njit(cache=True, nogil=True)
def _remaining(groups: Any, block: Any) -> int:
    """Move those without a group to the front of the block, in order; how many they are."""
    left = 0
    for person in block:
        if groups.of[person] < 0:
            block[left] = person
            left += 1
    return left


@njit(cache=True, nogil=True)
def _deal_alike(people: Any, block: Any, sizes: Any, whole: bool, due: Any, groups: Any, deck: Any) -> int:
    """Deal people of one class: with equal priors, N >= r distinct values suffice.

    A part of the class makes only groups that leave enough for as many groups as the class can have.
    """
    required = NO_VALUES if whole else _required(due)
    count, dealt = deal(people.dealt, block, sizes.least, whole, required, deck)
    for g in range(count):
        _found(groups, deck.items[:dealt], g, count)
    for i in range(dealt if count else 0):
        due.counts[np.searchsorted(due.values, people.dealt[deck.items[i]])] -= 1
    due.groups[0] -= count
    return _remaining(groups, block)


@njit(cache=True, nogil=True)
def _due(values: Any, least: int) -> Any:
    """What a class of people with these values can become."""
    ordered = np.sort(values)
    distinct = ordered[np.append(True, ordered[1:] != ordered[:-1])].astype(np.int64)
    counts = np.diff(np.append(np.searchsorted(ordered, distinct), len(ordered)))
    return Due(distinct, counts, np.full(1, most_groups(counts, least)))


@njit(cache=True, nogil=True)
def _required(due: Any) -> Any:
    """The values that so many people have that every group still due needs one of them."""
    return due.values[due.counts >= max(1, due.groups[0])]


@njit(cache=True, nogil=True)
def _deal_mixed(rules: Any, people: Any, block: Any, sizes: Any, groups: Any, deck: Any, tally: Any) -> int:
    """Deal people of several classes into larger and larger groups, and keep those that are allowed."""
    left, size = len(block), sizes.least
    while size <= min(left, sizes.most):
        count, dealt = deal(people.dealt, block[:left], size, False, NO_VALUES, deck)
        if count == 0:
            break
        before = groups.used[0]
        for g in range(count):
            if allowed(rules, people, deck.items[g:dealt:count], tally):
                _found(groups, deck.items[:dealt], g, count)
        if groups.used[0] > before:
            left = _remaining(groups, block[:left])
        size = max(size + 1, size + size // 2)
    return left


@njit(cache=True, nogil=True)
def _join_class(people: Any, block: Any, sizes: Any, since: int, groups: Any) -> int:
    """Add who is left of a class to groups of that class without the value; the nearest first.

    `since` is the first group of the class; its groups are in the order of the tree, and hold nobody else.
    """
    there = groups.used[0] - since
    for i in range(len(block)):
        centre = i * there // len(block)
        for k in range(min(2 * there, NEIGHBOURS)):
            g = centre + (k + 1) // 2 * (1 if k % 2 else -1)
            if not 0 <= g < there or groups.sizes[since + g] >= sizes.most:
                continue
            if not has_value(groups, people.dealt, since + g, people.dealt[block[i]]):
                join(groups, block[i], since + g)
                break
    return _remaining(groups, block)


@njit(cache=True, nogil=True)
def _is_whole_class(classes: Any, start: int, end: int) -> bool:
    """Whether the range, of one class, is all of it."""
    return (start == 0 or classes[start - 1] != classes[start]) and (
        end == len(classes) or classes[end] != classes[start]
    )


@njit(cache=True, nogil=True)
def run_rounds(
    rules: Any, people: Any, starts: Any, ends: Any, sizes: Any, groups: Any, deck: Any, tally: Any
) -> None:
    """All nodes, children first. Whoever a node leaves without a group is dealt again in its parent.

    People without a group wait on a stack in the order of the tree, so the block of a node is the top of
    the stack: everybody from the node's start on.
    """
    classes = people.classes
    waiting = np.empty(len(classes), np.int32)
    top, arrived, current, since = 0, 0, -1, 0
    due = _due(people.dealt[:1], sizes.least)
    for node in range(len(starts)):
        start, end = starts[node], ends[node]
        if classes[start] != current:
            current, since = classes[start], groups.used[0]
            last = np.searchsorted(classes, current, side="right")
            due = _due(people.dealt[start:last], sizes.least)
        while arrived < end:
            waiting[top] = arrived
            top += 1
            arrived += 1
        base = np.searchsorted(waiting[:top], start)
        block = waiting[base:top]
        if classes[start] != classes[end - 1]:
            top = base + _deal_mixed(rules, people, block, sizes, groups, deck, tally)
            continue
        whole = _is_whole_class(classes, start, end)
        top = base + _deal_alike(people, block, sizes, whole, due, groups, deck)
        if whole:
            top = base + _join_class(people, waiting[base:top], sizes, since, groups)
