"""The worst case of a release for somebody who knows k basic implications, one value per person.

A basic implication says that if some people have certain values, one of some others has a certain value; the
worst k of them all say "if somebody has z, the target has s" [Skyline, Sec 3], so that with k of them

    NR = min Pr(t has not s, and k further pairs of a person and a value are not so) / Pr(t has s)

over groups, the target's value s, and pairs of people and values. Within a group the least probability that
k pairs are not so is found where each person's values are the most frequent ones, as many as the person has
pairs: these sets contain each other, and with the largest first person i avoids the n_i people's worth of
values with chance (n − i − Σ counts) / (n − i). Everything here is written anew and by plain loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf

import numpy as np

from ppdp_spark.core.data.groups import FloatArray, GroupSummaries


@lru_cache(maxsize=100_000)
def _least(people: int, heads: tuple[int, ...], pairs: int, largest: int, person: int) -> float:
    """The least chance that `pairs` more pairs are not so, at most `largest` of them of each person to come.

    `heads` are the numbers of people who have one of the most frequent values: of none, one, two, …
    """
    if not pairs:
        return 1.0
    left, best = people - person, 1.0
    if left <= 0:
        return 1.0
    for mine in range(1, min(pairs, largest, len(heads) - 1) + 1):
        avoided = max(0, left - heads[mine]) / left
        rest = _least(people, heads, pairs - mine, mine, person + 1) if avoided else 0.0
        best = min(best, avoided * rest)
    return best


def least_chances(counts: Sequence[int], pairs: int) -> list[float]:
    """The least chance that 0, 1, … `pairs` pairs of somebody in the group and a value are not so."""
    ordered = sorted((int(count) for count in counts if count), reverse=True)
    heads = tuple(int(head) for head in np.cumsum([0, *ordered]))
    return [_least(heads[-1], heads, number, len(ordered), 0) for number in range(pairs + 1)]


def basic_confidences(release: GroupSummaries, most: int) -> FloatArray:
    """How sure of somebody's value the worst 0, 1, … `most` basic implications make, over all values.

    The target's group has one pair more than implications are spent on it, the target and its most frequent
    value: whatever pairs are chosen there, one of them is such a pair, and no other value is as probable.
    """
    elsewhere, inside = [1.0] * (most + 1), [inf] * (most + 1)
    for counts, times in _distinct(release):
        chances = least_chances(counts, most + 1)
        share = max(counts) / sum(counts)
        # Groups alike are looked at once: one may hold the target, the others have implications only.
        target = [chance / share for chance in chances[1:]]
        inside = [min(pair) for pair in zip(_spent(elsewhere, target), _spent(inside, chances), strict=True)]
        for _ in range(min(times - 1, most)):
            inside = _spent(inside, chances)
        for _ in range(min(times, most)):
            elsewhere = _spent(elsewhere, chances)
    return 1 / (1 + np.array(inside))


def _spent(before: Sequence[float], chances: Sequence[float]) -> list[float]:
    """The least products where some of the implications are spent on one group more."""
    return [
        min(before[k - here] * chances[here] if before[k - here] < inf else inf for here in range(k + 1))
        for k in range(len(before))
    ]


def _distinct(release: GroupSummaries) -> list[tuple[tuple[int, ...], int]]:
    """The counts of groups, values in the order of their frequency, and how many groups have them."""
    rows, times = np.unique(-np.sort(-release.counts, axis=1), axis=0, return_counts=True)
    return [(tuple(int(c) for c in row if c), int(number)) for row, number in zip(rows, times, strict=True)]
