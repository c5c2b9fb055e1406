"""The few groups that can matter for a given ℓ, and the largest k they leave safe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from ppdp_spark.core.groups import FloatArray, IntArray
from ppdp_spark.core.skyline.formulas import SMALLEST
from ppdp_spark.core.skyline.kernels import five_statistics
from ppdp_spark.core.skyline.points import case_code
from ppdp_spark.core.skyline.signatures import Signatures
from ppdp_spark.core.skyline.staircase import exclusions, staircase


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


def frontier(signatures: Signatures, length: int) -> Frontier:
    """What is left of the signatures for ℓ = `length` once those that another one undercuts are dropped."""
    case, people, occurrences = case_code(signatures.case), signatures.people, signatures.occurrences
    excluded = exclusions(case, people, signatures.others, length)
    rows = staircase(case, people, occurrences, excluded, signatures.ids)
    return Frontier(rows, people[rows], occurrences[rows], excluded[rows])


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
    return max(ss2 * ss5, SMALLEST) >= least and max(ss3 * ss4, SMALLEST) >= least


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
