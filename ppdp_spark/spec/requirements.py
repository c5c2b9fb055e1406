"""What a command needs of a spec beyond being valid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ppdp_spark.core.criteria.family import Family, Parameters
from ppdp_spark.core.data.forms import FORMS
from ppdp_spark.core.partition.partitioners import PARTITIONERS
from ppdp_spark.spec.attack import lacking_for_attack
from ppdp_spark.spec.columns import some_unprotected
from ppdp_spark.spec.messages import dotted, excerpt
from ppdp_spark.spec.several_attributes import lacking_for_several

if TYPE_CHECKING:
    from ppdp_spark.spec.privacy import PrivacySpec
    from ppdp_spark.spec.release import Command, ReleaseSpec

Demanded: TypeAlias = tuple[Family, Parameters]

NO_INPUT = "`input` is missing: add `input: {path: data/census.parquet}`"
NO_CRITERIA = "`privacy` demands nothing: add at least one criterion, such as `k_anonymity: 10`"


def lacking(spec: ReleaseSpec, command: Command, *, table_given: bool = False) -> Iterator[str]:
    """Problems of a spec that a command would meet, each with its fix."""
    attacks_ours = command == "attack" and spec.attack is not None and spec.attack.release is not None
    if spec.input is None and not (table_given or attacks_ours):
        yield NO_INPUT
    if command == "plan" and not PARTITIONERS[spec.partitioner].blind:
        yield f"`partitioner` ({spec.partitioner}) looks at sensitive values: `plan` is about blind"
    if command in ("anonymize", "eligibility", "plan"):
        yield from _lacking_for_release(spec)
    if command == "eligibility":  # asks whether `anonymize` can succeed
        command = "anonymize"
    yield from lacking_for_several(spec, command)
    yield from _undefined_for_some_values(spec)
    if command in ("anonymize", "suppress") and spec.output.path is None:
        yield "`output.path` is missing: add `output: {path: out/census}`"
    if command == "suppress" and spec.suppression.method == "none":
        yield "`suppression.method` (none) suppresses nothing: use r or safe-d"
    if command in ("check", "explore"):
        yield from _lacking_for_groups(spec, command)
    if command == "attack" and spec.columns.person is not None:
        yield "`columns.person` is not part of `attack`: its tables need one row per person; remove it"
    yield from _lacking_for_ranges(spec, command)
    if command in ("anonymize", "eligibility", "plan"):
        yield from _lacking_for_rows(spec) if FORMS[spec.output.form].of_rows else _values_of_everybody(spec)
    yield from lacking_for_households(spec, command)
    yield from lacking_for_weights(spec, command)
    if command == "attack":
        yield from lacking_for_attack(spec.attack, spec.columns)


def _lacking_for_release(spec: ReleaseSpec) -> Iterator[str]:
    """What `anonymize` needs: a partitioner that can work, criteria, quasi-identifiers."""
    yield from _placing_problems(spec)
    if spec.audit.at_most is not None and (reason := not_audited(spec)) is not None:
        yield f"`audit.at_most` cannot be checked, for there is no audit ({reason}): remove it"
    if not spec.privacy.criteria:
        yield NO_CRITERIA
    if not spec.columns.quasi_identifiers:
        yield "`columns.quasi_identifiers` is empty: name at least one column"
    if spec.suppression.method == "unsafe-d":
        yield "`suppression.method` (unsafe-d) is for study only and never published: use r or safe-d"


def _lacking_for_ranges(spec: ReleaseSpec, command: Command) -> Iterator[str]:
    """What does not go with quasi-identifiers of which people keep all their values."""
    names = list(spec.columns.quasi_identifiers)
    priors = () if spec.privacy.robustness is None else spec.privacy.robustness.priors
    for name in (names[place] for place in spec.columns.ranging):
        varies = f"`columns.quasi_identifiers.{excerpt(name)}.varies` (range)"
        if FORMS[spec.output.form].codes_published and command in ("anonymize", "eligibility", "plan"):
            yield (
                f"{varies} needs a form that generalizes, and `output.form` ({spec.output.form}) publishes "
                "people's own values: use generalized, or `varies: latest`"
            )
        if command == "suppress":
            yield f"{varies} is not part of `suppress`, which generalizes nothing: use `varies: latest`"
        if any(name in prior.attributes for prior in priors):
            yield (
                f"{varies} cannot be combined with `privacy.robustness.priors` about it, which are about one "
                "value per person: use `varies: latest`, or leave it out of `attributes`"
            )


def _lacking_for_rows(spec: ReleaseSpec) -> Iterator[str]:
    """What a release of the rows of people needs, and what would tell which of them belong together."""
    columns, form = spec.columns, f"`output.form` ({spec.output.form})"
    if columns.person is None:
        yield f"{form} shows the rows of people: say whose they are by `columns.person`, or use generalized"
    if any(attribute.case == "svpi" for attribute in columns.attributes):
        yield (
            f"{form} shows several values of a person, and `columns.sensitive.case` (svpi) has one: use "
            "`case: mvpi-multiset`, or the form generalized"
        )
    if columns.publish_as_is:
        yield (
            f"`columns.publish_as_is` cannot be combined with {form}: beside single rows it would tell which "
            "of them belong together; remove one of them"
        )
    for field in ("household", "weight"):
        if getattr(columns, field) is not None:
            yield f"`columns.{field}` cannot be combined with {form}: use generalized, or remove it"
    if spec.output.queries:
        yield f"`output.queries` cannot be combined with {form}, whose rows are not people: remove it"


def _undefined_for_some_values(spec: ReleaseSpec) -> Iterator[str]:
    """Criteria that are not defined where some values of their attribute need no protection."""
    limited = {attribute.column for attribute in spec.columns.attributes if attribute.sensitivity is not None}
    for at, part in spec.privacy.parts.items():
        if not limited or (len(at) > 1 and at[-1] not in limited):
            continue
        for family, given in part.demanded:
            if reason := family.undefined_for_some(given):
                yield (
                    f"`{dotted((*at, family.field))}` {reason} where some values need no protection: "
                    "remove it, or remove `not_sensitive` and `only` from `columns.sensitive`"
                )


def _values_of_everybody(spec: ReleaseSpec) -> Iterator[str]:
    """Criteria whose models leave open that a person has no value, where every person has one.

    With ten people and ten values, five of them σ, the model of multisets says that a person has σ with
    probability .41 [Skyline, Sec 2.1]; who knows that everybody has a value concludes .5.
    """
    form = FORMS[spec.output.form]
    if spec.columns.person is None or case_of(spec) == "svpi" or form.side_by_side:
        return
    for family, _ in spec.privacy.demanded:
        if family.traits.sensitive:
            yield (
                f"`privacy.{family.field}` with `columns.person` needs another `output.form` than "
                f"{form.name}, whose model leaves open that somebody has no value, and everybody has one: "
                "use generalized or rowwise"
            )


def _lacking_for_groups(spec: ReleaseSpec, command: Command) -> Iterator[str]:
    """What `check` and `explore` need of a table of groups."""
    if command == "explore":
        for family, _ in spec.privacy.demanded:
            if family.traits.priors or family.traits.weights:
                yield f"`privacy.{family.field}` is not part of `explore`: use `ppdp check`, or remove it"
        if spec.columns.sensitive is None:
            yield f"`columns.sensitive` is missing: `{command}` needs it"
    if not (spec.columns.group or spec.columns.quasi_identifiers):
        yield "`columns.group` and `columns.quasi_identifiers` are both empty: groups need one of them"


def _placing_problems(spec: ReleaseSpec) -> Iterator[str]:
    """What partitioners need, and what people without a place cannot be combined with."""
    privacy = spec.privacy
    partitioner = PARTITIONERS[spec.partitioner]
    if partitioner.needs is not None and getattr(privacy, partitioner.needs) is None:
        yield (
            f"`partitioner` ({partitioner.name}) needs `privacy.{partitioner.needs}`: add it, "
            f"or use {partitioner.instead}"
        )
    if partitioner.blind:
        yield from _blinding_problems(spec)
    unplacing = [f"`privacy.{family.field}`" for family, _ in privacy.demanded if family.traits.priors]
    if partitioner.leaves_people:
        unplacing.append(f"`partitioner` ({partitioner.name})")
    demanded = [pair for part in privacy.parts.values() for pair in part.demanded]
    if partitioner.blind:
        unplacing = []
    yield from combination_problems(demanded, case_of(spec), unplacing[0] if unplacing else None)


def _blinding_problems(spec: ReleaseSpec) -> Iterator[str]:
    """What would let sensitive values decide about groups, or about who is in one."""
    blind = f"`partitioner` ({spec.partitioner})"
    fewest = spec.privacy.least_size(some=some_unprotected(spec.columns))
    if spec.suppression.method != "none":
        yield (
            f"`suppression.method` ({spec.suppression.method}) cannot be combined with {blind}: who is left "
            "out would depend on sensitive values; remove one of them"
        )
    if spec.nulls == "suppress" and spec.columns.sensitive is not None:
        yield (
            f"`nulls` (suppress) cannot be combined with {blind}: somebody may be left out for having no "
            "sensitive value, and whoever misses them learns it; use category or error"
        )
    if spec.least_size is not None and spec.least_size < fewest:
        yield f"`least_size` ({spec.least_size}) must be at least {fewest}: `privacy` allows none smaller"
    if spec.least_size is None:
        for reason in unpredictable(spec):
            yield f"`least_size` is missing: {reason}; add `least_size: 50`"


def unpredictable(spec: ReleaseSpec) -> Iterator[str]:
    """Why the least size of blind groups, and their chance to pass, cannot be predicted."""
    for family, _ in spec.privacy.demanded:
        if family.traits.priors:
            yield f"it is not predicted with `privacy.{family.field}`, for priors of people are not public"
    if case_of(spec) != "svpi":
        yield "it is not predicted with several values per person"


def combination_problems(demanded: Sequence[Demanded], case: str, unplacing: str | None) -> Iterator[str]:
    """What criteria cannot be combined with, by their traits; `unplacing` leaves people without a place."""
    yield from _not_kept_by_unions(demanded, case)
    if unplacing is not None:
        yield from _not_with_people_unplaced(demanded, unplacing)


def case_of(spec: ReleaseSpec) -> str:
    """What a person may have in the sensitive column: one value, a set, a multiset."""
    cases = {attribute.case for attribute in spec.columns.attributes}
    return cases.pop() if len(cases) == 1 else "svpi"


def _not_with_people_unplaced(demanded: Sequence[Demanded], cause: str) -> Iterator[str]:
    """Criteria that do not bear it if people are left without a place, as `cause` leaves them."""
    for family, _ in demanded:
        if family.traits.table:
            yield (
                f"`privacy.{family.field}` cannot be combined with {cause}: people without a place are "
                "suppressed, which changes the distribution it compares with; remove one of them"
            )
    for family, given in demanded:
        if family.traits.couples(given) and family.floors is None:
            when, instead = family.traits.coupling
            name = f"`privacy.{family.field}` {when}".rstrip()
            yield f"{name} cannot be combined with {cause}: {instead}"


def _not_kept_by_unions(demanded: Sequence[Demanded], case: str) -> Iterator[str]:
    """Criteria that no partitioner can work with, for all start from unions of what they publish.

    Those that look at priors are placed by partitioners that choose their groups one by one.
    """
    for family, given in demanded:
        traits = family.traits
        if traits.couples(given) and family.local is None:
            yield (
                f"`privacy.{family.field}` looks at several groups together, and no partitioner does: "
                "use `ppdp check`, or remove it"
            )
        if not (traits.priors or traits.closed(case) or case in traits.cut_anyway):
            yield (
                f"`privacy.{family.field}` is not closed under union: two groups that satisfy it may fail it "
                "together, so cutting from the top down would miss groups, and a reader who confuses two "
                "groups with equal labels would learn more than it allows; use `ppdp check`, or remove it"
            )


def not_audited(spec: ReleaseSpec) -> str | None:
    """Why the algorithm-aware audit does not look at a release of this spec; None if it does."""
    columns, partitioner = spec.columns, PARTITIONERS[spec.partitioner]
    coupling = [family for family, given in spec.privacy.demanded if family.traits.couples(given)]
    needing = [family for family, _ in spec.privacy.demanded if family.traits.priors or family.traits.weights]
    if not columns.attributes:
        return "there is no sensitive column"
    if len(columns.attributes) > 1:
        return "not defined for several sensitive attributes"
    if columns.attributes[0].case != "svpi":
        return "not defined for several values per person"
    if columns.attributes[0].sensitivity is not None:
        return "not defined where some values need no protection"
    if partitioner.leaves_people:
        return f"not defined for `partitioner: {partitioner.name}`"
    if columns.household is not None:
        return "not defined for `columns.household`"
    if needing:
        return f"not defined for `privacy.{needing[0].field}`"
    if coupling and not partitioner.blind:
        when, _ = coupling[0].traits.coupling
        return f"not defined for `privacy.{coupling[0].field}` {when}".rstrip()
    return None


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
    if command in ("anonymize", "plan"):
        yield from _counting_problems(spec)


def _counting_problems(spec: ReleaseSpec) -> Iterator[str]:
    """What does not count households while it makes groups."""
    partitioner, privacy = PARTITIONERS[spec.partitioner], spec.privacy
    if partitioner.leaves_people or partitioner.blind:
        yield f"`columns.household` needs `partitioner: mondrian`: {partitioner.name} does not count them"
    if households_needed(privacy) is None:
        yield "`columns.household` needs a k that counts households: add `k_anonymity: 10` to `privacy`"
    yield from _not_group_by_group(privacy, "`columns.household`")


def _not_group_by_group(privacy: PrivacySpec, what: str) -> Iterator[str]:
    """Criteria that look at priors or at several groups, which `what` cannot be combined with."""
    for family, given in privacy.demanded:
        name, instead = f"`privacy.{family.field}`", "remove one of them"
        if not family.traits.priors:
            if not family.traits.couples(given):
                continue
            when, instead = family.traits.coupling
            name = f"{name} {when}".rstrip()
        yield f"{name} cannot be combined with {what}: {instead}"


def _members_problems(spec: ReleaseSpec) -> Iterator[str]:
    """What cannot be judged for somebody who knows all members of one household."""
    sensitive, place = spec.columns.attribute, "`columns.household.members_know_each_other`"
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


def lacking_for_weights(spec: ReleaseSpec, command: Command) -> Iterator[str]:
    """Problems of a spec with weights, or with what needs them, that a command would meet."""
    if command in ("attack", "explore"):
        if spec.columns.weight is not None:
            yield f"`columns.weight` is not part of `{command}`: remove it"
        return
    estimated = [f"`privacy.{family.field}`" for family, _ in spec.privacy.demanded if family.traits.weights]
    for name in estimated:
        if spec.columns.weight is None:
            yield f"{name} needs weights: add `weight: ...` to `columns`"
        if len(spec.privacy.criteria) == len(estimated):
            yield (
                f"{name} is an estimate, about somebody who does not know who is in the table: add a "
                "criterion that holds for whoever knows it, such as `k_anonymity: 10`"
            )
        if command in ("anonymize", "plan"):
            yield from _estimating_problems(spec, name)


def _estimating_problems(spec: ReleaseSpec, name: str) -> Iterator[str]:
    """What does not add up weights while it makes groups, or makes groups that are not told apart."""
    partitioner, form = PARTITIONERS[spec.partitioner], FORMS[spec.output.form]
    if partitioner.leaves_people or partitioner.blind:
        yield f"{name} needs `partitioner: mondrian`: {partitioner.name} does not add up weights"
    if form.codes_published:
        yield (
            f"{name} needs `output.form: generalized`: {form.name} publishes everybody's own "
            "quasi-identifiers, so that a group does not say how many of the population share them"
        )
    yield from _not_group_by_group(spec.privacy, name)
