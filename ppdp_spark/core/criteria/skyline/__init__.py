"""The privacy skyline: an adversary with three kinds of knowledge, checked from five minima [Skyline].

where
    points     knowledge points, targets, and skylines per sensitive value
    kernels    T, V and their product for the three cases, and loops over many groups and targets
    decision   from the five minima to a breach probability and a verdict
    criterion  the check of a whole release
    local      criteria that each group meets by itself, for the partitioner
    signatures what the explorer in `core.knowledge` needs of a release
"""

from ppdp_spark.core.criteria.skyline.decision import (
    breach_probability,
    guard,
    negated_ratio,
    required_ratio,
    safe,
)
from ppdp_spark.core.criteria.skyline.formulas import family_factor, target_ratio
from ppdp_spark.core.criteria.skyline.local_skyline import (
    LocalSkyline,
    LocalThreshold,
    balanced_floors,
    slack_floors,
)
from ppdp_spark.core.criteria.skyline.points import Case, Point, Skyline, Target
from ppdp_spark.core.criteria.skyline.skyline_check import SkylineCriterion, SkylineStatistic

__all__ = [
    "Case",
    "LocalSkyline",
    "LocalThreshold",
    "Point",
    "Skyline",
    "SkylineCriterion",
    "SkylineStatistic",
    "Target",
    "balanced_floors",
    "breach_probability",
    "family_factor",
    "guard",
    "negated_ratio",
    "required_ratio",
    "safe",
    "slack_floors",
    "target_ratio",
]
