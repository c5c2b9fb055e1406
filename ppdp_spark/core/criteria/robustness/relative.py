"""How much surer than before somebody becomes: an upper bound on posterior / prior, from the same statistics.

Where t has the prior f of x, the exchange of `bounds` keeps more of a world's weight than at the largest
prior: f_j(x)/f >= m/f for everybody else, m the smallest prior of x in the group. So, with c occurrences
of x among N people,

    joint model    p(t : x) / f <= c / (c f + m S),                 S = Σ c_y ρ_y over the values y ≠ x
    binary model   p(t : x) / f <= c / (c f + o (1 − f) (N − c)),   o = m / (1 − m)

with ρ_y = min f(y) / max f(y). In the joint model the right side is largest at f = m, where it is
c / (m (c + S)). In the binary model its denominator is linear in f, so it is largest at m or at the largest
prior; at m it is c / (m N). With equal priors both are c / (m N), which is attained. A value that is
impossible for somebody has no finite bound, unless nobody of the group has it; nor has one that is certain
for all, of whom only some have it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ppdp_spark.core.criteria.exact import integers
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray, PriorExtrema

MARGIN = 1e-12
"""Relative distance to the threshold below which a group is refused; rounding errs by less."""


def relative_bounds(
    groups: GroupSummaries, priors: PriorExtrema, counts: IntArray, model: Literal["joint", "binary"]
) -> FloatArray:
    """A bound on posterior / prior of every value, shape (groups, values); 0 for values that a group lacks.

    `counts` are those of the values that are bounded; worlds deal out all values of the groups.
    """
    return _quotient(integers(counts), _denominators(groups, priors, counts, model))


def relatively_within(
    groups: GroupSummaries,
    priors: PriorExtrema,
    counts: IntArray,
    *,
    model: Literal["joint", "binary"],
    times: float,
) -> BoolArray:
    """Whether the bound is at most `times`, by more than rounding; true for values that a group lacks."""
    below = _denominators(groups, priors, counts, model)
    sizes = integers(groups.sizes)[:, None]
    sure = below * (1 - MARGIN) - sizes * np.where(below > 0, priors.minimum, 0.0) * MARGIN
    return np.asarray((counts == 0) | (counts <= times * sure * (1 - MARGIN)))


def _quotient(counts: IntArray, below: FloatArray) -> FloatArray:
    found = np.full(counts.shape, np.inf)
    with np.errstate(over="ignore"):
        np.divide(counts, below, out=found, where=below > 0)
    return np.where(counts > 0, found, 0.0)


def _denominators(
    groups: GroupSummaries, priors: PriorExtrema, counts: IntArray, model: Literal["joint", "binary"]
) -> FloatArray:
    """What c is divided by where the bound is largest; 0 where there is no finite bound."""
    low, high = np.asarray(priors.minimum, np.float64), np.asarray(priors.maximum, np.float64)
    sizes, c = integers(groups.sizes)[:, None], integers(counts)
    possible = (low > 0) & (low <= high)
    if model == "joint":
        everybody = integers(groups.counts)
        ratio = np.divide(low, high, out=np.zeros_like(low), where=possible)
        weights = np.where(everybody > 0, everybody * ratio, 0.0)
        others = np.maximum(weights.sum(axis=1, keepdims=True) - weights, 0.0)
        return np.where(possible, low * (c + others), 0.0)
    odds = np.divide(low, 1 - low, out=np.zeros_like(low), where=low < 1)
    at_most = c * high + odds * (1 - high) * (sizes - c)
    found = np.where(low < 1, np.minimum(low * sizes, at_most), np.where(c == sizes, low * c, 0.0))
    return np.where(possible, found, 0.0)
