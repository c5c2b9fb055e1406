"""From the five minima of a release to its breach probability, and whether that is safe.

[Skyline, Thm 2]: NR = min(SS1, SS2·SS5, SS3·SS4) and BP = 1/(NR+1); safe iff BP < c, that is iff
NR > R = (1−c)/c. Floats decide it with a guard on the unsafe side: safe iff NR > R·(1+guard), with a
guard above every rounding error of the formulas. So a release whose BP equals c exactly is never
safe, and the verdict is the exact one unless NR and R differ by less than the guard in relative
terms. For m = 0 in SVPI both are fractions of counts: tables below 10⁹ rows and c of two decimals
are always decided exactly. For c = 1 there is no guard: safe iff every factor is positive, which the
formulas keep exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ppdp_spark.core.criteria.skyline.formulas import SMALLEST
from ppdp_spark.core.criteria.skyline.points import Point, Target
from ppdp_spark.core.data.groups import BoolArray, FloatArray

PRODUCTS = ("SS1", "SS2·SS5", "SS3·SS4")

SMALLEST_GUARD = 1e-12


def required_ratio(c: float) -> float:
    """R = (1−c)/c, which NR must exceed; `c` is read as the decimal number it was written as."""
    exact = Fraction(repr(float(c)))
    return float((1 - exact) / exact)


def guard(point: Point) -> float:
    """Relative margin that NR must have over R; grows with the length of the products."""
    return max(SMALLEST_GUARD, 4 * float(np.finfo(float).eps) * (point.l + point.m + 8))


def least_safe_ratio(point: Point) -> float:
    """The smallest float that NR may be: just above R·(1+guard), or any positive one for c = 1."""
    required = required_ratio(point.c)
    return float(np.nextafter(required * (1 + guard(point)), np.inf)) if required > 0 else SMALLEST


def least_safe_ratios(targets: Sequence[Target]) -> FloatArray:
    """The least safe negated ratio of each target."""
    return np.array([least_safe_ratio(target.point) for target in targets], dtype=float)


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    """left · right without rounding a positive product to zero; ∞ · 0 counts as 0, the unsafe side."""
    both = (left > 0) & (right > 0)
    product = np.multiply(left, right, out=np.zeros(np.broadcast(left, right).shape), where=both)
    return np.where(both, np.maximum(product, SMALLEST), 0.0)


def ratio_products(statistics: FloatArray) -> FloatArray:
    """SS1, SS2·SS5 and SS3·SS4 along the last axis."""
    ss1, ss2, ss3, ss4, ss5 = np.moveaxis(np.asarray(statistics, dtype=float), -1, 0)
    return np.stack([ss1, _product(ss2, ss5), _product(ss3, ss4)], axis=-1)


def negated_ratio(statistics: FloatArray) -> FloatArray:
    """NR of five minima on the last axis; infinite where σ is nowhere."""
    lowest: FloatArray = ratio_products(statistics).min(axis=-1)
    return lowest


def breach_probability(ratio: Any) -> FloatArray:
    """BP = 1/(NR+1); below one for every positive NR, however small."""
    ratio = np.asarray(ratio, dtype=float)
    probability = 1.0 / (ratio + 1.0)
    return np.asarray(np.where(ratio > 0, np.minimum(probability, np.nextafter(1.0, 0.0)), probability))


def safe_targets(targets: Sequence[Target], statistics: FloatArray) -> BoolArray:
    """Whether each target is safe; `statistics` (…, targets, 5) to (…, targets)."""
    verdict: BoolArray = negated_ratio(statistics) >= least_safe_ratios(targets)
    return verdict


def safe(targets: Sequence[Target], statistics: FloatArray) -> BoolArray:
    """Whether all targets are safe; `statistics` (…, targets, 5) to (…)."""
    verdict: BoolArray = np.asarray(safe_targets(targets, statistics).all(axis=-1))
    return verdict
