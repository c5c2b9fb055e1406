"""The distribution of maximum entropy over buckets that lie in many places: the driver's side.

Whoever holds the portions says how a task is run on all of them; nothing of a bucket comes here but sums.
The answer is that of `maximum_entropy`, with one Newton iteration for all components together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Protocol

import numpy as np

from ppdp_spark.core.maxent.buckets import FloatArray, IntArray
from ppdp_spark.core.maxent.solve.conflict import (
    ContradictionError,
    doubling,
    minimal_conflict,
    possible_ranges,
)
from ppdp_spark.core.maxent.solve.newton import Iterate, Targets, Totals, minimise
from ppdp_spark.core.maxent.solve.portions import (
    Audit,
    Close,
    Keep,
    Measure,
    Pass,
    Portion,
    Reach,
    Reduce,
    Room,
    Turn,
    together,
)
from ppdp_spark.core.maxent.solve.presolve import TURNS, left_open, slack
from ppdp_spark.core.maxent.solve.quadratic import bounded_minimum
from ppdp_spark.core.maxent.solve.solver import COUNT_TOLERANCE, DEFAULT_EFFORT, SUSPECT_STEPS, Effort, Extent
from ppdp_spark.core.maxent.statements.invariants import relative_miss
from ppdp_spark.core.maxent.statements.system import FACT, System
from ppdp_spark.errors import NotConvergedError

LARGEST_CONFLICT = 4_000_000
"""Variables of the reduced problem in which the driver looks for a contradiction."""

Task = Callable[[Portion], Any]


class Portions(Protocol):
    """Portions of the buckets, wherever they are."""

    def run(self, task: Task) -> Sequence[Any]:
        """What the task returns for each portion, always in the same order."""
        ...

    def changed(self, task: Task) -> Portions:
        """The portions that the task makes of these."""
        ...


@dataclass(frozen=True, eq=False)
class SpreadBuckets:
    """A solution that stays where the portions are.

    where
        portions  their masses are `portion.masses(mu)`
        mu        multipliers of the statements that Newton moved
        kept      statements that counts and zeros do not decide
    """

    portions: Portions
    mu: FloatArray
    kept: int
    zeros: int
    residual: float
    count_residual: float
    duality_gap: float
    iterations: int
    converged: bool = True


def spread_maximum_entropy(
    portions: Portions, header: System, effort: Effort = DEFAULT_EFFORT
) -> SpreadBuckets:
    """The maximum over all portions; `header` has the right sides and owners of all rows.

    `ContradictionError` if the knowledge cannot be true, `NotConvergedError` if no maximum was reached.
    """
    extent = reduce(add, portions.run(Measure()))
    history = _presolved(portions, header)
    if history is None:
        reason = "the statements leave a bucket or a statement no room"
        raise _refusal(portions, header, extent, reason)
    closed = portions.changed(Close(history))
    reached = closed.run(Reach())
    low, high = (np.sum([part[i] for part in reached], axis=0) for i in range(2))
    rows = np.flatnonzero(left_open(header.rhs, header.inequality, low, high))
    working = closed.changed(Keep(rows))
    said = header.rows(rows)
    targets = Extent(extent.sizes[rows], extent.highest, extent.records).targets(said)
    end = _newton(working, targets, effort.max_iterations, 0.5 * effort.tolerance)
    if end is not None and end.status != "converged":
        reason = f"Newton {end.status} after {end.iterations} steps"
        raise _refusal(portions, header, extent, reason)
    mu = np.zeros(0) if end is None else end.mu
    return _checked(
        header,
        effort,
        working.run(Audit(mu)),
        SpreadBuckets(
            portions=working,
            mu=mu,
            kept=len(np.unique(said.owner[said.owner != FACT])),
            zeros=sum(part[2] for part in reached),
            residual=0.0,
            count_residual=0.0,
            duality_gap=0.0 if end is None else end.gap(targets),
            iterations=0 if end is None else end.iterations,
        ),
    )


def _presolved(portions: Portions, header: System) -> tuple[Room, ...] | None:
    """The turns of bound tightening, to the fixed point; None if something cannot be.

    Sums over all portions decide each turn, so that zeros are found across buckets.
    """
    history: tuple[Room, ...] = ()
    for _ in range(TURNS):
        parts = portions.run(Turn(history))
        if any(impossible for _, _, _, impossible in parts):
            return None
        if not any(changed for _, _, changed, _ in parts):
            break
        low, high = (np.sum([part[i] for part in parts], axis=0) for i in range(2))
        room = slack(header.rhs, header.inequality, low, high)
        if room is None:
            return None
        history = (*history, room)
    return history


def _newton(portions: Portions, targets: Targets, steps: int, tolerance: float) -> Iterate | None:
    """Where Newton ends; None without statements to move."""
    if not len(targets.rhs):
        return None

    def evaluate(mu: FloatArray) -> Totals:
        return Totals.of(list(portions.run(Pass(mu))))

    return minimise(evaluate, targets, tolerance=tolerance, max_iterations=steps)


def _checked(header: System, effort: Effort, audits: Sequence[Any], found: SpreadBuckets) -> SpreadBuckets:
    """The solution with its misses, if the counts and all statements hold in it."""
    moments, sizes = (np.sum([part[i] for part in audits], axis=0) for i in range(2))
    miss = max(part[2] for part in audits)
    residual = relative_miss(header, moments, sizes)
    if miss > COUNT_TOLERANCE or residual > max(1e-7, effort.tolerance):
        raise NotConvergedError(
            f"the distribution misses counts by {miss:.1e} and statements by {residual:.1e} records"
        )
    return SpreadBuckets(
        portions=found.portions,
        mu=found.mu,
        kept=found.kept,
        zeros=found.zeros,
        residual=residual,
        count_residual=miss,
        duality_gap=found.duality_gap,
        iterations=found.iterations,
    )


def _refusal(portions: Portions, header: System, extent: Extent, reason: str) -> Exception:
    """The contradiction behind a failure, or that there is none to be found."""
    suspicion = _suspicion(portions, header, extent)
    unknown = NotConvergedError(f"no maximum-entropy distribution was reached: {reason}; state p ± ε")
    if suspicion is None:
        return unknown
    for statements in doubling(header, suspicion):
        buckets, said = together(portions.run(Reduce(statements)))
        if buckets.variables > LARGEST_CONFLICT:
            return unknown
        conflict = minimal_conflict(buckets, said)
        if conflict:
            return ContradictionError(conflict, header.names, possible_ranges(buckets, said, conflict))
    return unknown


def _suspicion(portions: Portions, header: System, extent: Extent) -> FloatArray | None:
    """How far Newton, left alone, drives each multiplier; None if it converges."""
    targets = extent.targets(header)
    end = _newton(portions, targets, SUSPECT_STEPS, 1e-6)
    if end is None or end.status == "converged":
        return None
    if end.iterations:
        return np.abs(end.mu)
    lower = np.where(targets.inequality, 0.0, -np.inf)
    return np.abs(bounded_minimum(end.totals.moments - targets.rhs, end.totals.schur, lower))


def header_of(system: System) -> System:
    """The right sides and owners of a system, without its variables."""
    empty: IntArray = np.zeros(0, dtype=np.int64)
    return replace(system, matrix=system.matrix[:, empty])
