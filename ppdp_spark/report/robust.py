"""r-robustness: in words, and its margins by attribute set [Robust, Def 3]."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ppdp_spark.report.guarantee import Guarantee, Row, Setting, counted, holds, parameter_text, worded
from ppdp_spark.report.markup import Cell, Column, bar, figure, table, words
from ppdp_spark.report.numbers import apart, as_number, mapping, room
from ppdp_spark.report.witness import witness_markup
from ppdp_spark.report.wording import joined, printable

CRITERIA = ("robustness", "r_robustness")
_LEVEL = re.compile(
    r"r = \S+, (?P<model>.*?)(?: model)?(?P<once>, each value once a group)?"
    r", attributes \[(?P<attributes>.*)\]",
    re.DOTALL,
)


def robustness(row: Row, setting: Setting) -> Guarantee:
    """Joint model: the swap bound; binary model: the Δ condition, which says nothing about the joint one."""
    r, binary = parameter_text(row, "r"), "binary" in f"{row.get('level', '')} {setting.model}"
    sets = [f"({', '.join(names)})" for names in setting.known_attributes]
    alike = f"alike in {joined(sets)}" if sets else "with the same known attributes"
    who = f"who knows how frequent each value of {setting.sensitive} is among people {alike}"
    looking = ", looking at one value at a time," if binary else ""
    title = f"r-robustness, {printable(row.get('level', ''))}"
    limits = (
        "Somebody whose knowledge differs from these frequencies, or who knows the values of single people."
    )
    if binary:
        limits = (
            "The joint model, in which all values of a group are weighed together: the condition that was "
            f"checked does not imply 1/r there. {limits}"
        )
    against = (
        "Somebody who weighs “this value or not” by those frequencies (the binary model)."
        if binary
        else "Somebody who weighs every way to hand out the values by those frequencies (the joint model)."
    )
    return worded(
        row,
        title,
        (
            f"Nobody {who}{looking} can be more than 1/{r} sure of a person's value.",
            f"in {counted(row)}, it is not shown that somebody {who}{looking} stays within 1/{r}.",
        ),
        "Worst value found",
        against=against,
        limits=limits,
    )


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
    read = _LEVEL.fullmatch(str(row.get("level", "")))
    model, attributes = (read["model"], read["attributes"]) if read else ("—", row.get("level"))
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
