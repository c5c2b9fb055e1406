"""Published files as plain Python: groups of people, what is said of them, and the sensitive values."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

OR_NULL = " or null"


class Objection(AssertionError):
    """The published files are not what they must be."""


def plain(value: Any) -> Any:
    """A value with NaN as null and −0.0 as 0.0; arrays as lists of such."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and math.isnan(value):
        return None
    return 0.0 if isinstance(value, float) and value == 0 else value


def value_name(value: Any) -> str:
    """How specs and verdicts name a sensitive value."""
    if value is None:
        return "(null)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "\\" + value if value.lstrip("\\") == "(null)" else value
    return str(value)


def place(value: Any) -> tuple[bool, Any]:
    """A sort key: values in their own order, null last."""
    return (True, 0) if value is None else (False, value)


def record_of(value: Any, case: str) -> tuple[Any, ...]:
    """What one person has, as a sorted tuple: one value, a set, or a multiset; a null array is one null."""
    value = plain(value)
    if case == "svpi":
        return (value,)
    values = [None] if value is None else value
    return tuple(sorted(set(values) if case == "mvpi-set" else values, key=place))


@dataclass(frozen=True)
class Range:
    """Numbers or days from `low` to `high`, and perhaps nulls."""

    low: Any
    high: Any
    null: bool

    def covers(self, value: Any) -> bool:
        if value is None:
            return self.null
        return self.low is not None and self.low <= value <= self.high


@dataclass(frozen=True)
class Among:
    """One of some categories, perhaps null."""

    members: frozenset[str]
    null: bool

    def covers(self, value: Any) -> bool:
        return self.null if value is None else value in self.members


@dataclass(frozen=True)
class Exactly:
    """The raw value of one person, as a bucketized release shows it."""

    value: Any

    def covers(self, value: Any) -> bool:
        return value == self.value


Said = Range | Among | Exactly


@dataclass(frozen=True)
class Group:
    """People who share a description.

    where
        people       what is said of each person: one description of every quasi-identifier
        records      in the generalized form, the sensitive record printed in each row; else None
        occurrences  how often each sensitive value occurs in the group
    """

    people: tuple[tuple[Said, ...], ...]
    records: tuple[tuple[Any, ...], ...] | None
    occurrences: Mapping[Any, int]

    @property
    def size(self) -> int:
        return len(self.people)


def parse_label(label: str | None) -> Among:
    """Read a set of categories back: `a`, `{a, b}`, either with ` or null`; escapes as documented."""
    if label is None:
        return Among(frozenset(), True)
    text, null = _without_null(label)
    if not text.startswith("{"):
        return Among(frozenset([_single(text)]), null)
    if not text.endswith("}"):
        raise Objection(f"a set label that does not end: {label!r}")
    members = _split(text[1:-1])
    if len(set(members)) != len(members) or members != sorted(members) or len(members) < 2:
        raise Objection(f"not a sorted set of two or more categories: {label!r}")
    return Among(frozenset(members), null)


def _single(text: str) -> str:
    parts = _split(text)
    if len(parts) != 1:
        raise Objection(f"several categories without braces: {text!r}")
    return parts[0]


def _split(text: str) -> list[str]:
    """Members of a list `a, b`: a backslash takes the next character as it is."""
    parts, here, at = [], "", 0
    while at < len(text):
        character = text[at]
        if character == "\\":
            if at + 1 == len(text) or text[at + 1] not in "\\,{} ":
                raise Objection(f"a stray backslash: {text!r}")
            here, at = here + text[at + 1], at + 2
        elif character == ",":
            if text[at : at + 2] != ", ":
                raise Objection(f"a bare comma: {text!r}")
            parts, here, at = [*parts, here], "", at + 2
        elif character in "{}":
            raise Objection(f"a bare brace: {text!r}")
        else:
            here, at = here + character, at + 1
    return [*parts, here]


def node_label(label: str | None, tree: Sequence[Sequence[str]]) -> Among:
    """The leaves under a node of a hierarchy; in its name only backslashes and ` or null` are escaped."""
    if label is None:
        return Among(frozenset(), True)
    text, null = _without_null(label)
    name = re.sub(r"\\(.)", r"\1", text)
    leaves = frozenset(row[0] for row in tree if name in row)
    if not leaves:
        raise Objection(f"no node of the hierarchy: {label!r}")
    return Among(leaves, null)


def _without_null(label: str) -> tuple[str, bool]:
    """A label without the mark of null, and whether it had one: an escaped ` or null` is none."""
    text = label.removesuffix(OR_NULL)
    backslashes = len(text) - len(text.rstrip("\\"))
    null = text != label and backslashes % 2 == 0
    return (text if null else label), null


def range_of(row: Mapping[str, Any], name: str) -> Range:
    """A range from its columns; its readable label must say the same."""
    low, high, label = plain(row[f"{name}_min"]), plain(row[f"{name}_max"]), row[name]
    if low is None or high is None:
        if not low is high is label is None:
            raise Objection(f"half a range: {name}")
        return Range(None, None, True)
    null = label.endswith(OR_NULL)
    text = label[: -len(OR_NULL)] if null else label
    if isinstance(low, int | dt.date | Decimal):
        wanted = {str(low)} if low == high else {f"[{low}{dash}{high}]" for dash in ("-", " to ")}
        if text not in wanted:
            raise Objection(f"the label {label!r} is not the range {low} to {high}")
    return Range(low, high, null)


def read_release(out: Path, document: Mapping[str, Any]) -> list[Group]:
    """The groups of a published release, from its files alone."""
    data, columns = out / "release" / "data", document["columns"]
    qis, sensitive = columns["quasi_identifiers"], columns["sensitive"]
    form = document["output"].get("form", "generalized")
    if json.loads((out / "release" / "release.json").read_text()).get("form", form) != form:
        raise Objection("the manifest names another form")
    if form == "bucketized":
        people = pq.read_table(data / "qi").to_pylist()
        values = pq.read_table(data / "sensitive").to_pylist()
        return bucketized(people, values, list(qis), sensitive["column"])
    return generalized(pq.read_table(data).to_pylist(), qis, sensitive)


def generalized(
    rows: Sequence[Mapping[str, Any]], qis: Mapping[str, Any], sensitive: Mapping[str, str]
) -> list[Group]:
    """Rows of one table as groups; all rows of a group must describe their people alike."""
    by_group: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_group.setdefault(row["group_id"], []).append(row)
    return [_generalized(members, qis, sensitive) for _, members in sorted(by_group.items())]


def _generalized(
    rows: list[Mapping[str, Any]], qis: Mapping[str, Any], sensitive: Mapping[str, str]
) -> Group:
    said = {tuple(_said(row, name, given) for name, given in qis.items()) for row in rows}
    if len(said) != 1:
        raise Objection("one group, several descriptions")
    records = []
    for row in rows:
        raw = plain(row[sensitive["column"]])
        record = record_of(raw, sensitive["case"])
        if sensitive["case"] == "mvpi-set" and raw is not None and len(raw) != len(record):
            raise Objection("a set that names a value twice")
        records.append(record)
    counts = Counter(value for record in records for value in record)
    return Group(tuple(said) * len(rows), tuple(records), counts)


def _said(row: Mapping[str, Any], name: str, given: Mapping[str, Any]) -> Said:
    if given["type"] != "categorical":
        return range_of(row, name)
    return node_label(row[name], given["tree"]) if "tree" in given else parse_label(row[name])


def bucketized(
    people: Sequence[Mapping[str, Any]], values: Sequence[Mapping[str, Any]], qis: list[str], column: str
) -> list[Group]:
    """The two tables of a bucketized release as groups."""
    described: dict[int, list[tuple[Said, ...]]] = {}
    for row in people:
        described.setdefault(row["group_id"], []).append(tuple(Exactly(plain(row[q])) for q in qis))
    counts: dict[int, dict[Any, int]] = {group: {} for group in described}
    for row in values:
        value = plain(row[column])
        if row["group_id"] not in counts or value in counts[row["group_id"]] or row["count"] < 1:
            raise Objection("a count of no group, given twice, or below 1")
        counts[row["group_id"]][value] = row["count"]
    return [Group(tuple(said), None, counts[group]) for group, said in sorted(described.items())]
