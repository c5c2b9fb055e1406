"""MkDocs hook: sequence diagrams drawn as SVG while the site is built, so that no script is loaded.

The notation is the part of Mermaid's that the pages use, so that code hosts draw the same diagrams:

    sequenceDiagram
      participant a as Title of a column
      a->>b: an arrow with words
      Note over a,b: a remark across columns
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any

_FENCE = re.compile(r"^```mermaid\n(sequenceDiagram\n.*?)^```$", re.DOTALL | re.MULTILINE)
_PARTICIPANT = re.compile(r"participant (\w+) as (.+)")
_ARROW = re.compile(r"(\w+)(--?>>)(\w+): (.+)")
_NOTE = re.compile(r"Note over (\w+)(?:,\s*(\w+))?: (.+)")

COLUMN, MARGIN, LINE, HEAD, BESIDE = 200, 105, 17, 44, 100
"""Pixels between columns, at the sides, for a line of text, for titles, and of a note beside its column."""
LETTER = 6.6
"""Pixels of a letter, on average."""


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Replace every diagram of a page by its drawing."""
    return _FENCE.sub(lambda found: drawn(found.group(1)), markdown)


@dataclass(frozen=True)
class Step:
    """One line of a diagram: an arrow between two columns, or a note across them."""

    first: int
    last: int
    words: tuple[str, ...]
    note: bool
    dashed: bool = False


def drawn(source: str) -> str:
    """The diagram as one SVG element on a line of its own."""
    titles = {match.group(1): match.group(2).strip() for match in _PARTICIPANT.finditer(source)}
    columns = {name: number for number, name in enumerate(titles)}
    steps = [_step(line.strip(), columns) for line in source.splitlines()[1:] if line.strip()]
    shown = [step for step in steps if step is not None]
    heights = [_height(step) for step in shown]
    width = 2 * MARGIN + COLUMN * (len(columns) - 1)
    height = HEAD + sum(heights) + 24
    parts = [*_columns(list(titles.values()), height)]
    top = HEAD + 8
    for step, tall in zip(shown, heights, strict=True):
        parts += _note(step, top) if step.note else _arrow(step, top + tall)
        top += tall
    label = escape(", ".join(titles.values()), quote=True)
    body = "".join(parts)
    return (
        f'<svg class="sequence" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="Sequence diagram: {label}" xmlns="http://www.w3.org/2000/svg">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        f'orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>{body}</svg>'
    )


def _step(line: str, columns: dict[str, int]) -> Step | None:
    if line.startswith("participant "):
        return None
    if match := _ARROW.fullmatch(line):
        first, last = columns[match.group(1)], columns[match.group(3)]
        room = COLUMN * max(1, abs(last - first)) - 10
        return Step(first, last, _words(match.group(4), room), False, match.group(2) == "-->>")
    if match := _NOTE.fullmatch(line):
        first = columns[match.group(1)]
        last = columns[match.group(2)] if match.group(2) else first
        words = _words(match.group(3), COLUMN * abs(last - first) + 2 * BESIDE - 12)
        return Step(min(first, last), max(first, last), words, True)
    raise ValueError(f"not a line of a sequence diagram: {line}")


def _words(text: str, room: int) -> tuple[str, ...]:
    """The text in lines that fit into so many pixels."""
    return tuple(wrap(text, int(room / LETTER)))


def _height(step: Step) -> int:
    return LINE * len(step.words) + (22 if step.note else 20)


def _columns(titles: list[str], height: int) -> Iterator[str]:
    for number, title in enumerate(titles):
        x = MARGIN + COLUMN * number
        yield f'<line class="life" x1="{x}" y1="{HEAD - 8}" x2="{x}" y2="{height - 6}"/>'
        yield f'<rect class="head" x="{x - 82}" y="4" width="164" height="{HEAD - 12}" rx="4"/>'
        yield f'<text class="title" x="{x}" y="{HEAD / 2 + 3}">{escape(title)}</text>'


def _arrow(step: Step, bottom: int) -> Iterator[str]:
    first, last = MARGIN + COLUMN * step.first, MARGIN + COLUMN * step.last
    dashed = ' stroke-dasharray="5 4"' if step.dashed else ""
    if first == last:
        yield (
            f'<path class="arrow" fill="none" d="M{first} {bottom - 12} h26 v12 h-24" '
            f'marker-end="url(#tip)"{dashed}/>'
        )
        yield from _text(step.words, first + 34, bottom - LINE * len(step.words) + 4, "start")
        return
    yield (
        f'<line class="arrow" x1="{first}" y1="{bottom}" x2="{last}" y2="{bottom}" '
        f'marker-end="url(#tip)"{dashed}/>'
    )
    yield from _text(step.words, (first + last) / 2, bottom - LINE * len(step.words) + 10, "middle")


def _note(step: Step, top: int) -> Iterator[str]:
    first, last = MARGIN + COLUMN * step.first - BESIDE, MARGIN + COLUMN * step.last + BESIDE
    height = LINE * len(step.words) + 10
    yield f'<rect class="note" x="{first}" y="{top + 6}" width="{last - first}" height="{height}" rx="3"/>'
    yield from _text(step.words, (first + last) / 2, top + 23, "middle")


def _text(lines: tuple[str, ...], x: float, y: float, anchor: str) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f'<text x="{x}" y="{y + LINE * number}" text-anchor="{anchor}">{escape(line)}</text>'
