"""How far answers to COUNT queries are off, and how sure that is: the queries are a sample of all there are.

The error is relative to the true count, or to a sanity bound where that is less, in the manner of
[Xiao et al. 2010]; the bound is a share of the people. Queries about fewer people than the bound
are not asked. Intervals say how far the median and the mean of other queries, drawn alike, may lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import binom

from ppdp_spark.core.data.groups import FloatArray
from ppdp_spark.core.utility.queries import Query

BOUND_SHARE = 1e-3
"""The sanity bound as a share of the people; it is at least one person."""

BOUND_IN_VALUE = 0.1
"""The bound is at most this share of those who have the most frequent value: all may be rare."""

CONFIDENCE = 0.95
_RESAMPLES = 1_000
_SEED = 20_110_801


def sanity_bound(people: float, most_frequent: float) -> float:
    """The least true count that is asked for, and the least that errors are divided by."""
    return max(1.0, min(BOUND_SHARE * people, BOUND_IN_VALUE * most_frequent))


def relative_errors(estimates: FloatArray, truths: FloatArray, bound: float) -> FloatArray:
    """|estimate − truth| / max(truth, bound)."""
    return np.asarray(np.abs(estimates - truths) / np.maximum(truths, bound))


def error_summary(errors: FloatArray) -> dict[str, Any]:
    """Median and mean of at least one error, each with an interval."""
    return {
        "median": _rounded(np.median(errors)),
        "median_interval": [_rounded(end) for end in median_interval(errors)],
        "mean": _rounded(errors.mean()),
        "mean_interval": [_rounded(end) for end in mean_interval(errors)],
    }


def error_table(queries: Sequence[Query], errors: FloatArray) -> list[dict[str, Any]]:
    """Median and mean error of each dimension and selectivity."""
    cells = [(query.dimension, query.selectivity) for query in queries]
    found = []
    for dimension, selectivity in sorted(set(cells)):
        chosen = errors[[cell == (dimension, selectivity) for cell in cells]]
        cell = {"dimension": dimension, "selectivity": selectivity, "queries": len(chosen)}
        found.append(cell | error_summary(chosen))
    return found


def median_interval(errors: FloatArray) -> tuple[float, float]:
    """Two of the errors between which the median lies, whatever their distribution is.

    It lies below the r-th smallest of n with the chance that a Binomial(n, 1/2) is less than r. Of fewer than
    six errors, no two have the confidence: these are the smallest and the largest.
    """
    ordered = np.sort(errors)
    below = max(0, int(binom.ppf((1 - CONFIDENCE) / 2, len(ordered), 0.5)) - 1)
    return float(ordered[below]), float(ordered[-1 - below])


def mean_interval(errors: FloatArray) -> tuple[float, float]:
    """Between which the mean lies, by percentiles of resamples; the same errors have the same interval."""
    rng = np.random.default_rng(_SEED)
    means = [rng.choice(errors, len(errors)).mean() for _ in range(_RESAMPLES)]
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def _rounded(number: Any) -> float:
    return round(float(number), 9)
