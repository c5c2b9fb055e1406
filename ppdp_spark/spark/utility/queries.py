"""How well a release answers COUNT queries: one pass over the people, one over the groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from ppdp_spark.core.data.attributes import Attribute, Categorical, Ordered
from ppdp_spark.core.data.boxes import Box, Interval, labelled
from ppdp_spark.core.data.groups import FloatArray, IntArray
from ppdp_spark.core.data.weight_units import amounts
from ppdp_spark.core.utility.queries import (
    CANDIDATES,
    Domain,
    Holders,
    Query,
    bucketized_answers,
    draw_queries,
    generalized_answers,
    true_answers,
    with_answers,
)
from ppdp_spark.core.utility.relative_error import (
    CONFIDENCE,
    error_summary,
    error_table,
    relative_errors,
    sanity_bound,
)
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.arrow import unpacked
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow

Batches = Iterable[pa.RecordBatch]
_ANSWERS = "answers array<double>"
_WIDEST = 2**62
"""Differences of whole numbers further apart than this are taken in floating point."""


def query_error(
    rows: DataFrame, groups: DataFrame, layout: Layout, *, number: int, people: int
) -> dict[str, Any] | None:
    """Relative error of random COUNT queries by dimension and selectivity; None if nothing can be asked.

    They are asked about at least as many people as the sanity bound says.

    If people have weights, `weighted` has the errors of the same queries about the population: of a reader
    who adds up published weights or, where those are not published, multiplies by the mean weight.

    where
        rows    encoded rows of all people that the release is about, those suppressed included
        groups  described groups of the release
        people  number of rows
    """
    counts = [domain.counts for domain in layout.domains] or [(people,)]
    least = sanity_bound(people, min(max(each, default=0) for each in counts))
    drawn = list(_drawn(layout, number, counts, least))
    candidates = tuple(query for each in drawn for query in each)
    if not candidates:
        return None
    truths = _summed(rows.select(*_row_names(layout)), CountPeople(layout, candidates))
    chosen = _chosen(drawn, truths, number, least)
    if not len(chosen):
        return None
    queries = tuple(candidates[place] for place in chosen)
    estimates = _summed(groups.select(*_group_names(layout)), EstimateFromGroups(layout, queries))
    found = _errors(layout, queries, estimates[: len(queries)], truths[chosen], least)
    if layout.weighted:
        population = float(truths[-1])
        scale = population / max(1, people)
        told = estimates[len(queries) :] if layout.weight_shown else estimates[: len(queries)] * scale
        of_population = truths[len(candidates) + chosen]
        found["weighted"] = _errors(layout, queries, told, of_population, max(1.0, least * scale))
        found["weighted"]["drawn"] = len(candidates)
    return {**found, "drawn": len(candidates)}


def _chosen(drawn: Sequence[Sequence[Query]], truths: FloatArray, number: int, least: float) -> IntArray:
    """The places, among all candidates, of those to ask about each sensitive attribute."""
    starts = [sum(map(len, drawn[:place])) for place in range(len(drawn))]
    answered = [
        start + with_answers(each, truths[start : start + len(each)], number, least)
        for start, each in zip(starts, drawn, strict=True)
    ]
    return np.concatenate(answered)


def _errors(
    layout: Layout, queries: Sequence[Query], estimates: FloatArray, truths: FloatArray, bound: float
) -> dict[str, Any]:
    """The errors of answers, relative to true ones or to the bound."""
    errors, firsts = relative_errors(estimates, truths, bound), _firsts(layout)
    found = {**_overall(errors), "floor": bound, "confidence": CONFIDENCE}
    found["table"] = error_table(queries, errors)
    if len(layout.domains) > 1:
        place = np.searchsorted(firsts, [query.value for query in queries], side="right") - 1
        found["attributes"] = {
            domain.column: _overall(errors[place == i])
            for i, domain in enumerate(layout.domains)
            if (place == i).any()
        }
    return found


def _overall(errors: FloatArray) -> dict[str, Any]:
    return {"number": len(errors), **error_summary(errors)}


def _drawn(
    layout: Layout, number: int, counts: Sequence[Sequence[int]], least: float
) -> Iterator[tuple[Query, ...]]:
    """Candidates about each sensitive attribute, and values that enough people have.

    Codes of the second attribute follow those of the first. None asks about a quasi-identifier that people
    have several values of: where they are is not one place.
    """
    ranges = [None if j in layout.ranging else domain_of(a) for j, a in enumerate(layout.attributes)]
    for first, each in zip(_firsts(layout), counts, strict=True):
        frequent = [code for code, count in enumerate(each) if count >= least]
        drawn = draw_queries(ranges, len(frequent), CANDIDATES * number)
        yield tuple(replace(query, value=first + frequent[query.value]) for query in drawn)


def _firsts(layout: Layout) -> list[int]:
    """The first code of each sensitive attribute where the values of all have codes of their own."""
    widths = [len(domain.values) for domain in layout.domains[:-1]]
    return [sum(widths[:place]) for place in range(max(1, len(layout.domains)))]


def domain_of(attribute: Attribute) -> Domain | None:
    """Where queries may ask along an attribute; None where every value is null."""
    if isinstance(attribute, Categorical):
        return Domain(1, len(attribute.values)) if attribute.values else None
    if attribute.low is None or attribute.high is None:
        return None
    if attribute.narrow:
        return Domain(1, int(attribute.span) + 1)
    return Domain(attribute.low, attribute.high, continuous=attribute.kind == "float")


def _summed(table: DataFrame, task: CountPeople | EstimateFromGroups) -> FloatArray:
    """The answers of all partitions, added up."""
    found = to_arrow(in_tasks(table, task, _ANSWERS)).column(0).to_pylist()
    parts = zip(*found, strict=True) if found else ([0.0] for _ in range(task.length))
    return np.array([fsum(part) for part in parts])


def _row_names(layout: Layout) -> list[str]:
    codes = [C.code(j) for j in range(len(layout.attributes))]
    return codes + list(layout.held) + ([C.WEIGHT] if layout.weighted else [])


def _group_names(layout: Layout) -> list[str]:
    if layout.codes_published:
        return [C.SIZE, *layout.published_names]
    names = [C.SIZE, *layout.held, *([C.kept(layout.kept - 1)] if layout.weight_shown else [])]
    for j, attribute in enumerate(layout.attributes):
        if isinstance(attribute, Ordered):
            names += [C.low(j), C.high(j), C.mixed(j)]
        else:
            names.append(C.label(j))
    return names


@dataclass(frozen=True)
class CountPeople:
    """True answers from encoded rows of one partition: counts, and weighted ones with the sum of weights."""

    layout: Layout
    queries: tuple[Query, ...]

    @property
    def length(self) -> int:
        return len(self.queries) * (1 + self.layout.weighted) + self.layout.weighted

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        yield _added((self._answers(batch) for batch in batches if batch.num_rows), self.length)

    def _answers(self, batch: pa.RecordBatch) -> FloatArray:
        attributes = self.layout.attributes
        places = [_places(batch.column(C.code(j)), attribute) for j, attribute in enumerate(attributes)]
        person = np.arange(batch.num_rows)
        columns = {name: batch.column(name) for name in self.layout.held}
        counted = true_answers(self.queries, places, _holders(columns, person, self.layout))
        if not self.layout.weighted:
            return counted
        weights = amounts(batch.column(C.WEIGHT).to_numpy(zero_copy_only=False))
        holders = _holders(columns, person, self.layout, weights)
        return np.concatenate([counted, true_answers(self.queries, places, holders), [weights.sum()]])


@dataclass(frozen=True)
class EstimateFromGroups:
    """Answers as a reader would estimate them, from groups of one partition; also by published weights."""

    layout: Layout
    queries: tuple[Query, ...]

    @property
    def length(self) -> int:
        return len(self.queries) * (1 + self.layout.weight_shown)

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        yield _added((self._answers(batch) for batch in batches if batch.num_rows), self.length)

    def _answers(self, batch: pa.RecordBatch) -> FloatArray:
        attributes = self.layout.attributes
        sizes = batch.column(C.SIZE).to_numpy(zero_copy_only=False)
        group = np.repeat(np.arange(len(sizes)), sizes)
        columns = {name: batch.column(name).flatten() for name in self.layout.held}
        holders, weights = _holders(columns, group, self.layout), self._weights(batch)
        if self.layout.codes_published:
            lists = {name: batch.column(name).flatten() for name in self.layout.published_names}
            codes = unpacked(lists, self.layout.published_packing)
            places = [_places(codes[C.code(j)], attribute) for j, attribute in enumerate(attributes)]
            answers = bucketized_answers(self.queries, places, group, holders)
            if weights is None:
                return answers
            return np.append(answers, bucketized_answers(self.queries, places, group, holders, weights))
        boxes = [_box(batch, j, attribute) for j, attribute in enumerate(attributes)]
        answers = generalized_answers(self.queries, boxes, holders)
        if weights is None:
            return answers
        holders = _holders(columns, group, self.layout, weights)
        return np.append(answers, generalized_answers(self.queries, boxes, holders))

    def _weights(self, batch: pa.RecordBatch) -> FloatArray | None:
        """The published weights of the people of a batch's groups, if there are any."""
        if not self.layout.weight_shown:
            return None
        shown = batch.column(C.kept(self.layout.kept - 1)).flatten()
        return np.asarray(shown.cast(pa.float64()).to_numpy(zero_copy_only=False))


def _added(parts: Iterable[FloatArray], length: int) -> pa.RecordBatch:
    total = sum(parts, np.zeros(length))
    return pa.RecordBatch.from_pydict({"answers": pa.array([total.tolist()], pa.list_(pa.float64()))})


def _places(column: pa.Array, attribute: Attribute) -> NDArray[Any]:
    """Places of people along an attribute; null lies outside of every range."""
    if isinstance(attribute, Categorical) or attribute.narrow:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if attribute.kind == "float" or attribute.span >= _WIDEST:
        known = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
        return np.where(column.is_valid().to_numpy(zero_copy_only=False), known, np.nan)
    low, high = int(attribute.low or 0), int(attribute.high or 0)
    outside = low - 1 if low > np.iinfo(np.int64).min else high + 1
    return np.asarray(column.fill_null(outside).to_numpy(zero_copy_only=False))


def _holders(
    columns: Mapping[str, pa.Array], owner: IntArray, layout: Layout, weights: FloatArray | None = None
) -> Holders:
    """Who has which value, from columns with one value, or one with a list of texts, for each `owner`.

    With `weights`, one for each row, how many people of the population have it.
    """
    if not columns:
        return Holders.of(owner, np.zeros(len(owner), np.int64), 1, weights)
    width = max(1, sum(len(domain.values) for domain in layout.domains))
    if all(domain.case == "svpi" for domain in layout.domains):
        codes = [column.to_numpy(zero_copy_only=False) for column in columns.values()]
        shifted = [code.astype(np.int64) + first for code, first in zip(codes, _firsts(layout), strict=True)]
        tiled = None if weights is None else np.tile(weights, len(codes))
        return Holders.of(np.tile(owner, len(codes)), np.concatenate(shifted), width, tiled)
    domain, column = layout.domains[0], columns[C.SENSITIVE]
    lengths = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    codes = domain.codes(column.flatten()).to_numpy(zero_copy_only=False)
    repeated = None if weights is None else np.repeat(weights, lengths)
    return Holders.of(np.repeat(owner, lengths), codes, width, repeated)


def _box(batch: pa.RecordBatch, position: int, attribute: Attribute) -> Box:
    """What the groups of a batch cover along one attribute."""
    if isinstance(attribute, Categorical):
        return labelled(attribute, batch.column(C.label(position)))
    low, high = batch.column(C.low(position)), batch.column(C.high(position))
    null = low.is_null().to_numpy(zero_copy_only=False)
    mixed = batch.column(C.mixed(position)).to_numpy(zero_copy_only=False)
    lowest = attribute.low or 0
    first, last = (end.fill_null(lowest).to_numpy(zero_copy_only=False) for end in (low, high))
    if attribute.narrow:
        first, last = first - int(lowest) + 1, last - int(lowest) + 1
    elif attribute.span >= _WIDEST:
        first, last = first.astype(np.float64), last.astype(np.float64)
    return Interval(first, last, mixed, null, continuous=attribute.kind == "float")
