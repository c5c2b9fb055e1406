"""Confidence intervals of means against the exact distribution of draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from ppdp_spark.core.attacks.intervals import mean_limits


@pytest.mark.parametrize("draws", [1, 7, 40, 300])
@pytest.mark.parametrize("chance", [0.2, 0.01, 1e-6])
def test_an_interval_misses_no_more_often_than_it_says(draws, chance):
    """Every outcome of coins of every bias is weighed by its exact probability."""
    heads = np.arange(draws + 1)
    low, high = mean_limits(heads / draws, np.full(draws + 1, float(draws)), np.full(draws + 1, chance))
    assert (low <= heads / draws).all() and (heads / draws <= high).all()
    for bias in np.linspace(0, 1, 101):
        missed = binom.pmf(heads, draws, bias)[(bias < low) | (bias > high)].sum()
        assert missed <= chance


def test_more_draws_narrow_it_and_none_say_nothing():
    means, draws = np.full(4, 0.3), np.array([0.0, 10.0, 1_000.0, 1e9])
    low, high = mean_limits(means, draws, np.full(4, 0.01))
    assert (low[0], high[0]) == (0.0, 1.0)
    assert (np.diff(low) > 0).all() and (np.diff(high) < 0).all()
    assert high[3] - low[3] < 1e-3 and low[3] < 0.3 < high[3]
