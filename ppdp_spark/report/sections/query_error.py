"""Query error in the report: how far COUNT queries on the release are off, by dimension and selectivity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdp_spark.report.format.markup import Column, bar, data, figure, paragraph, table, text
from ppdp_spark.report.format.numbers import as_number, listing, mapping, percent

_COLUMNS = [
    Column("Quasi-identifiers asked", "number"),
    Column("Share of their space", "number"),
    Column("Queries", "number"),
    Column("Median error", "number"),
    Column("Mean error", "number"),
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
            _share(cell, "mean"),
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
        f"{text(name)}: {data(each.get('median'), percent(each.get('median')))} in the median, "
        f"{data(each.get('mean'), percent(each.get('mean')))} in the mean"
        for name, each in ((name, mapping(each)) for name, each in errors.items())
    ]
    return f" By sensitive column: {'; '.join(told)}." if told else ""


def _share(cell: Mapping[str, Any], key: str) -> Any:
    return figure(cell.get(key), percent(cell.get(key)))


def _of_population(queries: Mapping[str, Any]) -> str:
    median, mean = (data(queries.get(key), percent(queries.get(key))) for key in ("median", "mean"))
    return (
        "The same queries about the population: what the weighted table says is the truth, and a reader adds "
        "up published weights or, where they are not published, multiplies counts by the mean weight. The "
        f"answers are off by {median} in the median and {mean} in the mean; true sums below "
        f"{data(queries.get('floor'))} are taken as that large."
    )


def _sentence(queries: Mapping[str, Any]) -> str:
    median, mean = (data(queries.get(key), percent(queries.get(key))) for key in ("median", "mean"))
    return (
        f"{data(queries.get('number'))} random queries of the kind “how many people of these ages and places "
        f"have this value” were answered from the release and from the table itself. The answers are off by "
        f"{median} in the median and {mean} in the mean; true counts below {data(queries.get('floor'))} are "
        "taken as that large."
    )
