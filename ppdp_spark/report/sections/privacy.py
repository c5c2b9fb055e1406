"""The privacy section: criteria, breach probabilities, measured values, suppression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ppdp_spark.report.format.markup import (
    Cell,
    Column,
    bar,
    data,
    facts,
    figure,
    paragraph,
    section,
    table,
    text,
    words,
)
from ppdp_spark.report.format.numbers import apart, as_number, listing, mapping, percent, room
from ppdp_spark.report.sections.attack import posteriors
from ppdp_spark.report.sections.composition import together
from ppdp_spark.report.sections.robustness import robust_margins
from ppdp_spark.report.sections.surfaces import controls
from ppdp_spark.report.sentences.criteria import demanded
from ppdp_spark.report.sentences.guarantee import Row, holds
from ppdp_spark.report.sentences.robustness import CRITERIA as ROBUSTNESS
from ppdp_spark.report.sentences.skyline import knowledge
from ppdp_spark.report.sentences.witness import fact, fact_list, flat, witness_markup

MOST_ROWS = 200
MOST_BARS = 60
_RELATIONS = {">=": "≥", "<=": "≤"}
_CRITERIA = [
    Column("Criterion", "word"),
    Column("Level", "name text"),
    Column("Found", "number"),
    Column("Needed", "number"),
    Column("Margin", "number"),
    Column("Groups", "number"),
    Column("Violations", "number"),
    Column("Result", "short"),
    Column("Worst place"),
]


def privacy(summary: Mapping[str, Any], verdict: Mapping[str, Any]) -> str:
    """The section on guarantees: what was demanded, and what the release reaches."""
    rows = demanded(verdict)
    return section(
        "privacy",
        "Privacy",
        [
            section("criteria", "Criteria", [_criteria(rows)], 3),
            section("breaches", "Breach probability by value", _breaches(rows), 3),
            section("robustness", "Robustness by attribute set", [_robustness(rows)], 3),
            section("measured", "Measured, not demanded", [_measured(verdict)], 3),
            section("knowledge", "How much an adversary may know", [controls(summary)], 3),
            section("attack", "What an adversary with background knowledge infers", _attack(summary), 3),
            section("composition", "Releases together", together(mapping(summary, "composition")), 3),
            section("sensitive", "Sensitive values", _sensitive(summary), 3),
            section("suppression", "Suppression", _suppression(mapping(summary, "suppression")), 3),
        ],
    )


def _robustness(rows: Sequence[Row]) -> str:
    return robust_margins([row for row in rows if row.get("criterion") in ROBUSTNESS])


def _attack(summary: Mapping[str, Any]) -> list[str]:
    return posteriors(mapping(summary, "attack"))


def _criteria(rows: Sequence[Row]) -> str:
    shown = sorted(rows, key=_urgency)[:MOST_ROWS] if len(rows) > MOST_ROWS else rows
    more = len(rows) - len(shown)
    caption = "Every criterion that was demanded, with the worst place of the table"
    left = f"{more:,} more criteria, all further from their limits, are in verdict.json."
    return table(caption, _CRITERIA, [_criterion(row) for row in shown], sortable=True) + (
        paragraph(left) if more else ""
    )


def _name(row: Row) -> Cell:
    """The name of a criterion as words, which a narrow column may break between them."""
    return words(str(row.get("criterion") or "").replace("_", " "))


def _urgency(row: Row) -> tuple[bool, float]:
    """What fails first, then what is nearest to its limit."""
    distance = room(row.get("value"), row.get("threshold"), str(row.get("relation")))
    return holds(row), abs(distance) if distance is not None else float("inf")


def _criterion(row: Row) -> list[Cell]:
    value, threshold, relation = row.get("value"), row.get("threshold"), str(row.get("relation", ""))
    found, limit = apart(value, threshold)
    needed = f"{text(_RELATIONS.get(relation, relation))} {data(threshold, limit)}"
    return [
        _name(row),
        words(row.get("level")),
        figure(value, found),
        Cell(needed, as_number(threshold)) if threshold is not None else words(None),
        figure(room(value, threshold, relation), derived=True),
        figure(row.get("groups")),
        figure(row.get("violations")),
        Cell("✓ pass" if holds(row) else "✗ fail"),
        Cell(witness_markup(mapping(row, "witness"))),
    ]


def _measured(verdict: Mapping[str, Any]) -> str:
    rows = [row for row in map(mapping, listing(verdict, "criteria")) if row.get("status") == "measured"]
    columns = [
        Column("Criterion", "word"),
        Column("What", "name text"),
        Column("Found", "number"),
        Column("Groups", "number"),
    ]
    cells = [
        [
            _name(row),
            words(row.get("level")),
            figure(row.get("value")),
            figure(row.get("groups")),
            Cell(witness_markup(mapping(row, "witness"))),
        ]
        for row in rows[:MOST_ROWS]
    ]
    caption = "What the table achieves under criteria that nobody demanded: no guarantee rests on these"
    return table(caption, [*columns, Column("Worst place")], cells, sortable=True)


def _breaches(rows: Sequence[Row]) -> list[str]:
    """Bars of skyline rows, the nearest to their limit first."""
    points = [(row, found) for row in sorted(rows, key=_urgency) if (found := _point(row))]
    columns = [
        Column("Value"),
        Column("ℓ, k, m", "short"),
        Column("Breach probability", "number"),
        Column("Limit", "number"),
        Column("0 to 1, limit marked", "chart"),
    ]
    cells = []
    for row, found in points[:MOST_BARS]:
        probability, limit = as_number(row.get("value")), as_number(row.get("threshold"))
        shown = apart(probability, limit)
        cells.append(
            [
                words(found.value),
                Cell(f"{data(found.l)}, {data(found.k)}, {data(found.m)}"),
                figure(probability, shown[0]),
                figure(limit, shown[1]),
                bar(probability or 0.0, mark=limit),
            ]
        )
    more = len(points) - len(cells)
    left = f"{more:,} more, all further from their limits, are among the criteria above." if more > 0 else ""
    caption = "Breach probability of each sensitive value against its limit, nearest to the limit first"
    return [table(caption, columns, cells, sortable=True), paragraph(left) if left else ""]


def _point(row: Row) -> Any:
    return knowledge(row) if row.get("criterion") == "skyline" else None


def _sensitive(summary: Mapping[str, Any]) -> list[str]:
    """How often each value occurs, of every sensitive attribute."""
    several = [mapping(each) for each in listing(summary, "sensitive")]
    if not several:
        return [_values(mapping(summary, "sensitive"), "each sensitive value")]
    return [_values(each, f"each value of {text(each.get('column') or '')}") for each in several]


def _values(sensitive: Mapping[str, Any], what: str) -> str:
    values = [mapping(value) for value in listing(sensitive, "values")]
    most = max((as_number(value.get("count")) or 0 for value in values), default=0) or 1
    cells = [
        [words(v.get("value")), figure(v.get("count")), bar((as_number(v.get("count")) or 0) / most)]
        for v in values[:MOST_ROWS]
    ]
    columns = [Column("Value"), Column("Occurrences", "number"), Column("Against the most frequent", "chart")]
    return table(f"How often {what} occurs{_cut(values)}", columns, cells, sortable=True)


def _cut(entries: Sequence[Any]) -> str:
    return f" (the first {MOST_ROWS:,} of {len(entries):,})" if len(entries) > MOST_ROWS else ""


def _suppression(suppression: Mapping[str, Any]) -> list[str]:
    before, after = listing(suppression, "before"), listing(suppression, "after")
    most = max((as_number(count) or 0 for count in [*before, *after]), default=0) or 1
    cells = [
        [
            figure(rank + 1, derived=True),
            figure(old),
            figure(new),
            bar((as_number(new) or 0) / most, outline=(as_number(old) or 0) / most),
        ]
        for rank, (old, new) in enumerate(zip(before[:MOST_ROWS], after[:MOST_ROWS], strict=False))
    ]
    columns = [
        Column("Rank", "number"),
        Column("Before", "number"),
        Column("After", "number"),
        Column("Outline before, bar after", "chart"),
    ]
    audit = mapping(suppression, "audit")
    named = [("Method", "method"), ("l", "l"), ("Rows suppressed", "suppressed")]
    told = [(term, data(suppression[key])) for term, key in named if suppression.get(key) is not None]
    if suppression.get("rate") is not None:
        told.append(("Suppression rate", data(suppression["rate"], percent(suppression["rate"]))))
    return [
        facts(told),
        paragraph(text(audit["sentence"])) if audit.get("sentence") else "",
        table(
            f"Occurrences of sensitive values by rank, before and after suppression{_cut(before)}",
            columns,
            cells,
        ),
        fact_list("Attack audit", [fact(place, x) for place, x in flat(audit) if place != "sentence"]),
    ]
