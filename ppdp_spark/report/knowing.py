"""Skyline points in words: what an adversary may know, and how sure that can make them [Skyline, Sec 4]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ppdp_spark.report.guarantee import Guarantee, Row, Setting, holds, margin
from ppdp_spark.report.numbers import as_number, percent
from ppdp_spark.report.wording import joined, name, one_of, printable, things

_LEVEL = re.compile(r"σ = (.*), \(ℓ, k, m\) = \((\d+), (\d+), (\d+)\)", re.DOTALL)

RANDOM_WORLDS = (
    "Somebody who knows everybody's quasi-identifiers, hence the groups, and so much about people; before "
    "that knowledge every way to hand out the values inside a group is equally likely to them."
)
LIMITS = (
    "Somebody who knows more than that, or knows something of another kind: above all that a value goes "
    "with certain quasi-identifiers."
)


@dataclass(frozen=True)
class Knowledge:
    """A row of the verdict read back: the sensitive value, the point (ℓ, k, m) and its confidence c."""

    value: str
    l: int  # noqa: E741
    k: int
    m: int
    c: float

    @property
    def point(self) -> tuple[int, int, int, float]:
        return self.l, self.k, self.m, self.c


def knowledge(row: Row) -> Knowledge | None:
    """What a row is about; None if its level does not say so."""
    found, c = _LEVEL.fullmatch(str(row.get("level", ""))), as_number(row.get("threshold"))
    if found is None or c is None:
        return None
    value, *counts = found.groups()
    return Knowledge(value, *map(int, counts), c=float(c))


def known(point: Mapping[str, Any] | Knowledge, case: str, sensitive: str) -> str:
    """What somebody with knowledge (ℓ, k, m) knows, as the end of `who knows …`."""
    l, k, m = (  # noqa: E741
        (point.l, point.k, point.m) if isinstance(point, Knowledge) else (point["l"], point["k"], point["m"])
    )
    single = case == "svpi"
    parts = []
    if k and single:
        parts.append(f"{sensitive} of up to {things(k, 'other person', 'other people')}")
    elif k:
        parts.append(f"up to {things(k, 'other person who does', 'other people who do')} not have it")
    if l and single:
        parts.append(f"{things(l, 'value', 'values')} that the person does not have")
    elif l:
        parts.append(f"{things(l, 'value', 'values')} that the person can have only along with it")
    if m:
        parts.append(
            f"{things(m, 'relative', 'relatives')} of whom is certain: if they have it, so has the person"
        )
    return joined(parts) if parts else "nothing but the groups"


def skyline(rows: Sequence[Row], setting: Setting) -> list[Guarantee]:
    """One guarantee for all values under the same point and with the same outcome; the worst gives the margin."""
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
    who = f"who knows {known(point, setting.case, setting.sensitive)}"
    worst = max(rows, key=lambda row: as_number(row.get("value")) or 0.0)
    target = f"that the person has {one_of(values)}"
    sure = "certain" if point.c == 1 else f"{percent(point.c)} sure"
    claim = (
        f"Nobody {who} can be {sure} {target}."
        if held
        else f"Not met: somebody {who} can be as much as {percent(worst.get('value'))} sure {target}."
    )
    worst_value = knowledge(worst)
    noun = "Largest breach probability"
    if worst_value and len(values) > 1:
        noun = f"Largest breach probability, of {name(worst_value.value)}"
    return Guarantee(
        title=f"privacy skyline, (ℓ, k, m) = ({point.l}, {point.k}, {point.m}) at {percent(point.c)}",
        status="pass" if held else "fail",
        claim=claim,
        margin=margin(worst, noun, share=True),
        holds=RANDOM_WORLDS,
        limits=LIMITS,
    )


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
