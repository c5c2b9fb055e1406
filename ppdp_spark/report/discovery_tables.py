"""A discovery as rich tables: what a person sees on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from ppdp_spark.report.format.quoted_names import printable, things
from ppdp_spark.report.proposal import headline

_SHOWN = 50


def discovery_tables(found: Mapping[str, Any]) -> Group:
    """The sets that single people out, and what each column looks like."""
    sets = Table(header_style="bold")
    for name in ("columns", "people", "share"):
        sets.add_column(name, overflow="fold", justify="left" if name == "columns" else "right")
    for each in found["sets"][:_SHOWN]:
        names = ", ".join(map(printable, each["columns"]))
        sets.add_row(Text(names), f"{each['people']:,}", f"{each['share']:.1%}")
    if len(found["sets"]) > _SHOWN:
        sets.caption = f"and {len(found['sets']) - _SHOWN:,} more with --json"
    columns = Table(title="Columns", title_justify="left", header_style="bold")
    for name in ("column", "type", "values", "alone", "looks like", "proposed role"):
        columns.add_column(name, overflow="fold")
    for each in found["columns"]:
        figures = (f"{each['values']:,}", f"{each['alone']:,}", ", ".join(each["looks"]), each["role"])
        columns.add_row(Text(printable(each["name"])), Text(each["type"]), *figures)
    if found["left_out"]:
        columns.caption = f"not compared, for their types: {', '.join(map(printable, found['left_out']))}"
    about = Text(
        f"{things(found['rows'], 'row', 'rows')}, each taken for one person; "
        f"{things(found['counted'], 'set', 'sets')} counted, {found['spared']:,} excluded by bounds"
    )
    return Group(Text(headline(found)), *([sets] if found["sets"] else []), columns, about)
