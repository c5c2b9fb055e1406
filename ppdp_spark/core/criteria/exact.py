"""Comparisons that rounding cannot decide: floats settle the clear cases, integers the close ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray

Factors: TypeAlias = Sequence[IntArray | int]

# A product of up to ten integers turned to floats is off by less than 20 units of 1.2e-16.
PRODUCT_ROUNDING = 1e-14


def integers(values: IntArray) -> IntArray:
    """`values` as 64-bit integers, so that sums and products of counts do not wrap at 2^31."""
    return np.asarray(values, dtype=np.int64)


def product_at_most(left: Factors, right: Factors) -> BoolArray:
    """Whether Π left <= Π right, element by element and exactly, for factors of at least 0.

    Factors are integers or integer arrays that broadcast; their products may exceed 64 bits.
    """
    lower, upper = np.broadcast_arrays(_float_product(left), _float_product(right))
    decided = np.asarray(lower < upper)
    close = np.asarray(np.abs(upper - lower) <= PRODUCT_ROUNDING * (lower + upper))
    if close.any():
        decided[close] = _exact_product(left, close) <= _exact_product(right, close)
    return decided


def _float_product(factors: Factors) -> FloatArray:
    product: FloatArray = np.ones((), dtype=np.float64)
    for factor in factors:
        product = product * np.asarray(factor, dtype=np.float64)
    return product


def _exact_product(factors: Factors, where: BoolArray) -> Any:
    product: Any = 1
    for factor in factors:
        product = product * np.broadcast_to(np.asarray(factor), where.shape)[where].astype(object)
    return product


def agreeing(values: FloatArray, allowed: BoolArray, threshold: float, relation: str) -> FloatArray:
    """`values` moved by a rounding error at most, so that they compare with `threshold` as `allowed` says.

    A verdict then never shows a value that contradicts its status, and its witness is a group that fails
    whenever one does.
    """
    below, above = np.nextafter(threshold, -np.inf), np.nextafter(threshold, np.inf)
    if relation == ">=":
        return np.where(allowed, np.maximum(values, threshold), np.minimum(values, below))
    if relation == "<=":
        return np.where(allowed, np.minimum(values, threshold), np.maximum(values, above))
    return np.where(allowed, np.minimum(values, below), np.maximum(values, threshold))
