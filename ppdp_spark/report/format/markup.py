"""Small pieces of HTML; everything that comes from outside is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ppdp_spark.report.format.numbers import as_number, number
from ppdp_spark.report.format.quoted_names import printable


def text(value: Any) -> str:
    """Foreign text, safe between tags and inside quoted attributes."""
    return escape(printable(value), quote=True)


def data(value: Any, shown: str | None = None, *, derived: bool = False) -> str:
    """A number with its exact value beside the rounded one; `derived` marks what the page computed itself."""
    if as_number(value) is None:
        return text("—" if value is None else value)
    exact, short = escape(str(value)), escape(shown if shown is not None else number(value))
    kind = ' class="derived"' if derived else ""
    hint = "" if exact == short else f' title="{exact}"'
    return f'<data value="{exact}"{hint}{kind}>{short}</data>'


def paragraph(content: str, kind: str = "") -> str:
    """A paragraph, of a class of the style sheet if one is named; `content` is markup."""
    return f'<p class="{kind}">{content}</p>' if kind else f"<p>{content}</p>"


def section(identity: str, heading: str, parts: Iterable[str], level: int = 2) -> str:
    """A section with its heading; nothing if it would be empty."""
    content = "\n".join(part for part in parts if part)
    if not content:
        return ""
    return (
        f'<section id="{identity}" aria-labelledby="{identity}-heading">'
        f'<h{level} id="{identity}-heading">{heading}</h{level}>\n{content}\n</section>'
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of terms and descriptions, without those that have none."""
    items = [
        f"<div><dt>{term}</dt><dd>{description}</dd></div>" for term, description in pairs if description
    ]
    return f'<dl class="facts">{"".join(items)}</dl>' if items else ""


@dataclass(frozen=True)
class Cell:
    """Markup of a table cell, and what to sort it by if that is not its text."""

    markup: str
    key: Any = None


@dataclass(frozen=True)
class Column:
    """Heading of a column; `kind` is a class of its cells: `text`, `name`, `short`, `number` or `chart`."""

    heading: str
    kind: str = "text"


def words(value: Any) -> Cell:
    """A cell of text; a dash if there is none."""
    return Cell(text("—" if value in (None, "") else value))


def figure(value: Any, shown: str | None = None, *, derived: bool = False) -> Cell:
    """A cell with a number of the run, which a reader can sort by."""
    return Cell(data(value, shown, derived=derived), as_number(value))


def table(
    caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, sortable: bool = False
) -> str:
    """A table with a caption; the first cell of each row is its heading."""
    if not rows:
        return ""
    heads = "".join(f'<th scope="col" class="{c.kind}">{c.heading}</th>' for c in columns)
    body = "\n".join(_row(columns, row) for row in rows)
    kind = ' class="sortable"' if sortable else ""
    return (
        f'<div class="scroll" role="region" aria-label="{caption}" tabindex="0"><table{kind}>'
        f"<caption>{caption}</caption><thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _row(columns: Sequence[Column], row: Sequence[Cell]) -> str:
    cells = []
    for place, (column, cell) in enumerate(zip(columns, row, strict=True)):
        tag = 'th scope="row"' if place == 0 else "td"
        key = "" if cell.key is None else f' data-key="{escape(str(cell.key))}"'
        cells.append(f'<{tag} class="{column.kind}"{key}>{cell.markup}</{tag.split()[0]}>')
    return f"<tr>{''.join(cells)}</tr>"


def bar(share: float, *, mark: float | None = None, outline: float | None = None) -> Cell:
    """A bar of a share of the full width: `mark` draws a limit, `outline` a second bar behind the first."""
    parts = []
    if outline is not None:
        parts.append(f'<rect class="outline" x="0.5" y="1.5" width="{_width(outline)}" height="9"/>')
    parts.append(f'<rect class="bar" x="0" y="3" width="{_width(share)}" height="6"/>')
    if mark is not None:
        x = _width(mark)
        parts.append(f'<line class="mark" x1="{x}" x2="{x}" y1="0" y2="12"/>')
    drawing = "".join(parts)
    return Cell(
        '<svg viewBox="0 0 200 12" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f"{drawing}</svg>"
    )


def _width(share: float) -> str:
    return f"{199 * min(max(share, 0.0), 1.0):.2f}"
