"""Without a table of people: members of the groups of one release, in groups of others that overlap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.core.composition.overlapping_boxes import OverlappingBoxes, readable_values
from ppdp_spark.core.data.attributes import Categorical
from ppdp_spark.core.data.hierarchy import Hierarchy
from ppdp_spark.core.maxent.matching import Side, category_side, ordered_side
from ppdp_spark.errors import DataError
from ppdp_spark.spark.composition.people_in_groups import MOST_FITS, fits, fitting, surplus
from ppdp_spark.spark.composition.published_groups import PublishedGroups
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.maxent.buckets import TUPLE
from ppdp_spark.spark.maxent.external import described_groups

MOST_PAIRS = 10**11
"""Pairs of groups that are compared; for more, a table of people is needed."""


@dataclass(frozen=True, eq=False)
class FindOverlaps:
    """Groups of the first release with those of others that overlap: to what columns of people are."""

    boxes: Mapping[int, tuple[OverlappingBoxes, pa.Array]]
    ids: pa.Array
    sizes: pa.Array

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows, number = batch.column("row").to_numpy(), batch.num_rows
            own = self.ids.take(pa.array(rows)).cast(pa.int64())
            columns = {
                TUPLE[0]: own,
                TUPLE[1]: pa.array(np.zeros(number, np.int64)),
                C.PEOPLE: self.sizes.take(pa.array(rows)).cast(pa.int64()),
                **_told(0, np.ones(number, np.int64), own),
            }
            for place, (boxes, ids) in self.boxes.items():
                left, right = boxes.pairs(rows)
                fitting_each = np.bincount(left, minlength=number)
                few = fitting_each[left] <= MOST_FITS
                columns |= _told(place, fitting_each, ids.take(pa.array(right[few])).cast(pa.int64()))
            yield pa.RecordBatch.from_pydict(columns)


def _told(place: int, number: np.ndarray, listed: pa.Array) -> dict[str, pa.Array]:
    """Members of a group are some people of many: it is never certain which."""
    offsets = np.concatenate([[0], np.cumsum(np.where(number <= MOST_FITS, number, 0))])
    return {
        fits(place): pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), listed),
        fitting(place): pa.array(number),
        surplus(place): pa.array(np.ones(len(number), bool)),
    }


def people_of_groups(spark: SparkSession, releases: Sequence[PublishedGroups]) -> DataFrame:
    """Members of the groups of the first release, as `people_in_groups` has people of a table."""
    showing = [release.place for release in releases if release.shows_people]
    if showing:
        raise DataError(
            f"`{showing[0]}` shows people, but not all quasi-identifiers of the others: give a table of "
            "people with all of them (`--people`)"
        )
    groups = [described_groups(r.described(spark), r.names, r.ranges) for r in releases]
    pairs = groups[0].num_rows * sum(each.num_rows for each in groups[1:])
    if pairs > MOST_PAIRS:
        raise DataError(
            f"the releases have {pairs:,} pairs of groups, too many to compare: give a table of people "
            "(`--people`)"
        )
    boxes = {
        place: (
            _boxes(releases[0], groups[0], releases[place], groups[place]),
            _column(groups[place], C.GROUP_ID),
        )
        for place in range(1, len(releases))
    }
    task = FindOverlaps(boxes, _column(groups[0], C.GROUP_ID), _column(groups[0], C.SIZE))
    told = ", ".join(
        f"{fits(p)} array<bigint>, {fitting(p)} bigint, {surplus(p)} boolean" for p in range(len(releases))
    )
    rows = spark.range(groups[0].num_rows).withColumnRenamed("id", "row")
    return in_tasks(rows, task, f"{TUPLE[0]} bigint, {TUPLE[1]} bigint, {C.PEOPLE} bigint, {told}")


def _column(groups: pa.Table, name: str) -> pa.Array:
    return groups.column(name).combine_chunks()


def _boxes(
    one: PublishedGroups, groups: pa.Table, other: PublishedGroups, others: pa.Table
) -> OverlappingBoxes:
    """The groups of two releases along what both describe in a way that can be compared."""
    first, second = list[Side](), list[Side]()
    for name in one.names:
        if name in other.names and (name in one.ranges) == (name in other.ranges):
            at, to = one.names.index(name), other.names.index(name)
            if name in one.ranges:
                pair = (_ordered(groups, at), _ordered(others, to))
            else:
                tree = one.hierarchies.get(name) or other.hierarchies.get(name)
                labels = (_column(groups, f"label{at}"), _column(others, f"label{to}"))
                found = _labelled(labels, tree)
                if found is None:
                    continue
                pair = found
            first.append(pair[0])
            second.append(pair[1])
    return OverlappingBoxes(tuple(first), tuple(second), others.num_rows)


def _ordered(groups: pa.Table, place: int) -> Side:
    low, high = (_column(groups, f"{end}{place}") for end in ("min", "max"))
    return ordered_side(low, high, _column(groups, f"label{place}"))


def _labelled(labels: tuple[pa.Array, pa.Array], tree: str | None) -> tuple[Side, Side] | None:
    """Categories of two releases in the same values; None where labels cannot be read."""
    if tree is not None:
        read = Hierarchy.read(tree)
        attribute = Categorical("", tuple(read.leaves), hierarchy=read)
    else:
        values = readable_values([each.unique().to_pylist() for each in labels])
        if values is None:
            return None
        attribute = Categorical("", values)
    return category_side(attribute, labels[0]), category_side(attribute, labels[1])
