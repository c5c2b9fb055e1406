"""What a release keeps of its table, as typed numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from typing_extensions import Self

ErrorInterval: TypeAlias = tuple[float, float]


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
    median_interval: ErrorInterval | None = None
    mean_interval: ErrorInterval | None = None


@dataclass(frozen=True)
class QueryErrors:
    """Relative errors of random COUNT queries that have answers.

    where
        number      queries that were asked
        floor       the sanity bound: no query is asked about fewer people, and errors are divided by no less
        median      over all queries; `mean` likewise
        table       the same by number of attributes and selectivity
        attributes  median and mean of each sensitive attribute, if there are several
        median_interval, mean_interval  where those of other queries, drawn alike, lie with `confidence`
        drawn       candidates that the queries were chosen from
    """

    number: int
    floor: float
    median: float
    mean: float
    table: tuple[QueryErrorCell, ...]
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    median_interval: ErrorInterval | None = None
    mean_interval: ErrorInterval | None = None
    confidence: float | None = None
    drawn: int | None = None


@dataclass(frozen=True)
class WeightedMetrics:
    """What a release keeps of the population that its people stand for, by their weights: estimates.

    where
        population  sum of the published people's weights
        suppressed  sum of the weights of those left out
        ncp         mean normalized certainty penalty of each quasi-identifier, everybody counted by weight
        gcp         the mean of these
        queries     error of COUNT queries about the population: of a reader who adds up published weights or,
                    where they are not published, multiplies by the mean weight
    """

    population: float
    suppressed: float
    ncp: Mapping[str, float]
    gcp: float
    queries: QueryErrors | None


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
        weighted             the same of the population; None without `columns.weight`
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
    weighted: WeightedMetrics | None = None

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
            weighted=_weighted(measured["weighted"], release) if "weighted" in measured else None,
        )


def _weighted(plain: Mapping[str, Any], release: Mapping[str, Any]) -> WeightedMetrics:
    queries = _queries(plain["queries"]) if plain.get("queries") else None
    left = release["weights"]["suppressed"]
    return WeightedMetrics(plain["population"], left, dict(plain["ncp"]), plain["gcp"], queries)


def _sizes(plain: Mapping[str, Any]) -> GroupSizes:
    classes = (SizeClass(c["from"], c["to"], c["groups"], c["rows"]) for c in plain["histogram"])
    return GroupSizes(plain["smallest"], plain["largest"], plain["mean"], tuple(classes))


def _queries(plain: Mapping[str, Any]) -> QueryErrors:
    told = _with_intervals(plain)
    cells = tuple(QueryErrorCell(**_with_intervals(cell)) for cell in plain["table"])
    return QueryErrors(**{**told, "table": cells})


def _with_intervals(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Errors with their intervals as pairs; a summary of an earlier version has none."""
    intervals = {key: tuple(plain[key]) for key in ("median_interval", "mean_interval") if key in plain}
    return {**plain, **intervals}
