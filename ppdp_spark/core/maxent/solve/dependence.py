"""Statements that others already say: found on the Schur matrix, checked for consistency, left out.

With the counts of the buckets held, rows of K are linearly dependent exactly where the Schur matrix
S = K M Kᵀ at a point of full support is singular. If row j is α · (independent rows) up to count rows,
its right side must be the same combination of theirs, measured from any point that meets the counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

from ppdp_spark.core.maxent.buckets import FloatArray, IntArray

DETERMINED = 1e-11
DEPENDENT = 1e-9
MISS = 1e-7


def independent(
    schur: FloatArray, missing: FloatArray, inequality: NDArray[np.bool_], scale: FloatArray
) -> IntArray | None:
    """Numbers of the statements to keep; None if a dependent one contradicts those it depends on.

    `missing` is k − K x at the point where `schur` was taken. Inequalities are left out only where
    equalities and counts determine them.
    """
    loose = np.diag(schur) > DETERMINED * scale
    if _violated(missing, inequality, scale)[~loose].any():
        return None
    equal = np.flatnonzero(loose & ~inequality)
    basis = equal[_independent_rows(schur[np.ix_(equal, equal)])]
    others = np.flatnonzero(loose & ~np.isin(np.arange(len(missing)), basis))
    if not len(basis) or not len(others):
        return np.flatnonzero(loose)
    factor = linalg.cho_factor(schur[np.ix_(basis, basis)], lower=True)
    share = linalg.cho_solve(factor, schur[np.ix_(basis, others)])
    left = np.diag(schur)[others] - (share * schur[np.ix_(basis, others)]).sum(axis=0)
    implied = ~inequality[others] | (left <= DEPENDENT * np.diag(schur)[others])
    reach = scale[others] + np.abs(share).T @ scale[basis]
    beyond = missing[others] - share.T @ missing[basis]
    if (_violated(beyond, inequality[others], reach) & implied).any():
        return None
    return np.sort(np.concatenate([basis, others[~implied]]))


def _violated(missing: FloatArray, inequality: NDArray[np.bool_], scale: FloatArray) -> NDArray[np.bool_]:
    return np.where(inequality, missing, np.abs(missing)) > MISS * scale


def _independent_rows(matrix: FloatArray) -> IntArray:
    """Positions of a maximal independent set, by Cholesky with pivoting on the correlations."""
    if not len(matrix):
        return np.zeros(0, dtype=np.int64)
    width = np.sqrt(np.diag(matrix))
    _, pivots, rank, _ = lapack.dpstrf(matrix / np.outer(width, width), tol=DEPENDENT, lower=1)
    return np.sort(pivots[:rank] - 1)
