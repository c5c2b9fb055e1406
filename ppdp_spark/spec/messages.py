"""How problems of a spec are worded: where, what was given, what is wanted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ppdp_spark.spec.nearest import nearest

EXCERPT_LENGTH = 40

Location = tuple[int | str, ...]


def excerpt(text: str) -> str:
    """At most 40 printable characters of a text."""
    cut = text if len(text) <= EXCERPT_LENGTH else text[: EXCERPT_LENGTH - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def kind(value: object) -> str:
    """What sort of thing was written, in words of YAML rather than of Python."""
    kinds: list[tuple[type | tuple[type, ...], str]] = [
        (type(None), "empty"),
        (bool, "true/false"),
        (int, "whole number"),
        (float, "decimal number"),
        (str, "text"),
        ((list, tuple), "list"),
        (dict, "mapping"),
    ]
    return next((name for types, name in kinds if isinstance(value, types)), excerpt(type(value).__name__))


def shown(value: object) -> str:
    """A scalar itself, cut short; the kind of anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**EXCERPT_LENGTH else "a very large number"
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, str) and value:
        return excerpt(value)
    return "empty text" if value == "" else kind(value)


def dotted(location: Sequence[int | str]) -> str:
    """A location as `--set` takes it: keys joined by dots, quoted where they must be."""
    return ".".join(_segment(part) for part in location)


def _segment(part: int | str) -> str:
    text = excerpt(str(part))
    if text and not re.search(r"""[."'=\s\\]""", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def located(location: Sequence[int | str], text: str) -> str:
    """One line of a `SpecError`: the place in backticks, then what is wrong with it."""
    return f"`{dotted(location)}` {text}" if location else f"the spec {text}"


def number(value: Any) -> str:
    """A limit as people write it: 2, not 2.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _choices(expected: str, value: object) -> str:
    names = re.findall(r"'([^']*)'", expected)
    if not names:
        return f"must be {expected}"
    near = nearest(value, names) if isinstance(value, str) else None
    hint = f"; did you mean `{near}`?" if near else ""
    return ("must be one of " if len(names) > 1 else "must be ") + ", ".join(names) + hint


A_MAPPING = "must be a mapping (`key: value` lines)"
_A_LIST = "must be a list, such as [a, b]"

_WANTED_KIND = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "model_type": A_MAPPING,
    "model_attributes_type": A_MAPPING,
    "dict_type": A_MAPPING,
    "tuple_type": _A_LIST,
}

_WANTED_VALUE: dict[str, Callable[[dict[str, Any], object], str]] = {
    "greater_than_equal": lambda ctx, _: f"must be at least {number(ctx['ge'])}",
    "greater_than": lambda ctx, _: f"must be greater than {number(ctx['gt'])}",
    "less_than_equal": lambda ctx, _: f"must be at most {number(ctx['le'])}",
    "less_than": lambda ctx, _: f"must be less than {number(ctx['lt'])}",
    "finite_number": lambda *_: "must be a finite number",
    "string_too_short": lambda *_: "must not be empty",
    "string_too_long": lambda ctx, _: f"must have at most {ctx['max_length']} characters",
    "too_short": lambda *_: "must have at least one entry",
    "literal_error": lambda ctx, value: _choices(str(ctx["expected"]), value),
}


def wrong_kind(value: object, wanted: str) -> str:
    """`(text) must be a whole number`, with the usual remedy when text was wanted."""
    scalar = isinstance(value, bool | int | float)
    remedy = "; put it in quotes" if wanted == "must be text" and scalar else ""
    return f"({kind(value)}) {wanted}{remedy}"


def wrong_value(
    error_type: str, value: object, context: dict[str, Any], show: Callable[[object], str]
) -> str | None:
    """The text of an error of pydantic, without the place; None for an error of no known type."""
    if error_type in _WANTED_KIND:
        return wrong_kind(value, _WANTED_KIND[error_type])
    if error_type in _WANTED_VALUE:
        return f"({show(value)}) {_WANTED_VALUE[error_type](context, value)}"
    return None
