"""Damped Newton on the partial dual D(μ): the driver's side, which never sees a bucket.

minimise D(μ) = Σ_b min_λ (Σ p − λ · counts) − k · μ, with μ ≥ 0 for statements K x ≥ k [Kazama–Tsujii].
Each trial point costs one pass over the buckets; an accepted one needs no second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.maxent.buckets import FloatArray, IntArray
from ppdp_spark.core.maxent.solve.dependence import independent
from ppdp_spark.core.maxent.solve.passes import PartValue
from ppdp_spark.core.maxent.solve.quadratic import bounded_minimum

LONGEST_STEP = 30.0
SUFFICIENT = 1e-4
HALVINGS = 25
# A probability on its way to an implied zero falls by 1/e with each full step, along a steady direction:
# then a longer step is tried first.
VANISHING = (0.33, 0.41)
STRETCH = 6.0

LAST_GAP = 1e-7
"""A duality gap, in nats per record, that is enough once no further step lowers it."""


@dataclass(frozen=True, eq=False)
class Totals:
    """The sum of the parts at some μ: Σ_b (Σ p − λ · counts), K x, the Schur matrix, the worst bucket."""

    objective: float
    moments: FloatArray
    schur: FloatArray
    residual: float

    @classmethod
    def of(cls, parts: Sequence[PartValue]) -> Totals:
        """The sum over parts of disjoint buckets that number the statements alike."""
        return cls(
            objective=sum(part.objective for part in parts),
            moments=np.sum([part.moments for part in parts], axis=0),
            schur=np.sum([part.schur for part in parts], axis=0) if len(parts) > 1 else parts[0].schur,
            residual=max(part.residual for part in parts),
        )


@dataclass(frozen=True, eq=False)
class Targets:
    """The statements' right sides.

    where
        rhs         k of K x = k or K x ≥ k
        inequality  which statements are ≥
        scale       size of each statement, in records: misses are relative to it
        ceiling     what −D(μ) cannot exceed if the statements can all be true
        gap_scale   records the duality gap is relative to
    """

    rhs: FloatArray
    inequality: NDArray[np.bool_]
    scale: FloatArray
    ceiling: float
    gap_scale: float


@dataclass(frozen=True, eq=False)
class Iterate:
    """Where Newton stands, or ended: `status` is converged, impossible or stalled."""

    mu: FloatArray
    totals: Totals
    status: str = "running"
    iterations: int = 0
    passes: int = 0

    def miss(self, targets: Targets) -> float:
        """The largest violation of a statement, relative to its scale."""
        slack = self.totals.moments - targets.rhs
        violated = np.where(targets.inequality, np.maximum(-slack, 0.0), np.abs(slack))
        return float(np.max(violated / targets.scale, initial=0.0))

    def gap(self, targets: Targets) -> float:
        """The duality gap in nats a record: Σ |μ (K x − k)|, λ-terms being zero to rounding."""
        return float(np.abs(self.mu * (self.totals.moments - targets.rhs)).sum() / targets.gap_scale)


def minimise(
    evaluate: Callable[[FloatArray], Totals], targets: Targets, *, tolerance: float, max_iterations: int = 200
) -> Iterate:
    """Newton until the statements hold to `tolerance`, are shown impossible, or no step helps.

    Statements that others imply keep the multiplier 0; all of them count for convergence. Where statements
    together force a probability to zero the multipliers run away, and rounding ends the fall of the gap:
    after the last step a gap of `LAST_GAP` will do.
    """
    mu = np.zeros(len(targets.rhs))
    here = Iterate(mu, evaluate(mu), passes=1)
    missing = targets.rhs - here.totals.moments
    moving = independent(here.totals.schur, missing, targets.inequality, targets.scale)
    if moving is None:
        return replace(here, status="impossible")
    before = np.inf
    for _ in range(max_iterations):
        miss = here.miss(targets)
        if miss <= tolerance and here.gap(targets) <= tolerance:
            return replace(here, status="converged")
        if targets.rhs @ here.mu - here.totals.objective > targets.ceiling:
            return replace(here, status="impossible")
        vanishing = VANISHING[0] * before < miss < VANISHING[1] * before
        moved = _step(evaluate, targets, here, moving=moving, stretch=STRETCH if vanishing else 1.0)
        if moved is None:
            break
        here, before = moved, miss
    close = here.miss(targets) <= tolerance and here.gap(targets) <= max(tolerance, LAST_GAP)
    return replace(here, status="converged" if close else "stalled")


def _step(
    evaluate: Callable[[FloatArray], Totals],
    targets: Targets,
    here: Iterate,
    *,
    moving: IntArray,
    stretch: float,
) -> Iterate | None:
    """One Newton step with backtracking; None if not even a tiny step lowers D."""
    gradient = here.totals.moments - targets.rhs
    lower = np.where(targets.inequality, -here.mu, -np.inf)
    step = np.zeros_like(here.mu)
    step[moving] = bounded_minimum(gradient[moving], here.totals.schur[np.ix_(moving, moving)], lower[moving])
    slope, value = gradient @ step, here.totals.objective - targets.rhs @ here.mu
    noise = 1e-14 * (1.0 + abs(value) + np.abs(targets.rhs * here.mu).sum())
    passes = here.passes
    for t in _lengths(step, stretch):
        mu = here.mu + t * step
        mu[targets.inequality] = np.maximum(mu[targets.inequality], 0.0)
        totals = evaluate(mu)
        passes += 1
        moved = Iterate(mu, totals, iterations=here.iterations + 1, passes=passes)
        lowered = totals.objective - targets.rhs @ mu <= value + SUFFICIENT * t * slope + noise
        if lowered and (t <= 1.0 or moved.miss(targets) < 0.5 * VANISHING[0] * here.miss(targets)):
            return moved
    return None


def _lengths(step: FloatArray, stretch: float) -> list[float]:
    """Step lengths to try, longest first."""
    longest = float(np.abs(step).max(initial=0.0))
    first = min(1.0, LONGEST_STEP / max(longest, 1e-300))
    stretched = [stretch] if stretch > 1.0 and first == 1.0 else []
    return stretched + [first * 0.5**i for i in range(HALVINGS)]
