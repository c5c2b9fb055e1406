"""The distribution of maximum entropy that agrees with a release and with background knowledge.

[MaxEnt, Def 3.1] with inequalities [Kazama–Tsujii]. Buckets no statement touches take the closed form
[MaxEnt, Thm 5]; components are solved apart; a result that did not converge is never returned.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray, closed_form, variables_in
from ppdp_spark.core.maxent.solve.components import Component, components, touched_buckets
from ppdp_spark.core.maxent.solve.conflict import ContradictionError, minimal_conflict, possible_ranges
from ppdp_spark.core.maxent.solve.newton import Iterate, Targets, Totals, minimise
from ppdp_spark.core.maxent.solve.passes import Part, PartValue, bucket_part
from ppdp_spark.core.maxent.solve.presolve import propagated, undecided
from ppdp_spark.core.maxent.solve.quadratic import bounded_minimum
from ppdp_spark.core.maxent.statements.invariants import count_miss, statement_miss
from ppdp_spark.core.maxent.statements.system import FACT, System
from ppdp_spark.errors import NotConvergedError

COUNT_TOLERANCE = 1e-8
SUSPECT_STEPS = 40


@dataclass(frozen=True, eq=False)
class Solution:
    """The maximum-entropy distribution, in expected records.

    where
        x                 |T| · P(q, s, b) of every variable
        count_residual    largest miss of a bucket's count, in records
        residual          largest miss of a statement, relative to max(1, its size in records)
        duality_gap       in nats a record
        iterations        Newton steps of the component that took most
        passes            passes over buckets, all components
        components        problems solved apart
        closed_buckets    buckets that took the closed form
        zeros             variables the presolve forced to zero
        kept              statements that counts and zeros do not decide
        converged         always true: anything else is an error
    """

    x: FloatArray
    count_residual: float
    residual: float
    duality_gap: float
    iterations: int
    passes: int
    components: int
    closed_buckets: int
    zeros: int
    kept: int
    converged: bool = True

    def entropy(self) -> float:
        """H(Q, S, B) = −Σ P log P in nats [MaxEnt, Eq 3]."""
        total = self.x.sum()
        return float(-xlogy(self.x / total, self.x / total).sum())


@dataclass(frozen=True)
class Effort:
    """How hard to try: tolerance of statements and gap, Newton steps, threads over buckets."""

    tolerance: float = 1e-8
    max_iterations: int = 200
    workers: int = 1


DEFAULT_EFFORT = Effort()


def maximum_entropy(buckets: Buckets, system: System, effort: Effort = DEFAULT_EFFORT) -> Solution:
    """The unique distribution of maximum entropy; `ContradictionError` if the knowledge cannot be true."""
    x = closed_form(buckets)
    touched = np.unique(touched_buckets(buckets, system.matrix))
    inner, cut = Component(np.arange(len(system)), touched).cut(buckets, system)
    bounds = propagated(inner, cut)
    if bounds.impossible:
        raise _refusal(inner, cut, "the statements leave a bucket or a statement no room")
    said = cut.rows(np.flatnonzero(undecided(inner, cut, bounds.open)))
    ends, solved = [], closed_form(inner)
    apart = components(inner, said)
    for component in apart:
        end, masses = _solved(inner, said, component, open=bounds.open, effort=effort)
        ends.append(end)
        solved[variables_in(inner, component.buckets)] = masses
    _fill_loose(inner, apart, bounds.open, solved)
    x[variables_in(buckets, touched)] = solved
    return _checked(
        Solution(
            x=x,
            count_residual=count_miss(buckets, x),
            residual=statement_miss(system, x),
            duality_gap=max((gap for _, gap in ends), default=0.0),
            iterations=max((end.iterations for end, _ in ends), default=0),
            passes=sum(end.passes for end, _ in ends),
            components=len(apart),
            closed_buckets=len(buckets) - len(touched),
            zeros=int((~bounds.open).sum()),
            kept=len(np.unique(said.owner[said.owner != FACT])),
        ),
        effort,
    )


def _solved(
    buckets: Buckets, system: System, component: Component, *, open: Any, effort: Effort
) -> tuple[tuple[Iterate, float], FloatArray]:
    """One component: where Newton ended, its gap, and the masses."""
    inner, said = component.cut(buckets, system)
    free = open[variables_in(buckets, component.buckets)]
    parts = _parts(inner, said, free, effort.workers)
    pool = ThreadPoolExecutor(effort.workers) if effort.workers > 1 else None
    values: list[PartValue] = []

    def evaluate(mu: FloatArray) -> Totals:
        run = pool.map if pool else map
        values[:] = run(lambda part: bucket_part(part, mu), parts)
        return Totals.of(values)

    targets = targets_of(inner, said)
    end = minimise(evaluate, targets, tolerance=0.5 * effort.tolerance, max_iterations=effort.max_iterations)
    if pool:
        pool.shutdown()
    if end.status != "converged":
        raise _refusal(inner, said, f"Newton {end.status} after {end.iterations} steps")
    masses = np.concatenate([bucket_part(part, end.mu, curvature=False).p for part in parts])
    return (end, end.gap(targets)), masses


@dataclass(frozen=True, eq=False)
class Extent:
    """Sizes that add up over disjoint buckets: of the statements, of −D at most, and the records."""

    sizes: FloatArray
    highest: float
    records: float

    def __add__(self, other: Extent) -> Extent:
        return Extent(self.sizes + other.sizes, self.highest + other.highest, self.records + other.records)

    def targets(self, system: System) -> Targets:
        """What Newton must know of these statements."""
        return Targets(
            rhs=system.rhs,
            inequality=system.inequality,
            scale=np.maximum(1.0, np.maximum(self.sizes, np.abs(system.rhs))),
            ceiling=self.highest + 1e-6 * (1.0 + self.records),
            gap_scale=max(1.0, self.records),
        )


def extent_of(buckets: Buckets, system: System) -> Extent:
    """How large the statements are in some buckets, and the buckets themselves."""
    rows = buckets.row_start[buckets.cell_bucket] + buckets.cell_row
    least = np.full(len(buckets.row_count), np.inf)
    np.minimum.at(least, rows, buckets.cell_weight)
    highest = float(buckets.row_count @ np.log(buckets.row_count / least)) - buckets.records
    return Extent(abs(system.matrix) @ closed_form(buckets), highest, buckets.records)


def targets_of(buckets: Buckets, system: System) -> Targets:
    """What Newton must know of the statements and of the buckets they touch."""
    return extent_of(buckets, system).targets(system)


def _parts(buckets: Buckets, system: System, free: Any, pieces: int) -> list[Part]:
    """The component in as many parts as there are threads."""
    columns = sparse.csr_matrix(system.matrix.T)
    if pieces == 1:
        return [Part(buckets, columns, free)]
    parts, start = [], buckets.variable_start
    for chosen in np.array_split(np.arange(len(buckets)), pieces):
        if len(chosen):
            span = slice(start[chosen[0]], start[chosen[-1] + 1])
            parts.append(Part(buckets.take(chosen), columns[span], free[span]))
    return parts


def _fill_loose(buckets: Buckets, apart: list[Component], open: Any, solved: FloatArray) -> None:
    """Buckets whose statements the presolve has used up: their own scaling, around the zeros."""
    busy = np.concatenate([c.buckets for c in apart]) if apart else np.zeros(0, dtype=np.int64)
    loose = np.setdiff1d(np.arange(len(buckets)), busy)
    if len(loose):
        variables, inner = variables_in(buckets, loose), buckets.take(loose)
        none = sparse.csr_matrix((len(variables), 0))
        part = Part(inner, none, open[variables])
        solved[variables] = bucket_part(part, np.zeros(0), curvature=False).p


def _refusal(buckets: Buckets, system: System, reason: str) -> Exception:
    """The contradiction behind a failure, or that there is none to be found."""
    for component in components(buckets, system, together=1):
        inner, said = component.cut(buckets, system)
        suspicion = _suspicion(inner, said)
        conflict = () if suspicion is None else minimal_conflict(inner, said, suspicion)
        if conflict:
            return ContradictionError(conflict, system.names, possible_ranges(inner, said, conflict))
    return NotConvergedError(f"no maximum-entropy distribution was reached: {reason}; state p ± ε")


def _suspicion(buckets: Buckets, system: System) -> FloatArray | None:
    """How far Newton, left alone, drives each multiplier: those of a contradiction grow without end.

    None if it converges: there is no contradiction.
    """
    part = Part(buckets, sparse.csr_matrix(system.matrix.T), np.ones(buckets.variables, dtype=bool))
    targets = targets_of(buckets, system)
    end = minimise(
        lambda mu: Totals.of([bucket_part(part, mu)]), targets, tolerance=1e-6, max_iterations=SUSPECT_STEPS
    )
    if end.status == "converged":
        return None
    if end.iterations:
        return np.abs(end.mu)
    lower = np.where(targets.inequality, 0.0, -np.inf)
    return np.abs(bounded_minimum(end.totals.moments - targets.rhs, end.totals.schur, lower))


def _checked(solution: Solution, effort: Effort) -> Solution:
    """The solution, if the release's counts and all statements hold in it."""
    if solution.count_residual > COUNT_TOLERANCE or solution.residual > max(1e-7, effort.tolerance):
        raise NotConvergedError(
            f"the distribution misses counts by {solution.count_residual:.1e} and statements by "
            f"{solution.residual:.1e} records"
        )
    return solution
