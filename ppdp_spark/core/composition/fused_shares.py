"""How likely values are by two sources about the same people, where nothing is known of who has what else.

Somebody knows of n₁ people how many have each value, a(s), of n₂ people b(s), and that m people are among
both. The others of either are taken to be like the whole table, which has the shares π. Weighing all worlds
evenly, the most likely share p(s) of the m people then satisfies

    p(s) · π(s) · Z = (a(s) − μ p(s)) · (b(s) − μ p(s)),   Σ_s p(s) = 1

with μ = m. For a single person the sum over worlds is exact in closed form, p ∝ a · b / π, which is μ = 0;
and where one source speaks of exactly these people, p = a / n₁, which is μ = n₁. So μ = n (m − 1) / (n − 1),
n being the smaller of n₁ and n₂: exact at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.data.groups import FloatArray, IntArray

_STEPS = 60


@dataclass(frozen=True, eq=False)
class FusedGroups:
    """What two sources say of each cell.

    where
        first, second              people with the value, one number for each value of a cell
        first_size, second_size    people the source speaks of, one number for each cell
    """

    first: FloatArray
    first_size: IntArray
    second: IntArray
    second_size: IntArray


def fused(groups: FusedGroups, people: IntArray, start: IntArray, table: FloatArray) -> FloatArray:
    """Shares of the values of each cell; `table` has π(s) of each of these values."""
    if not len(groups.first):
        return np.zeros(0)
    length = np.diff(start)
    owner = np.repeat(np.arange(len(people)), length)
    smaller = np.minimum(groups.first_size, groups.second_size)
    among = np.minimum(people, smaller)
    overlap = smaller * (among - 1) / np.maximum(smaller - 1, 1)
    both = groups.first * groups.second / table
    most = np.bincount(owner, both, len(people)).astype(np.float64)
    share = both / most[owner]
    several = (overlap > 0) & (length > 0)
    if several.any():
        wanted = several[owner]
        share[wanted] = _balanced(groups, wanted, owner, overlap, most=most, table=table)
    return share / np.bincount(owner, share, len(people))[owner]


def _balanced(
    groups: FusedGroups,
    wanted: np.ndarray,
    owner: IntArray,
    overlap: FloatArray,
    *,
    most: FloatArray,
    table: FloatArray,
) -> FloatArray:
    """The roots p(s) for the Z at which they sum to 1: they fall as Z grows, and Z ≤ Σ a b / π."""
    a, b, pi = groups.first[wanted], groups.second[wanted].astype(np.float64), table[wanted]
    cell = owner[wanted]
    mu, both = overlap[cell], a * b
    low, high = np.zeros(len(overlap)), most.copy()
    for _ in range(_STEPS):
        middle = (low + high) / 2
        found = _root(a + b, both, mu, middle[cell] * pi)
        above = np.bincount(cell, found, len(overlap)) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return _root(a + b, both, mu, high[cell] * pi)


def _root(total: FloatArray, both: FloatArray, mu: FloatArray, weight: FloatArray) -> FloatArray:
    """The smaller root of μ² p² − (μ (a + b) + Z π) p + a b = 0, without cancellation."""
    middle = mu * total + weight
    inner = np.sqrt(np.maximum(middle * middle - 4 * mu * mu * both, 0))
    return np.asarray(2 * both / np.maximum(middle + inner, np.finfo(float).tiny))
