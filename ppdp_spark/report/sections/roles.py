"""What each column is for: its role, how it is published, and its hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdp_spark.report.format.markup import Cell, Column, section, table, text, words
from ppdp_spark.report.format.numbers import listing, mapping, number
from ppdp_spark.report.sentences.some_values import protection

_COLUMNS = [
    Column("Column", "name text"),
    Column("Role", "short"),
    Column("In the release", "text"),
    Column("Kind", "text"),
]
_PUBLISHED = {
    "generalized": "as a range, or as what a group has in common",
    "rowwise": "as a range, or as what a group has in common",
    "bucketized": "as it is, apart from the sensitive column",
}
_CASES = {"mvpi-set": "a set of values per person", "mvpi-multiset": "several values per person"}

Line = tuple[Any, str, str, str]


def roles(summary: Mapping[str, Any]) -> str:
    """One line per column of the table; only of a release, for other commands publish nothing."""
    if summary.get("command") != "anonymize":
        return ""
    lines = list(_lines(summary))
    cells = [
        [words(name), words(role), words(shown), Cell(text(kind) if kind else "—")]
        for name, role, shown, kind in lines
    ]
    return section("roles", "Columns and their roles", [table("Every column of the table", _COLUMNS, cells)])


def _lines(summary: Mapping[str, Any]) -> Iterator[Line]:
    columns = mapping(summary, "spec", "columns")
    form = str(
        mapping(summary, "release").get("form") or mapping(summary, "spec", "output").get("form") or ""
    )
    for name in listing(columns, "identifiers"):
        yield name, "identifier", "no", ""
    for field in ("person", "household"):
        if name := mapping(columns, field).get("column"):
            yield name, field, "no", "tells which rows belong together"
    if name := mapping(columns, "weight").get("column"):
        shown = "as it is" if mapping(columns, "weight").get("publish") else "no"
        yield name, "weight", shown, "people of the population that a row stands for"
    for name, one in mapping(columns, "quasi_identifiers").items():
        yield name, "quasi-identifier", _PUBLISHED.get(form, ""), ", ".join(_kind(mapping(one)))
    given = columns.get("sensitive")
    for attribute in given if isinstance(given, list | tuple) else [given] if given else []:
        yield _sensitive(mapping(attribute), form)
    for name in listing(columns, "publish_as_is"):
        yield name, "published as it is", "as it is", "not protected"
    for name in listing(mapping(summary, "input"), "unassigned"):
        yield name, "none", "no", ""


def _kind(one: Mapping[str, Any]) -> Iterator[str]:
    yield str(one.get("type") or "categorical")
    if one.get("hierarchy"):
        yield f"hierarchy {str(one['hierarchy']).replace(chr(92), '/').rpartition('/')[2]}"
    if one.get("weight") not in (None, 1, 1.0):
        yield f"weight {number(one['weight'])}"
    if one.get("varies"):
        yield f"varies by person ({one['varies']})"


def _sensitive(attribute: Mapping[str, Any], form: str) -> Line:
    told = [_CASES[case]] if (case := str(attribute.get("case"))) in _CASES else []
    if some := protection(attribute):
        told.append(f"protected: {some}")
    shown = "counts by group" if form == "bucketized" else "as it is, not linkable to one person"
    return attribute.get("column"), "sensitive", shown, "; ".join(told)
