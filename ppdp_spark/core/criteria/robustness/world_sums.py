"""Compiled sums over worlds: a walk over all vectors of used counts, forth and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fill_expectations(
    offsets: Any, people: Any, logs: Any, counts: Any, wanted: Any, by_values: Any, out: Any
) -> Any:
    """Write the posteriors of all wanted groups to `out`; returns which of them have a world with weight.

    where
        logs       logarithms of the priors, shape (rows, values)
        wanted     groups to work on
        by_values  whether to sum value by value, over people used of each signature
    """
    groups = counts.shape[0]
    weighty = np.zeros(groups, np.bool_)
    for g in range(groups):
        if not wanted[g]:
            continue
        values = np.flatnonzero(counts[g])
        rows = np.arange(offsets[g], offsets[g + 1])
        weights = np.empty((rows.size, values.size))
        for i in range(rows.size):
            for v in range(values.size):
                weights[i, v] = logs[rows[i], values[v]]
        number, occurrences = people[rows], counts[g][values]
        if by_values[g]:
            flipped = np.ascontiguousarray(weights.T)
            total, expected = _expected_pairs(occurrences, number, flipped)
            expected = np.ascontiguousarray(expected.T)
        else:
            total, expected = _expected_pairs(number, occurrences, weights)
        weighty[g] = total > -np.inf
        if weighty[g]:
            out[rows[0] : rows[-1] + 1] = 0.0
            for i in range(rows.size):
                share = expected[i].sum()
                for v in range(values.size):
                    out[rows[i], values[v]] = expected[i, v] / share
    return weighty


@njit(cache=True, nogil=True)
def _expected_pairs(items: Any, capacities: Any, weights: Any) -> Any:
    """Pair items with places: the logarithm of the total weight, and expected pairs of each kind.

    `items[i]` items of kind i stand in line, `capacities[k]` places of kind k wait; a pair weighs
    exp(weights[i, k]). A state is a vector of used places in mixed radix; its digits sum to how many
    items are placed, so the state also says which item is next.
    """
    kinds = capacities.size
    line = np.repeat(np.arange(items.size), items)
    strides = np.ones(kinds, np.int64)
    for k in range(1, kinds):
        strides[k] = strides[k - 1] * (capacities[k - 1] + 1)
    states = strides[-1] * (capacities[-1] + 1)
    expected = np.zeros(weights.shape)
    forth = _forth(line, capacities, strides, weights, states)
    if forth[-1] > -np.inf:
        _back(line, capacities, strides, weights, forth, expected)
    return forth[-1], expected


@njit(cache=True, nogil=True)
def _forth(line: Any, capacities: Any, strides: Any, weights: Any, states: Any) -> Any:
    """Logarithm of the weight of all ways to reach each state."""
    kinds = capacities.size
    forth = np.empty(states)
    forth[0] = 0.0
    used, terms, placed = np.zeros(kinds, np.int64), np.empty(kinds), 0
    for state in range(1, states):
        k = 0
        while used[k] == capacities[k]:
            placed -= used[k]
            used[k] = 0
            k += 1
        used[k] += 1
        placed += 1
        item = line[placed - 1]
        highest = -np.inf
        for k in range(kinds):
            terms[k] = weights[item, k] + forth[state - strides[k]] if used[k] > 0 else -np.inf
            highest = max(highest, terms[k])
        forth[state] = _log_sum(terms, highest)
    return forth


@njit(cache=True, nogil=True)
def _back(line: Any, capacities: Any, strides: Any, weights: Any, forth: Any, expected: Any) -> None:
    """Walk from the full state down; add the share of worlds that go through each step to `expected`."""
    kinds, states = capacities.size, forth.size
    total = forth[-1]
    back = np.empty(states)
    back[-1] = 0.0
    used, terms, placed = capacities.copy(), np.empty(kinds), line.size
    for state in range(states - 2, -1, -1):
        k = 0
        while used[k] == 0:
            used[k] = capacities[k]
            placed += used[k]
            k += 1
        used[k] -= 1
        placed -= 1
        item = line[placed]
        highest = -np.inf
        for k in range(kinds):
            free = used[k] < capacities[k]
            terms[k] = weights[item, k] + back[state + strides[k]] if free else -np.inf
            highest = max(highest, terms[k])
        back[state] = _log_sum(terms, highest)
        if forth[state] > -np.inf:
            for k in range(kinds):
                if terms[k] > -np.inf:
                    expected[item, k] += np.exp(forth[state] + terms[k] - total)


@njit(cache=True, nogil=True)
def _log_sum(terms: Any, highest: Any) -> Any:
    """log Σ exp(terms), −∞ if all of them are."""
    if highest == -np.inf:
        return highest
    total = 0.0
    for term in terms:
        total += np.exp(term - highest)
    return highest + np.log(total)
