"""The utility section: what is left of the data for those who use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdp_spark.report.format.markup import Cell, Column, bar, data, facts, figure, section, table, words
from ppdp_spark.report.format.numbers import as_number, listing, mapping, percent
from ppdp_spark.report.sections.query_error import query_errors
from ppdp_spark.report.sentences.forms import form_words

_LOST = "information lost over all attributes, 0 to 1"
_SPREAD = "how wide groups are over all attributes, 0 to 1; no loss, for quasi-identifiers are exact"
_LINK = "the link between quasi-identifiers and values: which value of a group belongs to whom"
_PENALTY = "Normalized certainty penalty of each attribute: 0 as precise as the input, 1 nothing left of it"
_WIDTH = "How wide groups are in each attribute, 0 to 1: its values are published as they are, none is lost"


def utility(summary: Mapping[str, Any]) -> str:
    """The section on utility: what generalization and suppression cost."""
    metrics, release = mapping(summary, "metrics"), mapping(summary, "release")
    return section(
        "utility",
        "Utility",
        [
            _figures(metrics, release),
            _sizes(mapping(metrics, "sizes")),
            _penalties(metrics, exact=form_words(release.get("form")).exact),
            section("queries", "Query error", [query_errors(mapping(metrics, "queries"))], 3),
            section("weighted-queries", "Query error in the population", [_weighted_errors(metrics)], 3),
            _nulls(mapping(summary, "input", "nulls")),
        ],
    )


def _weighted_errors(metrics: Mapping[str, Any]) -> str:
    return query_errors(mapping(metrics, "weighted", "queries"), population=True)


def _figures(metrics: Mapping[str, Any], release: Mapping[str, Any]) -> str:
    exact = form_words(release.get("form")).exact
    sizes, rate = mapping(metrics, "sizes"), mapping(release, "suppressed").get("rate")
    weighted = mapping(metrics, "weighted")
    named = [
        ("Smallest group", sizes.get("smallest"), "people"),
        ("Mean group", sizes.get("mean"), "people"),
        ("Largest group", sizes.get("largest"), "people"),
        (
            "Average class ratio",
            metrics.get("average_class_ratio"),
            "mean group over what is demanded; 1 is best",
        ),
        ("Discernibility", metrics.get("discernibility"), "sum of squared group sizes; less is better"),
        ("Spread of groups" if exact else "GCP", metrics.get("gcp"), _SPREAD if exact else _LOST),
        (
            "Spread of groups, weighted" if exact else "GCP, weighted",
            weighted.get("gcp"),
            "the same where people count by their weights",
        ),
        ("Population", weighted.get("population"), "people that the published ones stand for, estimated"),
    ]
    pairs = [
        (term, f"{data(value)} <small>{unit}</small>") for term, value, unit in named if value is not None
    ]
    if rate is not None:
        pairs.append(("Suppression rate", f"{data(rate, percent(rate))} <small>of the rows</small>"))
    if exact:
        pairs.append(("Lost", f"<small>{_LINK}</small>"))
    return facts(pairs)


def _sizes(sizes: Mapping[str, Any]) -> str:
    classes = [mapping(entry) for entry in listing(sizes, "histogram")]
    most = max((as_number(entry.get("groups")) or 0 for entry in classes), default=0) or 1
    cells = [
        [
            Cell(_range(entry), as_number(entry.get("from"))),
            figure(entry.get("groups")),
            figure(entry.get("rows")),
            bar((as_number(entry.get("groups")) or 0) / most),
        ]
        for entry in classes
    ]
    columns = [Column("People in a group"), Column("Groups", "number"), Column("Rows", "number")]
    return table("Group sizes", [*columns, Column("Groups", "chart")], cells)


def _range(entry: Mapping[str, Any]) -> str:
    low, high = entry.get("from"), entry.get("to")
    return data(low) if low == high else f"{data(low)} to {data(high)}"


def _penalties(metrics: Mapping[str, Any], *, exact: bool) -> str:
    ncp, weighted = mapping(metrics, "ncp"), mapping(metrics, "weighted", "ncp")
    cells = [
        [
            words(attribute),
            figure(x),
            *([figure(weighted.get(attribute))] if weighted else []),
            bar(as_number(x) or 0.0),
        ]
        for attribute, x in ncp.items()
    ]
    by_weight = [Column("NCP, weighted", "number")] if weighted else []
    columns = [Column("Attribute"), Column("NCP", "number"), *by_weight, Column("0 to 1", "chart")]
    return table(_WIDTH if exact else _PENALTY, columns, cells, sortable=True)


def _nulls(nulls: Mapping[str, Any]) -> str:
    cells = [[words(column), figure(count)] for column, count in nulls.items()]
    return table("Nulls of the input by column", [Column("Column"), Column("Nulls", "number")], cells)
