"""A convex quadratic with some variables bounded below: the step of the outer Newton method."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ppdp_spark.core.data.groups import BoolArray
from ppdp_spark.core.maxent.buckets import FloatArray

MANY_AT_ONCE = 40


def bounded_minimum(gradient: FloatArray, hessian: FloatArray, lower: FloatArray) -> FloatArray:
    """argmin g·d + ½ dᵀHd over d ≥ lower, for lower ≤ 0: an active-set method that may change many at once.

    The free variables take their Newton step. If it leaves the bounds, its projection is taken where
    that lowers the quadratic, else the step is cut where the first variable meets its bound. Held
    variables are released when the gradient pulls them inside. Either the quadratic falls or the held
    set grows, so it ends, also where H is singular (a statement that repeats another).
    """
    matrix, bounded = _ridged(hessian), np.isfinite(lower)
    d = np.zeros_like(gradient)
    if not bounded.any():
        return _solved(matrix, -gradient)
    held = bounded & (lower >= 0) & (gradient > 0)
    for turn in range(10 * len(d) + 100):
        step, slope = np.zeros_like(d), gradient + matrix @ d
        step[~held] = _solved(matrix[np.ix_(~held, ~held)], -slope[~held])
        outside = ~held & (d + step < lower)
        if outside.any():
            d, held = _kept_inside(d, step, slope, lower, held=held, outside=outside, matrix=matrix)
            continue
        d = d + step
        slope = gradient + matrix @ d
        pulled = held & (slope < -1e-14 * (1.0 + np.abs(gradient)))
        if not pulled.any():
            break
        if turn > MANY_AT_ONCE:
            pulled = np.arange(len(d)) == np.argmin(np.where(pulled, slope, 0.0))
        held = held & ~pulled
    return np.asarray(np.maximum(d, lower))


def _kept_inside(
    d: FloatArray,
    step: FloatArray,
    slope: FloatArray,
    lower: FloatArray,
    *,
    held: BoolArray,
    outside: BoolArray,
    matrix: FloatArray,
) -> tuple[FloatArray, BoolArray]:
    """The projected step if it is an improvement, else the step up to the first bound."""
    change = np.maximum(d + step, lower) - d
    if slope @ change + 0.5 * change @ matrix @ change < 1e-4 * min(float(slope @ change), 0.0):
        return d + change, held | outside
    room = np.full(len(d), np.inf)
    room[outside] = np.maximum((lower - d)[outside] / step[outside], 0.0)
    blocking = room <= room.min()
    cut = d + room.min() * step
    cut[blocking] = lower[blocking]
    return cut, held | blocking


def _ridged(hessian: FloatArray) -> FloatArray:
    """The matrix with a ridge of the size of rounding: implied zeros flatten it."""
    diagonal = np.diag(hessian)
    return hessian + np.diag(1e-13 * diagonal + 1e-15 * max(float(diagonal.max(initial=0.0)), 1e-30))


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The solution by Cholesky, with as much more ridge as it takes."""
    if not len(right):
        return right
    top = float(np.abs(np.diag(matrix)).max())
    for shift in (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6):
        try:
            shifted = matrix + shift * top * np.eye(len(right)) if shift else matrix
            factor = linalg.cho_factor(shifted, lower=True, check_finite=False)
        except linalg.LinAlgError:
            continue
        return np.asarray(linalg.cho_solve(factor, right, check_finite=False))
    return np.asarray(linalg.lstsq(matrix, right)[0])
