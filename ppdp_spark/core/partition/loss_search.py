"""Compiled search for the cuts that save most of the information lost, in many groups at once.

A cut takes the people with some codes of one attribute out of a group: codes from `low` to `high`, and of
these only the ones that are bits of `members`, unless that is 0. Which cuts are looked at:

- along an ordered attribute, every threshold;
- along a hierarchy, every node of it against the rest, so that large children become groups of their own and
  the others stay together under their parent;
- along categories without order, each against the rest, and the frequent against the rare.

Null is a value beside the others. In groups of more than `FINE` people only about `COARSE` places of each
attribute are looked at. What is lost is counted as in the release: the normalized certainty penalty
[Xu et al. 2006] of all people, summed over attributes. Of plain categories that are too many for a word of
bits, the range of codes is counted. Everything is a function of sets of codes and sizes, so the order of rows
does not matter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

ORDERED, MEMBERS, NODES = 0, 1, 2
"""Kinds of attributes: with thresholds, categories that are bits of a word, nodes of a hierarchy."""

MOST_MEMBERS = 63
"""Categories of an attribute whose sets are words of bits; bit 0 is null."""

FINE, COARSE = 256, 64
"""People of a group of which every cut is looked at; places of an attribute that are looked at in others."""

_ABOVE = np.iinfo(np.int32).max


class Scales(NamedTuple):
    """Attributes as the loops want them, one after the other.

    where
        kind    `ORDERED`, `MEMBERS` or `NODES`
        weight  what an attribute loses at most
        step    what it loses from one code to the next
        tables  for codes with places of their own these, from `table_start` on; -1 if there are none
        last    last leaf of the node above each leaf, level by level, from `node_start` on
        shares  what is lost if that node is published
        leaves  leaves of the hierarchy
        levels  levels of the hierarchy
        first   along how many attributes cuts come first: those along which a group loses most
    """

    kind: Any
    weight: Any
    step: Any
    tables: Any
    table_start: Any
    last: Any
    shares: Any
    node_start: Any
    leaves: Any
    levels: Any
    first: int


class _Sets(NamedTuple):
    """Sets of people: the codes of each attribute that they have, null apart as bit 0 of `bits`."""

    lowest: Any
    highest: Any
    bits: Any


class FoundCuts(NamedTuple):
    """Cuts of one group."""

    score: Any
    attribute: Any
    low: Any
    high: Any
    members: Any
    left: Any


class _Room(NamedTuple):
    """Space to work in, for groups of so many people."""

    values: Any
    counts: Any
    upto: Any
    places: Any
    each: Any
    before: Any
    after: Any
    aside: Any
    whole: Any
    parts: Any
    lost_before: Any
    lost_after: Any


@njit(cache=True, nogil=True)
def _sets(number: int, attributes: int) -> Any:
    return _Sets(
        np.empty((number, attributes), np.int32),
        np.empty((number, attributes), np.int32),
        np.empty((number, attributes), np.uint64),
    )


@njit(cache=True, nogil=True)
def _room(people: int, attributes: int) -> Any:
    return _Room(
        np.empty(people + 1, np.int32),
        np.empty(people + 1, np.int64),
        np.empty(people + 2, np.int64),
        np.zeros(4 * people + 64, np.int32),
        _sets(people + 1, attributes),
        _sets(people + 2, attributes),
        _sets(people + 2, attributes),
        _sets(2, attributes),
        _sets(1, attributes),
        np.empty(attributes, np.float64),
        np.empty(people + 2, np.float64),
        np.empty(people + 2, np.float64),
    )


@njit(cache=True, nogil=True)
def _clear(sets: Any, place: int) -> None:
    for a in range(sets.lowest.shape[1]):
        sets.lowest[place, a] = _ABOVE
        sets.highest[place, a] = 0
        sets.bits[place, a] = np.uint64(0)


@njit(cache=True, nogil=True)
def _add(sets: Any, place: int, table: Any, row: int, kind: Any) -> None:
    """Take in the codes of one person."""
    for a in range(sets.lowest.shape[1]):
        code = table[row, a]
        if code == 0:
            sets.bits[place, a] |= np.uint64(1)
        else:
            sets.lowest[place, a] = min(sets.lowest[place, a], code)
            sets.highest[place, a] = max(sets.highest[place, a], code)
            if kind[a] == MEMBERS:
                sets.bits[place, a] |= np.uint64(1) << np.uint64(code)


@njit(cache=True, nogil=True)
def _unite(target: Any, place: int, one: Any, i: int, other: Any, j: int) -> None:
    for a in range(target.lowest.shape[1]):
        target.lowest[place, a] = min(one.lowest[i, a], other.lowest[j, a])
        target.highest[place, a] = max(one.highest[i, a], other.highest[j, a])
        target.bits[place, a] = one.bits[i, a] | other.bits[j, a]


@njit(cache=True, nogil=True)
def _swap(sets: Any, i: int, j: int) -> None:
    for a in range(sets.lowest.shape[1]):
        sets.lowest[i, a], sets.lowest[j, a] = sets.lowest[j, a], sets.lowest[i, a]
        sets.highest[i, a], sets.highest[j, a] = sets.highest[j, a], sets.highest[i, a]
        sets.bits[i, a], sets.bits[j, a] = sets.bits[j, a], sets.bits[i, a]


@njit(cache=True, nogil=True)
def _number(bits: Any) -> Any:
    """How many bits are set."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def _lost_along(scales: Any, a: int, lowest: int, highest: int, bits: Any) -> Any:
    """What one attribute loses if a set of codes is published as one description."""
    if highest == 0:
        return 0.0
    if bits & np.uint64(1):
        return scales.weight[a]
    if lowest == highest:
        return 0.0
    if scales.kind[a] == MEMBERS:
        return (_number(bits) - 1) * scales.step[a]
    if scales.kind[a] == ORDERED:
        start = scales.table_start[a]
        if start < 0:
            return (highest - lowest) * scales.step[a]
        return scales.tables[start + highest] - scales.tables[start + lowest]
    place = scales.node_start[a] + lowest - 1
    for _ in range(scales.levels[a] - 1):
        place += scales.leaves[a]
        if scales.last[place] >= highest - 1:
            return scales.shares[place]
    return scales.weight[a]


@njit(cache=True, nogil=True)
def _lost(scales: Any, sets: Any, place: int) -> Any:
    """What all attributes lose."""
    total = 0.0
    for a in range(sets.lowest.shape[1]):
        total += _lost_along(scales, a, sets.lowest[place, a], sets.highest[place, a], sets.bits[place, a])
    return total


@njit(cache=True, nogil=True)
def _take_apart(table: Any, first: int, end: int, j: int, low: int, high: int, kind: Any, room: Any) -> int:
    """The people of a group by their code of one attribute, ascending; how many codes there are.

    `low` and `high` are the least and the greatest code.
    """
    size, span, number = end - first, np.int64(high) - np.int64(low) + 1, 0
    direct = span <= room.places.size and span <= 4 * size + 64
    if direct:
        for i in range(first, end):
            room.places[table[i, j] - low] += 1
        for offset in range(span):
            if room.places[offset] > 0:
                room.values[number], room.counts[number] = low + offset, room.places[offset]
                room.places[offset] = number
                number += 1
    else:
        codes = np.sort(table[first:end, j])
        for i in range(size):
            if i == 0 or codes[i] != codes[i - 1]:
                room.values[number], room.counts[number] = codes[i], 0
                number += 1
            room.counts[number - 1] += 1
    for v in range(number):
        _clear(room.each, v)
    for i in range(first, end):
        code = table[i, j]
        v = room.places[code - low] if direct else np.searchsorted(room.values[:number], code)
        _add(room.each, v, table, i, kind)
    if direct:
        for v in range(number):
            room.places[room.values[v] - low] = 0
    return number


@njit(cache=True, nogil=True)
def _by_frequency(number: int, room: Any) -> None:
    """Put the codes of an attribute in the order of how many people have them, most first."""
    for v in range(1, number):
        w = v
        while w > 0 and room.counts[w - 1] < room.counts[w]:
            room.values[w - 1], room.values[w] = room.values[w], room.values[w - 1]
            room.counts[w - 1], room.counts[w] = room.counts[w], room.counts[w - 1]
            _swap(room.each, w - 1, w)
            w -= 1


@njit(cache=True, nogil=True)
def _add_up(number: int, room: Any) -> None:
    """What the codes before each place have in common, and those from it on."""
    room.upto[0] = 0
    _clear(room.before, 0)
    _clear(room.after, number)
    for v in range(number):
        room.upto[v + 1] = room.upto[v] + room.counts[v]
        _unite(room.before, v + 1, room.before, v, room.each, v)
    for v in range(number - 1, -1, -1):
        _unite(room.after, v, room.after, v + 1, room.each, v)


@njit(cache=True, nogil=True)
def _follow(scales: Any, room: Any, v: int, total: float) -> Any:
    """Take the codes at a place into those seen so far, which stand aside; what these lose in all."""
    seen, changed = room.aside, False
    for a in range(room.parts.size):
        lowest, highest, bits = room.each.lowest[v, a], room.each.highest[v, a], room.each.bits[v, a]
        if (
            lowest >= seen.lowest[0, a]
            and highest <= seen.highest[0, a]
            and bits | seen.bits[0, a] == seen.bits[0, a]
        ):
            continue
        seen.lowest[0, a] = min(seen.lowest[0, a], lowest)
        seen.highest[0, a] = max(seen.highest[0, a], highest)
        seen.bits[0, a] |= bits
        room.parts[a] = _lost_along(scales, a, seen.lowest[0, a], seen.highest[0, a], seen.bits[0, a])
        changed = True
    if changed:
        total = 0.0
        for a in range(room.parts.size):
            total += room.parts[a]
    return total


@njit(cache=True, nogil=True)
def _follow_all(scales: Any, room: Any, number: int) -> None:
    """What the codes before each place lose together, and those from it on."""
    room.upto[0], total = 0, 0.0
    _clear(room.aside, 0)
    room.parts[:] = 0.0
    for v in range(number):
        room.upto[v + 1] = room.upto[v] + room.counts[v]
        total = _follow(scales, room, v, total)
        room.lost_before[v + 1] = total
    total = 0.0
    _clear(room.aside, 0)
    room.parts[:] = 0.0
    for v in range(number - 1, -1, -1):
        total = _follow(scales, room, v, total)
        room.lost_after[v] = total


@njit(cache=True, nogil=True)
def _room_left(people: int, least: int) -> Any:
    """Bits that people may yet be told apart by, in groups of `least`."""
    return people * np.log2(people // least)


@njit(cache=True, nogil=True)
def _worth(people: int, whole: float, left: int, lost_left: float, lost_right: float, least: int) -> Any:
    """What a cut saves, over the square root of the bits that it leaves the sides less.

    So it is between the cut that saves most, which spends much, and the one that saves most per bit, which
    puts off what costs. Bits count full groups, so sides of about a multiple of the least size are preferred.
    """
    right = people - left
    saved = people * whole - left * lost_left - right * lost_right
    spent = _room_left(people, least) - _room_left(left, least) - _room_left(right, least)
    return saved / np.sqrt(spent)


@njit(cache=True, nogil=True)
def _offer(
    found: Any, at: int, scales: Any, room: Any, j: int, x: int, y: int, number: int, least: int, whole: float
) -> None:
    """Note the cut that takes the codes at places [x, y) of an attribute out of the group."""
    people, left = room.upto[number], room.upto[y] - room.upto[x]
    if x == 0:
        lost = _lost(scales, room.before, y), _lost(scales, room.after, y)
    else:
        _clear(room.aside, 0)
        for v in range(x, y):
            _unite(room.aside, 0, room.aside, 0, room.each, v)
        _unite(room.aside, 1, room.before, x, room.after, y)
        lost = _lost(scales, room.aside, 0), _lost(scales, room.aside, 1)
    found.score[at] = _worth(people, whole, left, lost[0], lost[1], least)
    found.attribute[at], found.left[at], found.members[at] = j, left, np.uint64(0)
    found.low[at], found.high[at] = room.values[x], room.values[y - 1]
    if scales.kind[j] == MEMBERS and y > x + 1:
        found.low[at], found.high[at] = 0, MOST_MEMBERS
        for v in range(x, y):
            found.members[at] |= np.uint64(1) << np.uint64(room.values[v])


@njit(cache=True, nogil=True)
def _thresholds(room: Any, j: int, number: int, least: int, whole: float, found: Any, at: int) -> int:
    """Cuts between codes that are neighbours."""
    people = room.upto[number]
    for y in range(1, number):
        left = room.upto[y]
        if left < least or people - left < least:
            continue
        if people > FINE and left * COARSE // people == room.upto[y - 1] * COARSE // people:
            continue
        found.score[at] = _worth(people, whole, left, room.lost_before[y], room.lost_after[y], least)
        found.attribute[at], found.left[at], found.members[at] = j, left, np.uint64(0)
        found.low[at], found.high[at] = room.values[0], room.values[y - 1]
        at += 1
    return at


@njit(cache=True, nogil=True)
def _nodes(scales: Any, room: Any, j: int, number: int, least: int, whole: float, found: Any, at: int) -> int:
    """Cuts that take a node of a hierarchy out; a node above one that has all of its people adds none."""
    people = room.upto[number]
    part = people // COARSE if people > FINE else 0
    for level in range(scales.levels[j] - 1):
        row = scales.node_start[j] + level * scales.leaves[j] - 1
        x, before = 0, -1
        while x < number:
            y, known = x + 1, level > 0 and room.values[x] == 0
            if room.values[x] > 0:
                while y < number and room.values[y] - 1 <= scales.last[row + room.values[x]]:
                    y += 1
                below = row - scales.leaves[j] + room.values[x]
                known = level > 0 and room.values[y - 1] - 1 <= scales.last[below]
            left = room.upto[y] - room.upto[x]
            mirrored = before == 0 and y == number
            if left >= max(least, part) and people - left >= least and not (known or mirrored):
                _offer(found, at, scales, room, j, x, y, number, least, whole)
                at += 1
            before, x = x, y
    return at


@njit(cache=True, nogil=True)
def _categories(
    scales: Any, room: Any, j: int, number: int, least: int, whole: float, found: Any, at: int
) -> int:
    """Cuts that take one category out, or the most frequent ones; categories stand by frequency."""
    people = room.upto[number]
    for x in range(number if number > 2 else 1):
        left = room.counts[x]
        if left >= least and people - left >= least:
            _offer(found, at, scales, room, j, x, x + 1, number, least, whole)
            at += 1
    for y in range(2, number - 1):
        left = room.upto[y]
        if left >= least and people - left >= least:
            _offer(found, at, scales, room, j, 0, y, number, least, whole)
            at += 1
    return at


@njit(cache=True, nogil=True)
def _along(
    table: Any,
    first: int,
    end: int,
    j: int,
    scales: Any,
    least: int,
    whole: Any,
    room: Any,
    found: Any,
    at: int,
) -> Any:
    """Note the cuts of a group along one attribute after others that are noted; how many there are then."""
    low, high = whole.lowest[0, j], whole.highest[0, j]
    if whole.bits[0, j] & np.uint64(1):
        low = 0
    number = _take_apart(table, first, end, j, low, high, scales.kind, room)
    if scales.kind[j] == MEMBERS:
        _by_frequency(number, room)
    lost = _lost(scales, whole, 0)
    if scales.kind[j] == ORDERED:
        _follow_all(scales, room, number)
        return _thresholds(room, j, number, least, lost, found, at)
    _add_up(number, room)
    if scales.kind[j] == NODES:
        return _nodes(scales, room, j, number, least, lost, found, at)
    return _categories(scales, room, j, number, least, lost, found, at)


@njit(cache=True, nogil=True)
def _cuts_along(scales: Any) -> Any:
    """How many cuts there can be along one attribute."""
    return (FINE + 2) * max(1, scales.levels.max()) + 2 * COARSE + 2 * MOST_MEMBERS


@njit(cache=True, nogil=True)
def _space(cuts: int) -> Any:
    return FoundCuts(
        np.empty(cuts, np.float64),
        np.empty(cuts, np.int64),
        np.empty(cuts, np.int32),
        np.empty(cuts, np.int32),
        np.empty(cuts, np.uint64),
        np.empty(cuts, np.int64),
    )


@njit(cache=True, nogil=True)
def _copy(found: Any, at: int, target: Any, place: int) -> None:
    target.score[place], target.attribute[place] = found.score[at], found.attribute[at]
    target.low[place], target.high[place] = found.low[at], found.high[at]
    target.members[place], target.left[place] = found.members[at], found.left[at]


@njit(cache=True, nogil=True)
def _everybody(table: Any, first: int, end: int, scales: Any, room: Any, order: Any) -> int:
    """Describe a group as a whole; put the attributes that vary in order, widest first, and count them."""
    _clear(room.whole, 0)
    for i in range(first, end):
        _add(room.whole, 0, table, i, scales.kind)
    number = 0
    for j in range(scales.kind.size):
        width = _along_whole(scales, room.whole, j)
        if width < 0:
            continue
        place = number
        while place > 0 and _along_whole(scales, room.whole, order[place - 1]) < width:
            order[place] = order[place - 1]
            place -= 1
        order[place] = j
        number += 1
    return number


@njit(cache=True, nogil=True)
def _along_whole(scales: Any, whole: Any, j: int) -> Any:
    """What a group loses along an attribute; −1 if all its people have the same code."""
    null, lowest, highest = whole.bits[0, j] & np.uint64(1), whole.lowest[0, j], whole.highest[0, j]
    if highest == 0 or (null == 0 and lowest == highest):
        return -1.0
    return _lost_along(scales, j, lowest, highest, whole.bits[0, j])


@njit(cache=True, nogil=True)
def best_cuts(table: Any, starts: Any, ends: Any, scales: Any, least: int) -> Any:
    """The cut of each group that comes first, with `least` people or more on both sides; −1 if none.

    It is along one of the widest attributes if they have any. Of cuts that are worth the same, the one along
    the widest attribute is taken, and of those the first one.
    """
    groups, attributes = starts.size, scales.kind.size
    best, found = _space(groups), _space(_cuts_along(scales))
    room = _room((ends - starts).max() if groups else 0, attributes)
    order = np.empty(attributes, np.int64)
    for g in range(groups):
        best.attribute[g], best.score[g] = -1, -np.inf
        best.low[g], best.high[g], best.members[g], best.left[g] = 0, 0, np.uint64(0), 0
        if ends[g] - starts[g] < 2 * least:
            continue
        varying = _everybody(table, starts[g], ends[g], scales, room, order)
        for turn in range(varying):
            if turn >= scales.first and best.attribute[g] >= 0:
                break
            j = order[turn]
            number = _along(table, starts[g], ends[g], j, scales, least, room.whole, room, found, 0)
            for i in range(number):
                if found.score[i] > best.score[g]:
                    _copy(found, i, best, g)
    return best


@njit(cache=True, nogil=True)
def every_cut(table: Any, starts: Any, ends: Any, scales: Any, least: int) -> Any:
    """All cuts of each group in the order of preference, and where those of each group begin.

    First come those along the widest attributes, then the others; among them, the one that is worth most.
    """
    groups, attributes = starts.size, scales.kind.size
    found, every = _space(attributes * _cuts_along(scales)), _space(1024)
    room = _room((ends - starts).max() if groups else 0, attributes)
    bounds, order = np.zeros(groups + 1, np.int64), np.empty(attributes, np.int64)
    for g in range(groups):
        varying, number, widest = 0, 0, 0
        if ends[g] - starts[g] >= 2 * least:
            varying = _everybody(table, starts[g], ends[g], scales, room, order)
        for turn in range(varying):
            j = order[turn]
            number = _along(table, starts[g], ends[g], j, scales, least, room.whole, room, found, number)
            if turn < scales.first or widest == 0:
                widest = number
        bounds[g + 1] = bounds[g] + number
        if bounds[g + 1] > every.score.size:
            larger = _space(2 * bounds[g + 1])
            for i in range(bounds[g]):
                _copy(every, i, larger, i)
            every = larger
        for first, last in ((0, widest), (widest, number)):
            ranked = np.argsort(-found.score[first:last], kind="mergesort")
            for i in range(last - first):
                _copy(found, first + ranked[i], every, bounds[g] + first + i)
    return every, bounds
