"""Anatomy: buckets of ℓ distinct values, whoever the people are [Xiao, Tao: Anatomy, VLDB 2006]."""

from __future__ import annotations

import numpy as np

from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.partition.art.deal import NO_VALUES, Deck, deal
from ppdp_spark.core.partition.packed_groups import PackedGroups
from ppdp_spark.errors import DataError


def anatomy(values: IntArray, width: int, l: int, order: IntArray) -> PackedGroups:
    """As many groups of at least ℓ pairwise distinct values as there can be, over the whole fragment.

    where
        values  sensitive value of each person, codes 0 .. width − 1
        order   a permutation of the people that is a function of what the rows contain

    Nobody is left when no value has more than 1/ℓ of the people [Anatomy, Property 1]; otherwise the fewest
    possible: G groups of distinct values hold at most min(count, G) people of a value, there is no larger G,
    and all those are dealt. Departure from the paper: groups are dealt at once instead of one by one from the
    ℓ largest buckets, and who is over goes to the groups in turn instead of at random.
    """
    values = np.ascontiguousarray(values, np.int32)
    _check(values, width, l, order)
    groups = np.full(len(values), -1, np.int32)
    if not len(values):
        return PackedGroups(groups, 0)
    deck = Deck.of(len(values), width)
    count, dealt = deal(values, np.ascontiguousarray(order, np.int32), l, True, NO_VALUES, deck)
    if count:
        groups[deck.items[:dealt]] = np.arange(dealt, dtype=np.int32) % np.int32(count)
    return PackedGroups(groups, int(count))


def _check(values: IntArray, width: int, l: int, order: IntArray) -> None:
    problems = []
    if l < 1:
        problems.append(f"`l` ({l}) must be at least 1")
    if len(values) and not (values.min() >= 0 and values.max() < width):
        problems.append(f"`values` must be codes from 0 to {width - 1}")
    if not np.array_equal(np.sort(order), np.arange(len(values))):
        problems.append(f"`order` must be a permutation of the {len(values)} people")
    if problems:
        raise DataError(problems)
