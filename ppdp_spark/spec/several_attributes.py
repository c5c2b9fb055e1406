"""What a spec with several sensitive attributes may ask for: where it asks for more, what to do instead.

Only what is written is looked at here, so that all problems of a spec are told together; what depends on the
parameters of criteria is asked for when a command needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.data.forms import FORMS
from ppdp_spark.core.partition.partitioners import PARTITIONERS
from ppdp_spark.spec.columns import SensitiveSpec, WeightSpec, sensitive_list, some_unprotected
from ppdp_spark.spec.fields import fields_of
from ppdp_spark.spec.messages import Location, dotted, excerpt, shown
from ppdp_spark.spec.nearest import suggestion
from ppdp_spark.spec.privacy import PER_ATTRIBUTE

if TYPE_CHECKING:
    from ppdp_spark.spec.release import Command, ReleaseSpec

ONE = "is for one sensitive attribute, and `columns.sensitive` lists several"


def several_problems(
    data: Mapping[str, Any], columns: Mapping[str, Any], privacy: Mapping[str, Any]
) -> Iterator[tuple[Location, str]]:
    """Problems that raw data has because there are several sensitive attributes, or because there are not."""
    declared = [
        fields_of(SensitiveSpec.written_out(each)) for each in sensitive_list(columns.get("sensitive"))
    ]
    names = [each["column"] for each in declared if isinstance(each.get("column"), str)]
    own = privacy.get(PER_ATTRIBUTE)
    yield from _criteria_of_one(own if isinstance(own, Mapping) else {}, names)
    yield from _linked_problems(columns.get("sensitive_linked"), names)
    yield from _suppression_problems(fields_of(data.get("suppression")), names)
    yield from _explored_problems(fields_of(data.get("explore")).get("sensitive"), names)
    if len(declared) < 2:
        return
    for i, each in enumerate(declared):
        if each.get("case") in ("mvpi-set", "mvpi-multiset"):
            told = f"({each['case']}) {ONE}, each of which has one value per person: "
            yield ("columns", "sensitive", i, "case"), f"{told}remove `case`, or declare one attribute"
    if fields_of(privacy.get("skyline")).get("values"):
        told = "names values of one attribute, and there are several: move the skyline to "
        yield (
            ("privacy", "skyline", "values"),
            f"{told}`privacy.{PER_ATTRIBUTE}.{excerpt(names[0] if names else '...')}`",
        )
    for family in families():
        if family.traits.priors and privacy.get(family.field) is not None:
            yield ("privacy", family.field), f"{ONE}: remove it, or declare one attribute"
    given = data.get("partitioner")
    partitioner = PARTITIONERS.get(given) if isinstance(given, str) else None
    if partitioner is not None and not partitioner.several:
        able = " or ".join(one.name for one in PARTITIONERS.values() if one.several)
        yield ("partitioner",), f"({shown(given)}) {ONE}: use {able}"
    yield from _column_problems(columns)
    for section in ("explore", "attack"):
        if data.get(section) is not None and fields_of(data[section]).get("sensitive") is None:
            yield (section,), f"{ONE}: remove it, or name one in `{section}.sensitive`"


def _column_problems(columns: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    """Columns that are for one attribute, or may not stand beside several."""
    if columns.get("publish_as_is"):
        yield ("columns", "publish_as_is"), _beside(linked=columns.get("sensitive_linked") is not None)
    if columns.get("household") is not None:
        yield ("columns", "household"), f"{ONE}: remove it, or declare one attribute"
    if fields_of(WeightSpec.written_out(columns.get("weight"))).get("publish"):
        yield ("columns", "weight", "publish"), f"{ONE}: remove it, or declare one attribute"


def _explored_problems(given: Any, names: list[str]) -> Iterator[tuple[Location, str]]:
    """What is explored is one of the attributes."""
    if isinstance(given, str) and names and given not in names:
        hint = suggestion(given, map(excerpt, names))
        yield ("explore", "sensitive"), f"({shown(given)}) is not one of `columns.sensitive`; {hint}"


def _suppression_problems(given: Mapping[str, Any], names: list[str]) -> Iterator[tuple[Location, str]]:
    """One of several attributes decides which rows go, and is named."""
    place, named = ("suppression", "attribute"), given.get("attribute")
    asked = given.get("method", "none") != "none" or given.get("l") is not None
    if named is None and asked and len(names) > 1:
        told = f"one of {', '.join(f'`{excerpt(name)}`' for name in names)}"
        yield place, f"is missing: with several sensitive attributes, say which of them decides, {told}"
    elif named is not None and len(names) < 2:
        yield place, "is for several sensitive attributes, and there are none to choose from: remove it"
    elif isinstance(named, str) and named not in names:
        hint = suggestion(named, map(excerpt, names))
        yield place, f"({shown(named)}) is not one of `columns.sensitive`; {hint}"
    elif named is not None and not asked:
        yield place, "decides nothing without a method: add `method: r` and `l: 6`, or remove it"


def _beside(*, linked: bool) -> str:
    """What is wrong with columns that are published as they are."""
    why = "whose values are not told whose they are"
    why = "and whoever knows them of a person would find the row by them" if linked else why
    told = f"would stand beside several sensitive attributes, {why}"
    return f"{told}: leave these columns out, or declare one attribute"


def _linked_problems(given: Any, names: list[str]) -> Iterator[tuple[Location, str]]:
    """What is linked are several attributes, and those that are known are among them."""
    place = ("columns", "sensitive_linked")
    if given is not None and len(names) < 2:
        yield place, "needs several sensitive attributes: list them in `columns.sensitive`, or remove it"
        return
    known = fields_of(given).get("known")
    known = list(known) if isinstance(known, list | tuple) else []
    for i, name in enumerate(known):
        if isinstance(name, str) and name not in names:
            hint = suggestion(name, map(excerpt, names))
            yield (*place, "known", i), f"({shown(name)}) is not one of `columns.sensitive`; {hint}"
        elif name in known[:i]:
            yield (*place, "known", i), f"names `{excerpt(str(name))}` twice"


def _beside_linked(spec: ReleaseSpec) -> Iterator[str]:
    """What has no meaning, or none that is proved, where rows keep sensitive values together."""
    columns, linked = spec.columns, "cannot be combined with `columns.sensitive_linked`"
    if some_unprotected(columns):
        yield (
            f"`not_sensitive` and `only` in `columns.sensitive` {linked}: what is demanded of some values is "
            "not derived for whoever knows values of other columns; remove one of them"
        )
    if columns.weight is not None:
        yield f"`columns.weight` {linked}: remove one of them"
    names = list(columns.quasi_identifiers)
    for name in (names[place] for place in columns.ranging):
        varies = f"`columns.quasi_identifiers.{excerpt(name)}.varies` (range)"
        yield f"{varies} {linked}: use `varies: latest`, or remove one of them"
    if FORMS[spec.output.form].of_rows:
        yield f"`output.form` ({spec.output.form}) {linked}: use generalized, or remove one of them"


def _chosen_with_unprotected(spec: ReleaseSpec, command: Command) -> Iterator[str]:
    """What is for one named attribute of several, all of whose values need protection."""
    some = "where some values need no protection: remove `not_sensitive` and `only` from `columns.sensitive`"
    if not some_unprotected(spec.columns):
        return
    if spec.suppression.attribute is not None:
        yield f"`suppression.attribute` is not defined {some}, or suppress nothing"
    if command == "explore":
        yield f"`explore.sensitive` is not defined {some}, or declare one attribute"


def _criteria_of_one(own: Mapping[str, Any], names: list[str]) -> Iterator[tuple[Location, str]]:
    """Criteria of single attributes belong to attributes that there are, and demand something."""
    for name, criteria in own.items():
        place = ("privacy", PER_ATTRIBUTE, name)
        if len(names) < 2:
            yield place, "needs several sensitive attributes: put these criteria in `privacy` itself"
        elif name not in names:
            yield place, f"is not one of `columns.sensitive`; {suggestion(name, map(excerpt, names))}"
        elif criteria == {}:
            yield place, "(empty) demands nothing: give it a criterion or remove the key"


def lacking_for_several(spec: ReleaseSpec, command: Command) -> Iterator[str]:
    """What commands cannot do with several sensitive attributes, and criteria that look at several groups."""
    if len(spec.columns.attributes) < 2:
        return
    sections = {"explore": spec.explore, "attack": spec.attack}
    section = sections.get(command)
    if command in sections and (section is None or section.sensitive is None):
        yield (
            f"`columns.sensitive` lists several attributes, and `{command}` is for one: name it in "
            f"`{command}.sensitive`"
        )
    if spec.columns.sensitive_linked is not None:
        yield from _beside_linked(spec)
    yield from _chosen_with_unprotected(spec, command)
    demanded = [(at, *pair) for at, part in spec.privacy.parts.items() for pair in part.demanded]
    for at, family, given in demanded:
        traits, name = family.traits, f"`{dotted((*at, family.field))}`"
        if traits.couples(given):
            when, _ = traits.coupling
            told = f"{name} {when}".rstrip()
            yield f"{told} looks at several groups together, and {ONE}: demand less, or declare one attribute"
        elif command in ("check", "explore") and not traits.closed("svpi"):
            yield (
                f"{name} is not closed under union, so with several sensitive attributes it "
                "would have to hold for whatever of them somebody knows: remove it, or declare one attribute"
            )
