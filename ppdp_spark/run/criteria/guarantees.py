"""From the `privacy` section of a spec to criteria over codes, as the families of criteria say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import ValidationError

from ppdp_spark.core.criteria.base import Criterion, LocalCriterion, Measured, VerdictRow
from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.criteria.family import Family, Parameters
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.spec import PrivacySpec, ReleaseSpec
from ppdp_spark.spec.messages import excerpt
from ppdp_spark.spec.privacy import PER_ATTRIBUTE


def criteria_of(privacy: PrivacySpec, domain: ValueDomain) -> tuple[Criterion[Any], ...]:
    """Every criterion that applies to a value of the domain, or to groups as such; cheapest first.

    Criteria that need priors or weights of people are not among them: they see more than a release shows.
    """
    found = (built(family, given, domain) for family, given in _on_counts(privacy))
    return tuple(criterion for criterion in found if criterion is not None)


def separable_criteria(privacy: PrivacySpec, domain: ValueDomain) -> tuple[LocalCriterion, ...]:
    """The same criteria so far as each group meets them by itself: what a partitioner decides in a task."""
    found = []
    for family, given in _on_counts(privacy):
        criterion = built(family, given, domain, local=True)
        if isinstance(criterion, LocalCriterion):
            found.append(criterion)
        elif criterion is not None:
            raise SpecError(f"`privacy.{family.field}` looks at several groups together: no partitioner does")
    return tuple(found)


def measured_criteria(privacy: PrivacySpec, domain: ValueDomain) -> tuple[Measured, ...]:
    """Every criterion that `privacy` does not demand: a check says what a table achieves anyway.

    With several values per person, only what says something about one person is measured.
    """
    demanded = {criterion.name for criterion in criteria_of(privacy, domain)}
    return tuple(found for found in _measurable(domain) if found.name not in demanded)


def promises_nothing(privacy: PrivacySpec, criteria: Sequence[Criterion[Any]], domain: ValueDomain) -> bool:
    """Whether a release may show everybody alone, whatever their value, of those that need protection.

    It guarantees nothing then. So it is where no criterion applies to a value that occurs, and where all that
    do are so weak that groups of one person satisfy them, such as t-closeness with t = 1.
    """
    if any(family.traits.priors for family, _ in privacy.demanded):
        return False
    width = max(1, len(domain.labels))
    some = np.array(domain.protected_codes if domain.labels else [0], np.int64)[:_VALUES_ALONE]
    for first in range(0, len(some), _AT_ONCE):
        values = some[first : first + _AT_ONCE]
        counts = np.zeros((len(values), width), np.int64)
        counts[np.arange(len(values)), values] = 1
        alone = GroupSummaries(np.ones(len(values), np.int64), counts)
        rows = (row for c in criteria for row in c.decide(c.summarise(alone, np.arange(1, len(values) + 1))))
        if not all(row.ok for row in rows):
            return False
    return True


_VALUES_ALONE, _AT_ONCE = 256, 16
"""Protected values, the first in order, of which one person is looked at alone, and how many at a time."""

NOTHING = VerdictRow(
    "guarantees", "a criterion forbids that somebody is shown alone", 0.0, 1.0, ">=", 0, 1, "fail"
)
"""The verdict on a release that promises nothing."""


def value_labels(rows: Sequence[VerdictRow], labels: Sequence[str]) -> list[VerdictRow]:
    """Verdict rows whose witness names a sensitive value by its label instead of its code."""
    coded = [row.witness.get("value") for row in rows]
    return [
        row if code is None else replace(row, witness={**row.witness, "value": labels[code]})
        for row, code in zip(rows, coded, strict=True)
    ]


def public_privacy(spec: ReleaseSpec) -> dict[str, Any]:
    """The criteria and their thresholds as the public manifest states them: no path of a file."""
    plain: dict[str, Any] = spec.to_dict()["privacy"]
    own = plain.pop(PER_ATTRIBUTE, None)
    stated = _public(plain)
    return (
        stated
        if own is None
        else {**stated, PER_ATTRIBUTE: {name: _public(each) for name, each in own.items()}}
    )


def _public(plain: Mapping[str, Any]) -> dict[str, Any]:
    shown = {family.field: family.public for family in families()}
    return {field: shown[field](given) for field, given in plain.items()}


def published_privacy(stated: Mapping[str, Any]) -> PrivacySpec:
    """The criteria that a public manifest states; a `DataError` for any that are not known here."""
    parts = [stated, *(stated.get(PER_ATTRIBUTE) or {}).values()]
    unknown = sorted(
        {name for part in parts for name in part} - {PER_ATTRIBUTE, *(f.field for f in families())}
    )
    if unknown:
        told = "the manifest demands `{}`: install the package that adds this criterion"
        raise DataError([told.format(excerpt(name)) for name in unknown])
    try:
        return PrivacySpec.model_validate(stated)
    except ValidationError as error:
        fields = sorted({str(detail["loc"][0]) for detail in error.errors() if detail["loc"]})
        raise DataError(f"the manifest states criteria that are not valid: {', '.join(fields)}") from None


def _on_counts(privacy: PrivacySpec) -> list[tuple[Family, Parameters]]:
    """Demanded families whose criteria look at sizes and counts alone, cheapest first."""
    wanted = [
        (family, given)
        for family, given in privacy.demanded
        if not (family.traits.priors or family.traits.weights)
    ]
    return sorted(wanted, key=lambda pair: pair[0].cost)


def built(
    family: Family, given: Parameters, domain: ValueDomain, *, local: bool = False
) -> Criterion[Any] | None:
    """The criterion, or the part that each group meets by itself; None if it applies to no value.

    It must have the traits that its family declares, for others rely on them. Only a family whose model is
    written by hand, and checked against the values, may make no criterion of what is demanded.
    """
    part = family.local if local else None
    criterion, traits = family.criterion(given, domain, local=local), family.traits
    if criterion is None and part is None and family.parameters is not None:
        raise SpecError(f"`privacy.{family.field}` is demanded, and no criterion is made of it")
    if criterion is None:
        return None
    agreed = (criterion.needs_priors, criterion.union_closed) == (traits.priors, traits.closed(domain.case))
    if not agreed or (part is None and criterion.name not in family.names):
        raise SpecError(f"the criterion of `privacy.{family.field}` does not have the traits it declares")
    return criterion


def _measurable(domain: ValueDomain) -> Iterator[Measured]:
    occurs = sum(domain.counts) > 0
    for family in sorted(families(), key=lambda family: family.cost):
        if family.traits.sensitive and not occurs:
            continue
        for measure in family.measures:
            if measure.any_case or domain.case == "svpi":
                criterion = _buildable(family, measure.parameters, domain)
                if isinstance(criterion, LocalCriterion):
                    yield Measured(criterion, measure.label)


def _buildable(family: Family, given: Parameters, domain: ValueDomain) -> Criterion[Any] | None:
    """The criterion, or None where it says nothing about such a table: nobody asked for it."""
    if domain.protected is not None and family.undefined_for_some(given):
        return None
    try:
        return family.criterion(given, domain)
    except DataError:
        return None
