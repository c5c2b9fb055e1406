"""How well a release answers COUNT queries: one pass over the people, one over the groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
from ppdp_spark.core.utility.queries import (
    Domain,
    Holders,
    Query,
    bucketized_answers,
    draw_queries,
    error_floor,
    error_table,
    generalized_answers,
    relative_errors,
    true_answers,
)
from ppdp_spark.spark.data.layout import Layout, unpacked
from ppdp_spark.spark.data.profile import SensitiveDomain
from ppdp_spark.spark.engine import column_names as C

Batches = Iterable[pa.RecordBatch]
_ANSWERS = "answers array<double>"
_WIDEST = 2**62
"""Differences of whole numbers further apart than this are taken in floating point."""


def query_error(
    rows: DataFrame, groups: DataFrame, layout: Layout, *, number: int, people: int
) -> dict[str, Any] | None:
    """Relative error of random COUNT queries by dimension and selectivity; None if nothing can be asked.

    where
        rows    encoded rows of all people that the release is about, those suppressed included
        groups  described groups of the release
        people  number of rows
    """
    values = 1 if layout.domain is None else len(layout.domain.values)
    queries = draw_queries([domain_of(attribute) for attribute in layout.attributes], values, number)
    if not queries:
        return None
    truths = _summed(rows.select(*_row_names(layout)), CountPeople(layout, queries))
    estimates = _summed(groups.select(*_group_names(layout)), EstimateFromGroups(layout, queries))
    floor = error_floor(people)
    errors = relative_errors(estimates, truths, floor)
    return {
        "number": len(queries),
        "floor": floor,
        "median": round(float(np.median(errors)), 9),
        "mean": round(float(errors.mean()), 9),
        "table": error_table(queries, errors),
    }


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
    found = table.mapInArrow(task, _ANSWERS).toArrow().column(0).to_pylist()
    parts = zip(*found, strict=True) if found else ([0.0] for _ in task.queries)
    return np.array([fsum(part) for part in parts])


def _row_names(layout: Layout) -> list[str]:
    codes = [C.code(j) for j in range(len(layout.attributes))]
    return codes + ([C.SENSITIVE] if layout.domain is not None else [])


def _group_names(layout: Layout) -> list[str]:
    if layout.codes_published:
        return [C.SIZE, *layout.published_names]
    names = [C.SIZE, *([C.SENSITIVE] if layout.domain is not None else [])]
    for j, attribute in enumerate(layout.attributes):
        if isinstance(attribute, Ordered):
            names += [C.low(j), C.high(j), C.mixed(j)]
        else:
            names.append(C.label(j))
    return names


@dataclass(frozen=True)
class CountPeople:
    """True answers from encoded rows of one partition."""

    layout: Layout
    queries: tuple[Query, ...]

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        yield _added((self._answers(batch) for batch in batches if batch.num_rows), self.queries)

    def _answers(self, batch: pa.RecordBatch) -> FloatArray:
        attributes = self.layout.attributes
        places = [_places(batch.column(C.code(j)), attribute) for j, attribute in enumerate(attributes)]
        person = np.arange(batch.num_rows)
        column = batch.column(C.SENSITIVE) if self.layout.domain is not None else None
        return true_answers(self.queries, places, _holders(column, person, self.layout.domain))


@dataclass(frozen=True)
class EstimateFromGroups:
    """Answers as a reader of the release would estimate them, from groups of one partition."""

    layout: Layout
    queries: tuple[Query, ...]

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        yield _added((self._answers(batch) for batch in batches if batch.num_rows), self.queries)

    def _answers(self, batch: pa.RecordBatch) -> FloatArray:
        attributes = self.layout.attributes
        sizes = batch.column(C.SIZE).to_numpy(zero_copy_only=False)
        group = np.repeat(np.arange(len(sizes)), sizes)
        column = batch.column(C.SENSITIVE).flatten() if self.layout.domain is not None else None
        holders = _holders(column, group, self.layout.domain)
        if self.layout.codes_published:
            lists = {name: batch.column(name).flatten() for name in self.layout.published_names}
            codes = unpacked(lists, self.layout.published_packing)
            places = [_places(codes[C.code(j)], attribute) for j, attribute in enumerate(attributes)]
            return bucketized_answers(self.queries, places, group, holders)
        boxes = [_box(batch, j, attribute) for j, attribute in enumerate(attributes)]
        return generalized_answers(self.queries, boxes, holders)


def _added(parts: Iterable[FloatArray], queries: Sequence[Query]) -> pa.RecordBatch:
    total = sum(parts, np.zeros(len(queries)))
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


def _holders(column: pa.Array | None, owner: IntArray, domain: SensitiveDomain | None) -> Holders:
    """Who has which value, from a column with one value or one list of texts for each `owner`."""
    if column is None or domain is None:
        return Holders.of(owner, np.zeros(len(owner), np.int64), 1)
    width = max(1, len(domain.values))
    if domain.case == "svpi":
        return Holders.of(owner, column.to_numpy(zero_copy_only=False), width)
    lengths = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    codes = domain.codes(column.flatten()).to_numpy(zero_copy_only=False)
    return Holders.of(np.repeat(owner, lengths), codes, width)


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
