"""T and V of one group, in the three cases [Skyline, Sec 6.1].

A result is 0.0 exactly when the formula is zero: a positive value too small for a float is raised
to the smallest normal float. So "is it zero" stays an exact question however long the products are.
Callers deal with groups without σ, which are neutral (T infinite, V one) and never come here.
"""

from __future__ import annotations

import math

from numba import njit

SVPI, MVPI_SET, MVPI_MULTISET = 0, 1, 2

SMALLEST = 2.2250738585072014e-308
"""The smallest normal float."""


@njit(cache=True, error_model="numpy")
def positive(value: float) -> float:
    """A positive quantity, kept from rounding to zero."""
    return max(value, SMALLEST)


@njit(cache=True, error_model="numpy")
def _log_share(part: int, whole: int) -> float:
    """log(part / whole) for 0 < part <= whole, with an error of one rounding or so at both ends."""
    if 2 * part < whole:
        return math.log(part / whole)
    return math.log1p((part - whole) / whole)


@njit(cache=True, error_model="numpy")
def exclusion(case: int, people: int, others: list[int], length: int) -> float:
    """What knowing ℓ values of the target takes away: the sum #s₍₁..ℓ₎ (SVPI) or a factor (MVPI).

    `others[:length]` are the counts of the ℓ most frequent values other than σ.
    """
    total = 0.0
    factor = 1.0
    for i in range(length):
        if others[i] <= 0:
            break
        total += others[i]
        if case == MVPI_SET:
            if others[i] >= people:
                return 0.0
            factor = positive(factor * ((people - others[i]) / people))
    if case == MVPI_MULTISET and total > 0:
        return 0.0 if people <= 1 else positive(math.exp(total * _log_share(people - 1, people)))
    return total if case == SVPI else factor


@njit(cache=True, error_model="numpy")
def target_ratio(case: int, people: int, occurrences: int, k: int, excluded: float) -> float:
    """T(g, ℓ, k) of a group with σ; `excluded` is the `exclusion` of the same ℓ.

    SVPI (n − #σ − #s₍₁..ℓ₎ − k)/#σ; set (n − #σ − k)/#σ · factor;
    multiset q/(1−q) · factor with q = ((n−k−1)/(n−k))^#σ.
    """
    if case == SVPI:
        left = people - occurrences - k - excluded
        return left / occurrences if left > 0 else 0.0
    if excluded <= 0:
        return 0.0
    if case == MVPI_SET:
        free = people - occurrences - k
        return positive(free / occurrences * excluded) if free > 0 else 0.0
    free = people - k
    if free <= 1:
        return 0.0
    exponent = occurrences * _log_share(free - 1, free)
    return positive(math.exp(exponent) / -math.expm1(exponent) * excluded)


@njit(cache=True, error_model="numpy")
def family_factor(case: int, people: int, occurrences: int, m: int, k: int) -> float:
    """V(g, m, k) of a group with σ.

    SVPI and set: ∏_{i<m} (n−#σ−k−i)/(n−k−i), which is symmetric in m and #σ (both count the ways
    to keep #σ occurrences off m people), so the shorter of the two products is taken.
    Multiset: ((n−k−m)/(n−k))^#σ.
    """
    if m == 0:
        return 1.0
    free = people - k
    if case == MVPI_MULTISET:
        return positive(math.exp(occurrences * _log_share(free - m, free))) if free > m else 0.0
    if free - occurrences - m + 1 <= 0:
        return 0.0
    taken = max(m, occurrences)
    product = 1.0
    for i in range(min(m, occurrences)):
        product *= (free - taken - i) / (free - i)
    return positive(product)
