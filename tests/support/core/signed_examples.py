"""Groups of people with priors, for tests of r-robustness."""

from __future__ import annotations

import numpy as np

from ppdp_spark.core.criteria.robustness import (
    SignatureGroups,
)
from ppdp_spark.core.data.groups import GroupSummaries, PriorExtrema


def one_group(priors, counts):
    return SignatureGroups.of_people(np.array([priors], dtype=float), np.array([counts]))


def equal_priors(counts, prior=0.2, sets=1):
    counts = np.array(counts)
    flat = np.full(counts.shape, prior)
    return GroupSummaries(counts.sum(axis=1), counts, (PriorExtrema(flat, flat),) * sets)
