"""Query error in the report: how far COUNT queries on the release are off, by dimension and selectivity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdp_spark.report.format.markup import Cell, Column, bar, data, figure, paragraph, table, text
from ppdp_spark.report.format.numbers import as_number, listing, mapping, percent

_COLUMNS = [
    Column("Quasi-identifiers asked", "number"),
    Column("Share of their space", "number"),
    Column("Queries", "number"),
    Column("Median error", "number"),
    Column("Its interval"),
    Column("Mean error", "number"),
    Column("Its interval"),
    Column("Bar median, outline mean", "chart"),
]


def query_errors(queries: Mapping[str, Any], *, population: bool = False) -> str:
    """A sentence and a table with bars; nothing if no query was asked.

    `population` says that the answers are weighted.
    """
    cells = [mapping(cell) for cell in listing(queries, "table")]
    if not cells:
        return ""
    most = max((as_number(cell.get("mean")) or 0 for cell in cells), default=0) or 1
    rows = [
        [
            figure(cell.get("dimension")),
            _share(cell, "selectivity"),
            figure(cell.get("queries")),
            _share(cell, "median"),
            Cell(_interval(cell, "median")),
            _share(cell, "mean"),
            Cell(_interval(cell, "mean")),
            bar(
                (as_number(cell.get("median")) or 0) / most, outline=(as_number(cell.get("mean")) or 0) / most
            ),
        ]
        for cell in cells
    ]
    caption = "Relative error of COUNT queries on ranges of quasi-identifiers and one sensitive value"
    caption += ", weighted" if population else ""
    told = _of_population(queries) if population else _sentence(queries)
    sentence = told + _of_attributes(mapping(queries, "attributes"))
    return paragraph(sentence) + table(caption, _COLUMNS, rows, sortable=True)


def _of_attributes(errors: Mapping[str, Any]) -> str:
    """The errors of each sensitive attribute, if there are several."""
    told = [
        f"{text(name)}: {_error(each, 'median')} in the median, {_error(each, 'mean')} in the mean"
        for name, each in ((name, mapping(each)) for name, each in errors.items())
    ]
    return f" By sensitive column: {'; '.join(told)}." if told else ""


def _share(cell: Mapping[str, Any], key: str) -> Any:
    return figure(cell.get(key), percent(cell.get(key)))


def _interval(found: Mapping[str, Any], key: str) -> str:
    return " to ".join(data(end, percent(end)) for end in listing(found, f"{key}_interval"))


def _error(found: Mapping[str, Any], key: str) -> str:
    """An error with its interval, if it has one."""
    ends = _interval(found, key)
    return data(found.get(key), percent(found.get(key))) + (f" ({ends})" if ends else "")


def _of_population(queries: Mapping[str, Any]) -> str:
    return (
        "The same queries about the population: what the weighted table says is the truth, and a reader adds "
        "up published weights or, where they are not published, multiplies counts by the mean weight. The "
        f"answers are off by {_error(queries, 'median')} in the median and {_error(queries, 'mean')} in the "
        f"mean; true sums below {data(queries.get('floor'))} are taken as that large."
    )


def _sentence(queries: Mapping[str, Any]) -> str:
    drawn, sure = queries.get("drawn"), queries.get("confidence")
    of = f" of {data(drawn)} that were drawn, those with" if drawn is not None else ", with"
    intervals = (
        f" In brackets: where the errors of other queries, drawn alike, lie with {data(sure, percent(sure))} "
        "confidence."
        if sure is not None
        else ""
    )
    return (
        f"{data(queries.get('number'))} random queries of the kind “how many people of these ages and places "
        f"have this value” were answered from the release and from the table itself{of} a true answer of at "
        f"least {data(queries.get('floor'))}. The answers are off by {_error(queries, 'median')} in the "
        f"median and {_error(queries, 'mean')} in the mean, in shares of the true answer.{intervals}"
    )
