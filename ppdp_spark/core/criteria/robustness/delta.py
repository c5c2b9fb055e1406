"""The Δ bounding condition [Robust, Thm 1], as published.

It is exactly the worst case of the *binary* model, "x or not x". In the joint model it is not sufficient,
although the paper states it there: N = 3, r = 2, values x, y, z with priors (.1, 1/19, 1/19) for one person
and (1/19, .1, .1) for two satisfy it with equality, and the joint posterior of x for the first is .6435.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.criteria.exact import integers, product_at_most
from ppdp_spark.core.criteria.parameters import Number
from ppdp_spark.core.criteria.robustness.bounds import binary_exchange, surely_within
from ppdp_spark.core.criteria.robustness.prior_limits import robustness_level
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray, PriorExtrema


def probability_deviation(priors: FloatArray) -> FloatArray:
    """Δ_v = f_max − f_v of each person; the last axis runs over the people of a group [Robust, Def 7]."""
    return np.asarray(np.max(priors, axis=-1, keepdims=True) - priors)


def greatest_deviation(minimum: FloatArray, maximum: FloatArray) -> FloatArray:
    """Δ_max = f_max − f_min; exactly 0 for equal priors [Robust, Def 8]."""
    return np.asarray(maximum - minimum)


def deviation_ceiling(sizes: IntArray, r: Number, maximum: FloatArray) -> FloatArray:
    """Δ_ceil = (N − r) f_max / (f_max (r − 1)/(1 − f_max) + N − 1) [Robust, Def 8].

    Arguments broadcast. 0 where f_max is 0 or 1; negative for a group of fewer than r people, which no
    deviation satisfies.
    """
    level, sizes = robustness_level(r), np.asarray(sizes, dtype=np.float64)
    maximum = np.asarray(maximum, dtype=np.float64)
    inside = (maximum > 0) & (maximum < 1)
    high = np.where(inside, maximum, 0.5)
    ceiling = (sizes - float(level)) * high / (high * float(level - 1) / (1 - high) + (sizes - 1))
    return np.where(inside, ceiling, 0.0)


@dataclass(frozen=True)
class Deviation:
    """How far the priors of one value are apart in one group, and how far they may be [Robust, Def 8].

    where
        people    in the group
        greatest  Δ_max
        ceiling   Δ_ceil; the condition is about values that occur once
    """

    people: int
    greatest: float
    ceiling: float

    @classmethod
    def at(cls, groups: GroupSummaries, priors: PriorExtrema, row: int, code: int, r: Number) -> Deviation:
        """That of the value `code` in the group at `row`."""
        low, high = priors.minimum[row, code], priors.maximum[row, code]
        ceiling = deviation_ceiling(groups.sizes[row : row + 1], r, np.asarray([high]))
        return cls(int(groups.sizes[row]), float(greatest_deviation(low, high)), float(ceiling[0]))

    @property
    def facts(self) -> dict[str, float]:
        """What a verdict says of it."""
        return {"people": self.people, "delta_max": self.greatest, "delta_ceil": self.ceiling}


def delta_condition(
    sizes: IntArray, counts: IntArray, minimum: FloatArray, maximum: FloatArray, *, r: Number
) -> BoolArray:
    """Whether each value of each group meets the condition: at most once, N >= r, Δ_max <= Δ_ceil.

    True for values a group lacks. Δ_max <= Δ_ceil is decided as r − 1 <= ρ (N − 1) with ρ the ratio of
    smallest to largest odds, the same inequality solved for f_min, which loses no digits to differences;
    a group within rounding error of the ceiling is refused unless its priors are equal.
    """
    level, counts = robustness_level(r), integers(counts)
    enough = product_at_most([level.numerator], [integers(sizes), level.denominator])
    similar = surely_within(sizes, counts, binary_exchange(minimum, maximum), level)
    return np.asarray((counts == 0) | ((counts == 1) & enough[:, None] & similar))
