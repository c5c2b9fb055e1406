"""All worlds that agree with several releases of one table, counted one by one."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from ppdp_spark.core.composition.possible_values import (
    GroupValues,
    Together,
    counted_out,
    joined,
    of_group,
)


@cache
def _every(people, values):
    return np.array(list(product(range(values), repeat=people)), dtype=np.int8)


def enumerated(truth, releases, values):
    """Everybody's exact posteriors: the share of the worlds in which somebody has each value."""
    worlds = _every(len(truth), values)
    agrees = np.ones(len(worlds), bool)
    for groups in releases:
        for group in np.unique(groups):
            inside = groups == group
            for value in range(values):
                agrees &= (worlds[:, inside] == value).sum(1) == (truth[inside] == value).sum()
    left = worlds[agrees]
    return np.stack([(left == value).mean(0) for value in range(values)], 1)


def group_values(groups, truth, values):
    """What a release publishes of its groups."""
    counts = np.zeros((groups.max() + 1, values), np.int64)
    np.add.at(counts, (groups, truth), 1)
    owner, code = np.nonzero(counts)
    start = np.searchsorted(owner, np.arange(len(counts) + 1))
    return GroupValues(counts.sum(1), start, code, counts[owner, code])


def _people_alike(columns):
    _, inverse, number = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
    return number[inverse.ravel()]


def by_cells(truth, releases, values, *, rounds=8, known=None):
    """Everybody's likely shares and possible values, as the program finds them.

    `known` says who is in the table of people: of the others only the releases tell.
    """
    known = np.ones(len(truth), bool) if known is None else known
    placed = np.stack(releases, 1)[known]
    cells, inverse = np.unique(placed, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    people = np.bincount(inverse)
    alike = np.stack([_people_alike(placed[:, : r + 1]) for r in range(len(releases))], 1)
    first = np.unique(inverse, return_index=True)[1]
    published = [group_values(groups, truth, values) for groups in releases]
    table = np.bincount(truth, minlength=values) / len(truth)
    found = of_group(people, np.ones(len(people), bool), published[0], cells[:, 0])
    before = published[0].size[cells[:, 0]]
    for r in range(1, len(releases)):
        found = joined(found, Together(before, alike[first, r]), published[r], cells[:, r], table)
        before = alike[first, r]
    for _ in range(rounds):
        for r, groups in enumerate(published):
            found = counted_out(found, groups, cells[:, r], values)
    share, possible = np.zeros((len(people), values)), np.zeros((len(people), values), bool)
    share[found.owner, found.code], possible[found.owner, found.code] = found.believed, True
    return share[inverse], possible[inverse]
