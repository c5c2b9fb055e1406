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
    household, privacy = spec.columns.household, spec.privacy
    if household is None:
        return
    if command in ("attack", "explore"):
        yield f"`columns.household` is not part of `{command}`: remove it"
        return
    if household.members_know_each_other:
        yield from _members_problems(spec)
    if command == "anonymize":
        partitioner = PARTITIONERS[spec.partitioner]
        if partitioner.leaves_people:
            yield f"`columns.household` needs `partitioner: mondrian`, not {partitioner.name}: no other counts them"
        if households_needed(privacy) is None:
            yield "`columns.household` needs a k that counts households: add `k_anonymity: 10` to `privacy`"
        for family, given in privacy.demanded:
            if family.traits.priors:
                yield f"`privacy.{family.field}` cannot be combined with `columns.household`: remove one of them"
            elif family.traits.couples(given):
                when, instead = family.traits.coupling
                name = f"`privacy.{family.field}` {when}".rstrip()
                yield f"{name} cannot be combined with `columns.household`: {instead}"


def _members_problems(spec: ReleaseSpec) -> Iterator[str]:
    """What cannot be judged for somebody who knows all members of one household."""
    sensitive, place = spec.columns.sensitive, "`columns.household.members_know_each_other`"
    if sensitive is None:
        yield f"{place} is about sensitive values: add `sensitive: {{column: ...}}`, or remove it"
    elif sensitive.case != "svpi":
        yield f"{place} is defined for one value per person only, not for `columns.sensitive.case` ({sensitive.case})"
    judged = [family for family, _ in spec.privacy.demanded if family.traits.sensitive]
    for family in judged:
        if family.traits.priors or family.local is not None:
            yield (
                f"{place} is not defined for `privacy.{family.field}`: remove one of them"
                + (" (a skyline says itself how many people are known)" if family.local is not None else "")
            )
    if not judged:
        yield f"{place} needs a criterion about sensitive values: add one, such as `l_diversity`, or remove it"
