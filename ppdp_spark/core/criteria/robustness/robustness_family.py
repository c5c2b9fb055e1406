"""r-robustness as a field of a spec. Its numerics are imported when a criterion is built."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from ppdp_spark.core.criteria.family import Family, Parameters, Traits
from ppdp_spark.core.data.value_names import ValueDomain

if TYPE_CHECKING:
    from ppdp_spark.core.criteria.robustness.r_robustness import RRobustness


def attribute_labels(given: Parameters) -> tuple[str, ...]:
    """The attribute sets of the priors, readable."""
    return tuple(", ".join(prior["attributes"]) for prior in given["priors"])


def robust_criterion(given: Parameters, domain: ValueDomain, *, unique: bool = False) -> RRobustness:
    """The criterion of the values that need protection.

    `unique` asks the binary model for the form of ART: each value once per group.
    """
    from ppdp_spark.core.criteria.robustness.r_robustness import RRobustness

    unique = unique and given["model"] == "binary"
    sets, times = attribute_labels(given), given.get("times")
    return RRobustness(given["r"], given["model"], sets, unique, domain.protected, times)


def _build(given: Parameters, domain: ValueDomain) -> RRobustness:
    return robust_criterion(given, domain)


def _public(plain: dict[str, Any]) -> dict[str, Any]:
    """No path of a file, and no names of values that nobody has."""
    hidden = ("path", "may_be_absent")
    sets = [{key: prior[key] for key in prior if key not in hidden} for prior in plain["priors"]]
    return {**plain, "priors": sets}


ROBUSTNESS = Family(
    field="robustness",
    names=("robustness", "relative_robustness"),
    summary="r-robustness: no posterior above 1/r; `binary` is the model of the published Δ condition.",
    parameters=None,
    build=_build,
    of_some=_build,
    traits=Traits(priors=True, unions=frozenset(), least_size=lambda given: ceil(Fraction(str(given["r"])))),
    public=_public,
    cost=4,
)
