"""The page of a comparison, and its tables for other pages."""

from __future__ import annotations

from collections.abc import Sequence

from ppdp_spark.report.compare.comparison import Compared, ComparisonPart, Entry, Line, side_by_side
from ppdp_spark.report.format.markup import Cell, Column, bar, data, paragraph, section, table, text
from ppdp_spark.report.page.page import document

_NOTE = (
    "Two releases about the same people are not analysed together: whoever holds both may learn more than "
    "either one promises. Publish one of them."
)


def render_comparison(runs: Sequence[Compared]) -> str:
    """Guarantees, sizes, precision, query error and cost of several runs, as one HTML file."""
    names = ", ".join(text(run.name) for run in runs)
    heading = f'<header><h1>Comparison of {len(runs):,} runs</h1><p class="deed">{names}</p></header>'
    return document(f"Comparison: {names}", heading, [*comparison_sections(runs), warning()])


def warning() -> str:
    """What a comparison does not tell, as a paragraph."""
    return paragraph(text(_NOTE), "limits")


def comparison_sections(runs: Sequence[Compared]) -> list[str]:
    """One section for each part of the summaries, with the runs side by side."""
    return [
        section(f"part-{place}", text(part.title), [_table(part, runs)])
        for place, part in enumerate(side_by_side(runs))
    ]


def _table(part: ComparisonPart, runs: Sequence[Compared]) -> str:
    judged = [line for line in part.lines if line.less_is_better]
    highest = max((entry.value or 0 for line in judged for entry in line.entries), default=0) or 1
    columns = [Column("Run", "name first"), *(Column(text(run.name), "side") for run in runs)]
    rows = [[Cell(text(line.name)), *(_cell(line, e, highest) for e in line.entries)] for line in part.lines]
    best = " Less is better; the best of a line is bold." if len(judged) == len(part.lines) else ""
    return table(text(part.note or part.title) + best, columns, rows)


def _cell(line: Line, entry: Entry, highest: float) -> Cell:
    """Text or number, bold if it is the best, with a bar below it where less is better."""
    if entry.value is None:
        return Cell(text(entry.text))
    shown = data(entry.value, entry.text)
    if entry.value == line.best:
        shown = f"<strong>{shown}</strong>"
    below = bar(entry.value / highest).markup if line.less_is_better else ""
    return Cell(shown + below, entry.value)
