"""Zeros and forced values, propagated to a fixed point before anything is solved.

A forced zero puts the optimum of the dual at infinity, so it is taken out. Bounds l ≤ x ≤ u start from
the counts of a bucket and are tightened by its rows and values and by the statements, in turns; a
variable whose u is 0 is closed. Every turn is sound, so stopping early loses speed, not correctness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray
from ppdp_spark.core.maxent.statements.system import System

TURNS = 40
ROUNDING = 1e-11
MISS = 1e-7


@dataclass(frozen=True, eq=False)
class VariableBounds:
    """What the counts and the statements say of each variable by propagation alone.

    where
        lower, upper  bounds in records
        impossible    a statement or a bucket is already seen to be violated
    """

    lower: FloatArray
    upper: FloatArray
    impossible: bool

    @property
    def open(self) -> NDArray[np.bool_]:
        return np.asarray(self.upper > 0.0)


def propagated(buckets: Buckets, system: System) -> VariableBounds:
    """Bounds at the fixed point, or after `TURNS` turns."""
    lower, upper = count_bounds(buckets)
    matrix, columns = system.matrix, sparse.csr_matrix(system.matrix.T)
    for _ in range(TURNS):
        room = slack(system.rhs, system.inequality, *activity(matrix, lower, upper))
        if room is None:
            return VariableBounds(lower, upper, impossible=True)
        changed = tighten_by_statements(columns, *room, lower, upper)
        status = tighten_by_counts(buckets, lower, upper)
        if status < 0:
            return VariableBounds(lower, upper, impossible=True)
        if not changed:
            break
    return VariableBounds(lower, upper, impossible=False)


def slack(
    rhs: FloatArray, inequality: NDArray[np.bool_], low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """How far each statement may rise above its least value and fall below its largest.

    None if one is violated whatever happens.
    """
    scale = MISS * np.maximum(1.0, np.abs(rhs))
    if ((high < rhs - scale) | (~inequality & (low > rhs + scale))).any():
        return None
    return np.where(inequality, np.inf, _cleaned(rhs - low, rhs)), _cleaned(high - rhs, rhs)


def undecided(buckets: Buckets, system: System, open: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows that the counts and the zeros do not decide by themselves."""
    return left_open(system.rhs, system.inequality, *reach(buckets, system, open))


def reach(buckets: Buckets, system: System, open: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest K x that counts and zeros allow.

    The bounds at the fixed point must not be used here: a statement is part of what made them.
    """
    lower, upper = np.zeros(buckets.variables), np.where(open, np.inf, 0.0)
    tighten_by_counts(buckets, lower, upper)
    return activity(system.matrix, lower, upper)


def left_open(
    rhs: FloatArray, inequality: NDArray[np.bool_], low: FloatArray, high: FloatArray
) -> NDArray[np.bool_]:
    """Rows whose value is not settled by their reach."""
    surely = inequality & (low >= rhs)
    return ~surely & (high - low > ROUNDING * np.maximum(1.0, np.abs(rhs)))


def count_bounds(buckets: Buckets) -> tuple[FloatArray, FloatArray]:
    """Bounds from the counts of each bucket alone."""
    lower, upper = np.zeros(buckets.variables), np.full(buckets.variables, np.inf)
    tighten_by_counts(buckets, lower, upper)
    return lower, upper


def activity(matrix: Any, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest K x within the bounds; over disjoint buckets they add up."""
    positive, negative = matrix.maximum(0), matrix.minimum(0)
    return positive @ lower + negative @ upper, positive @ upper + negative @ lower


def tighten_by_statements(
    columns: Any, above: FloatArray, below: FloatArray, lower: FloatArray, upper: FloatArray
) -> bool:
    """Tighten in place, given how far each statement may still move; needs nothing else of other buckets.

    `above` and `below`: how far its activity may rise above its least value, and fall below its largest.
    """
    return bool(_by_statements(columns.indptr, columns.indices, columns.data, above, below, lower, upper))


def tighten_by_counts(buckets: Buckets, lower: FloatArray, upper: FloatArray) -> int:
    """Tighten in place by each bucket's rows and values; −1 if a bucket cannot be filled."""
    starts = (buckets.cell_start, buckets.row_start, buckets.value_start, buckets.variable_start)
    return int(_by_counts(starts, buckets.cell_row, buckets.row_count, buckets.value_count, lower, upper))


def _cleaned(slack: FloatArray, rhs: FloatArray) -> FloatArray:
    """Slack with rounding removed: it decides whether a bound is zero."""
    return np.where(slack <= ROUNDING * np.maximum(1.0, np.abs(rhs)), 0.0, slack)


@njit(cache=True, nogil=True)
def _narrow(v: int, low: float, high: float, lower: Any, upper: Any) -> bool:
    """Set better bounds of one variable; tells whether they are worth another turn."""
    changed = False
    if high < upper[v] - 1e-9:
        upper[v], changed = max(high, 0.0), True
    if upper[v] <= 1e-11:
        changed = changed or upper[v] > 0.0
        upper[v] = 0.0
    if low > lower[v] + 1e-9:
        lower[v], changed = low, True
    return changed


@njit(cache=True, nogil=True)
def _by_statements(
    first: Any, statement: Any, weight: Any, above: Any, below: Any, lower: Any, upper: Any
) -> bool:
    changed = False
    for v in range(first.size - 1):
        low, high = lower[v], upper[v]
        for at in range(first[v], first[v + 1]):
            c, k = weight[at], statement[at]
            if c > 0:
                high, low = min(high, lower[v] + above[k] / c), max(low, upper[v] - below[k] / c)
            else:
                high, low = min(high, lower[v] - below[k] / c), max(low, upper[v] + above[k] / c)
        changed |= _narrow(v, low, high, lower, upper)
    return changed


@njit(cache=True, nogil=True)
def _sums(cells: int, values: int, row_of: Any, v: int, bound: Any, by_row: Any, by_value: Any) -> None:
    by_row[:], by_value[:] = 0.0, 0.0
    for i in range(cells):
        for j in range(values):
            by_row[row_of[i]] += bound[v + i * values + j]
            by_value[j] += bound[v + i * values + j]


@njit(cache=True, nogil=True)
def _by_counts(starts: Any, cell_row: Any, row_count: Any, value_count: Any, lower: Any, upper: Any) -> int:
    cell_start, row_start, value_start, variable_start = starts
    for b in range(cell_start.size - 1):
        row_of, v = cell_row[cell_start[b] : cell_start[b + 1]], variable_start[b]
        rows, counts = (
            row_count[row_start[b] : row_start[b + 1]],
            value_count[value_start[b] : value_start[b + 1]],
        )
        if not _bucket_tight(row_of, rows, counts, v, lower, upper):
            return -1
    return 0


@njit(cache=True, nogil=True)
def _bucket_tight(row_of: Any, rows: Any, counts: Any, v: int, lower: Any, upper: Any) -> bool:
    """Tighten one bucket to its own fixed point; False if its counts cannot be met."""
    cells, values, miss = row_of.size, counts.size, 1e-7 * max(1.0, counts.sum())
    low_row, high_row = np.empty(rows.size), np.empty(rows.size)
    low_value, high_value = np.empty(values), np.empty(values)
    for _ in range(40):
        _sums(cells, values, row_of, v, lower, low_row, low_value)
        _sums(cells, values, row_of, v, upper, high_row, high_value)
        if (low_row > rows + miss).any() or (high_row < rows - miss).any():
            return False
        if (low_value > counts + miss).any() or (high_value < counts - miss).any():
            return False
        changed = False
        for i in range(cells):
            r = row_of[i]
            for j in range(values):
                at = v + i * values + j
                high = min(lower[at] + rows[r] - low_row[r], lower[at] + counts[j] - low_value[j])
                low = lower[at]
                if upper[at] < np.inf:
                    low = max(
                        low, upper[at] - (high_row[r] - rows[r]), upper[at] - (high_value[j] - counts[j])
                    )
                changed |= _narrow(at, low, high, lower, upper)
        if not changed:
            break
    return True
