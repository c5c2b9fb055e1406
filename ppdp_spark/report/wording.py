"""Names from a table inside sentences: nothing in them may act on a terminal or a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

LONGEST_NAME = 80
LISTED_NAMES = 3


def printable(value: Any) -> str:
    """Text without control or direction characters: they are spelled out, as `\\x1b`."""
    characters = (
        c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in str(value)
    )
    return "".join(characters)


def name(value: Any) -> str:
    """A name in quotation marks, shortened if it is very long."""
    text = printable(value)
    return f"“{text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + '…'}”"


def joined(parts: Sequence[str], word: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} {word} {last}" if most else last


def one_of(values: Sequence[Any]) -> str:
    """A few names, or how many there are."""
    if len(values) > LISTED_NAMES:
        return f"any of {len(values):,} values"
    return joined([name(value) for value in values], "or")


def things(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
