"""What `columns.household` makes of the criteria of a spec: k in households, and what members know."""

from __future__ import annotations

from collections.abc import Iterator

from ppdp_spark.core.criteria.base import LocalCriterion, Measured
from ppdp_spark.core.criteria.households.household_anonymity import HouseholdAnonymity
from ppdp_spark.core.criteria.households.known_household import KnownHousehold
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.run.criteria.guarantees import built
from ppdp_spark.spec import PrivacySpec
from ppdp_spark.spec.requirements import households_needed


def household_criteria(
    privacy: PrivacySpec, domain: ValueDomain, *, members_know: bool
) -> tuple[LocalCriterion, ...]:
    """What is demanded of the households of every group, cheapest first.

    `members_know` says that the members of a household know each other's values.
    """
    needed = households_needed(privacy)
    found: list[LocalCriterion] = [] if needed is None else [HouseholdAnonymity(needed)]
    return (*found, *_known(privacy, domain)) if members_know else tuple(found)


def household_measures(
    privacy: PrivacySpec, domain: ValueDomain, *, members_know: bool
) -> tuple[Measured, ...]:
    """What is said of the households of every group although it is not demanded."""
    found = []
    if households_needed(privacy) is None:
        found.append(Measured(HouseholdAnonymity(2), "fewest households of a group"))
    if not members_know:
        found += [Measured(known, known.level) for known in _known(privacy, domain)]
    return tuple(found)


def _known(privacy: PrivacySpec, domain: ValueDomain) -> Iterator[KnownHousehold]:
    """The criteria about values, in what is left of a group for somebody who knows one household.

    The k of (α, k)-anonymity is about the group as a whole. A skyline says itself how many people are known.
    """
    if domain.case != "svpi" or not domain.counts:
        return
    for family, given in privacy.demanded:
        if family.traits.sensitive and not family.traits.priors and family.local is None:
            parameters = {**given, "k": 2} if family.field == "alpha_k" else given
            criterion = built(family, parameters, domain)
            if isinstance(criterion, LocalCriterion):
                yield KnownHousehold(criterion)
