"""Upper bounds on posteriors, from counts and from the smallest and largest prior of each value.

Both bounds come from one exchange. Take a world in which t_a has x and t_j has not, and exchange what they
have. Each world with t_a : x gives N − c worlds without it, c_y of them with t_a : y, and each world without
it is reached c times. If an exchange with somebody who has y keeps at least a share κ_y of a world's weight,
c · W(t_a : y) >= κ_y c_y W(t_a : x), so

    p(t_a : x) <= c / (c + κ (N − c)),    κ = Σ c_y κ_y / (N − c) over the values y ≠ x of the group,

where
    N    people in the group (`sizes`)
    c    occurrences of x in it (`counts`), and c_y those of y
    κ_y  ρ_x ρ_y in the joint model, and ρ_x alone in the binary model, where there is one other value

κ = 1 gives c/N, plain ℓ-diversity. κ = 0 gives 1, which is sound whatever the priors. In the joint model no
bound from these figures is smaller where they allow any world at all: it is attained if t_a has the largest
prior of x and the smallest one of every other value, and all others have it the other way round.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit

from ppdp_spark.core.criteria.exact import integers, product_at_most
from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray

# κ (N − c) and c (r − 1) are products of at most a dozen factors, each rounded once (2^-53).
RATIO_ROUNDING = 1e-14

SUM_ROUNDING = 2.0**-52
"""What a sum of shares may err by, for each of its terms; a sum is made smaller by as much."""


def joint_swap_bound(
    sizes: IntArray, counts: IntArray, minimum: FloatArray, maximum: FloatArray
) -> FloatArray:
    """A bound on the joint posteriors [Robust, Eqs 1-3] of every value, shape (groups, values).

    Repeated values are allowed. Values a group lacks have bound 0. A value of the group that is impossible
    for somebody has bound 1: so a group that the priors declare impossible is never safe.
    """
    return swap_bound(sizes, counts, joint_exchange(counts, minimum, maximum))


def binary_swap_bound(
    sizes: IntArray, counts: IntArray, minimum: FloatArray, maximum: FloatArray
) -> FloatArray:
    """A bound on the posteriors of "x or not x", one value x at a time, shape (groups, values).

    With x once in the group, the bound is at most 1/r exactly where the Δ condition holds [Robust, Thm 1];
    unlike it, it also speaks of values that occur more than once.
    """
    return swap_bound(sizes, counts, binary_exchange(minimum, maximum))


def swap_bound(sizes: IntArray, counts: IntArray, exchange: FloatArray) -> FloatArray:
    """c / (c + κ (N − c)), and 0 for values a group lacks."""
    counts = integers(counts)
    others = exchange * (integers(sizes)[:, None] - counts)
    return np.where(counts > 0, counts / np.where(counts > 0, counts + others, 1.0), 0.0)


def joint_exchange(counts: IntArray, minimum: FloatArray, maximum: FloatArray) -> FloatArray:
    """κ of x: ρ_x times the mean of ρ_y over those who have another value, ρ_y = min f(y) / max f(y).

    The exchange multiplies a weight by f_j(x)/f_a(x) · f_a(y)/f_j(y) >= ρ_x ρ_y. κ is 1 exactly if all
    people have equal priors for every value of the group: no quotient of different floats rounds to 1, and a
    mean that could is made smaller by more than its rounding.
    """
    lows, highs = np.ascontiguousarray(minimum, np.float64), np.ascontiguousarray(maximum, np.float64)
    return np.asarray(_joint_exchange(np.ascontiguousarray(integers(counts)), lows, highs))


@njit(cache=True, nogil=True)
def _joint_exchange(counts: Any, minimum: Any, maximum: Any) -> Any:
    groups, width = counts.shape
    exchange, before = np.zeros((groups, width)), np.zeros(width)
    for g in range(groups):
        people, terms, total, equal = 0, 0, 0.0, True
        for x in range(width):
            before[x] = total
            if counts[g, x] > 0:
                low, high = minimum[g, x], maximum[g, x]
                ratio = low / high if 0 < low <= high else 0.0
                exchange[g, x] = ratio
                equal &= ratio == 1.0
                total += counts[g, x] * ratio
                people += counts[g, x]
                terms += 1
        after, kept = 0.0, 1.0 - (terms + 4) * SUM_ROUNDING
        for x in range(width - 1, -1, -1):
            here = counts[g, x] * exchange[g, x]
            if counts[g, x] > 0 and not equal:
                exchange[g, x] *= (before[x] + after) * kept / max(people - counts[g, x], 1)
            after += here
    return exchange


def binary_exchange(minimum: FloatArray, maximum: FloatArray) -> FloatArray:
    """ρ = smallest odds / largest odds, odds = f/(1 − f).

    Equal priors give 1, also equal priors of 0 or of 1, where the published condition has Δ_max = Δ_ceil = 0:
    nobody is then told apart, although the priors contradict the group. Otherwise a prior of 0 or 1 gives 0.
    """
    inside = (minimum > 0) & (minimum < maximum) & (maximum < 1)
    low, high = np.where(inside, minimum, 0.5), np.where(inside, maximum, 0.5)
    ratio = (low / high) * ((1 - high) / (1 - low))
    return np.where(inside, ratio, np.where(minimum == maximum, 1.0, 0.0))


def surely_within(sizes: IntArray, counts: IntArray, exchange: FloatArray, r: Fraction) -> BoolArray:
    """Whether the bound is at most 1/r, that is c (r − 1) <= κ (N − c); true for values a group lacks.

    Rounding never decides in favour of a group: κ = 1 is compared in integers (c r <= N), any other κ must
    clear the threshold by more than its rounding error, so ties of unequal priors are refused.
    """
    sizes, counts = integers(sizes)[:, None], integers(counts)
    risk = counts * float(r - 1)
    clear = np.asarray(risk <= exchange * (sizes - counts) * (1 - RATIO_ROUNDING))
    equal = (exchange == 1) & (counts > 0)
    if equal.any():
        people = np.broadcast_to(sizes, counts.shape)[equal]
        clear[equal] = product_at_most([counts[equal], r.numerator], [people, r.denominator])
    return np.asarray(clear | (counts == 0))
