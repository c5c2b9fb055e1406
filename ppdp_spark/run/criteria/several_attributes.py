"""The criteria of several sensitive attributes: of groups once, of values for each attribute by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ppdp_spark.core.criteria.base import Criterion, LocalCriterion, OfAttribute, VerdictRow
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.run.criteria.guarantees import NOTHING, criteria_of, promises_nothing, separable_criteria
from ppdp_spark.spec import PrivacySpec

Domains = Mapping[str, ValueDomain]
"""The values of each sensitive attribute, by its column, in the order of the spec."""


def beside_each_other(privacy: PrivacySpec, domains: Domains) -> tuple[LocalCriterion, ...]:
    """What a group must satisfy whose counts of all attributes lie side by side: all criteria of all."""
    found = list(separable_criteria(privacy.of_groups, next(iter(domains.values()))))
    first = 0
    for attribute, domain in domains.items():
        columns = slice(first, first + len(domain.labels))
        own = separable_criteria(privacy.of_attribute(attribute), domain)
        found += [OfAttribute(criterion, columns) for criterion in own]
        first = columns.stop
    return tuple(sorted(found, key=lambda criterion: criterion.needs_counts))


def unprotected(privacy: PrivacySpec, domains: Domains) -> Iterator[VerdictRow]:
    """A failing row for each attribute whose values a release may show of somebody alone."""
    for attribute, domain in domains.items():
        own = privacy.only(attribute)
        if promises_nothing(own, criteria_of(own, domain), domain):
            yield NOTHING.of_attribute(attribute)


def criteria_of_values(
    privacy: PrivacySpec, attribute: str, domain: ValueDomain
) -> tuple[Criterion[Any], ...]:
    """The criteria that look at the values of one attribute."""
    return criteria_of(privacy.of_attribute(attribute), domain)


def criteria_of_groups(privacy: PrivacySpec, domains: Domains) -> tuple[Criterion[Any], ...]:
    """The criteria that look at no values: whichever attribute is counted, they say the same."""
    return criteria_of(privacy.of_groups, next(iter(domains.values())))


def labelled(rows: Sequence[VerdictRow], attribute: str) -> list[VerdictRow]:
    """Verdict rows that say which attribute they are about."""
    return [row.of_attribute(attribute) for row in rows]
