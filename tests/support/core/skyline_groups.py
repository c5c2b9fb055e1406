"""Random groups for properties of the skyline."""

from __future__ import annotations

import numpy as np

from ppdp_spark.core.criteria.skyline import (
    Point,
    SkylineCriterion,
    Target,
)
from ppdp_spark.core.data.groups import GroupSummaries

SIGMA = 0


def release(groups):
    return GroupSummaries(np.array([n for n, _ in groups]), np.array([c for _, c in groups]))


def breach(case, groups, amounts, c=0.5):
    criterion = SkylineCriterion(case, (Target(SIGMA, "σ", Point(*amounts, c)),))
    statistic = criterion.summarise(release(groups), np.arange(len(groups)))
    return criterion.decide(statistic)[0].value
