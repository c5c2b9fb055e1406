"""The few groups that can matter for a given ℓ, and the largest k they leave safe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from ppdp_spark.core.groups import FloatArray, IntArray
from ppdp_spark.core.skyline.formulas import SVPI, exclusion
from ppdp_spark.core.skyline.kernels import five_statistics
from ppdp_spark.core.skyline.signatures import Signatures


@dataclass(frozen=True, eq=False)
class Frontier:
    """Signatures that attain every minimum for one ℓ, whatever k and m.

    where
        rows      positions in the signatures
        people, occurrences, excluded  n, #σ and what the ℓ values exclude, of each
    """

    rows: IntArray
    people: IntArray
    occurrences: IntArray
    excluded: FloatArray


@njit(cache=True, error_model="numpy")
def _exclusions(case: int, people: IntArray, others: IntArray, length: int) -> FloatArray:
    out = np.empty(len(people))
    for i in range(len(people)):
        out[i] = exclusion(case, people[i], others[i], length)
    return out


def frontier(signatures: Signatures, case: int, length: int) -> Frontier:
    """The signatures left for ℓ = `length` once those that another one undercuts are dropped.

    Among groups with the same #σ, V grows with n, and T grows with n − #σ − #s₍₁..ℓ₎ (SVPI) or with n
    and the factor of the ℓ values (MVPI). So a group is undercut by one with the same #σ and both
    quantities at most as large: what is left for each #σ is a staircase.
    """
    excluded = _exclusions(case, signatures.people, signatures.others, length)
    rest = signatures.people - signatures.occurrences - excluded if case == SVPI else excluded
    order = np.lexsort((signatures.ids, rest, signatures.people, signatures.occurrences))
    rank = np.unique(rest, return_inverse=True)[1].reshape(-1)[order]
    same = np.r_[False, np.diff(signatures.occurrences[order]) == 0]
    falling = rank - np.cumsum(~same) * (len(order) + 1)
    lowest = np.minimum.accumulate(falling)
    rows = order[np.r_[True, falling[1:] < lowest[:-1]]]
    return Frontier(rows, signatures.people[rows], signatures.occurrences[rows], excluded[rows])


@njit(cache=True, error_model="numpy")
def _is_safe(
    case: int,
    people: IntArray,
    occurrences: IntArray,
    excluded: FloatArray,
    k: int,
    m: int,
    least: float,
) -> bool:
    """Whether NR reaches `least` (positive), stopping at the first group that alone is too low."""
    ss2, ss3, ss4, ss5 = np.inf, np.inf, 1.0, 1.0
    for i in range(len(people)):
        five = five_statistics(case, people[i], occurrences[i], excluded[i], k, m)
        ss2, ss3 = min(ss2, five[1]), min(ss3, five[2])
        ss4, ss5 = min(ss4, five[3]), min(ss5, five[4])
        if five[0] < least or ss3 <= 0.0 or ss5 <= 0.0:
            return False
    return max(ss2 * ss5, LEAST) >= least and max(ss3 * ss4, LEAST) >= least


LEAST = float(np.finfo(float).tiny)


@njit(cache=True, error_model="numpy")
def fill_largest_k(
    case: int,
    people: IntArray,
    occurrences: IntArray,
    excluded: FloatArray,
    least: FloatArray,
    upper: IntArray,
    out: IntArray,
) -> None:
    """For each m, the largest k <= upper[m] that is safe, −1 if none; `upper[m]` >= −1.

    Safety falls in k and in m, so each m starts from the k of the one before and bisects.
    """
    bound = np.int64(2**62)
    for m in range(len(out)):
        bound = min(bound, upper[m])
        low, high = np.int64(-1), bound
        while low < high:
            middle = (low + high + 1) // 2
            if _is_safe(case, people, occurrences, excluded, middle, m, least[m]):
                low = middle
            else:
                high = middle - 1
        out[m] = low
        bound = low


@njit(cache=True, error_model="numpy")
def statistics_at(
    case: int, people: IntArray, occurrences: IntArray, excluded: FloatArray, k: int, m: int
) -> FloatArray:
    """The five statistics of every signature, shape (signatures, 5)."""
    out = np.empty((len(people), 5))
    for i in range(len(people)):
        five = five_statistics(case, people[i], occurrences[i], excluded[i], k, m)
        for j in range(5):
            out[i, j] = five[j]
    return out
