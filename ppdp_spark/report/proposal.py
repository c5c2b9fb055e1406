"""A spec proposed from what was discovered: YAML that is valid as it stands, with the reasons beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ppdp_spark.report.format.quoted_names import printable

CHECK = "CHECK"
"""Marks what only somebody who knows the data can decide."""

_LISTED = 30
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


def proposed_spec(found: Mapping[str, Any], dataset: str, source: Mapping[str, Any] | None) -> str:
    """The text of a spec file.

    where
        found    a discovery as plain types
        dataset  a name for the release
        source   the `input` of the spec; none if the caller gave a table
    """
    lines = [*_heading(found), "version: 1", f"dataset: {scalar(dataset)}  # {CHECK}: a name for the release"]
    if source is None:
        lines.append("# input: the table was given by a program; name a file or a table here to use `ppdp`")
    else:
        lines += ["input:", *_mapping(source, "  ")]
    lines += ["columns:", *_columns(found)]
    lines += [
        "privacy:",
        f"  k_anonymity: 10  # {CHECK}",
        "  # l_diversity: {kind: distinct, l: 3}  # needs a sensitive column: nobody's value is certain",
        "output:",
        f"  path: {scalar('out/' + dataset)}  # {CHECK}",
    ]
    return "\n".join(lines) + "\n"


def _heading(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"# Proposed by `ppdp discover` from {found['rows']:,} rows, each taken for one person."
    yield "# Roles follow figures and names: suggestions, which somebody who knows the data must confirm."
    yield f"# Lines with {CHECK} need a decision. Columns without a role are not published."
    yield "#"
    yield f"# {headline(found)}"
    for each in found["sets"][:_LISTED]:
        yield f"#   {set_told(each)}"
    if len(found["sets"]) > _LISTED:
        yield f"#   and {len(found['sets']) - _LISTED:,} more"


def headline(found: Mapping[str, Any]) -> str:
    """What the sets below it are."""
    which = "column singles" if found["most"] == 1 else f"set of up to {found['most']} columns singles"
    people = f"{found['needed']:,} people or more (a share of {found['share']:.3g})"
    if not found["sets"]:
        return f"No {which} out {people}."
    return f"What singles out {people}, while no part of it does:"


def set_told(found: Mapping[str, Any]) -> str:
    """One set and whom it singles out."""
    names = ", ".join(map(printable, found["columns"]))
    return f"{names}: {found['people']:,} people ({found['share']:.1%})"


def _columns(found: Mapping[str, Any]) -> Iterator[str]:
    by_role: dict[str, list[Mapping[str, Any]]] = {}
    for column in found["columns"]:
        by_role.setdefault(column["role"], []).append(column)
    named = by_role.get("identifier", [])
    if named:
        yield "  identifiers:"
        yield from (f"    - {scalar(each['name'])}  # {_why(each)}" for each in named)
    repeating = [each for each in named if each["values"] < found["rows"]]
    if repeating:
        yield f"  may_repeat:  # {CHECK}: these stand on several rows; is each row one person?"
        yield from (f"    - {scalar(each['name'])}" for each in repeating)
    yield from _quasi_identifiers(by_role)
    yield from _sensitive(by_role.get("sensitive", []))
    for each in by_role.get("none", []):
        yield f"  # no role, {CHECK}: {printable(each['name'])} ({_why(each)})"
    for name in found["left_out"]:
        yield f"  # no role: {printable(name)} (values of its type were not compared)"


def _quasi_identifiers(by_role: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    if not by_role.get("quasi-identifier"):
        yield f"  quasi_identifiers: {{}}  # {CHECK}: none found; a release needs at least one"
        return
    yield "  quasi_identifiers:"
    for each in by_role["quasi-identifier"]:
        kind = "type: categorical" if "postcode" in each["looks"] else ""
        yield f"    {scalar(each['name'])}: {{{kind}}}  # {_why(each)}; {each['values']:,} values"


def _sensitive(columns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not columns:
        yield f"  # sensitive: NAME  # {CHECK}: what nobody may learn of a person, if there is such a column"
    elif len(columns) == 1:
        yield f"  sensitive: {scalar(columns[0]['name'])}  # {CHECK}: {_why(columns[0])}"
    else:
        yield f"  sensitive:  # {CHECK}: by their names; each is published apart from the others"
        yield from (f"    - {scalar(each['name'])}" for each in columns)


def _why(column: Mapping[str, Any]) -> str:
    return printable(column["because"])


def _mapping(plain: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in plain.items():
        if isinstance(value, Mapping):
            yield f"{indent}{scalar(key)}:"
            yield from _mapping(value, indent + "  ")
        else:
            yield f"{indent}{scalar(key)}: {scalar(str(value))}"


def scalar(text: str) -> str:
    """A text as YAML: as it is where that can mean nothing else, or in quotation marks with escapes."""
    if text and set(text) <= _PLAIN and not text[0].isdigit() and text.lower() not in _WORDS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isascii() and character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
