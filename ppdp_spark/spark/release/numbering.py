"""Which file a group is in, and its number: an order that only published content decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.data.attributes import Attribute, Categorical, Ordered
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.hidden_values import beside_unseen, field
from ppdp_spark.spark.engine.tasks import one_task_each
from ppdp_spark.spark.engine.versions import to_arrow

FILE_ROWS = 500_000
"""Rows aimed at in a published file. The number of files follows from the content alone."""

_BOUNDS = "bounds"
_ROW_BITS = 33
"""`monotonically_increasing_id` keeps the row's position within its partition in this many bits."""


@dataclass(frozen=True)
class Order:
    """How groups are sorted and numbered.

    where
        primary  the description that varies most: its ranges make the files
        bounds   largest value of `primary` in each file but the last
        offsets  groups in the files before each file
    """

    primary: str
    keys: tuple[str, ...]
    bounds: tuple[Any, ...]
    offsets: tuple[int, ...]

    @property
    def files(self) -> int:
        return len(self.offsets)


def description_columns(attributes: Sequence[Attribute]) -> list[list[str]]:
    """The columns of the group table that describe a group, attribute by attribute."""
    return [
        [C.low(j), C.high(j), C.mixed(j)] if isinstance(attribute, Ordered) else [C.label(j)]
        for j, attribute in enumerate(attributes)
    ]


def order_groups(
    groups: DataFrame, attributes: Sequence[Attribute], ncp: Mapping[str, float], people: int
) -> Order:
    """Decide files and group numbers from the descriptions of the groups of so many people.

    The attribute whose descriptions are the most varied comes first: one cannot have more of them
    than it has values, nor many if its penalty is large.
    """
    described = description_columns(attributes)
    varied = [min(_values(a), 1 / max(ncp[a.name], 1e-9)) for a in attributes]
    by_spread = sorted(range(len(described)), key=lambda j: (-varied[j], j))
    keys = [name for j in by_spread for name in described[j]]
    bounds, offsets = _files(groups, keys[0]) if people > FILE_ROWS else ((), (0,))
    return Order(keys[0], tuple(keys), bounds, offsets)


def _files(groups: DataFrame, key: str) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Where files end along a column of descriptions, and how many groups are before each file."""
    counted = to_arrow(groups.groupBy(key).agg(F.count(F.lit(1)), F.sum(C.SIZE)))
    counted = counted.sort_by([(key, "ascending")])
    values, numbers, sizes = (counted.column(i).to_pylist() for i in range(3))
    nulls = [i for i, value in enumerate(values) if value is None]
    if nulls:
        last = nulls[0]
        values, numbers, sizes = ([x[last], *x[:last], *x[last + 1 :]] for x in (values, numbers, sizes))
    bounds, offsets, filled, passed = [], [0], 0, 0
    for i, (value, number, size) in enumerate(zip(values, numbers, sizes, strict=True)):
        filled += size
        passed += number
        if filled >= FILE_ROWS and i + 1 < len(values) and value is not None:
            bounds.append(value)
            offsets.append(passed)
            filled = 0
    return tuple(bounds), tuple(offsets)


def _values(attribute: Attribute) -> float:
    """How many values an attribute has, at most."""
    if isinstance(attribute, Categorical):
        return float(len(attribute.values))
    return attribute.span + 1 if attribute.narrow else float("inf")


def number_groups(groups: DataFrame, order: Order, layout: Layout) -> DataFrame:
    """Groups sorted and numbered 1, 2, …; each file's groups are one task's.

    Groups that are described alike are told apart by their people, in the order of their content. Where
    the tasks did not bring people into it, they are from here on an array of structs, `people`.
    """
    ties = layout.published_names
    if not layout.in_order:
        # What hides a value comes first: the order of the other columns must not depend on it.
        zipped = F.arrays_zip(*sorted(ties, key=lambda name: name in layout.held))
        groups, ties = groups.withColumn(C.PEOPLE, F.array_sort(zipped)).drop(*ties), [C.PEOPLE]
    bounds = [F.col(_BOUNDS)[field(i)] for i in range(len(order.bounds))]
    part = F.when(F.col(order.primary).isNull(), F.lit(0)).otherwise(_file_of(F.col(order.primary), bounds))
    if bounds:
        groups = beside_unseen(groups, _BOUNDS, order.bounds)
    placed = groups.withColumn(C.FRAGMENT, part).drop(_BOUNDS)
    placed = one_task_each(placed, C.FRAGMENT, order.files)
    placed = placed.sortWithinPartitions(*order.keys, *ties)
    within = F.monotonically_increasing_id().bitwiseAND(F.lit((1 << _ROW_BITS) - 1))
    before = F.element_at(F.array(*(F.lit(n).cast("bigint") for n in order.offsets)), F.col(C.FRAGMENT) + 1)
    return placed.withColumn(C.GROUP_ID, before + within + 1)


def _file_of(value: Column, bounds: Sequence[Column], first: int = 0) -> Column:
    """The file whose range holds the value, by halving."""
    if not bounds:
        return F.lit(first)
    middle = len(bounds) // 2
    low, high = bounds[:middle], bounds[middle + 1 :]
    return F.when(value <= bounds[middle], _file_of(value, low, first)).otherwise(
        _file_of(value, high, first + middle + 1)
    )
