"""Compiled loops over buckets: solve each bucket for given multipliers, and its part of the outer step.

Inside a bucket, p = w · exp(θ + λ_row + λ_value), with θ = Kᵀμ given, must meet the bucket's counts: a
matrix scaling problem. Its Newton matrix, with the rows eliminated, is the Laplacian of a graph on the
bucket's values with weights L_jj' = Σ_r X_rj X_rj' / R_r. A Laplacian is eliminated without subtractions
(the diagonal is the sum of what is left), so that probabilities near zero keep their digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

INNER_STEPS = 80
INNER_TOLERANCE = 1e-12
SWEEPS = 2
DISCONNECTED = 1e-18
SMALLEST = 1e-290
ROUNDING = 1e-14
LONGEST_STEP = 8.0
HALVINGS = 40


@njit(cache=True, nogil=True)
def eliminate(graph: Any, floor: float) -> Any:
    """Unit lower factor and pivots of a Laplacian given by its weights; pivot 0 grounds a component."""
    nodes = graph.shape[0]
    factor, pivots = np.zeros((nodes, nodes)), np.zeros(nodes)
    for j in range(nodes):
        degree = 0.0
        for a in range(j + 1, nodes):
            degree += graph[a, j]
        if degree <= floor:
            continue
        pivots[j] = degree
        for a in range(j + 1, nodes):
            factor[a, j] = graph[a, j] / degree
        for a in range(j + 1, nodes):
            for b in range(j + 1, a):
                graph[a, b] += factor[a, j] * graph[b, j]
    return factor, pivots


@njit(cache=True, nogil=True)
def substitute(factor: Any, pivots: Any, right: Any, noise: float) -> None:
    """Solve the factored Laplacian system in place; grounded nodes get 0.

    Parts of the graph that are all but disconnected would ask for enormous steps. With `noise` > 0 each
    pivot's own step is cut to `LONGEST_STEP`, and dropped if it only answers to rounding: the result is
    then still a descent direction, as if those pivots were larger.
    """
    nodes = pivots.size
    for j in range(nodes):
        for a in range(j + 1, nodes):
            right[a] += factor[a, j] * right[j]
    for j in range(nodes - 1, -1, -1):
        if pivots[j] == 0.0:
            right[j] = 0.0
            continue
        if noise > 0.0 and abs(right[j]) > LONGEST_STEP * pivots[j]:
            right[j] = np.sign(right[j]) * LONGEST_STEP if abs(right[j]) > noise else 0.0
        else:
            right[j] /= pivots[j]
        for a in range(j + 1, nodes):
            right[j] += factor[a, j] * right[a]


@njit(cache=True, nogil=True)
def joint(shape: Any, rows: Any, row_of: Any, p: Any) -> Any:
    """X: mass of each (row, value), from the mass of each (cell, value)."""
    x = np.zeros((rows, shape[1]))
    for i in range(shape[0]):
        for j in range(shape[1]):
            x[row_of[i], j] += p[i, j]
    return x


@njit(cache=True, nogil=True)
def value_graph(x: Any, totals: Any) -> Any:
    """L_jj' = Σ_r X_rj X_rj' / R_r, lower triangle."""
    rows, values = x.shape
    graph = np.zeros((values, values))
    for r in range(rows):
        if totals[r] <= 0.0:
            continue
        for a in range(values):
            share = x[r, a] / totals[r]
            for b in range(a):
                graph[a, b] += share * x[r, b]
    return graph


@njit(cache=True, nogil=True)
def _log_sum(theta: Any, row_of: Any, offset: Any, by_row: bool, size: int) -> Any:
    """log Σ exp(θ + offset) over each row, or over each value."""
    top, total = np.full(size, -np.inf), np.zeros(size)
    for i in range(theta.shape[0]):
        for j in range(theta.shape[1]):
            at = row_of[i] if by_row else j
            top[at] = max(top[at], theta[i, j] + (offset[j] if by_row else offset[row_of[i]]))
    for i in range(theta.shape[0]):
        for j in range(theta.shape[1]):
            at = row_of[i] if by_row else j
            if top[at] > -np.inf:
                total[at] += np.exp(theta[i, j] + (offset[j] if by_row else offset[row_of[i]]) - top[at])
    for at in range(size):
        top[at] = top[at] + np.log(total[at]) if total[at] > 0.0 else 0.0
    return top


@njit(cache=True, nogil=True)
def _masses(theta: Any, row_of: Any, by_row: Any, by_value: Any, p: Any) -> float:
    total = 0.0
    for i in range(theta.shape[0]):
        for j in range(theta.shape[1]):
            p[i, j] = np.exp(min(theta[i, j] + by_row[row_of[i]] + by_value[j], 600.0))
            total += p[i, j]
    return total


@njit(cache=True, nogil=True)
def _direction(x: Any, totals: Any, miss_row: Any, miss_value: Any, size: float) -> None:
    """Newton direction for the multipliers, written over the residuals."""
    rows, values = x.shape
    for r in range(rows):
        if totals[r] > 0.0:
            for j in range(values):
                miss_value[j] -= x[r, j] / totals[r] * miss_row[r]
    factor, pivots = eliminate(value_graph(x, totals), SMALLEST)
    substitute(factor, pivots, miss_value, ROUNDING * size)
    for r in range(rows):
        for j in range(values):
            miss_row[r] -= x[r, j] * miss_value[j]
        miss_row[r] = miss_row[r] / totals[r] if totals[r] > 0.0 else 0.0


@njit(cache=True, nogil=True)
def solve_bucket(theta: Any, row_of: Any, row_target: Any, value_target: Any, p: Any) -> Any:
    """Scale exp(θ) to the bucket's counts by damped Newton; returns the dual objective and the residual.

    θ carries log w; −∞ stands for a forced zero. p is the result. The objective is Σ p − λ · counts.
    """
    rows, values = row_target.size, value_target.size
    by_row, by_value = np.zeros(rows), np.zeros(values)
    size = value_target.sum()
    for _ in range(SWEEPS):
        by_row = np.log(row_target) - _log_sum(theta, row_of, by_value, True, rows)
        by_value = np.log(value_target) - _log_sum(theta, row_of, by_row, False, values)
    linear = (by_row * row_target).sum() + (by_value * value_target).sum()
    value = _masses(theta, row_of, by_row, by_value, p) - linear
    residual = np.inf
    trial_p = np.empty_like(p)
    for _ in range(INNER_STEPS):
        x = joint(theta.shape, rows, row_of, p)
        totals = x.sum(axis=1)
        step_row, step_value = row_target - totals, value_target - x.sum(axis=0)
        miss_row, miss_value = step_row.copy(), step_value.copy()
        residual = max(np.abs(miss_row).max(), np.abs(miss_value).max())
        if residual <= INNER_TOLERANCE * size:
            break
        _direction(x, totals, step_row, step_value, size)
        decrease = (miss_row * step_row).sum() + (miss_value * step_value).sum()
        t = 1.0
        accepted = False
        for _ in range(HALVINGS):
            trial_row, trial_value = by_row + t * step_row, by_value + t * step_value
            linear = (trial_row * row_target).sum() + (trial_value * value_target).sum()
            trial = _masses(theta, row_of, trial_row, trial_value, trial_p) - linear
            if trial <= value - 1e-4 * t * decrease + 1e-13 * (abs(value) + size):
                accepted = True
                break
            t *= 0.5
        if not accepted:
            break
        by_row, by_value, value = trial_row, trial_value, trial
        p[:] = trial_p
    return value, residual


@njit(cache=True, nogil=True)
def solve_buckets(
    starts: Any, amounts: Any, columns: Any, free: Any, mu: Any, p: Any, schur: Any, curvature: bool
) -> Any:
    """Maximize entropy in every bucket under the multipliers `mu` of the statements.

    Fills `p`, and adds to `schur` if the curvature is wanted.
    """
    cell_start, row_start, value_start, variable_start = starts
    cell_row, log_weight, row_count, value_count = amounts
    first, statement, coefficient = columns
    objective, worst = 0.0, 0.0
    for b in range(cell_start.size - 1):
        cells = cell_start[b + 1] - cell_start[b]
        values = value_start[b + 1] - value_start[b]
        row_of = cell_row[cell_start[b] : cell_start[b + 1]]
        rows, counts = (
            row_count[row_start[b] : row_start[b + 1]],
            value_count[value_start[b] : value_start[b + 1]],
        )
        theta = np.empty((cells, values))
        v = variable_start[b]
        for i in range(cells):
            for j in range(values):
                theta[i, j] = log_weight[cell_start[b] + i] if free[v] else -np.inf
                for at in range(first[v], first[v + 1]):
                    theta[i, j] += coefficient[at] * mu[statement[at]]
                v += 1
        block = np.zeros((cells, values))
        value, residual = solve_bucket(theta, row_of, rows, counts, block)
        objective += value
        worst = max(worst, residual)
        v = variable_start[b]
        p[v : v + cells * values] = block.reshape(cells * values)
        if curvature:
            _add_schur(block, row_of, rows.size, v, columns, schur)
    return objective, worst


@njit(cache=True, nogil=True)
def _by_statement(v: int, size: int, columns: Any) -> Any:
    """The bucket's entries of K grouped by statement: ids, first entry of each, variable, coefficient."""
    first, statement, coefficient = columns
    low, high = first[v], first[v + size]
    order = np.argsort(statement[low:high], kind="mergesort")
    ids, begin = np.empty(high - low, np.int64), np.empty(high - low + 1, np.int64)
    variable, weight = np.empty(high - low, np.int64), np.empty(high - low)
    owner = np.empty(high - low, np.int64)
    for a in range(size):
        owner[first[v + a] - low : first[v + a + 1] - low] = a
    found = 0
    for position in range(high - low):
        entry = order[position]
        if position == 0 or statement[low + entry] != ids[found - 1]:
            ids[found], begin[found] = statement[low + entry], position
            found += 1
        variable[position], weight[position] = owner[entry], coefficient[low + entry]
    begin[found] = high - low
    return ids[:found], begin[: found + 1], variable, weight


@njit(cache=True, nogil=True)
def _answer(push: Any, p: Any, row_of: Any, x: Any, totals: Any, factored: Any) -> None:
    """M · push, in place: how the masses answer to a push on θ while the bucket's counts hold.

    M = P − P Aᵀ (A P Aᵀ)⁺ A P, so the answer is p (push − its mean in the row − y_value + mean of y in the
    row), where y solves the Laplacian system for what the first two leave of each value's total.
    """
    cells, values = p.shape
    by_row, by_value = np.zeros(x.shape[0]), np.zeros(values)
    for i in range(cells):
        for j in range(values):
            by_row[row_of[i]] += p[i, j] * push[i * values + j]
            by_value[j] += p[i, j] * push[i * values + j]
    for r in range(x.shape[0]):
        by_row[r] = by_row[r] / totals[r] if totals[r] > 0.0 else 0.0
        for j in range(values):
            by_value[j] -= x[r, j] * by_row[r]
    substitute(factored[0], factored[1], by_value, 0.0)
    for r in range(x.shape[0]):
        for j in range(values):
            by_row[r] -= x[r, j] * by_value[j] / totals[r] if totals[r] > 0.0 else 0.0
    for i in range(cells):
        for j in range(values):
            push[i * values + j] = p[i, j] * (push[i * values + j] - by_row[row_of[i]] - by_value[j])


@njit(cache=True, nogil=True)
def _add_schur(p: Any, row_of: Any, rows: int, v: int, columns: Any, schur: Any) -> None:
    """Add K_b M_b K_bᵀ to the lower triangle of `schur`."""
    ids, begin, variable, weight = _by_statement(v, p.size, columns)
    if ids.size == 0:
        return
    x = joint(p.shape, rows, row_of, p)
    totals = x.sum(axis=1)
    factored = eliminate(value_graph(x, totals), DISCONNECTED * totals.sum())
    push = np.empty(p.size)
    for k in range(ids.size):
        push[:] = 0.0
        for at in range(begin[k], begin[k + 1]):
            push[variable[at]] += weight[at]
        _answer(push, p, row_of, x, totals, factored)
        for other in range(k + 1):
            total = 0.0
            for at in range(begin[other], begin[other + 1]):
                total += weight[at] * push[variable[at]]
            schur[ids[k], ids[other]] += total
