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


def joined(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def any_of(values: Sequence[Any]) -> str:
    """Several values, each by itself and not one or the other: a few names, or how many there are."""
    if len(values) > LISTED_NAMES:
        return f"of any single one of {len(values):,} values"
    return f"of any single one of {joined([name(value) for value in values])}"


def sentence(text: Any) -> str:
    """Text as a sentence of its own: a capital first, a full stop last."""
    plain = printable(text).strip()
    return plain[:1].upper() + plain[1:] + ("" if plain.endswith((".", "!", "?")) else ".")


def things(count: int, one: str, many: str) -> str:
    """A number with the noun that fits it: 1 group, 2 groups."""
    return f"{count:,} {one if count == 1 else many}"
