"""Groups given by counts, and what the skyline criterion says of them."""

from __future__ import annotations

import numpy as np

from ppdp_spark.core.criteria.skyline import (
    Point,
    SkylineCriterion,
    Target,
)
from ppdp_spark.core.data.groups import GroupSummaries


def release(*groups, people=None):
    counts = np.array(groups)
    return GroupSummaries(counts.sum(axis=1) if people is None else np.array(people), counts)


def criterion(case, amounts, c=0.5, value=0):
    return SkylineCriterion(case, (Target(value, "σ", Point(*amounts, c)),))


def verdict(case, amounts, groups, c=0.5):
    check = criterion(case, amounts, c)
    return check.decide(check.summarise(groups, np.arange(len(groups))))[0]


def statistics(case, amounts, groups):
    return criterion(case, amounts).statistics(groups)[:, 0]
