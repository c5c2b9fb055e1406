"""The criteria of several sensitive attributes: of groups once, of values for each attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ppdp_spark.core.criteria.attributes.in_cells import InCells
from ppdp_spark.core.criteria.attributes.of_attribute import OfAttribute
from ppdp_spark.core.criteria.base import Criterion, LocalCriterion, VerdictRow
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.run.criteria.guarantees import NOTHING, criteria_of, promises_nothing, separable_criteria
from ppdp_spark.spec import PrivacySpec

Domains = Mapping[str, ValueDomain]
"""The values of each sensitive attribute, by its column, in the order of the spec."""


def known_beside(attribute: str, known: Sequence[str]) -> tuple[str, ...]:
    """Which of the known attributes help somebody to find a row and learn about another one."""
    return tuple(name for name in known if name != attribute)


def beside_each_other(
    privacy: PrivacySpec, domains: Domains, known: Sequence[str] = ()
) -> tuple[LocalCriterion, ...]:
    """What a group must satisfy whose counts of all attributes lie side by side: all criteria of all.

    Where rows keep the values of a person together, criteria of an attribute look at the cells of somebody
    who knows the others among the `known` ones.
    """
    found = list(separable_criteria(privacy.of_groups, next(iter(domains.values()))))
    first, places = 0, {attribute: place for place, attribute in enumerate(domains)}
    for attribute, domain in domains.items():
        columns = slice(first, first + len(domain.labels))
        own = separable_criteria(privacy.of_attribute(attribute), domain)
        beside = tuple(places[name] for name in known_beside(attribute, known))
        if beside:
            found += [InCells(criterion, places[attribute], beside, len(domain.labels)) for criterion in own]
        else:
            found += [OfAttribute(criterion, columns) for criterion in own]
        first = columns.stop
    return tuple(sorted(found, key=lambda criterion: criterion.needs_counts or criterion.needs_linked))


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


def labelled(rows: Sequence[VerdictRow], attribute: str, known: Sequence[str] = ()) -> list[VerdictRow]:
    """Verdict rows that say which attribute they are about, and which others are known.

    Cells of somebody who knows others are not the groups that a reader sees: what names one is called by its
    name.
    """
    if not known:
        return [row.of_attribute(attribute) for row in rows]
    return [replace(row.of_attribute(attribute, known), witness=_of_cell(row.witness)) for row in rows]


def _of_cell(witness: Mapping[str, Any]) -> dict[str, Any]:
    return {("cell" if fact == "group" else fact): value for fact, value in witness.items()}
