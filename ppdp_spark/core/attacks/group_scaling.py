"""Weights scaled to the counts of groups: who has which value, where values suit people unevenly.

Inside a group the expected records x(cell, value) add up to the people of each cell and to the count of each
value. Of all such x the one nearest to the weights w is taken,

    min Σ x log (x / w),

which is x = w · u(cell) · v(value): the problem of maximum entropy [MaxEnt, Def 3.1] with w as its prior.
Alternating scaling (Sinkhorn) has the same limit and crawls where somebody is almost certain; here it only
starts the Newton steps of the solver.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray
from ppdp_spark.core.maxent.solve.bucket_steps import solve_bucket
from ppdp_spark.core.maxent.statements.rows import people_of_cells


def scaled(buckets: Buckets, log_weights: FloatArray) -> tuple[FloatArray, float, float]:
    """The masses of all variables, max (Σ x log w − Σ x log x), and the largest miss of a count.

    A miss is a share of the group's people, and infinite where there is no number.

    `log_weights` has log w of each variable. Cells that share a row share its people evenly, as without
    any weights: which of them are in the group is not inferred.
    """
    masses = np.zeros(buckets.variables)
    objective, residual = _scale(
        (buckets.cell_start, buckets.value_start, buckets.variable_start),
        people_of_cells(buckets),
        buckets.value_count,
        np.ascontiguousarray(log_weights, dtype=np.float64),
        masses,
    )
    return masses, objective - buckets.records, residual


@njit(cache=True, nogil=True)
def _scale(starts: Any, people: Any, counts: Any, log_weights: Any, masses: Any) -> Any:
    """Fill `masses` group by group; the sum of the dual objectives and the largest miss."""
    cell_start, value_start, variable_start = starts
    objective, worst = 0.0, 0.0
    for b in range(cell_start.size - 1):
        cells = cell_start[b + 1] - cell_start[b]
        values = value_start[b + 1] - value_start[b]
        first, last = variable_start[b], variable_start[b + 1]
        theta = log_weights[first:last].copy().reshape((cells, values))
        block = np.zeros((cells, values))
        value, residual = solve_bucket(
            theta,
            np.arange(cells),
            people[cell_start[b] : cell_start[b + 1]],
            counts[value_start[b] : value_start[b + 1]],
            block,
        )
        masses[first:last] = block.reshape(cells * values)
        objective += value
        missed = residual / counts[value_start[b] : value_start[b + 1]].sum()
        worst = max(worst, missed if missed >= 0.0 else np.inf)
    return objective, worst
