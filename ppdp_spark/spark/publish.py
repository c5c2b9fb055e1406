"""From a table of groups to the published tables, in an order that only published content decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.attributes import Attribute, Categorical, Ordered
from ppdp_spark.spark import columns as C
from ppdp_spark.spark.encode import decode, dictionary
from ppdp_spark.spark.layout import Layout
from ppdp_spark.spark.physical import from_physical, range_label
from ppdp_spark.spark.unseen import field, unseen, unseen_struct
from ppdp_spark.spark.writing import GroupColumns

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


def order_groups(groups: DataFrame, attributes: Sequence[Attribute], ncp: Mapping[str, float]) -> Order:
    """Decide files and group numbers from the groups' descriptions.

    The attribute whose descriptions are the most varied comes first: one cannot have more of them
    than it has values, nor many if its penalty is large.
    """
    described = description_columns(attributes)
    varied = [min(_values(a), 1 / max(ncp[a.name], 1e-9)) for a in attributes]
    by_spread = sorted(range(len(described)), key=lambda j: (-varied[j], j))
    keys = [name for j in by_spread for name in described[j]]
    counted = groups.groupBy(keys[0]).agg(F.count(F.lit(1)), F.sum(C.SIZE)).toArrow()
    counted = counted.sort_by([(keys[0], "ascending")])
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
    return Order(keys[0], tuple(keys), tuple(bounds), tuple(offsets))


def _values(attribute: Attribute) -> float:
    """How many values an attribute has, at most."""
    if isinstance(attribute, Categorical):
        return float(len(attribute.values))
    return attribute.span + 1 if attribute.narrow else float("inf")


def number_groups(groups: DataFrame, order: Order, ties: Sequence[str]) -> DataFrame:
    """Groups sorted and numbered 1, 2, …; each file's groups are one task's."""
    bounds = [F.col(_BOUNDS)[field(i)] for i in range(len(order.bounds))]
    part = F.when(F.col(order.primary).isNull(), F.lit(0)).otherwise(_file_of(F.col(order.primary), bounds))
    if bounds:
        groups = groups.withColumn(_BOUNDS, unseen_struct(groups.sparkSession, order.bounds))
    placed = groups.withColumn(C.FRAGMENT, part).drop(_BOUNDS)
    placed = placed.repartitionById(order.files, F.col(C.FRAGMENT))
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


def generalized_rows(groups: DataFrame, layout: Layout, names: Sequence[str]) -> DataFrame:
    """The generalized form: one row a person, with its group's description of each quasi-identifier.

    Columns get the user's names in the last step only, where they cannot meet ours.
    """
    described, people = _described(layout), _public_people(layout, names)
    rows = groups.select(*_aliased(described), _people(layout, layout.published_names))
    rows = rows.select(*described, F.inline(C.PEOPLE))
    if layout.domain is not None:
        rows = _decoded_sensitive(rows, C.SENSITIVE, layout)
    public = {ours: name for ours, (name, _) in described.items()} | people
    return rows.select(*(F.col(ours).alias(name) for ours, name in public.items()))


def generalized_groups(
    groups: DataFrame, layout: Layout, names: Sequence[str]
) -> tuple[DataFrame, GroupColumns]:
    """The generalized form before it is spread over people: numbered groups, and how to spread them."""
    described, people = _described(layout), _public_people(layout, names)
    values = dict[str, pa.Array]()
    if layout.domain is not None:
        kind = layout.domain.type
        if layout.domain.case == "svpi":
            values[C.SENSITIVE] = _typed_values(groups.sparkSession, layout.domain.values, kind)
        else:
            groups = groups.withColumn(C.SENSITIVE, F.col(C.SENSITIVE).cast(f"array<array<{kind}>>"))
    lists = [F.col(name) for name in people]
    if people and not layout.in_order(layout.published_names):
        groups = groups.withColumn(C.PEOPLE, _people(layout, layout.published_names))
        lists = [F.col(C.PEOPLE)[name].alias(name) for name in people]
    wanted = groups.select(C.FRAGMENT, C.SIZE, *_aliased(described), *lists)
    public = {ours: name for ours, (name, _) in described.items()}
    return wanted, GroupColumns(public, people, values)


def _described(layout: Layout) -> dict[str, tuple[str, Column]]:
    """What each person of a group gets of it: our name of the column, the published one, the value."""
    found = {C.GROUP_ID: (C.GROUP_ID, F.col(C.GROUP_ID))}
    for j, attribute in enumerate(layout.attributes):
        for name, value in generalized_columns(attribute, j).items():
            found[f"published{len(found)}"] = (name, value)
    return found


def _aliased(described: Mapping[str, tuple[str, Column]]) -> list[Column]:
    return [value.alias(ours) for ours, (_, value) in described.items()]


def _public_people(layout: Layout, names: Sequence[str]) -> dict[str, str]:
    """What people have of their own in the generalized form: our names and the published ones."""
    found = {} if layout.domain is None else {C.SENSITIVE: layout.domain.column}
    return found | {C.kept(j): name for j, name in enumerate(names)}


def _typed_values(session: SparkSession, values: Sequence[str | None], kind: str) -> pa.Array:
    """Texts as values of the column's own type, as Spark reads them."""
    typed = dictionary(session, values).select("code", F.col("text").cast(kind).alias("value")).toArrow()
    return typed.sort_by("code").column("value").combine_chunks()


def generalized_columns(attribute: Attribute, position: int) -> dict[str, Column]:
    """Published columns of one attribute: a readable label and, for ordered ones, both bounds."""
    if isinstance(attribute, Categorical):
        return {attribute.name: F.col(C.label(position))}
    low = from_physical(F.col(C.low(position)), attribute)
    high = from_physical(F.col(C.high(position)), attribute)
    label = range_label(low, high, F.col(C.mixed(position)), attribute)
    return {attribute.name: label, f"{attribute.name}_min": low, f"{attribute.name}_max": high}


def _people(layout: Layout, names: Sequence[str]) -> Column:
    """The people of a group as an array of structs, in the order of their content."""
    if not names:
        each = F.transform(F.sequence(F.lit(1), F.col(C.SIZE)), lambda i: F.struct(i.alias("position")))
        return each.alias(C.PEOPLE)
    zipped = F.arrays_zip(*names)
    return (zipped if layout.in_order(names) else F.array_sort(zipped)).alias(C.PEOPLE)


def _decoded_sensitive(rows: DataFrame, name: str, layout: Layout) -> DataFrame:
    assert layout.domain is not None
    if layout.domain.case != "svpi":
        return rows.withColumn(name, F.col(name).cast(f"array<{layout.domain.type}>"))
    decoded = decode(rows, name, layout.domain.values, first_code=0)
    return decoded.withColumn(name, F.col(name).cast(layout.domain.type))


def bucketized_rows(groups: DataFrame, layout: Layout, names: Sequence[str]) -> DataFrame:
    """The quasi-identifier table of the bucketized form: true values and the group number.

    People of a group are sorted by what this table shows of them, so that their order says nothing
    about sensitive values.
    """
    people = [name for name in layout.published_names if name != C.SENSITIVE]
    rows = groups.select(C.GROUP_ID, _people(layout, people)).select(C.GROUP_ID, F.inline(C.PEOPLE))
    wanted = [F.col(C.GROUP_ID)]
    for j, attribute in enumerate(layout.attributes):
        if isinstance(attribute, Categorical):
            rows = decode(rows, C.code(j), attribute.values, first_code=1)
            value = F.col(C.code(j)).cast(attribute.type)
        else:
            value = from_physical(_physical_value(rows, C.code(j), attribute), attribute)
        wanted.append(value.alias(attribute.name))
    wanted += [F.col(C.kept(j)).alias(name) for j, name in enumerate(names)]
    return rows.select(*wanted)


def _physical_value(rows: DataFrame, name: str, attribute: Ordered) -> Column:
    code = F.col(name)
    if not attribute.narrow:
        return code
    return F.when(code != 0, code.cast("bigint") - 1 + unseen(rows.sparkSession, int(attribute.low or 0)))


def sensitive_counts(groups: DataFrame, layout: Layout, order: Order) -> DataFrame:
    """The sensitive table of the bucketized form: occurrences of each value in each group."""
    assert layout.domain is not None
    listed = F.col(C.SENSITIVE) if layout.domain.case == "svpi" else F.flatten(C.SENSITIVE)
    values = groups.select(C.FRAGMENT, C.GROUP_ID, F.explode(listed).alias(C.VALUE))
    counted = values.groupBy(C.FRAGMENT, C.GROUP_ID, C.VALUE).agg(
        F.count(F.lit(1)).cast("int").alias(C.COUNT)
    )
    placed = counted.repartitionById(order.files, F.col(C.FRAGMENT)).sortWithinPartitions(C.GROUP_ID, C.VALUE)
    if layout.domain.case == "svpi":
        placed = decode(placed, C.VALUE, layout.domain.values, first_code=0)
    typed = F.col(C.VALUE).cast(layout.domain.type)
    return placed.select(C.GROUP_ID, typed.alias(layout.domain.column), C.COUNT)


def published_names(attributes: Sequence[Attribute], form: str) -> list[str]:
    """Names of the published columns that stem from quasi-identifiers, and the group number."""
    names = [C.GROUP_ID]
    for attribute in attributes:
        names.append(attribute.name)
        if form == "generalized" and isinstance(attribute, Ordered):
            names += [f"{attribute.name}_min", f"{attribute.name}_max"]
    return names
