"""One portion of the buckets and what an executor computes on it; every task is a small picklable value.

Portions number the statements alike, so that what tasks return adds up over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray, IntArray
from ppdp_spark.core.maxent.solve.components import Component, touched_buckets
from ppdp_spark.core.maxent.solve.passes import Part, PartValue, bucket_part
from ppdp_spark.core.maxent.solve.presolve import (
    activity,
    count_bounds,
    reach,
    tighten_by_counts,
    tighten_by_statements,
)
from ppdp_spark.core.maxent.solve.reduced_problem import merged
from ppdp_spark.core.maxent.solve.solver import Extent, extent_of
from ppdp_spark.core.maxent.statements.invariants import count_miss
from ppdp_spark.core.maxent.statements.system import FACT, System

Room = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Portion:
    """Some buckets with the rows of all statements over them.

    where
        columns  statements that Newton moves, by variable
        open     variables not forced to zero
    """

    buckets: Buckets
    system: System
    columns: sparse.csr_matrix
    open: NDArray[np.bool_]

    @classmethod
    def of(cls, buckets: Buckets, system: System) -> Portion:
        free = np.ones(buckets.variables, dtype=bool)
        return cls(buckets, system, sparse.csr_matrix(system.matrix.T), free)

    def value(self, mu: FloatArray, *, curvature: bool) -> PartValue:
        return bucket_part(Part(self.buckets, self.columns, self.open), mu, curvature=curvature)

    def masses(self, mu: FloatArray) -> FloatArray:
        """Expected records of every variable at these multipliers."""
        return self.value(mu, curvature=False).p


@dataclass(frozen=True)
class Measure:
    """How large the statements are here."""

    def __call__(self, portion: Portion) -> Extent:
        return extent_of(portion.buckets, portion.system)


@dataclass(frozen=True, eq=False)
class Turn:
    """The reach of the statements after the turns so far, replayed: a portion keeps no bounds.

    Returns the least and the largest K x, whether the last turn changed a bound, and whether a bucket
    has become impossible.
    """

    history: tuple[Room, ...]

    def __call__(self, portion: Portion) -> tuple[FloatArray, FloatArray, bool, bool]:
        lower, upper, changed, possible = self.bounds(portion)
        return (*activity(portion.system.matrix, lower, upper), changed, not possible)

    def bounds(self, portion: Portion) -> tuple[FloatArray, FloatArray, bool, bool]:
        lower, upper = count_bounds(portion.buckets)
        columns, changed = sparse.csr_matrix(portion.system.matrix.T), True
        for room in self.history:
            changed = tighten_by_statements(columns, *room, lower, upper)
            if tighten_by_counts(portion.buckets, lower, upper) < 0:
                return lower, upper, changed, False
        return lower, upper, changed, True


@dataclass(frozen=True, eq=False)
class Close:
    """The portion with the variables closed that the turns force to zero."""

    history: tuple[Room, ...]

    def __call__(self, portion: Portion) -> Portion:
        _, upper, _, _ = Turn(self.history).bounds(portion)
        return replace(portion, open=upper > 0.0)


@dataclass(frozen=True)
class Reach:
    """What counts and zeros alone leave of the statements, and how many variables are closed."""

    def __call__(self, portion: Portion) -> tuple[FloatArray, FloatArray, int]:
        low, high = reach(portion.buckets, portion.system, portion.open)
        return low, high, int((~portion.open).sum())


@dataclass(frozen=True, eq=False)
class Keep:
    """The portion with these statements for Newton to move."""

    rows: IntArray

    def __call__(self, portion: Portion) -> Portion:
        return replace(portion, columns=sparse.csr_matrix(portion.system.matrix[self.rows].T))


@dataclass(frozen=True, eq=False)
class Pass:
    """One pass of Newton: the portion's part of objective, moments and Schur matrix."""

    mu: FloatArray

    def __call__(self, portion: Portion) -> PartValue:
        return replace(portion.value(self.mu, curvature=True), p=np.zeros(0))


@dataclass(frozen=True, eq=False)
class Audit:
    """What the masses give for every statement, the size of that, and the largest miss of a count."""

    mu: FloatArray

    def __call__(self, portion: Portion) -> tuple[FloatArray, FloatArray, float]:
        x, matrix = portion.masses(self.mu), portion.system.matrix
        return matrix @ x, abs(matrix) @ x, count_miss(portion.buckets, x)


@dataclass(frozen=True, eq=False)
class Reduce:
    """A small problem with the same answers on whether these statements can be true."""

    statements: IntArray

    def __call__(self, portion: Portion) -> tuple[Buckets, System]:
        owner = portion.system.owner
        rows = np.flatnonzero(np.isin(owner, self.statements) | (owner == FACT))
        touched = np.unique(touched_buckets(portion.buckets, portion.system.matrix[rows]))
        return merged(*Component(rows, touched).cut(portion.buckets, portion.system))


def together(parts: Sequence[tuple[Buckets, System]]) -> tuple[Buckets, System]:
    """Problems over disjoint buckets, which number the statements alike, as one."""
    buckets, systems = [b for b, _ in parts], [s for _, s in parts]

    def starts(name: str) -> IntArray:
        lengths = [np.diff(getattr(b, name)) for b in buckets]
        first: IntArray = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
        return first

    def joined(name: str) -> Any:
        return np.concatenate([getattr(b, name) for b in buckets])

    sums: dict[str, Any] = {name: starts(name) for name in ("cell_start", "row_start", "value_start")}
    flat = ("cell_qi", "cell_row", "cell_person", "cell_weight", "row_count", "value_code", "value_count")
    whole = Buckets(ids=np.arange(sum(map(len, buckets))), **sums, **{name: joined(name) for name in flat})
    matrix = sparse.csr_matrix(sparse.hstack([s.matrix for s in systems]))
    return whole, replace(systems[0], matrix=matrix)
