"""Several releases together on the page: who was found in them, what follows, and where most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ppdp_spark.report.format.markup import Column, bar, figure, paragraph, section, table, text, words
from ppdp_spark.report.format.numbers import as_number, listing, mapping, percent
from ppdp_spark.report.format.quoted_names import printable

_BASIS = {
    "table": "People were found in the groups by a table of them.",
    "tables": "People were found in the groups of each release by a table of their own.",
    "release": "People are those whom one of the releases shows.",
    "overlaps": (
        "There was no table of people: whoever is in a group of the first release is in one of the groups "
        "of the others that overlap with it. Numbers are the largest possible."
    ),
    "run": "People are those of this run.",
}
_SETS = [
    Column("Attribute", "name text"),
    Column("Releases", "name text"),
    *(Column(h, "number") for h in ("People", "In one only", "In several groups", "No value agrees")),
    *(Column(h, "number") for h in ("Pinned by one alone", "Pinned together")),
    *(Column(h, "number") for h in ("Largest posterior alone", "Together", "People beyond")),
]
_COUNTS = ("people", "once", "unsure", "contradicted", "alone", "pinned")


def together(composition: Mapping[str, Any]) -> list[str]:
    """All parts of the section; none without other releases."""
    if not composition:
        return []
    releases = [mapping(each) for each in listing(composition, "releases")]
    names = [printable(each.get("name", "")) for each in releases]
    sets = [mapping(each) for each in listing(composition, "sets")]
    return [
        paragraph(text(_BASIS.get(str(composition.get("basis")), ""))),
        _found(releases),
        _sets(sets, names),
        *(_of_set(each, names, place) for place, each in enumerate(sets)),
    ]


def _found(releases: Sequence[Mapping[str, Any]]) -> str:
    columns = [Column("Release", "name text"), Column("People", "number"), Column("Found", "number")]
    cells = [[words(r.get("name")), figure(r.get("people")), figure(r.get("fitting"))] for r in releases]
    return table("People of each release, and people who fit a group of it", columns, cells)


def _sets(sets: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    cells = [
        [
            words(each.get("attribute")),
            words(_named(each, names)),
            *(figure(each.get(key)) for key in _COUNTS),
            figure(each.get("highest_alone"), percent(each.get("highest_alone"))),
            figure(each.get("highest"), percent(each.get("highest"))),
            figure(each.get("beyond")),
        ]
        for each in sets
    ]
    return table("What follows for people who are in at least two of the releases", _SETS, cells)


def _named(each: Mapping[str, Any], names: Sequence[str]) -> str:
    return " + ".join(names[int(place)] for place in listing(each, "releases"))


def _of_set(each: Mapping[str, Any], names: Sequence[str], place: int) -> str:
    named = f"{printable(each.get('attribute', ''))}: {_named(each, names)}"
    parts = [_histogram(listing(each, "histogram")), _worst(listing(each, "worst"))]
    return section(f"composition-{place}", named, parts, 4)


def _histogram(classes: Sequence[Any]) -> str:
    entries = [mapping(entry) for entry in classes if as_number(mapping(entry).get("people"))]
    most = max((as_number(entry.get("people")) or 0 for entry in entries), default=0) or 1
    cells = [
        [
            figure(e.get("from"), f"{percent(e.get('from'))} to {percent(e.get('to'))}"),
            figure(e.get("people")),
            bar((as_number(e.get("people")) or 0) / most),
        ]
        for e in entries
    ]
    columns = [Column("Probability", "number"), Column("People", "number"), Column("People", "chart")]
    return table("People by the largest probability of a value of theirs", columns, cells)


def _worst(places: Sequence[Any]) -> str:
    entries = [mapping(entry) for entry in places]
    cells = [
        [
            words(", ".join("none" if g is None else str(g) for g in listing(e, "groups"))),
            figure(e.get("people")),
            words(e.get("value")),
            figure(e.get("posterior"), percent(e.get("posterior"))),
            figure(e.get("possible_values")),
        ]
        for e in entries
    ]
    columns = [
        Column("Group in each", "short"),
        Column("People", "number"),
        Column("Value", "name text"),
        Column("Posterior", "number"),
        Column("Values left", "number"),
    ]
    return table("Where somebody who holds them is most sure", columns, cells)
