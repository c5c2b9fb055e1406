"""r-robustness: no posterior above 1/r for a reader who knows priors p(s : x) [Robust, ART].

where
    priors            what an adversary believes of the people of one task before seeing the release
    prior_limits      what a group's people have in common: smallest and largest priors, checked
    bounds            upper bounds on posteriors, joint and binary, from counts and prior extrema
    delta             the Δ bounding condition as published: exact for the binary model only
    signed_groups     groups described person by person, or by signature and how many people share it
    pairwise          the sharper swap bound, from the priors of every signature
    exact_posteriors  exact posteriors, joint and binary, of groups that are small or have few signatures
    r_robustness      r-robustness as a criterion of the partitioner and of the check
    posterior_audit   the worst posterior of any groups, exact where that is feasible
"""

from ppdp_spark.core.criteria.robustness.bounds import binary_swap_bound, coarse_swap_bound
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
from ppdp_spark.core.criteria.robustness.pairwise import contradicted, pairwise_swap_bound
from ppdp_spark.core.criteria.robustness.r_robustness import Model, RRobustness, WorstPosterior, relaxed
from ppdp_spark.core.criteria.robustness.signed_groups import SignatureGroups

__all__ = [
    "Model",
    "Posteriors",
    "RRobustness",
    "SignatureGroups",
    "WorstPosterior",
    "binary_posteriors",
    "binary_swap_bound",
    "coarse_swap_bound",
    "contradicted",
    "delta_condition",
    "deviation_ceiling",
    "exact_work",
    "feasible",
    "greatest_deviation",
    "joint_posteriors",
    "pairwise_swap_bound",
    "probability_deviation",
    "relaxed",
]
