"""What somebody learns from the release alone, and how often the guesses are right; aggregates only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdp_spark.report.format.markup import Cell, Column, bar, data, facts, figure, paragraph, table, text
from ppdp_spark.report.format.numbers import as_number, listing, mapping, percent
from ppdp_spark.report.sentences.attack import guesses

LEARNING = "Before and after learning"
BEFORE_AND_AFTER = (
    "First by the shares of groups alone, then with what was learned from all groups together: the largest "
    "probability, the mean over people of their likeliest value's, people whose value is certain, and the "
    "distance from the truth, 0 for somebody who knows everything"
)
_COLUMNS = [
    Column("Probability of the likeliest value", "short"),
    *(Column(heading, "number") for heading in ("People", "Mean probability", "Right", "Share right")),
    Column("Bar: right, mark: mean probability", "chart"),
]
_SIDES = {
    "shares": "People by how sure the shares of groups make the adversary of their likeliest value",
    "learned": "People by how sure learning makes the adversary of their likeliest value",
}


def calibrations(learning: Mapping[str, Any]) -> list[str]:
    """Facts and a table with and without learning; nothing if nothing was learned."""
    if not learning:
        return []
    return [
        paragraph(text(" ".join(guesses(learning)))),
        facts(_facts(learning)),
        *(_calibration(caption, mapping(learning, side)) for side, caption in _SIDES.items()),
    ]


def _facts(learning: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was looked at, and people beyond the confidence that was asked for."""
    asked = learning.get("confidence")
    told = [
        ("Model", text(str(learning.get("model")).replace("_", " "))),
        ("Classes of quasi-identifiers", data(learning.get("classes"))),
        ("People are counted beyond a probability of", data(asked, percent(asked))),
    ]
    for side, name in (("shares", "by the shares of groups alone"), ("learned", "with learning")):
        found = mapping(learning, side)
        told.append((f"People beyond it, {name}", data(found.get("beyond"))))
        if as_number(found.get("right")) is not None:
            told.append((f"Guesses of these that are right, {name}", data(found.get("right"))))
    return told


def _calibration(caption: str, side: Mapping[str, Any]) -> str:
    cells = []
    for entry in map(mapping, listing(side, "classes")):
        people, right = as_number(entry.get("people")), as_number(entry.get("right"))
        share = right / people if people and right is not None else None
        ends = " to ".join(data(entry.get(end), percent(entry.get(end))) for end in ("from", "to"))
        cells.append(
            [
                Cell(ends, as_number(entry.get("from"))),
                figure(people),
                figure(entry.get("posterior"), percent(entry.get("posterior"))),
                figure(right),
                figure(share, percent(share), derived=True),
                bar(share or 0.0, mark=as_number(entry.get("posterior"))),
            ]
        )
    return table(caption, _COLUMNS, cells)
