"""Confidence intervals of means of numbers from 0 to 1, all of many at once."""

from __future__ import annotations

import numpy as np

from ppdp_spark.core.data.groups import FloatArray

_HALVINGS = 48


def mean_limits(means: FloatArray, draws: FloatArray, chance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits of the true mean of independent numbers from 0 to 1, from the mean of so many of them.

        draws · D(mean ‖ limit) = ln(2 / chance),   D(p ‖ q) = p ln(p/q) + (1 − p) ln((1 − p)/(1 − q))

    The true mean is outside with at most the given chance, however the numbers are distributed
    [Hoeffding 1963, Thm 1]. Without any draws the limits are 0 and 1.
    """
    room = np.log(2 / chance)
    return _limit(means, draws, room, np.zeros_like(means)), _limit(means, draws, room, np.ones_like(means))


def _limit(means: FloatArray, draws: FloatArray, room: FloatArray, end: FloatArray) -> FloatArray:
    """The place between mean and end where the exponent reaches `room`, on the side of the end."""
    near, far = means.astype(np.float64), end
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        with np.errstate(invalid="ignore"):
            within = (draws == 0) | (draws * _divergence(means, middle) <= room)
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    return far


def _divergence(p: FloatArray, q: FloatArray) -> FloatArray:
    """D(p ‖ q) of two coins."""
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(p > 0, p * np.log(p / q), 0.0)
        tails = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return np.asarray(np.where(p == q, 0.0, heads + tails))
