"""One pass over some buckets for given multipliers μ: the part an executor computes.

The bucket multipliers λ are eliminated exactly inside each bucket, so that what is left is the partial
dual D(μ) = min over λ, smooth and convex in μ alone, with gradient K x(μ) − k and Hessian
Σ_b K_b M_b K_bᵀ: the Schur complement of the buckets in the Newton matrix of the whole dual. A pass
needs nothing from the pass before it. Parts of disjoint buckets add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray
from ppdp_spark.core.maxent.solve.bucket_steps import solve_buckets


@dataclass(frozen=True, eq=False)
class Part:
    """Some buckets with the statements that touch them.

    where
        buckets     the buckets
        columns     statements by variable, CSR over (variables, statements)
        open        variables not forced to zero
    """

    buckets: Buckets
    columns: sparse.csr_matrix
    open: Any


@dataclass(frozen=True, eq=False)
class PartValue:
    """What a part adds for given μ.

    where
        objective  Σ_b (Σ p − λ · counts)
        moments    K x, by statement
        schur      Σ_b K_b M_b K_bᵀ
        residual   largest miss of a bucket's counts, in records
        p          mass of every variable
    """

    objective: float
    moments: FloatArray
    schur: FloatArray
    residual: float
    p: FloatArray


def bucket_part(part: Part, mu: FloatArray, *, curvature: bool = True) -> PartValue:
    """The part's objective, moments and Schur part at `mu` (one multiplier a statement)."""
    b, columns = part.buckets, part.columns
    p = np.zeros(b.variables)
    schur = np.zeros((len(mu), len(mu))) if curvature else np.zeros((0, 0))
    objective, residual = solve_buckets(
        (b.cell_start, b.row_start, b.value_start, b.variable_start),
        (b.cell_row, np.log(b.cell_weight), b.row_count, b.value_count),
        (columns.indptr, columns.indices, columns.data),
        part.open,
        np.ascontiguousarray(mu),
        p,
        schur,
        curvature,
    )
    if curvature:
        schur += np.tril(schur, -1).T
    return PartValue(objective, columns.T @ p, schur, residual, p)
