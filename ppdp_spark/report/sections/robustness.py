"""The margins of r-robustness by attribute set [Robust, Def 3]."""

from __future__ import annotations

from collections.abc import Sequence

from ppdp_spark.report.format.markup import Cell, Column, bar, figure, table, words
from ppdp_spark.report.format.numbers import apart, as_number, mapping, room
from ppdp_spark.report.sentences.guarantee import Row, holds
from ppdp_spark.report.sentences.witness import witness_markup


def robust_margins(rows: Sequence[Row]) -> str:
    """A line for every attribute set whose priors the adversary knows."""
    columns = [
        Column("Attributes known", "name text"),
        Column("Model", "short"),
        Column("Worst posterior", "number"),
        Column("Limit 1/r", "number"),
        Column("Margin", "number"),
        Column("Result", "short"),
        Column("The worst is", "short"),
        Column("Where"),
        Column("0 to 1", "chart"),
    ]
    caption = "Worst posterior of each attribute set whose frequencies the adversary knows, against 1/r"
    return table(caption, columns, [_margin(row) for row in rows], sortable=True)


def _margin(row: Row) -> list[Cell]:
    given = mapping(row, "parameters")
    model, attributes = given.get("model", "—"), given.get("attributes", row.get("level"))
    value, limit = row.get("value"), row.get("threshold")
    shown = apart(value, limit)
    witness = mapping(row, "witness")
    return [
        words(attributes),
        words(model),
        figure(value, shown[0]),
        figure(limit, shown[1]),
        figure(room(value, limit, str(row.get("relation"))), derived=True),
        Cell("✓ pass" if holds(row) else "✗ fail"),
        Cell("exact" if witness.get("exact") is True else "a bound"),
        Cell(witness_markup(witness)),
        bar(as_number(value) or 0.0, mark=as_number(limit)),
    ]
