"""The top of the page: what it is about, the verdict in words, and every guarantee with its limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ppdp_spark.report.format.markup import data, facts, paragraph, section, text
from ppdp_spark.report.format.numbers import listing, mapping, percent
from ppdp_spark.report.sentences.criteria import COMMON_LIMITS, guarantees, outcome, passed, state
from ppdp_spark.report.sentences.guarantee import Guarantee
from ppdp_spark.report.sentences.some_values import protection

MOST_GUARANTEES = 60
STATUS_WORDS = {"pass": "✓ holds", "fail": "✗ fails", "note": "• by its method", "measured": "• measured"}
_SIGNS = {"PASS": ("pass", "✓"), "FAIL": ("fail", "✗")}
_DEEDS = {
    "anonymize": "Anonymized release",
    "check": "Check of a table",
    "explore": "Exploration of adversary knowledge",
    "suppress": "Suppression of frequent values",
    "attack": "Attack on a release",
    "compose": "Several releases together",
}


def title(summary: Mapping[str, Any], verdict: Mapping[str, Any]) -> str:
    """The title of the page: the dataset, and PASS, FAIL or what was done."""
    return f"{text(summary.get('dataset', 'release'))}: {state(summary, verdict)}"


def header(summary: Mapping[str, Any], verdict: Mapping[str, Any]) -> str:
    """The head of the page: the verdict in a word, what was done with which table, and the warnings."""
    command = str(summary.get("command", ""))
    deed = _DEEDS.get(command, f"Command {command}")
    word = state(summary, verdict)
    kind, sign = _SIGNS.get(word, ("note", "•"))
    return (
        f'<header><p class="deed">{text(deed)}</p><h1>{text(summary.get("dataset", "release"))}</h1>'
        f'<p class="verdict {kind}" id="verdict"><strong><span aria-hidden="true">{sign} </span>'
        f"{word}</strong> <span>{text(outcome(verdict))}</span></p>"
        f"{_about(summary)}{_warnings(summary)}</header>"
    )


def _about(summary: Mapping[str, Any]) -> str:
    source, release = mapping(summary, "input"), mapping(summary, "release")
    suppressed = mapping(release, "suppressed")
    return facts(
        [
            ("What", _what(release)),
            ("From", _from(source)),
            ("When", _when(summary.get("created"))),
            ("Suppressed", _suppressed(suppressed)),
            ("Columns without a role", ", ".join(map(text, listing(source, "unassigned")))),
            ("Published as they are", _as_is(mapping(release, "as_is"))),
            ("Weights", _weights(mapping(release, "weights"))),
            ("Found by sensitive values", _found(listing(release, "beside_sensitive"))),
            *_sensitive(summary),
            ("Run", text(summary.get("run_id", ""))),
        ]
    )


def _sensitive(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    several = [_column(mapping(each)) for each in listing(summary, "sensitive")]
    if several:
        columns = mapping(summary, "spec", "columns")
        known = listing(mapping(columns, "sensitive_linked"), "known")
        who = ", ".join(map(text, known)) or "all but the one in question"
        linked = [("Side by side; may be known", who)] if "sensitive_linked" in columns else []
        return [("Sensitive columns", ", ".join(several)), *linked]
    return [("Sensitive column", _column(mapping(summary, "sensitive")))]


def _column(sensitive: Mapping[str, Any]) -> str:
    """A sensitive column, and which of its values are protected, if not all are."""
    words = protection(sensitive)
    told = f" (protected: {words})" if words else ""
    return text(f"{sensitive.get('column') or ''}{told}")


def _what(release: Mapping[str, Any]) -> str:
    if not release:
        return ""
    form = text(release.get("form") or "grouped")
    rows = f"{data(release['rows'])} rows in " if release.get("rows") is not None else ""
    if release.get("written") is not None:
        rows = f"{data(release['written'])} rows of {data(release['rows'])} people in "
    return f"{form} table, {rows}{data(release.get('groups'))} groups"


def _from(source: Mapping[str, Any]) -> str:
    if not source:
        return ""
    place = text(source.get("source") or "")
    if source.get("rows") is None:
        return place
    records = mapping(source, "people").get("records")
    told = f"{data(source['rows'])} rows" + (f" of {place}" if place else "")
    return told if records is None else f"{told}, brought together into {data(records)} records of people"


def _when(created: Any) -> str:
    if not created:
        return ""
    readable = str(created).replace("T", " ").replace("+00:00", " UTC")
    return f'<time datetime="{text(created)}">{text(readable)}</time>'


def _as_is(columns: Mapping[str, Any]) -> str:
    names = ", ".join(map(text, listing(columns, "columns")))
    alone = columns.get("singled_out")
    return f"{names}; {data(alone)} people are alone with their values" if names and alone else names


def _weights(weights: Mapping[str, Any]) -> str:
    """What became of the population that the table stands for."""
    if weights.get("input") is None:
        return ""
    column, estimated = text(weights.get("column") or ""), data(weights["input"])
    rate = data(weights.get("rate"), percent(weights.get("rate")))
    told = f"{column}: {estimated} people of the population, estimated"
    return f"{told}; suppressed {data(weights.get('suppressed'))} ({rate})"


def _found(beside: Sequence[Any]) -> str:
    """Whom a sensitive column singles out, with the columns published as they are."""
    told = []
    for each in beside:
        alone, columns = mapping(each).get("singled_out"), ", ".join(map(text, listing(each, "columns")))
        if alone:
            told.append(f"{data(alone)} people are alone with their values in {columns}")
    return "; ".join(told)


def _suppressed(suppressed: Mapping[str, Any]) -> str:
    if suppressed.get("total") is None:
        return ""
    rate = suppressed.get("rate")
    share = f" ({data(rate, percent(rate))})" if rate is not None else ""
    parts = [
        f"{data(suppressed[key])} {words}"
        for key, words in (("nulls", "for nulls"), ("frequent", "too frequent"), ("unplaced", "not placed"))
        if suppressed.get(key)
    ]
    return f"{data(suppressed['total'])} rows{share}" + (f": {', '.join(parts)}" if parts else "")


def _warnings(summary: Mapping[str, Any]) -> str:
    items = "".join(f"<li>{text(warning)}</li>" for warning in listing(summary, "warnings"))
    if not items:
        return ""
    return f'<div class="warnings" role="note"><h2>Warnings</h2><ul>{items}</ul></div>'


def promises(summary: Mapping[str, Any], verdict: Mapping[str, Any]) -> str:
    """Each guarantee in a sentence, with margin, adversary and limits."""
    told = guarantees(summary, verdict)
    items = "\n".join(map(_promise, told[:MOST_GUARANTEES]))
    more = len(told) - MOST_GUARANTEES
    return section(
        "guarantees",
        "What is guaranteed" if passed(verdict) else "What was demanded",
        [
            f'<ol class="guarantees">{items}</ol>' if items else "",
            paragraph(f"{more:,} more are in the table of criteria below.") if more > 0 else "",
            paragraph(text(COMMON_LIMITS), "limits") if items else "",
        ],
    )


def _promise(told: Guarantee) -> str:
    return (
        f'<li class="{told.status}"><h3>{text(told.title)}</h3>'
        f'<p class="status">{STATUS_WORDS[told.status]}</p><p class="claim">{text(told.claim)}</p>'
        f'<p class="margin">{text(told.margin)}</p>'
        f"<dl><div><dt>Adversary</dt><dd>{text(told.holds)}</dd></div>"
        f"<div><dt>Does not protect from</dt><dd>{text(told.limits)}</dd></div></dl></li>"
    )
