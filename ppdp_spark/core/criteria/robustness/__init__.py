"""r-robustness: no posterior above 1/r for a reader who knows priors p(s : x) [Robust, ART].

where
    priors            what an adversary believes of the people of one task before seeing the release
    prior_limits      what a group's people have in common: smallest and largest priors, checked
    bounds            upper bounds on posteriors, joint and binary, from counts and prior extrema
    delta             the Δ bounding condition as published: exact for the binary model only
    signed_groups     groups described person by person, or by signature and how many people share it
    relative          the same relative to the prior
    exact_posteriors  exact posteriors, joint and binary, of groups that are small or have few signatures
    r_robustness      r-robustness as a criterion of the partitioner and of the check
    robustness_family the field of a spec, and its traits
    posterior_audit   the worst posterior of any groups, exact where that is feasible
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ppdp_spark.core.criteria.robustness.bounds import binary_swap_bound, joint_swap_bound
    from ppdp_spark.core.criteria.robustness.delta import (
        delta_condition,
        deviation_ceiling,
        greatest_deviation,
        probability_deviation,
    )
    from ppdp_spark.core.criteria.robustness.exact_posteriors import (
        Posteriors,
        binary_posteriors,
        exact_work,
        feasible,
        joint_posteriors,
    )
    from ppdp_spark.core.criteria.robustness.r_robustness import Model, RRobustness, WorstPosterior, relaxed
    from ppdp_spark.core.criteria.robustness.signed_groups import SignatureGroups

_HOME = {
    **dict.fromkeys(("binary_swap_bound", "joint_swap_bound"), "bounds"),
    **dict.fromkeys(
        ("delta_condition", "deviation_ceiling", "greatest_deviation", "probability_deviation"), "delta"
    ),
    **dict.fromkeys(
        ("Posteriors", "binary_posteriors", "exact_work", "feasible", "joint_posteriors"), "exact_posteriors"
    ),
    **dict.fromkeys(("Model", "RRobustness", "WorstPosterior", "relaxed"), "r_robustness"),
    "SignatureGroups": "signed_groups",
}
"""Where each name lives; looked up when used, so that a spec is read without the numerics of this room."""

__all__ = [
    "Model",
    "Posteriors",
    "RRobustness",
    "SignatureGroups",
    "WorstPosterior",
    "binary_posteriors",
    "binary_swap_bound",
    "delta_condition",
    "deviation_ceiling",
    "exact_work",
    "feasible",
    "greatest_deviation",
    "joint_posteriors",
    "joint_swap_bound",
    "probability_deviation",
    "relaxed",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
