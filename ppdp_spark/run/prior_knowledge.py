"""r-robustness of a spec: it looks at priors of people, so it is judged apart from what a release shows."""

from __future__ import annotations

from ppdp_spark.core.criteria.robustness import robustness_family as family
from ppdp_spark.core.criteria.robustness.r_robustness import RRobustness
from ppdp_spark.spec import PrivacySpec


def robust_criterion(privacy: PrivacySpec, *, published: bool = False) -> RRobustness | None:
    """r-robustness; None if it is not demanded.

    `published` asks for the form of ART in the binary model: each value at most once per group.
    """
    if privacy.robustness is None:
        return None
    return family.robust_criterion(privacy.robustness.model_dump(), unique=published)


def attribute_labels(privacy: PrivacySpec) -> tuple[str, ...]:
    """The attribute sets of the priors, readable."""
    return () if privacy.robustness is None else family.attribute_labels(privacy.robustness.model_dump())
