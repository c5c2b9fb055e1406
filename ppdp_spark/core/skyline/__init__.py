"""The privacy skyline: an adversary with three kinds of knowledge, checked from five minima [Skyline].

where
    points     knowledge points, targets, and skylines per sensitive value
    formulas   T, V and their product, one group at a time, for the three cases
    kernels    loops over many groups and targets
    decision   from the five minima to a breach probability and a verdict
    criterion  the check of a whole release
    local      criteria that each group meets by itself, for the partitioner
"""

from ppdp_spark.core.skyline.criterion import SkylineCriterion, SkylineStatistic
from ppdp_spark.core.skyline.decision import (
    breach_probability,
    guard,
    negated_ratio,
    required_ratio,
    safe,
)
from ppdp_spark.core.skyline.formulas import family_factor, target_ratio
from ppdp_spark.core.skyline.local import LocalSkyline, LocalThreshold, balanced_floors, slack_floors
from ppdp_spark.core.skyline.points import Case, Point, Skyline, Target

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
