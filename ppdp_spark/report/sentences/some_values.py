"""Which values of a sensitive attribute are protected, in words, where not all of them are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ppdp_spark.report.format.numbers import listing, mapping, number
from ppdp_spark.report.format.quoted_names import joined, name
from ppdp_spark.report.sentences.guarantee import Guarantee, Row, Setting, column_name

MOST_NAMES = 8
"""Values that a sentence names at most."""

AMONG = ("distinct_l_diversity", "entropy_l_diversity", "recursive_l_diversity")
"""Criteria that people with protected values meet among themselves."""


def protection(declared: Mapping[str, Any]) -> str:
    """What is declared of an attribute: `all but “none” and “Flu”`; empty if all values are protected."""
    named = listing(declared, "not_sensitive") or listing(declared, "only")
    if not named:
        return ""
    words = joined([name(value) for value in named[:MOST_NAMES]])
    if len(named) > MOST_NAMES:
        words = f"{words} and {number(len(named) - MOST_NAMES)} more"
    return f"all but {words}" if listing(declared, "not_sensitive") else f"only {words}"


def protections(summary: Mapping[str, Any]) -> dict[str, str]:
    """That of every attribute of a run, by its name in sentences."""
    several = [mapping(each) for each in listing(summary, "sensitive")]
    declared = several or [mapping(summary, "sensitive") or mapping(summary, "spec", "columns", "sensitive")]
    found = {column_name(each.get("column") or ""): protection(each) for each in declared}
    return {column: words for column, words in found.items() if words}


def of_some(told: Guarantee, row: Row, setting: Setting, named: Mapping[str, str]) -> Guarantee:
    """The guarantee, saying which values it is about, if its row says that these are not all."""
    given = mapping(row, "parameters")
    protected, values = given.get("protected_values"), given.get("values")
    if protected is None or values is None:
        return told
    words = named.get(setting.sensitive)
    which = "" if words is None else f", {words}"
    claim = f"{told.claim} Protected are {number(protected)} of the {number(values)} values of "
    claim += f"{setting.sensitive}{which}: this is about them alone."
    if row.get("criterion") in AMONG:
        claim += (
            " A group may have none of them, and people with other values do not count: it holds even for "
            "somebody who knows who these are."
        )
    return replace(told, claim=claim)
