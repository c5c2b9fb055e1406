"""Which groups can attain a minimum at all, for one ℓ and any k and m."""

from __future__ import annotations

import numpy as np
from numba import njit

from ppdp_spark.core.criteria.skyline.formulas import MVPI_RECORDS, MVPI_ROWS, SVPI
from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray


@njit(cache=True, error_model="numpy")
def _records(occurrences: IntArray, rest: FloatArray) -> BoolArray:
    """Where `rest` is lower than ever before among equal `occurrences`, which come one after another."""
    lower = np.empty(len(rest), dtype=np.bool_)
    lowest = np.inf
    for i in range(len(rest)):
        if i > 0 and occurrences[i] != occurrences[i - 1]:
            lowest = np.inf
        lower[i] = rest[i] < lowest
        lowest = min(lowest, rest[i])
    return lower


def staircase(
    case: int, people: IntArray, occurrences: IntArray, excluded: FloatArray, ids: IntArray
) -> IntArray:
    """Positions of the groups that no other one undercuts, all of them containing σ.

    Among groups with the same #σ, V grows with n, and T grows with n − #σ − #s₍₁..ℓ₎ (SVPI), with n and
    the factor of the ℓ values (MVPI), or with n and n − #σ − #s₍₁..ℓ₎ (whole records and rows). So a group is
    undercut by one with the same #σ and both quantities at most as large (of equal ones, that with the
    smallest id stays): what is left of each #σ is a staircase, and the minima of T, V and T·V over it are
    those over all groups.
    """
    if not len(people):
        return np.zeros(0, dtype=np.int64)
    added = case in (SVPI, MVPI_RECORDS, MVPI_ROWS)
    rest = people - occurrences - excluded if added else excluded
    together = occurrences * (people.max() + 1) + people
    order = np.lexsort((ids, rest, together))
    kept: IntArray = order[_records(occurrences[order], rest[order])]
    return kept
