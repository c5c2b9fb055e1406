"""What a release keeps of its table, as typed numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import Self


@dataclass(frozen=True)
class SizeClass:
    """Groups of `smallest` to `largest` people: how many there are, and how many people they hold."""

    smallest: int
    largest: int
    groups: int
    people: int


@dataclass(frozen=True)
class GroupSizes:
    """Sizes of the groups in people; the classes of `histogram` double: 1, 2–3, 4–7 and so on."""

    smallest: int
    largest: int
    mean: float
    histogram: tuple[SizeClass, ...]


@dataclass(frozen=True)
class QueryErrorCell:
    """Relative errors of the queries that ask for `dimension` attributes with one selectivity."""

    dimension: int
    selectivity: float
    queries: int
    median: float
    mean: float


@dataclass(frozen=True)
class QueryErrors:
    """Relative errors of random COUNT queries.

    where
        number      queries that were asked
        floor       a true answer below it counts as so much, or small answers would decide everything
        median      over all queries; `mean` likewise
        table       the same by number of attributes and selectivity
        attributes  median and mean of each sensitive attribute, if there are several
    """

    number: int
    floor: float
    median: float
    mean: float
    table: tuple[QueryErrorCell, ...]
    attributes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Metrics:
    """What a release keeps of its table.

    where
        people               rows published
        groups               groups they are in
        suppressed           rows left out, for whatever reason
        suppression_rate     their share of all rows
        sizes                sizes of the groups
        discernibility       Σ size² over groups [Bayardo & Agrawal 2005]
        ncp                  mean normalized certainty penalty of each quasi-identifier over people
                             [Xu et al. 2006]: 0 as precise as the input, 1 nothing left
        gcp                  the mean of these
        average_class_ratio  mean group size divided by k; None without k-anonymity
        queries              error of COUNT queries; None unless `output.queries` asked for some
    """

    people: int
    groups: int
    suppressed: int
    suppression_rate: float
    sizes: GroupSizes
    discernibility: int
    ncp: Mapping[str, float]
    gcp: float
    average_class_ratio: float | None
    queries: QueryErrors | None

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> Self:
        """Those in the summary of an `anonymize`."""
        measured, release = summary["metrics"], summary["release"]
        return cls(
            people=release["rows"],
            groups=release["groups"],
            suppressed=release["suppressed"]["total"],
            suppression_rate=release["suppressed"]["rate"],
            sizes=_sizes(measured["sizes"]),
            discernibility=measured["discernibility"],
            ncp=dict(measured["ncp"]),
            gcp=measured["gcp"],
            average_class_ratio=measured.get("average_class_ratio"),
            queries=_queries(measured["queries"]) if measured.get("queries") else None,
        )


def _sizes(plain: Mapping[str, Any]) -> GroupSizes:
    classes = (SizeClass(c["from"], c["to"], c["groups"], c["rows"]) for c in plain["histogram"])
    return GroupSizes(plain["smallest"], plain["largest"], plain["mean"], tuple(classes))


def _queries(plain: Mapping[str, Any]) -> QueryErrors:
    cells = tuple(QueryErrorCell(**cell) for cell in plain["table"])
    by_attribute = plain.get("attributes", {})
    return QueryErrors(plain["number"], plain["floor"], plain["median"], plain["mean"], cells, by_attribute)
