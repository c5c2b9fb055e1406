"""Compiled loops over assignments of groups' values to their people, as tables of classes and values.

A table says how many people of each class of a group (its rows) have each value (its columns). Sizes of
classes and counts of values are its margins. With all assignments equally likely, a table is as likely as
there are assignments that lead to it: proportional to Π_c m_c! / Π_{c,x} a_{cx}!, where m_c people are in
class c and a_{cx} of them have the value x. An *outcome* of a bundle is one table for each of its groups;
outcomes lie one after the other, group by group and row by row. What bundles are made of is told in
`bound_groups`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ppdp_spark.core.partition.segments import goes_left

WORD = 60
"""Cuts whose sides are bits of one word."""


@njit(cache=True, nogil=True)
def _walk(
    sizes: Any, counts: Any, limit: Any, tables: Any, first: Any, weights: Any, at: Any, log_factorials: Any
) -> Any:
    """How many tables have these margins, at most limit + 1; they are written down if there is room.

    Cells are filled row by row, each with what leaves enough for those to its right; the last row is what is
    left over.
    """
    rows, columns = sizes.size, counts.size
    last = (rows - 1) * columns
    cells, most = np.zeros(rows * columns, np.int64), np.zeros(rows * columns, np.int64)
    row, column = sizes.copy(), counts.copy()
    found, place, fresh = 0, 0, True
    while place >= 0:
        if place == last:
            if found == limit:
                return limit + 1
            if tables.size:
                weight = 0.0
                for x in range(columns):
                    cells[last + x] = column[x]
                for i in range(cells.size):
                    tables[first + found * cells.size + i] = cells[i]
                    weight -= log_factorials[cells[i]]
                weights[at + found] = weight
            found += 1
            place -= 1
            fresh = False
        elif fresh:
            r, x = place // columns, place % columns
            rest = 0
            for y in range(x + 1, columns):
                rest += column[y]
            cells[place] = max(0, row[r] - rest)
            most[place] = min(row[r], column[x])
            row[r] -= cells[place]
            column[x] -= cells[place]
            place += 1
        else:
            r, x = place // columns, place % columns
            if cells[place] < most[place]:
                cells[place] += 1
                row[r] -= 1
                column[x] -= 1
                place += 1
                fresh = True
            else:
                row[r] += cells[place]
                column[x] += cells[place]
                place -= 1
    return found


@njit(cache=True, nogil=True)
def number_of_outcomes(
    group_starts: Any, class_starts: Any, sizes: Any, value_starts: Any, counts: Any, limits: Any
) -> Any:
    """How many outcomes each bundle has; one more than its limit if they are more than that."""
    found = np.ones(limits.size, np.int64)
    nothing, weights = np.empty(0, np.int32), np.empty(0, np.float64)
    for b in range(limits.size):
        for g in range(group_starts[b], group_starts[b + 1]):
            m = sizes[class_starts[g] : class_starts[g + 1]]
            n = counts[value_starts[g] : value_starts[g + 1]]
            found[b] *= _walk(m, n, limits[b], nothing, 0, weights, 0, weights)
            if found[b] > limits[b]:
                found[b] = limits[b] + 1
                break
    return found


@njit(cache=True, nogil=True)
def all_outcomes(
    group_starts: Any,
    class_starts: Any,
    sizes: Any,
    value_starts: Any,
    counts: Any,
    numbers: Any,
    firsts: Any,
    log_factorials: Any,
) -> Any:
    """Every outcome of each bundle, and the logarithm of how likely it is, up to a constant of the bundle.

    `firsts` says where the outcomes of each bundle begin, and where those of the last end.
    """
    tables, weights = np.empty(firsts[-1], np.int32), np.zeros(numbers.sum(), np.float64)
    nothing, nowhere = np.empty(0, np.int32), np.empty(0, np.float64)
    at = 0
    for b in range(numbers.size):
        length = (firsts[b + 1] - firsts[b]) // max(1, numbers[b])
        before, turn = 0, 1
        for g in range(group_starts[b], group_starts[b + 1]):
            m = sizes[class_starts[g] : class_starts[g + 1]]
            n = counts[value_starts[g] : value_starts[g + 1]]
            own = _walk(m, n, numbers[b], nothing, 0, nowhere, 0, nowhere)
            cells = m.size * n.size
            some, logs = np.empty(own * cells, np.int32), np.empty(own, np.float64)
            _walk(m, n, own, some, 0, logs, 0, log_factorials)
            for t in range(numbers[b]):
                which = (t // turn) % own
                weights[at + t] += logs[which]
                place = firsts[b] + t * length + before
                for i in range(cells):
                    tables[place + i] = some[which * cells + i]
            before += cells
            turn *= own
        at += numbers[b]
    return tables, weights


@njit(cache=True, nogil=True)
def _mixed(state: Any) -> Any:
    """The output function of SplitMix64 [Steele et al. 2014]."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@njit(cache=True, nogil=True)
def dealt_outcomes(
    group_starts: Any,
    class_starts: Any,
    sizes: Any,
    value_starts: Any,
    counts: Any,
    seeds: Any,
    begin: int,
    draws: Any,
    firsts: Any,
) -> Any:
    """Outcomes of assignments drawn uniformly at random: `draws[b]` of bundle b, from draw `begin` on.

    Each depends on the seed of its bundle and its own number alone.
    """
    largest = 0
    for g in range(class_starts.size - 1):
        people = 0
        for v in range(value_starts[g], value_starts[g + 1]):
            people += counts[v]
        largest = max(largest, people)
    tables, hand = np.zeros(firsts[-1], np.int32), np.empty(largest, np.int32)
    gamma = np.uint64(0x9E3779B97F4A7C15)
    place = 0
    for b in range(draws.size):
        for d in range(draws[b]):
            state = _mixed(seeds[b] + _mixed(gamma * np.uint64(begin + d + 1)))
            for g in range(group_starts[b], group_starts[b + 1]):
                m = sizes[class_starts[g] : class_starts[g + 1]]
                n = counts[value_starts[g] : value_starts[g + 1]]
                if m.size == 1:
                    for x in range(n.size):
                        tables[place + x] = n[x]
                    place += n.size
                    continue
                people = 0
                for x in range(n.size):
                    for _ in range(n[x]):
                        hand[people] = x
                        people += 1
                dealt = 0
                for c in range(m.size):
                    for _ in range(m[c]):
                        state += gamma
                        upper = _mixed(state) >> np.uint64(32)
                        left = np.uint64(people - dealt)
                        other = dealt + np.int64((upper * left) >> np.uint64(32))
                        hand[dealt], hand[other] = hand[other], hand[dealt]
                        tables[place + hand[dealt]] += 1
                        dealt += 1
                    place += n.size
    return tables


@njit(cache=True, nogil=True)
def sides_of(
    chosen: Any,
    bundle_of: Any,
    firsts: Any,
    tables: Any,
    cut: int,
    group_starts: Any,
    class_starts: Any,
    left: Any,
    right: Any,
    value_starts: Any,
    values: Any,
    width: int,
) -> Any:
    """Counts of all values on the left and on the right side of one refused cut, in the chosen outcomes."""
    lefts = np.zeros((chosen.size, width), np.int64)
    rights = np.zeros((chosen.size, width), np.int64)
    word, bit = cut // WORD, cut % WORD
    for i in range(chosen.size):
        t = chosen[i]
        place, b = firsts[t], bundle_of[t]
        for g in range(group_starts[b], group_starts[b + 1]):
            columns = value_starts[g + 1] - value_starts[g]
            for c in range(class_starts[g], class_starts[g + 1]):
                on_left, on_right = (left[c, word] >> bit) & 1, (right[c, word] >> bit) & 1
                if on_left or on_right:
                    for x in range(columns):
                        held, value = tables[place + x], values[value_starts[g] + x]
                        if on_left:
                            lefts[i, value] += held
                        else:
                            rights[i, value] += held
                place += columns
    return lefts, rights


@njit(cache=True, nogil=True)
def add_outcomes(
    chosen: Any, bundle_of: Any, firsts: Any, tables: Any, weights: Any, cell_starts: Any, sums: Any
) -> None:
    """Add the chosen outcomes, each with its weight, to the cells of their bundles."""
    for i in range(chosen.size):
        t = chosen[i]
        b = bundle_of[t]
        for j in range(cell_starts[b + 1] - cell_starts[b]):
            sums[cell_starts[b] + j] += weights[t] * tables[firsts[t] + j]


@njit(cache=True, nogil=True)
def right_sides(
    codes: Any,
    people: Any,
    group: Any,
    starts: Any,
    attribute: Any,
    low: Any,
    high: Any,
    members: Any,
    turn: Any,
    groups: int,
    words: int,
) -> Any:
    """For each group the bits of its cuts, and for each person those that have the person on the right."""
    cover, right = np.zeros((groups, words), np.int64), np.zeros((people.size, words), np.int64)
    for g in range(groups):
        for e in range(starts[g], starts[g + 1]):
            cover[g, turn[e] // WORD] |= np.int64(1) << (turn[e] % WORD)
    for i in range(people.size):
        for e in range(starts[group[i]], starts[group[i] + 1]):
            if not goes_left(codes[people[i], attribute[e]], low[e], high[e], members[e]):
                right[i, turn[e] // WORD] |= np.int64(1) << (turn[e] % WORD)
    return cover, right


@njit(cache=True, nogil=True)
def joined(cut: Any, group: Any, cuts: int, groups: int) -> Any:
    """For each cut the first group that it binds, along with other cuts; `groups` if it binds none.

    A cut binds the groups that it is paired with; the pairs of a cut stand together.
    """
    first = np.arange(groups)
    for i in range(1, cut.size):
        if cut[i] == cut[i - 1]:
            one, other = group[i - 1], group[i]
            while first[one] != one:
                first[one] = first[first[one]]
                one = first[one]
            while first[other] != other:
                first[other] = first[first[other]]
                other = first[other]
            first[max(one, other)] = min(one, other)
    found = np.full(cuts, groups, np.int64)
    for i in range(cut.size):
        root = group[i]
        while first[root] != root:
            root = first[root]
        found[cut[i]] = root
    return found
