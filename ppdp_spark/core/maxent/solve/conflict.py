"""Which statements contradict each other: a smallest list that cannot all be true of the release.

Feasibility is linear: with elastic statements, min Σ slack is 0 or the statements conflict, and then
those with a non-zero multiplier already conflict among themselves (Farkas). A deletion filter makes the
list minimal: without any one of them the rest can be true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, floor

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray, IntArray, variables_in
from ppdp_spark.core.maxent.solve.reduced_problem import merged
from ppdp_spark.core.maxent.statements.invariants import count_rows
from ppdp_spark.core.maxent.statements.system import FACT, System
from ppdp_spark.errors import DataError, NotConvergedError

SLACK = 1e-6
MOST_RANGES = 20
"""Statements of a conflict for which it is said what would be possible."""

PRINTED, ROUNDED = 10_000, 1e-5
"""Ranges are printed to four digits after the point, and rounding of the solver does not move their ends."""


Range = tuple[float, float]


class ContradictionError(DataError):
    """Statements that cannot all be true of the release.

    where
        statements  their numbers
        ranges      for each, what its left side may be where the others are true, if that is known
    """

    def __init__(
        self,
        statements: tuple[int, ...],
        names: tuple[str, ...],
        ranges: Mapping[int, Range] | None = None,
    ) -> None:
        self.statements, self.ranges = statements, dict(ranges or {})
        if len(statements) == 1:
            (number,) = statements
            possible = f"; {_spanned(self.ranges[number])} is possible" if number in self.ranges else ""
            super().__init__(
                f"knowledge contradicts the release: {names[number]}: this cannot be true of these buckets"
                f"{possible}"
            )
            return
        listed = "; ".join(names[i] + self._beside_others(i) for i in statements)
        super().__init__(
            f"{len(statements)} statements of the knowledge contradict each other on this release: "
            f"{listed}: without any one of them the others can be true; correct one, or state p ± ε"
        )

    def _beside_others(self, number: int) -> str:
        found = self.ranges.get(number)
        return "" if found is None else f" (beside the others, {_spanned(found)} is possible)"


def _spanned(found: Range) -> str:
    """A range in words, rounded inwards, so that its ends are possible."""
    low, high = (ceil(found[0] * PRINTED - ROUNDED) / PRINTED, floor(found[1] * PRINTED + ROUNDED) / PRINTED)
    if low > high:
        return f"only about {(found[0] + found[1]) / 2:.6g}"
    return f"only {low:g}" if low == high else f"{low:g} to {high:g}"


def possible_ranges(buckets: Buckets, system: System, statements: tuple[int, ...]) -> dict[int, Range]:
    """For each of some statements, the least and the largest left side where the others are true.

    Two linear programs for each; statements for which they do not end well are left out.
    """
    found = {}
    for statement in statements[:MOST_RANGES]:
        others = np.array([each for each in statements if each != statement], dtype=np.int64)
        possible = _range(buckets, system, statement, others)
        if possible is not None:
            found[statement] = possible
    return found


def _range(buckets: Buckets, system: System, statement: int, others: IntArray) -> Range | None:
    wanted = np.isin(system.owner, [statement, *others]) | (system.owner == FACT)
    rows, local = _restricted(buckets, system.rows(np.flatnonzero(wanted)))
    local, rows = merged(local, rows)
    first = int(np.flatnonzero(rows.owner == statement)[0])
    if not rows.matrix[first].nnz:
        return 0.0, 0.0
    given = rows.rows(np.flatnonzero(rows.owner != statement))
    surplus = sparse.diags(given.inequality.astype(float)) @ sparse.eye(len(given))
    equal = sparse.vstack(
        [
            sparse.hstack([count_rows(local), sparse.csr_matrix((_rows_of(local), len(given)))]),
            sparse.hstack([given.matrix, -surplus]),
        ]
    )
    right = np.concatenate([local.row_count, local.value_count, given.rhs])
    left = np.concatenate([rows.matrix[first].toarray().ravel(), np.zeros(len(given))]) / rows.factor[first]
    ends = []
    for sign in (1.0, -1.0):
        solved = linprog(sign * left, A_eq=equal.tocsc(), b_eq=right, bounds=(0, None), method="highs")
        if solved.status != 0:
            return None
        ends.append(sign * float(solved.fun))
    return ends[0], ends[1]


def minimal_conflict(
    buckets: Buckets, system: System, suspicion: FloatArray | None = None
) -> tuple[int, ...]:
    """Numbers of statements that conflict, none of which can be left out; empty if all can be true.

    `suspicion`, one number a row, only saves time: the most suspect statements are tried first, in sets
    of doubling size, because a few statements make a small linear program.
    """
    for statements in doubling(system, suspicion):
        needed = _conflicting(buckets, system, statements)
        if needed is None:
            continue
        for statement in needed[::-1]:
            if statement in needed:
                fewer = _conflicting(buckets, system, needed[needed != statement])
                needed = needed if fewer is None else fewer
        return tuple(int(i) for i in np.sort(needed))
    return ()


def doubling(system: System, suspicion: FloatArray | None) -> list[IntArray]:
    """The 1, 2, 4, … most suspect statements, then all."""
    every = np.unique(system.owner[system.owner != FACT])
    if suspicion is None or not len(every):
        return [every]
    strength = np.zeros(int(every.max()) + 1)
    stated = system.owner != FACT
    np.maximum.at(strength, system.owner[stated], suspicion[stated])
    order = every[np.argsort(-strength[every], kind="stable")]
    sizes = 2 ** np.arange(int(np.ceil(np.log2(len(order)))) + 1)
    return [order[:size] for size in sizes]


def _conflicting(buckets: Buckets, system: System, statements: IntArray) -> IntArray | None:
    """A subset of some statements that already conflicts, from the multipliers of the elastic problem."""
    rows = system.rows(np.flatnonzero(np.isin(system.owner, statements) | (system.owner == FACT)))
    if not len(statements):
        return None
    rows, local = _restricted(buckets, rows)
    local, rows = merged(local, rows)
    elastic = rows.owner != FACT
    count, variables = int(elastic.sum()), rows.matrix.shape[1]
    signs = sparse.csr_matrix(np.eye(len(rows))[:, elastic])
    surplus = sparse.diags(rows.inequality.astype(float)) @ sparse.eye(len(rows))
    equal = sparse.vstack(
        [
            sparse.hstack([count_rows(local), sparse.csr_matrix((_rows_of(local), 2 * count + len(rows)))]),
            sparse.hstack([rows.matrix, signs, -signs, -surplus]),
        ]
    )
    right = np.concatenate([local.row_count, local.value_count, rows.rhs])
    cost = np.concatenate([np.zeros(variables), np.ones(2 * count), np.zeros(len(rows))])
    found = linprog(cost, A_eq=equal.tocsc(), b_eq=right, bounds=(0, None), method="highs")
    if found.status != 0:
        raise NotConvergedError(f"the linear program for contradictions ended with: {found.message}")
    if found.fun <= SLACK:
        return None
    price = np.abs(found.eqlin.marginals[_rows_of(local) :])
    used = np.unique(rows.owner[elastic & (price > 1e-9)])
    return used if 0 < len(used) < len(statements) else statements


def _restricted(buckets: Buckets, rows: System) -> tuple[System, Buckets]:
    """The rows over the buckets they touch only."""
    touched = np.unique(np.searchsorted(buckets.variable_start, rows.matrix.indices, side="right") - 1)
    matrix = rows.matrix[:, variables_in(buckets, touched)]
    return replace(rows, matrix=matrix), buckets.take(touched)


def _rows_of(buckets: Buckets) -> int:
    return len(buckets.row_count) + len(buckets.value_count)
