"""Dealing the people of a block into groups of pairwise distinct values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ppdp_spark.core.data.groups import IntArray

NO_VALUES: IntArray = np.zeros(0, np.int64)


class Deck(NamedTuple):
    """Room for one deal.

    where
        counts  occurrences of each value in the block; zero between deals
        first   place in `items` of the first person of each value
        filled  people of each value already in `items`
        items   people to deal, those of one value one after another
    """

    counts: IntArray
    first: IntArray
    filled: IntArray
    items: IntArray

    @classmethod
    def of(cls, people: int, width: int) -> Deck:
        counts, first, filled = (np.zeros(width, np.int64) for _ in range(3))
        return cls(counts, first, filled, np.zeros(people, np.int32))


@njit(cache=True, nogil=True)
def most_groups(counts: Any, size: int) -> int:
    """The largest G with Σ min(count, G) >= size · G: so many groups of `size` distinct values exist.

    Enough: people sorted by value, at most G of each, dealt in turn to G groups. Needed: G groups
    take at most min(count, G) people of a value. The difference of both sides is concave in G and
    zero at G = 0, so the G that satisfy it are an interval.
    """
    low, high = 0, counts.sum() // size
    while low < high:
        middle = (low + high + 1) // 2
        supply = 0
        for count in counts:
            supply += min(count, middle)
        if supply >= size * middle:
            low = middle
        else:
            high = middle - 1
    return low


@njit(cache=True, nogil=True)
def _count_block(values: Any, block: Any, deck: Any) -> Any:
    """Distinct values of the block, the most frequent first, smaller codes first among equals."""
    width, distinct = len(deck.counts), 0
    for person in block:
        deck.counts[values[person]] += 1
    keys = np.empty(min(width, len(block)), np.int64)
    for person in block:
        value = values[person]
        if deck.filled[value] == 0:
            deck.filled[value] = 1
            keys[distinct] = (len(block) - deck.counts[value]) * width + value
            distinct += 1
    ordered = np.sort(keys[:distinct]) % width
    for value in ordered:
        deck.filled[value] = 0
    return ordered


@njit(cache=True, nogil=True)
def _these_first(required: Any, ordered: Any) -> Any:
    """The required values, then the others of the block in their order."""
    out = np.empty(len(required) + len(ordered), np.int64)
    out[: len(required)] = required
    filled = len(required)
    for value in ordered:
        if not (required == value).any():
            out[filled] = value
            filled += 1
    return out[:filled]


@njit(cache=True, nogil=True)
def deal(values: Any, block: Any, size: int, everybody: bool, required: Any, deck: Any) -> Any:
    """Groups of `size` distinct values from a block: how many groups, how many people dealt.

    Every group has the `required` values. Group g of G takes deck.items[g], items[g + G], items[g + 2G], …:
    one value has at most G consecutive items, so no group gets it twice. With `everybody`, what is over after
    `size` people a group is dealt as well; else it is left, rare values first: frequent ones are harder to
    place.
    """
    ordered = _count_block(values, block, deck)
    groups = most_groups(deck.counts[ordered], size)
    for value in required:
        groups = min(groups, deck.counts[value])
    if len(required):
        ordered = _these_first(required, ordered)
    total = 0
    for value in ordered:
        deck.first[value] = total
        total += min(deck.counts[value], groups)
    for person in block:
        value = values[person]
        if deck.filled[value] < groups:
            deck.items[deck.first[value] + deck.filled[value]] = person
            deck.filled[value] += 1
    for value in ordered:
        deck.counts[value] = 0
        deck.filled[value] = 0
    return groups, total if everybody else groups * size
