"""The pairwise swap bound, from the priors of every signature: beside the bound that decides, a second one.

For t_a with f_a(x) > 0 and any t_j, exchanging their values keeps at least the share

    w_j = f_j(x)/f_a(x) · min of f_a(y)/f_j(y) over the other values y of the group,

so p(t_a : x) <= c / (c + sum of the N − c smallest w_j over j ≠ a). The bound from minima and maxima
takes each exchange for what it is instead of the worst one with t_j: neither is always smaller.

Zeros: a y with f_j(y) = 0 is left out of the minimum, since worlds with t_j : y have no weight; if none is
left, t_j has x in every world with t_a : x, and w_j is infinite. f_a(x) = 0 makes the posterior 0. Both
presume that some world has weight; a group without one contradicts its priors, has no posterior, and gets
the bound 1.
Ratios are differences of logarithms: priors down to the smallest float neither overflow nor vanish.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from ppdp_spark.core.criteria.robustness.signed_groups import SignatureGroups
from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray


def pairwise_swap_bound(groups: SignatureGroups) -> FloatArray:
    """The bound on the joint posteriors of every value, over all people of a group; shape (groups, values).

    Values a group lacks have bound 0. The cost grows with the square of a group's signatures.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(groups.priors)
    bounds = _pairwise_bounds(groups.offsets, groups.people, logs, groups.counts)
    impossible = contradicted(groups)
    bounds[impossible] = groups.counts[impossible] > 0
    return np.asarray(bounds)


def contradicted(groups: SignatureGroups) -> BoolArray:
    """Whether no assignment of a group's values to its people has any weight under the priors.

    Only zeros can cause it. People flow to values that are possible for them; a group is contradicted if
    its people cannot all flow [Hall 1935]. One maximum flow decides all groups that have zeros.
    """
    group = np.repeat(np.arange(len(groups)), np.diff(groups.offsets))
    zero = ((groups.priors == 0) & (groups.counts[group] > 0)).any(axis=1)
    doubtful = np.zeros(len(groups), dtype=np.bool_)
    doubtful[group[zero]] = True
    rows = np.flatnonzero(doubtful[group])
    out = np.zeros(len(groups), dtype=np.bool_)
    if len(rows):
        placed = _placed_people(groups, rows, group[rows])
        out[group[rows][placed < groups.people[rows]]] = True
    return out


def _placed_people(groups: SignatureGroups, rows: IntArray, group: IntArray) -> IntArray:
    """How many people of the given rows a maximum flow places on values that are possible for them."""
    numbers, local = np.unique(group, return_inverse=True)
    width = groups.counts.shape[1]
    signature = 1 + np.arange(len(rows))
    row, value = np.nonzero((groups.priors[rows] > 0) & (groups.counts[group] > 0))
    owner, held = np.nonzero(groups.counts[numbers])
    first_value, sink = 1 + len(rows), 1 + len(rows) + len(numbers) * width
    tails = np.concatenate([np.zeros_like(signature), 1 + row, first_value + owner * width + held])
    heads = np.concatenate([signature, first_value + local[row] * width + value, np.full(len(owner), sink)])
    occurrences = groups.counts[numbers[owner], held]
    capacity = np.concatenate([groups.people[rows], groups.people[rows][row], occurrences])
    graph = csr_matrix((capacity.astype(np.int32), (tails, heads)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(graph, 0, sink).flow
    return np.asarray(flow[[0], :].toarray().ravel()[signature])


@njit(cache=True, nogil=True)
def _pairwise_bounds(offsets: Any, people: Any, logs: Any, counts: Any) -> Any:
    groups, width = counts.shape
    bounds = np.zeros((groups, width))
    for g in range(groups):
        first, last = offsets[g], offsets[g + 1]
        values = np.flatnonzero(counts[g])
        size = counts[g].sum()
        kept = np.empty((values.size, last - first))
        number = people[first:last].copy()
        for a in range(first, last):
            for j in range(first, last):
                _kept_shares(logs[a], logs[j], values, kept[:, j - first])
            number[a - first] -= 1
            for v in range(values.size):
                c = counts[g, values[v]]
                if logs[a, values[v]] > -np.inf:
                    total = _smallest_sum(kept[v], number, size - c)
                    bounds[g, values[v]] = max(bounds[g, values[v]], c / (c + total))
            number[a - first] += 1
    return bounds


@njit(cache=True, nogil=True)
def _kept_shares(mine: Any, theirs: Any, values: Any, out: Any) -> None:
    """w_j of every value of the group, from log priors of t_a (`mine`) and of t_j (`theirs`)."""
    lowest, second, where = np.inf, np.inf, -1
    for v in range(values.size):
        if theirs[values[v]] > -np.inf:
            ratio = mine[values[v]] - theirs[values[v]]
            if ratio < lowest:
                lowest, second, where = ratio, lowest, v
            elif ratio < second:
                second = ratio
    for v in range(values.size):
        x = values[v]
        other = second if v == where else lowest
        if mine[x] == -np.inf or theirs[x] == -np.inf or other == -np.inf:
            out[v] = 0.0
        else:
            out[v] = np.exp(theirs[x] - mine[x] + other)


@njit(cache=True, nogil=True)
def _smallest_sum(shares: Any, number: Any, wanted: Any) -> Any:
    """The sum of the `wanted` smallest shares, the i-th share occurring number[i] times."""
    total = 0.0
    for i in np.argsort(shares):
        taken = min(number[i], wanted)
        if taken > 0:
            total += taken * shares[i]
            wanted -= taken
    return total
