"""Skyline points in words: what an adversary may know, and how sure that can make them [Skyline, Sec 4]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ppdp_spark.report.format.numbers import as_number, listing, mapping, number, percent
from ppdp_spark.report.format.quoted_names import any_of, joined, name, printable, things
from ppdp_spark.report.sentences.guarantee import Guarantee, Row, Setting, holds, margin

RANDOM_WORLDS = (
    "Somebody who knows everybody's quasi-identifiers, hence the groups, and so much about people; before "
    "that knowledge every way to hand out the values inside a group is equally likely to them."
)
WHOLE_RECORDS = (
    "The values of a person stand side by side in a row, so whole rows are what is dealt to people; the "
    "probability is an upper bound from the counts of each value."
)
OF_ROWS = (
    "Somebody who knows everybody's quasi-identifiers, hence the groups, and so much about people, and "
    "believes whatever they like about which rows of a group belong together, as long as its people are "
    "alike to them; the probability is an upper bound from the rows of each value."
)
LIMITS_OF_ROWS = (
    " Somebody who knows how many rows a person has, for those with many have more of the values."
)
LIMITS = (
    "Somebody who knows more than that, or knows something of another kind: above all that a value goes "
    "with certain quasi-identifiers."
)


@dataclass(frozen=True)
class Knowledge:
    """A row of the verdict read back: the sensitive value, the point (ℓ, k, m) and its confidence c."""

    value: str
    l: int
    k: int
    m: int
    c: float

    @property
    def point(self) -> tuple[int, int, int, float]:
        return self.l, self.k, self.m, self.c


def knowledge(row: Row) -> Knowledge | None:
    """What a row is about; None if its parameters do not say so."""
    given, c = mapping(row, "parameters"), as_number(row.get("threshold"))
    l, k, m = (given.get(name) for name in "lkm")
    if c is None or "value" not in given or not all(type(number) is int for number in (l, k, m)):
        return None
    return Knowledge(str(given["value"]), int(l), int(k), int(m), float(c))  # type: ignore[arg-type]


def known(point: Knowledge, setting: Setting) -> str:
    """What somebody with knowledge (ℓ, k, m) knows, as the end of `by knowing …`; `it` is the value."""
    l, k, m = point.l, point.k, point.m
    single = setting.case == "svpi"
    parts = []
    if k and single:
        parts.append(f"{setting.the_sensitive} of up to {things(k, 'other person', 'other people')}")
    elif k:
        parts.append(f"up to {things(k, 'other person who does', 'other people who do')} not have it")
    if l and single:
        parts.append(f"{things(l, 'value', 'values')} that the person does not have")
    elif l:
        parts.append(f"{things(l, 'value', 'values')} that the person can have only along with it")
    if m:
        parts.append(
            f"{things(m, 'relative who has', 'relatives who have')} it only if the person has it too"
        )
    return joined(parts) if parts else "nothing but the groups"


def skyline(rows: Sequence[Row], setting: Setting) -> list[Guarantee]:
    """One guarantee for all values with the same point and outcome; the worst of them gives the margin."""
    told = []
    for point, held, same in _alike(rows):
        if point is None:
            told += [_unread(row) for row in same]
        else:
            told.append(_told(point, held, same, setting))
    return told


def _alike(rows: Sequence[Row]) -> Iterator[tuple[Knowledge | None, bool, list[Row]]]:
    def key(row: Row) -> tuple[Any, ...]:
        found = knowledge(row)
        return (found is None, found.point if found else (), holds(row))

    for (_, _, held), same in groupby(sorted(rows, key=key), key=key):
        listed = list(same)
        yield knowledge(listed[0]), held, listed


def _told(point: Knowledge, held: bool, rows: list[Row], setting: Setting) -> Guarantee:
    values = [found.value for found in map(knowledge, rows) if found]
    worst = max(rows, key=lambda row: as_number(row.get("value")) or 0.0)
    claim = _promise(point, values, setting) if held else _breach(point, worst, len(values), setting)
    worst_value = knowledge(worst)
    noun = "Largest breach probability"
    if worst_value and len(values) > 1:
        noun = f"Largest breach probability, of {name(worst_value.value)}"
    return Guarantee(
        title=f"privacy skyline, (ℓ, k, m) = ({point.l}, {point.k}, {point.m}) at {percent(point.c)}",
        status="pass" if held else "fail",
        claim=claim,
        margin=margin(worst, noun, share=True),
        holds=_worlds(setting),
        limits=LIMITS + LIMITS_OF_ROWS if setting.of_rows else LIMITS,
    )


def _worlds(setting: Setting) -> str:
    """What somebody believes before that knowledge."""
    if setting.of_rows:
        return OF_ROWS
    return f"{RANDOM_WORLDS} {WHOLE_RECORDS}" if setting.records else RANDOM_WORLDS


def _promise(point: Knowledge, values: Sequence[str], setting: Setting) -> str:
    sure = "certain" if point.c == 1 else f"{percent(point.c)} sure"
    of = f"that a person has {name(values[0])}" if len(values) == 1 else f"{any_of(values)} for a person"
    return f"Nobody can be {sure} {of} by knowing {known(point, setting)}."


def _breach(point: Knowledge, worst: Row, failing: int, setting: Setting) -> str:
    target, sure = knowledge(worst), percent(worst.get("value"))
    of = f"that a person has {name(target.value)}" if target else "of a value"
    others = f" ({failing:,} values fail)" if failing > 1 else ""
    return f"Not met: by knowing {known(point, setting)}, somebody can be {sure} sure {of}{others}."


def _unread(row: Row) -> Guarantee:
    held = holds(row)
    return Guarantee(
        title=f"privacy skyline, {printable(row.get('level', ''))}",
        status="pass" if held else "fail",
        claim="The breach probability stays below its limit." if held else "Not met: see the margin.",
        margin=margin(row, "Breach probability", share=True),
        holds=RANDOM_WORLDS,
        limits=LIMITS,
    )


# The knowledge skyline of `explore` [Skyline, Sec 4.3]

UNLIMITED = 2**40
"""So many people known means any number: what a skyline says of a value that does not occur."""


def safe_knowledge(value: Any, c: Any, most: Any, setting: Setting) -> str:
    """How many people's values somebody may know who knows nothing else; `most` is None if none may."""
    confidence = percent(c)
    if most is None:
        told = "Somebody who knows nothing but the groups is already"
        return f"{told} {confidence} sure of {name(value)}, or more."
    people = "any number of other people" if most == "∞" else f"up to {number(most)} other people"
    what = (
        f"{setting.the_sensitive} of {people}" if setting.case == "svpi" else f"{people} who do not have it"
    )
    return f"Somebody who knows {what}, and no more, stays below {confidence} for {name(value)}."


def breach(witness: Mapping[str, Any], setting: Setting) -> str:
    """One breach: what somebody knows, where, and how sure they become."""
    facts = list(_known(witness, setting))
    who = f"who knows {joined(facts)}" if facts else "who knows nothing but the groups"
    sure = "certain" if as_number(witness.get("probability")) == 1 else _sure(witness)
    return (
        f"Somebody {who} is {sure} that a person in group {_group(witness, 'group')} has it; "
        f"{_share(witness)} there do."
    )


def place_of(witness: Mapping[str, Any]) -> str:
    """Where a value is known best."""
    return f"In group {_group(witness, 'group')}, {_share(witness)} have it."


def _share(witness: Mapping[str, Any]) -> str:
    return f"{number(witness.get('group_occurrences'))} of the {number(witness.get('group_people'))} people"


def _sure(witness: Mapping[str, Any]) -> str:
    return f"{percent(witness.get('probability'))} sure"


def _known(witness: Mapping[str, Any], setting: Setting) -> Iterator[str]:
    """The three kinds of knowledge, those that there are."""
    one = setting.case == "svpi"
    values, others, family = (int(as_number(witness.get(axis)) or 0) for axis in "lkm")
    if values:
        what = "that the person does not have" if one else "that come only with it"
        amount = things(values, "value", "values")
        yield f"{amount} {what}{_named(listing(witness, 'excluded_values'), values)}"
    if others:
        place = _group(witness, "known_people_group")
        amount = things(others, "other person", "other people")
        kind = "the value of {} in group {}" if one else "of {} in group {} that they do not have it"
        yield kind.format(amount, place)
    if family:
        amount = things(family, "person", "people")
        where = _group(witness, "family_group")
        yield f"of {amount} in group {where} that they have it only if the person does"


def _named(values: Sequence[Any], number_of: int) -> str:
    if not values:
        return ""
    more = ", …" if len(values) < number_of else ""
    return f" ({', '.join(map(name, values))}{more})"


def _group(witness: Mapping[str, Any], key: str) -> str:
    return str(witness.get(key, "—"))
