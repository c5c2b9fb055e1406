"""Choosing groups from a finished tree, for criteria that unions do not keep.

Mondrian cuts while a necessary condition allows it. Which nodes of the tree may be published is decided
from the leaves upwards: the parts of a cut if all of their people can be published, else the whole, if it
is allowed, else as much of the parts as possible.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ppdp_spark.core.data.coded_people import Partition
from ppdp_spark.core.data.groups import BoolArray, IntArray


def settle(
    partition: Partition, allowed: Callable[[IntArray, IntArray], BoolArray]
) -> tuple[IntArray, IntArray, BoolArray]:
    """Starts and ends of runs in `partition.order` that cover it, and whether each is an allowed group.

    `allowed` judges runs [start, end) of that order. Of all ways to publish nodes of the tree this loses
    the fewest people and, where none are lost either way, makes the smallest groups.
    """
    starts, ends = partition.starts[:-1], partition.starts[1:]
    held = allowed(starts, ends)
    people = len(partition.order)
    lost = np.zeros(people + 1, np.int64)
    lost[starts] = np.where(held, 0, ends - starts)
    whole = _wholes(partition, allowed, lost)
    inside = np.zeros(people + 1, np.int64)
    for start, end in whole:
        np.add.at(inside, start + 1, 1)
        np.add.at(inside, end, -1)
    kept = np.cumsum(inside)[starts] == 0
    first = starts[kept]
    last = np.append(first[1:], people)
    united = np.zeros(people + 1, np.bool_)
    for start, _ in whole:
        united[start] = True
    return first, last, held[kept] | united[first]


def _wholes(
    partition: Partition, allowed: Callable[[IntArray, IntArray], BoolArray], lost: IntArray
) -> list[tuple[IntArray, IntArray]]:
    """Nodes that are published uncut, level by level from the deepest; `lost` is updated to their loss.

    `lost[s]` is the loss of the largest node that begins at s and has been looked at: parts of a cut lie
    on deeper levels, so they have been.
    """
    cuts = partition.cuts
    found = []
    for level in range(int(cuts.level.max(initial=-1)), -1, -1):
        here = np.flatnonzero(cuts.level == level)
        start, middle, end = cuts.start[here], cuts.middle[here], cuts.end[here]
        parts = lost[start] + lost[middle]
        lacking = np.flatnonzero(parts > 0)
        united = lacking[allowed(start[lacking], end[lacking])]
        parts[united] = 0
        lost[start] = parts
        found.append((start[united], end[united]))
    return found
