"""The undivided table as criteria see it: its values, and everybody as one group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import Criterion, VerdictRow
from ppdp_spark.core.criteria.households.household_anonymity import HouseholdAnonymity
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.households import Households
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.run.criteria.guarantees import NOTHING, criteria_of, promises_nothing
from ppdp_spark.run.criteria.population import population_criteria
from ppdp_spark.run.criteria.several_attributes import (
    criteria_of_groups,
    criteria_of_values,
    known_beside,
    labelled,
    unprotected,
)
from ppdp_spark.spark.data.profile import Profile
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spec import PrivacySpec, ReleaseSpec
from ppdp_spark.spec.requirements import households_needed


def value_domain(profile: Profile) -> ValueDomain:
    """The sensitive values of a table as criteria see them; without a sensitive column, one for all."""
    domain = profile.sensitive
    if domain is None:
        return ValueDomain(("",), (profile.kept,))
    return value_domains(profile)[domain.column]


def value_domains(profile: Profile) -> dict[str, ValueDomain]:
    """The values of each sensitive attribute, by its column."""
    return {domain.column: domain.judged for domain in profile.domains}


def everybody(profile: Profile) -> GroupSummaries:
    """The undivided table as one group."""
    return _as_one_group(profile, value_domain(profile))


def _as_one_group(profile: Profile, domain: ValueDomain) -> GroupSummaries:
    return GroupSummaries(np.array([profile.kept]), np.array([domain.counts], np.int64))


def feasibility(privacy: PrivacySpec, profile: Profile, known: Sequence[str] = ()) -> list[VerdictRow]:
    """The verdict on the undivided table: with one value a person no release is safer.

    Of several attributes, those that are judged for somebody who knows others are left to `feasible_cells`.
    """
    if len(profile.domains) > 1:
        return _of_several(privacy, profile, known)
    domain = value_domain(profile)
    criteria = criteria_of(privacy, domain)
    if promises_nothing(privacy, criteria, domain):
        return [NOTHING]
    return _rows(criteria, everybody(profile))


def _of_several(privacy: PrivacySpec, profile: Profile, known: Sequence[str]) -> list[VerdictRow]:
    """The same for several sensitive attributes: groups as such once, then each attribute by itself."""
    domains = value_domains(profile)
    nothing = list(unprotected(privacy, domains))
    if nothing:
        return nothing
    rows = _rows(criteria_of_groups(privacy, domains), _as_one_group(profile, next(iter(domains.values()))))
    for attribute, domain in domains.items():
        if not known_beside(attribute, known):
            criteria = criteria_of_values(privacy, attribute, domain)
            rows += labelled(_rows(criteria, _as_one_group(profile, domain)), attribute)
    return rows


def _rows(criteria: Sequence[Criterion[Any]], whole: GroupSummaries) -> list[VerdictRow]:
    return [row for c in criteria for row in c.decide(c.summarise(whole, np.array([1])))]


def enough_population(rows: DataFrame, spec: ReleaseSpec) -> list[VerdictRow]:
    """What the undivided table stands for in the population, in coded rows, if that is demanded."""
    criteria = population_criteria(spec.privacy)
    if not criteria:
        return []
    found = only_row(rows.agg(F.count(F.lit(1)), F.sum(C.WEIGHT)))
    number, units = (np.array([int(part or 0)], np.int64) for part in found)
    return _rows(criteria, GroupSummaries(number, np.empty((1, 0), np.int64), population=units))


def enough_households(rows: DataFrame, spec: ReleaseSpec) -> list[VerdictRow]:
    """The verdict on the households of the undivided table, in coded rows; they are counted up to k only."""
    needed = households_needed(spec.privacy)
    if spec.columns.household is None or needed is None:
        return []
    number = np.array([rows.select(*C.HOUSEHOLD_NAME).distinct().limit(needed).count()])
    whole = GroupSummaries(number, np.empty((1, 0), np.int64), households=Households(number))
    criterion = HouseholdAnonymity(needed)
    return criterion.decide(criterion.summarise(whole, np.array([1])))
