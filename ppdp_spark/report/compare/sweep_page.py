"""The page of a sweep: the frontier between privacy and utility, and every variant beside the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ppdp_spark.report.compare.comparison_page import comparison_sections, warning
from ppdp_spark.report.compare.frontier_chart import Choice, Frontier, last_part, loss_text, numeric_keys
from ppdp_spark.report.format.chart import ChartAxis, ChartPoint, Series, chart
from ppdp_spark.report.format.markup import Cell, Column, data, figure, paragraph, section, table, text, words
from ppdp_spark.report.format.numbers import as_number, mapping, number
from ppdp_spark.report.page.page import document


def render_sweep(dataset: str, choices: tuple[Choice, ...]) -> str:
    """Frontier, variants and comparison of a sweep as one HTML file."""
    frontier = Frontier(choices)
    runs = [replace(choice.run, name=choice.label) for choice in choices if choice.ok and choice.run]
    passed = f"{len(runs):,} of {len(choices):,} variants can be published"
    heading = (
        f'<header><p class="deed">Sweep over {text(", ".join(choices[0].changes))}</p>'
        f"<h1>{text(dataset)}</h1><p>{passed}. They are for choosing: publish one.</p></header>"
    )
    parts = [
        section("frontier", "Privacy against utility", [*_drawings(frontier), _explained(frontier)]),
        section("variants", "Variants", [_variants(frontier)]),
        *(comparison_sections(runs) if runs else []),
        warning(),
    ]
    return document(f"{text(dataset)}: sweep", heading, parts)


def _drawings(frontier: Frontier) -> list[str]:
    return [_drawing(frontier, measure) for measure in frontier.measures]


def _drawing(frontier: Frontier, measure: str) -> str:
    choices = frontier.choices
    keys = numeric_keys(choices)
    key = next((k for k in keys if len({c.changes[k] for c in choices}) > 1), None)
    named: dict[str, list[ChartPoint]] = {}
    marks = []
    for place, choice in enumerate(choices, start=1):
        x = as_number(choice.changes[key]) if key else place
        rest = ", ".join(f"{last_part(k)} {v}" for k, v in choice.changes.items() if k != key)
        loss = frontier.losses(choice).get(measure)
        if choice.ok and loss is None:
            continue
        told = loss_text(measure, loss) or "not published"
        point = ChartPoint(float(x or 0), loss, f"{choice.label}: {told}", frontier.holds(choice))
        named.setdefault(rest if key else "", []).append(point)
        marks.append((float(x or 0), number(x) if key else str(place)))
    losses = [each[measure] for choice in choices if measure in (each := frontier.losses(choice))]
    found = [(loss, loss_text(measure, loss)) for loss in losses]
    series = [Series(name, tuple(sorted(points, key=lambda p: p.x))) for name, points in named.items()]
    across = ChartAxis(key or "variant, as numbered in the table", tuple(marks))
    described = f"{_sentence_case(measure)} of each variant over {across.name}; lower is better"
    return chart(series, across, ChartAxis(measure, ((0.0, "0"), *found)), described)


def _explained(frontier: Frontier) -> str:
    crosses = any(not frontier.losses(choice) for choice in frontier.choices)
    cross = " A cross is a variant that nothing can be published for." if crosses else ""
    return paragraph(
        "Filled points are on the frontier: no other variant demands as much of privacy and loses less. "
        "To lose less is to be worse in none of these measures, and better in one. "
        f"Forms of a release promise different things and are not held against each other.{cross}"
    )


def _variants(frontier: Frontier) -> str:
    choices = frontier.choices
    columns = [
        Column("No.", "number"),
        *(Column(text(last_part(key)), "short") for key in choices[0].changes),
        Column("Result", "short"),
        Column("Frontier", "short"),
        *(Column(_sentence_case(measure), "number") for measure in frontier.measures),
        Column("Smallest group", "number"),
        Column("Groups", "number"),
        Column("Seconds", "number"),
    ]
    rows = [_variant(place, choice, frontier) for place, choice in enumerate(choices, start=1)]
    reasons = "".join(
        f"<li>{text(choice.label)}: {text(choice.reason)}</li>"
        for choice in choices
        if not choice.ok and choice.reason
    )
    listed = f'<h3>Why nothing was published</h3><ul class="reasons">{reasons}</ul>' if reasons else ""
    return table("Every variant of the sweep", columns, rows, sortable=True) + listed


def _variant(place: int, choice: Choice, frontier: Frontier) -> list[Cell]:
    summary: Mapping[str, Any] = choice.run.summary if choice.run is not None else {}
    losses = frontier.losses(choice)
    return [
        figure(place, derived=True),
        *(_value(value) for value in choice.changes.values()),
        Cell("✓ pass" if choice.ok else "✗ fail"),
        Cell("● yes" if frontier.holds(choice) else "no"),
        *(_loss(measure, losses.get(measure)) for measure in frontier.measures),
        figure(mapping(summary, "metrics", "sizes").get("smallest")),
        figure(mapping(summary, "release").get("groups")),
        figure(summary.get("seconds")),
    ]


def _loss(measure: str, loss: float | int | None) -> Cell:
    return words(None) if loss is None else figure(loss, loss_text(measure, loss))


def _sentence_case(words: str) -> str:
    return words[:1].upper() + words[1:]


def _value(value: Any) -> Cell:
    return Cell(data(value), as_number(value)) if as_number(value) is not None else words(value)
