"""Exact posteriors by dynamic programming, for groups that are small or have few signatures.

A world gives each person a value; its weight is the product of the priors [Robust, Eqs 1-3]. Worlds are
summed person by person over the counts of values used so far: Π (c_x + 1) states instead of 2^N subsets.
The table of people by values can as well be filled value by value over the people used so far of each
signature: Π (n_s + 1) states, few if many people share a signature. Both orders give the same posteriors,
since a contingency table m has Π n_s! / Π m! worlds one way and Π c_x! / Π m! the other; the cheaper one
is taken. All sums are of logarithms: no product of small priors underflows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.criteria.robustness.signed_groups import SignatureGroups
from ppdp_spark.core.criteria.robustness.world_sums import fill_expectations
from ppdp_spark.core.data.groups import BoolArray, FloatArray

LARGEST_STATES = 2**22
"""States of one group at most: two arrays of 32 MB. 22 people with different values still fit."""

LARGEST_WORK = 2**27
"""States times kinds of values (or signatures) at most: a few seconds for one group."""


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Posteriors of every signature and value, and which groups have them.

    where
        values        p(t : x) for a person of the row's signature, shape (rows, values); NaN if there is none
        feasible      whether the group was small enough, shape (groups,) or (groups, values)
        contradicted  whether no world of a feasible group has any weight: there is no posterior
    """

    values: FloatArray
    feasible: BoolArray
    contradicted: BoolArray


def exact_work(groups: SignatureGroups) -> FloatArray:
    """States times kinds of the cheaper order of summation; infinite for a group with too many states."""
    return np.asarray(_work(groups).min(axis=1))


def feasible(groups: SignatureGroups) -> BoolArray:
    """Whether the exact joint posteriors of each group are within `LARGEST_STATES` and `LARGEST_WORK`."""
    return np.asarray(exact_work(groups) <= LARGEST_WORK)


def joint_posteriors(groups: SignatureGroups) -> Posteriors:
    """Posteriors in the joint model; NaN for groups that are not feasible or contradict their priors."""
    work = _work(groups)
    possible = np.asarray(work.min(axis=1) <= LARGEST_WORK)
    with np.errstate(divide="ignore"):
        logs = np.log(groups.priors)
    values = np.full(logs.shape, np.nan)
    weighty = fill_expectations(
        groups.offsets, groups.people, logs, groups.counts, possible, work[:, 1] < work[:, 0], values
    )
    return Posteriors(values, possible, possible & ~weighty)


def binary_posteriors(groups: SignatureGroups) -> Posteriors:
    """Posteriors in the binary model, "x or not x" with f and 1 − f, of each value x by itself.

    It is the joint model of two values, x and any other; the sums over the number of x are the elementary
    symmetric polynomials of the odds. A value that the group lacks has posterior 0.
    """
    shape = groups.counts.shape
    values = np.zeros(groups.priors.shape)
    possible, impossible = np.ones(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    sizes, group = groups.sizes, np.repeat(np.arange(len(groups)), np.diff(groups.offsets))
    for x in range(shape[1]):
        prior, count = groups.priors[:, x], groups.counts[:, x]
        pair = np.stack([count, sizes - count], axis=1)
        found = joint_posteriors(
            SignatureGroups(groups.offsets, groups.people, np.stack([prior, 1 - prior], axis=1), pair)
        )
        held = count > 0
        values[:, x] = np.where(held[group], found.values[:, 0], 0.0)
        possible[:, x] = found.feasible | ~held
        impossible[:, x] = found.contradicted & held
    return Posteriors(values, possible, impossible)


def _work(groups: SignatureGroups) -> FloatArray:
    """States times kinds of both orders: by people over values, and by values over signatures."""
    kinds = np.stack([np.count_nonzero(groups.counts, axis=1), np.diff(groups.offsets)], axis=1)
    by_people = np.log2(groups.counts + 1.0).sum(axis=1)
    by_values = (
        np.add.reduceat(np.log2(groups.people + 1.0), groups.offsets[:-1]) if len(groups) else by_people
    )
    bits = np.stack([by_people, by_values], axis=1)
    fits = bits <= np.log2(LARGEST_STATES) + 1e-9
    return np.where(fits, np.exp2(np.where(fits, bits, 0.0)) * kinds, np.inf)
