"""From a table of numbered groups to the published tables, by the tasks themselves or by Spark's writer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.attributes import Attribute, Categorical, Ordered
from ppdp_spark.core.data.packing import Packing
from ppdp_spark.run.storage import QI_TABLE, SENSITIVE_TABLE, Folder, tidy_table
from ppdp_spark.spark.data.encode import decode, typed_values
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.physical import from_physical, range_label
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.hidden_values import unseen
from ppdp_spark.spark.judge.prior_extrema import extrema_rows
from ppdp_spark.spark.partition.place_people import COUNTED_VALUES, COUNTS, HIGHS, LOWS
from ppdp_spark.spark.release.described_rows import (
    DescribedRows,
    OrderedValues,
    PeopleRows,
    PriorRows,
    Reading,
    ValueCounts,
    Values,
)
from ppdp_spark.spark.release.numbering import Order
from ppdp_spark.spark.release.write_files import writable, write_tables


@dataclass(frozen=True)
class Publication:
    """Numbered groups and the tables made of them.

    where
        names    columns published as they are
        folder   of the release's data
        scratch  for files in the making
        owned    where the owner's extrema of priors go, if there are priors
        sets     attribute sets of the priors
    """

    groups: DataFrame
    layout: Layout
    order: Order
    names: Sequence[str]
    folder: Folder
    scratch: Folder
    owned: Folder | None = None
    sets: int = 0

    def write(self) -> int | None:
        """Write the tables; how many people they have, if the tasks that wrote them say so."""
        bucketized, given = self.layout.codes_published, (self.groups, self.layout, self.names)
        main = self.folder / QI_TABLE if bucketized else self.folder
        if writable(_published_types(self.groups, self.layout), self.folder):
            groups, people = _bucketized_spread(*given) if bucketized else _generalized_spread(*given)
            tables: list[tuple[Folder, DescribedRows]] = [(main, people), *self._beside()]
            return write_tables(groups, tables, self.scratch)[0]
        _write(_bucketized_rows(*given) if bucketized else _generalized_rows(*given), main)
        if bucketized:
            _write(_sensitive_counts(self.groups, self.layout, self.order), self.folder / SENSITIVE_TABLE)
        if self.owned is not None and self.layout.domain is not None:
            kept_back = extrema_rows(self.groups, self.layout.domain.values, self.sets)
            kept_back.write.parquet(str(self.owned))
        return None

    def _beside(self) -> Iterator[tuple[Folder, DescribedRows]]:
        """Tables that tasks write beside that of people."""
        domain, session = self.layout.domain, self.groups.sparkSession
        if domain is not None and self.layout.codes_published:
            values = Values(typed_values(session, domain.values, domain.type))
            yield self.folder / SENSITIVE_TABLE, ValueCounts(domain, values)
        if domain is not None and self.owned is not None:
            yield self.owned, PriorRows(Values(typed_values(session, domain.values, "string")), self.sets)


def _published_types(groups: DataFrame, layout: Layout) -> list[T.DataType]:
    """The types of all that is published, texts of ours left out."""
    declared = [a.type for a in layout.attributes if layout.codes_published or isinstance(a, Ordered)]
    declared += [] if layout.domain is None else [layout.domain.type]
    held = groups.select(*_lists([C.kept(j) for j in range(layout.kept)], layout).values()).schema
    return [T.DataType.fromDDL(kind) for kind in declared] + [field.dataType for field in held]


def _write(table: DataFrame, folder: Folder) -> None:
    table.write.parquet(str(folder))
    tidy_table(folder)


def _generalized_rows(groups: DataFrame, layout: Layout, names: Sequence[str]) -> DataFrame:
    """The generalized form: one row a person, with its group's description of each quasi-identifier.

    Columns get the user's names in the last step only, where they cannot meet ours.
    """
    described, people = _described(layout), _public_people(layout, names)
    rows = groups.select(*_aliased(described), _people(layout))
    rows = rows.select(*described, F.inline(C.PEOPLE))
    if layout.domain is not None:
        rows = _decoded_sensitive(rows, C.SENSITIVE, layout)
    public = {ours: name for ours, (name, _) in described.items()} | people
    return rows.select(*(F.col(ours).alias(name) for ours, name in public.items()))


def _generalized_spread(
    groups: DataFrame, layout: Layout, names: Sequence[str]
) -> tuple[DataFrame, PeopleRows]:
    """The same before it is spread over people: groups, and how to spread them."""
    described, people = _described(layout), _public_people(layout, names)
    lists, readings = _lists(people, layout), dict[str, Reading]()
    if layout.domain is not None:
        kind = layout.domain.type
        if layout.domain.case == "svpi":
            readings[C.SENSITIVE] = Values(typed_values(groups.sparkSession, layout.domain.values, kind))
        else:
            lists[C.SENSITIVE] = lists[C.SENSITIVE].cast(f"array<array<{kind}>>")
    held = [column.alias(name) for name, column in lists.items()]
    public = {ours: name for ours, (name, _) in described.items()}
    wanted = groups.select(C.FRAGMENT, C.SIZE, *_aliased(described), *held, *_prior_columns(groups))
    return wanted, PeopleRows(public, tuple(people), Packing(()), people, readings)


def _prior_columns(groups: DataFrame) -> list[str]:
    """What groups that were judged with priors tell of them."""
    return [name for name in (COUNTED_VALUES, COUNTS, LOWS, HIGHS) if name in groups.columns]


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


def _lists(names: Mapping[str, str] | Sequence[str], layout: Layout) -> dict[str, Column]:
    """Lists of what the people of numbered groups have."""
    return {name: F.col(name) if layout.in_order else F.col(C.PEOPLE)[name] for name in names}


def generalized_columns(attribute: Attribute, position: int) -> dict[str, Column]:
    """Published columns of one attribute: a readable label and, for ordered ones, both bounds."""
    if isinstance(attribute, Categorical):
        return {attribute.name: F.col(C.label(position))}
    low = from_physical(F.col(C.low(position)), attribute)
    high = from_physical(F.col(C.high(position)), attribute)
    label = range_label(low, high, F.col(C.mixed(position)), attribute)
    return {attribute.name: label, f"{attribute.name}_min": low, f"{attribute.name}_max": high}


def _people(layout: Layout) -> Column:
    """The people of a group as an array of structs, in the order of their content."""
    names = layout.published_names
    if not names:
        each = F.transform(F.sequence(F.lit(1), F.col(C.SIZE)), lambda i: F.struct(i.alias("position")))
        return each.alias(C.PEOPLE)
    return F.arrays_zip(*names).alias(C.PEOPLE) if layout.in_order else F.col(C.PEOPLE)


def _decoded_sensitive(rows: DataFrame, name: str, layout: Layout) -> DataFrame:
    assert layout.domain is not None
    if layout.domain.case != "svpi":
        return rows.withColumn(name, F.col(name).cast(f"array<{layout.domain.type}>"))
    decoded = decode(rows, name, layout.domain.values, first_code=0)
    return decoded.withColumn(name, F.col(name).cast(layout.domain.type))


def _bucketized_rows(groups: DataFrame, layout: Layout, names: Sequence[str]) -> DataFrame:
    """The quasi-identifier table of the bucketized form: true values and the group number.

    People of a group are in the order of what this table shows of them first, so that it says nothing
    about sensitive values.
    """
    rows = groups.select(C.GROUP_ID, _people(layout)).select(C.GROUP_ID, F.inline(C.PEOPLE))
    for field in layout.published_packing.fields:
        code = F.shiftright(C.word(field.word), field.shift).bitwiseAND(F.lit((1 << field.bits) - 1))
        rows = rows.withColumn(field.name, code.cast("int"))
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


def _bucketized_spread(
    groups: DataFrame, layout: Layout, names: Sequence[str]
) -> tuple[DataFrame, PeopleRows]:
    """The same as groups with lists of codes, and what the codes stand for."""
    readings, own = dict[str, Reading](), dict[str, str]()
    for j, attribute in enumerate(layout.attributes):
        own[C.code(j)] = attribute.name
        if isinstance(attribute, Categorical):
            values = typed_values(groups.sparkSession, [None, *attribute.values], attribute.type)
            readings[C.code(j)] = Values(values)
        else:
            readings[C.code(j)] = OrderedValues.of(attribute)
    own |= {C.kept(j): name for j, name in enumerate(names)}
    lists = [column.alias(name) for name, column in _lists(layout.published_names, layout).items()]
    wanted = groups.select(C.FRAGMENT, C.SIZE, C.GROUP_ID, *lists, *_prior_columns(groups))
    shown = tuple(name for name in layout.published_names if name != C.SENSITIVE)
    return wanted, PeopleRows({C.GROUP_ID: C.GROUP_ID}, shown, layout.published_packing, own, readings)


def _physical_value(rows: DataFrame, name: str, attribute: Ordered) -> Column:
    code = F.col(name)
    if not attribute.narrow:
        return code
    return F.when(code != 0, code.cast("bigint") - 1 + unseen(rows.sparkSession, int(attribute.low or 0)))


def _sensitive_counts(groups: DataFrame, layout: Layout, order: Order) -> DataFrame:
    """The sensitive table of the bucketized form: occurrences of each value in each group."""
    assert layout.domain is not None
    held = _lists([C.SENSITIVE], layout)[C.SENSITIVE]
    listed = held if layout.domain.case == "svpi" else F.flatten(held)
    values = groups.select(C.FRAGMENT, C.GROUP_ID, F.explode(listed).alias(C.VALUE))
    counted = values.groupBy(C.FRAGMENT, C.GROUP_ID, C.VALUE).agg(
        F.count(F.lit(1)).cast("int").alias(C.COUNT)
    )
    placed = counted.repartitionById(order.files, F.col(C.FRAGMENT)).withColumn("place", F.col(C.VALUE))
    if layout.domain.case == "svpi":
        placed = decode(placed, C.VALUE, layout.domain.values, first_code=0)
    # Sorted last: Spark drops the order of what goes into a join.
    typed = F.col(C.VALUE).cast(layout.domain.type)
    ordered = placed.sortWithinPartitions(C.GROUP_ID, "place")
    return ordered.select(C.GROUP_ID, typed.alias(layout.domain.column), C.COUNT)


def published_names(attributes: Sequence[Attribute], form: str) -> list[str]:
    """Names of the published columns that stem from quasi-identifiers, and the group number."""
    names = [C.GROUP_ID]
    for attribute in attributes:
        names.append(attribute.name)
        if form == "generalized" and isinstance(attribute, Ordered):
            names += [f"{attribute.name}_min", f"{attribute.name}_max"]
    return names
