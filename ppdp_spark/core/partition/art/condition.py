"""Whether one group of people satisfies r-robustness, for the compiled loops that build groups.

The conditions are those of `core.robustness`, on one group at a time and from its people instead of
from count matrices; where rounding could decide, the answer here is no.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray

MARGIN = 1e-12
"""Relative distance to the bound below which a group is refused; rounding errs by less than 1e-14."""


class Rules(NamedTuple):
    """What a group has to satisfy.

    where
        r       no posterior may exceed 1/r
        joint   the swap bound of the joint model; else the Δ condition of the binary model
        tables  priors of the signatures of all attribute sets, one below the other
        protected  whether each value needs protection: the posteriors of others are not bounded
    """

    r: float
    joint: bool
    tables: FloatArray
    protected: BoolArray


class PlaceablePeople(NamedTuple):
    """Everybody who can be placed, in the order of the tree of similarity.

    where
        values      sensitive value of each person
        signatures  row of `Rules.tables` of each person, one column per attribute set
        classes     number of the class of each person: equal priors in every attribute set
        dealt       the value by which each person is dealt: those that need no protection may repeat, so
                    that everybody who has one is dealt as if it were a value of their own
    """

    values: IntArray
    signatures: IntArray
    classes: IntArray
    dealt: IntArray


class Tally(NamedTuple):
    """Room for the distinct values of one group: value, occurrences, ratio of its extreme priors."""

    values: IntArray
    counts: IntArray
    ratios: FloatArray

    @classmethod
    def of(cls, width: int) -> Tally:
        return cls(np.zeros(width, np.int32), np.zeros(width, np.int64), np.zeros(width))


@njit(cache=True, nogil=True, error_model="numpy")
def _count_values(people: Any, members: Any, tally: Any) -> int:
    """Fill the values and counts of `tally`; the number of distinct values."""
    distinct = 0
    for i in range(len(members)):
        value = people.values[members[i]]
        k = 0
        while k < distinct and tally.values[k] != value:
            k += 1
        if k == distinct:
            tally.values[k] = value
            tally.counts[k] = 0
            distinct += 1
        tally.counts[k] += 1
    return distinct


@njit(cache=True, nogil=True, error_model="numpy")
def frequent_enough(r: float, count: int, size: int) -> bool:
    """Whether count/size <= 1/r; for a fractional r and repeated values, by a clear margin."""
    if count == 1:
        return size >= r
    if r == np.floor(r):
        return count * int(r) <= size
    return count * r * (1.0 + MARGIN) <= size


@njit(cache=True, nogil=True, error_model="numpy")
def _extreme_priors(rules: Any, people: Any, members: Any, column: int, value: int) -> Any:
    low, high = np.inf, 0.0
    for i in range(len(members)):
        prior = rules.tables[people.signatures[members[i], column], value]
        low = min(low, prior)
        high = max(high, prior)
    return low, high


@njit(cache=True, nogil=True, error_model="numpy")
def swap_bound_holds(r: float, others: float, count: int, size: int) -> bool:
    """c / (c + o) <= 1/r, o the weight of the others; refused within the rounding of a sum over `size`."""
    return others - size * MARGIN >= (r - 1.0) * count * (1.0 + MARGIN)


@njit(cache=True, nogil=True, error_model="numpy")
def delta_holds(r: float, low: float, high: float, size: int) -> bool:
    """Δ_max <= Δ_ceil [Robust, Thm 1]; the group has x, so a prior of 0 for all contradicts it."""
    if low == high:
        return high > 0.0
    if high >= 1.0:
        return False
    ceiling = (size - r) * high / (high * (r - 1.0) / (1.0 - high) + (size - 1.0))
    return high - low <= ceiling * (1.0 - MARGIN)


@njit(cache=True, nogil=True, error_model="numpy")
def _joint_allowed(rules: Any, people: Any, members: Any, column: int, tally: Any, distinct: int) -> bool:
    """The swap bound for every protected value of the group and one attribute set; equal priors leave c/N.

    The priors of all values of the group count: worlds deal out all of them.
    """
    size, r, least, weight = len(members), rules.r, 1.0, 0.0
    for k in range(distinct):
        low, high = _extreme_priors(rules, people, members, column, tally.values[k])
        if low <= 0.0:
            return False
        ratio, count, bounded = low / high, tally.counts[k], rules.protected[tally.values[k]]
        if bounded and ratio < 1.0 and not swap_bound_holds(r, ratio * (size - count), count, size):
            return False
        tally.ratios[k] = ratio
        least = min(least, ratio)
        weight += ratio * count
    if least == 1.0:
        return True
    for k in range(distinct):
        ratio, count, bounded = tally.ratios[k], tally.counts[k], rules.protected[tally.values[k]]
        if bounded and not swap_bound_holds(r, ratio * (weight - ratio * count), count, size):
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _binary_allowed(rules: Any, people: Any, members: Any, column: int, tally: Any, distinct: int) -> bool:
    """The Δ condition for every protected value of the group and one attribute set."""
    for k in range(distinct):
        if not rules.protected[tally.values[k]]:
            continue
        low, high = _extreme_priors(rules, people, members, column, tally.values[k])
        if not delta_holds(rules.r, low, high, len(members)):
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def allowed(rules: Any, people: Any, members: Any, tally: Any) -> bool:
    """Whether a group of these people satisfies the rules for its protected values and attribute sets.

    joint   c / (c + ρ_x Σ c_y ρ_y) <= 1/r, the sum over y ≠ x, ρ = least prior / largest prior within
            the group: the swap bound; repeats are allowed
    binary  each value once, N >= r, and the Δ bounding condition [Robust, Thm 1]
    """
    distinct = _count_values(people, members, tally)
    for k in range(distinct):
        if not rules.protected[tally.values[k]]:
            continue
        if not frequent_enough(rules.r, tally.counts[k], len(members)):
            return False
        if not rules.joint and tally.counts[k] > 1:
            return False
    for column in range(people.signatures.shape[1]):
        if rules.joint:
            fine = _joint_allowed(rules, people, members, column, tally, distinct)
        else:
            fine = _binary_allowed(rules, people, members, column, tally, distinct)
        if not fine:
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def compatible(rules: Any, people: Any, one: int, other: int, size: int) -> bool:
    """A quick test that two people must pass to be together in a group of `size` people.

    More people only lower the least prior and raise the largest one, more occurrences of a value only raise
    its bound, and nobody else counts for more than one, so what two people with their two values break,
    every group of this size that has both breaks.
    """
    mine, theirs = people.values[one], people.values[other]
    tables = rules.tables
    if not (rules.protected[mine] or rules.protected[theirs]):
        return True
    for column in range(people.signatures.shape[1]):
        here, there = people.signatures[one, column], people.signatures[other, column]
        if here == there:
            continue
        low, high = _ordered(tables[here, mine], tables[there, mine])
        other_low, other_high = _ordered(tables[here, theirs], tables[there, theirs])
        if rules.joint:
            if low <= 0.0 or other_low <= 0.0:
                return False
            ratio, other_ratio = low / high, other_low / other_high
            beside = size - 1.0 if mine == theirs else size - 2.0 + other_ratio
            enough = (rules.r - 1.0) * (1.0 - MARGIN)
            if ratio * beside < enough or other_ratio * (size - 2.0 + ratio) < enough:
                return False
        else:
            if rules.protected[mine] and not delta_holds(rules.r, low, high, size):
                return False
            if rules.protected[theirs] and not delta_holds(rules.r, other_low, other_high, size):
                return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _ordered(a: float, b: float) -> Any:
    return (a, b) if a < b else (b, a)
