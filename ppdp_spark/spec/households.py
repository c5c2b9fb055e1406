"""What `columns.household` needs of the rest of a spec, command by command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ppdp_spark.core.partition.partitioners import PARTITIONERS

if TYPE_CHECKING:
    from ppdp_spark.spec.privacy import PrivacySpec
    from ppdp_spark.spec.release import Command, ReleaseSpec


def households_needed(privacy: PrivacySpec) -> int | None:
    """The most that any criterion demands of the number of people: so many households; None if none does."""
    counted = [] if privacy.alpha_k is None else [privacy.alpha_k.k]
    counted += [] if privacy.k_anonymity is None else [privacy.k_anonymity]
    return max(counted, default=None)


def lacking_for_households(spec: ReleaseSpec, command: Command) -> Iterator[str]:
    """Problems of a spec with `columns.household` that a command would meet, each with its fix."""
    household = spec.columns.household
    if household is None:
        return
    if command in ("attack", "explore"):
        yield f"`columns.household` is not part of `{command}`: remove it"
        return
    if household.members_know_each_other:
        yield from _members_problems(spec)
    if command == "anonymize":
        yield from _counting_problems(spec)


def _counting_problems(spec: ReleaseSpec) -> Iterator[str]:
    """What does not count households while it makes groups."""
    partitioner, privacy = PARTITIONERS[spec.partitioner], spec.privacy
    if partitioner.leaves_people:
        yield f"`columns.household` needs `partitioner: mondrian`: {partitioner.name} does not count them"
    if households_needed(privacy) is None:
        yield "`columns.household` needs a k that counts households: add `k_anonymity: 10` to `privacy`"
    for family, given in privacy.demanded:
        name, instead = f"`privacy.{family.field}`", "remove one of them"
        if not family.traits.priors:
            if not family.traits.couples(given):
                continue
            when, instead = family.traits.coupling
            name = f"{name} {when}".rstrip()
        yield f"{name} cannot be combined with `columns.household`: {instead}"


def _members_problems(spec: ReleaseSpec) -> Iterator[str]:
    """What cannot be judged for somebody who knows all members of one household."""
    sensitive, place = spec.columns.sensitive, "`columns.household.members_know_each_other`"
    if sensitive is None:
        yield f"{place} is about sensitive values: add `sensitive: {{column: ...}}`, or remove it"
    elif sensitive.case != "svpi":
        told = f"not for `columns.sensitive.case` ({sensitive.case})"
        yield f"{place} is defined for one value per person only, {told}"
    judged = [family for family, _ in spec.privacy.demanded if family.traits.sensitive]
    if not judged:
        yield f"{place} needs a criterion about sensitive values, such as `l_diversity`: add one"
    for family in judged:
        if family.traits.priors or family.local is not None:
            yield f"{place} is not defined for `privacy.{family.field}`: remove one of them"
