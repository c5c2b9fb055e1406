"""Maximum entropy by one L-BFGS over all multipliers of all buckets and statements: what the paper used.

minimise Σ exp(Aᵀλ + Kᵀμ) − counts · λ − k · μ, with μ ≥ 0 for statements K x ≥ k [MaxEnt, Section 7].
Nothing is presolved and no bucket is taken apart. The baseline is as good as it gets with little effort:
it starts from the closed form, as Newton does, and every multiplier is scaled by its curvature there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from ppdp_spark.core.maxent import Buckets, System, closed_form
from ppdp_spark.core.maxent.statements.invariants import count_rows

FloatArray = NDArray[np.float64]

LARGEST_EXPONENT = 50.0
"""Far above any count: a trial step that goes beyond it is turned back instead of overflowing."""


@dataclass(frozen=True, eq=False)
class Flat:
    """Where L-BFGS ended.

    where
        x           expected records of every variable
        residual    largest miss of a count or a statement, in records
        iterations  of L-BFGS
        seconds     of the processor for the search
        converged   whether `residual` is within the tolerance asked for
    """

    x: FloatArray
    residual: float
    iterations: int
    seconds: float
    converged: bool


class _EndedError(Exception):
    """Near enough, or out of time."""


class _Dual:
    """The dual in scaled multipliers, and where the search stands."""

    def __init__(self, buckets: Buckets, system: System) -> None:
        self.rows = sparse.csr_matrix(sparse.vstack([count_rows(buckets), system.matrix]))
        self.columns = sparse.csr_matrix(self.rows.T)
        self.right = np.concatenate([buckets.row_count, buckets.value_count, system.rhs])
        self.at_least = np.zeros(len(self.right), dtype=bool)
        self.at_least[len(self.right) - len(system) :] = system.inequality
        curvature = self.rows.multiply(self.rows) @ closed_form(buckets)
        self.scale = 1 / np.sqrt(np.maximum(np.asarray(curvature).ravel(), 1e-12))
        self.iterations, self.x, self.miss = 0, closed_form(buckets), np.inf

    def value(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        multipliers = scaled * self.scale
        self.x = np.exp(np.minimum(self.columns @ multipliers, LARGEST_EXPONENT))
        slack = self.rows @ self.x - self.right
        self.miss = float(np.max(np.where(self.at_least, np.maximum(-slack, 0.0), np.abs(slack))))
        return float(self.x.sum() - self.right @ multipliers), slack * self.scale


def flat_dual(buckets: Buckets, system: System, *, tolerance: float, seconds: float) -> Flat:
    """L-BFGS until every miss is within `tolerance` of a record, it stops by itself, or time is up."""
    dual, begun = _Dual(buckets, system), time.process_time()

    def watch(scaled: FloatArray) -> None:
        dual.iterations += 1
        if dual.miss <= tolerance or time.process_time() - begun > seconds:
            raise _EndedError

    bounds = [(0.0, None) if positive else (None, None) for positive in dual.at_least]
    try:
        ended = minimize(
            dual.value,
            _start(buckets, len(system)) / dual.scale,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds if dual.at_least.any() else None,
            callback=watch,
            options={"maxcor": 10, "maxiter": 10**7, "maxfun": 10**7, "ftol": 0.0, "gtol": 0.0},
        )
        dual.value(ended.x)
    except _EndedError:
        pass
    took = time.process_time() - begun
    return Flat(dual.x, dual.miss, dual.iterations, took, dual.miss <= tolerance)


def _start(buckets: Buckets, statements: int) -> FloatArray:
    """Multipliers of the closed form: x = n(q, b) · n(s, b) / n(b)."""
    sizes = np.add.reduceat(buckets.value_count, buckets.value_start[:-1])
    shares = buckets.value_count / np.repeat(sizes, buckets.widths)
    return np.concatenate([np.log(buckets.row_count), np.log(shares), np.zeros(statements)])
