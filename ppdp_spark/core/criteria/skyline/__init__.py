"""The privacy skyline: an adversary with three kinds of knowledge, checked from five minima [Skyline].

where
    skyline_family  the field of a spec, its traits, and the criteria it asks for
    points          knowledge points, targets, and skylines per sensitive value
    formulas        T, V and their product for the three cases, and loops over many groups and targets
    patterns        the minima of many groups that are alike
    batches         groups and targets in the form the loops take
    decision        from the five minima to a breach probability and a verdict
    skyline_check   the check of a whole release
    local_skyline   criteria that each group meets by itself, for the partitioner
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOME = {
    **dict.fromkeys(("breach_probability", "guard", "negated_ratio", "required_ratio", "safe"), "decision"),
    **dict.fromkeys(("family_factor", "target_ratio"), "formulas"),
    **dict.fromkeys(("LocalSkyline", "LocalThreshold", "balanced_floors", "slack_floors"), "local_skyline"),
    **dict.fromkeys(("Case", "Point", "Skyline", "Target"), "points"),
    **dict.fromkeys(("SkylineCriterion", "SkylineStatistic"), "skyline_check"),
}
"""Where each name lives; looked up when used, so that a spec is read without the numerics of this room."""

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


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
