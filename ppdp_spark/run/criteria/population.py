"""What `columns.weight` makes of a spec: how many people of the population groups stand for, estimated."""

from __future__ import annotations

from ppdp_spark.core.criteria.anonymity import EstimatedPopulation
from ppdp_spark.core.criteria.base import LocalCriterion, Measured
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.run.criteria.guarantees import built
from ppdp_spark.spec import PrivacySpec

_NOWHERE = ValueDomain((), ())
"""Criteria on weights look at no values."""


def population_criteria(privacy: PrivacySpec) -> tuple[LocalCriterion, ...]:
    """What is demanded of the weights of every group."""
    wanted = [(family, given) for family, given in privacy.demanded if family.traits.weights]
    found = (built(family, given, _NOWHERE, local=True) for family, given in wanted)
    return tuple(criterion for criterion in found if isinstance(criterion, LocalCriterion))


def population_measures(privacy: PrivacySpec) -> tuple[Measured, ...]:
    """What is said of the weights of every group although it is not demanded."""
    demanded = {criterion.name for criterion in population_criteria(privacy)}
    told = "fewest people of the population that a group stands for, estimated by weights"
    measured = Measured(EstimatedPopulation(2), told)
    return () if measured.name in demanded else (measured,)
