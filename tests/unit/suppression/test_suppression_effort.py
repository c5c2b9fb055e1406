"""Suppression of a billion records: searched on counts, in a few passes over the values."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from ppdp_spark.core.suppression.r import (
    has_l_candidacy,
    is_eligible,
    r_suppress,
    safe_d,
    unsafe_d,
)
from support.steps import lines_run


def of_many_values(m):
    """Skewed counts of m values, 1,050 times as many records."""
    counts = np.random.default_rng(0).integers(1, 1500, m)
    counts[m // 8] = 300 * m
    return counts


@pytest.mark.parametrize("method", [unsafe_d, safe_d, r_suppress])
def test_a_million_values_are_searched_and_never_stepped_through(method):
    """A billion records: few lines of Python, and as many arrays as for a hundred values."""
    counts = of_many_values(10**6)
    assert counts.sum() > 10**9
    found = []
    assert lines_run(lambda: found.append(method(counts, 6))) < 1_000
    assert lines_run(lambda: method(of_many_values(100), 6)) > 50
    tracemalloc.start()
    method(counts, 6)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 12 * counts.nbytes
    (result,) = found
    assert is_eligible(result.kept, 6) and has_l_candidacy(result.kept, result.total, 6)
