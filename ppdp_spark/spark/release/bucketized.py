"""The bucketized form: people as they are with their group's number, and beside them each group's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.data.attributes import Categorical, Ordered
from ppdp_spark.core.data.forms import FORMS, ReleaseForm
from ppdp_spark.core.data.value_names import Sensitivity
from ppdp_spark.errors import TWO_WAYS
from ppdp_spark.run.manifest import known_attributes, published_attributes
from ppdp_spark.run.storage import QI_TABLE, SENSITIVE_TABLE, Folder, value_tables
from ppdp_spark.spark.data.encode import decode, typed_values
from ppdp_spark.spark.data.group_scan import ListedGroups
from ppdp_spark.spark.data.physical import from_physical
from ppdp_spark.spark.data.profile import SensitiveDomain
from ppdp_spark.spark.data.sameness import text_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.hidden_values import beside_unseen, field
from ppdp_spark.spark.engine.versions import one_partition_each
from ppdp_spark.spark.judge.bucketized_files import BucketFiles
from ppdp_spark.spark.judge.grouped_tables import Grouped, value_counts, with_codes
from ppdp_spark.spark.parquet.read_folder import read_folder
from ppdp_spark.spark.release.described_rows import (
    DescribedRows,
    LinkedCounts,
    OrderedValues,
    PeopleRows,
    Reading,
    ValueCounts,
    Values,
)
from ppdp_spark.spark.release.publication import FormOnSpark, Publication, ShownTables

_LOWS = "lowest_values"


class BucketizedForm(FormOnSpark):
    """Quasi-identifiers with group numbers, and counts of each sensitive attribute's values in each group.

    People of a group are in the order of what the first table shows of them, so that it says nothing about
    sensitive values.
    """

    traits: ClassVar[ReleaseForm] = FORMS["bucketized"]

    def spread(self, publication: Publication) -> tuple[DataFrame, list[tuple[Folder, DescribedRows]]]:
        layout, session = publication.layout, publication.groups.sparkSession
        readings, own = dict[str, Reading](), dict[str, str]()
        for j, attribute in enumerate(layout.attributes):
            own[C.code(j)] = attribute.name
            if isinstance(attribute, Categorical):
                values = typed_values(session, [None, *attribute.values], attribute.type)
                readings[C.code(j)] = Values(values)
            else:
                readings[C.code(j)] = OrderedValues.of(attribute)
        own |= {C.kept(j): name for j, name in enumerate(publication.names)}
        lists = [column.alias(name) for name, column in publication.lists(layout.published_names).items()]
        wanted = publication.groups.select(
            C.FRAGMENT, C.SIZE, C.GROUP_ID, *lists, *publication.owned_columns()
        )
        shown = tuple(name for name in layout.published_names if name not in layout.held)
        people = PeopleRows({C.GROUP_ID: C.GROUP_ID}, shown, layout.published_packing, own, readings)
        values = {
            name: Values(typed_values(session, domain.values, domain.type))
            for name, domain in layout.held.items()
        }
        counted: list[DescribedRows] = [
            ValueCounts(domain, values[name], name) for name, domain in layout.held.items()
        ]
        if layout.linked:
            counted = [LinkedCounts({name: domain.column for name, domain in layout.held.items()}, values)]
        folder = publication.folder
        tables = [folder / name for name in value_tables(len(values), linked=layout.linked)]
        return wanted, [(folder / QI_TABLE, people), *zip(tables, counted, strict=True)]

    def tables(self, publication: Publication) -> list[tuple[Folder, DataFrame]]:
        folder, linked = publication.folder, publication.layout.linked
        held = publication.layout.held.items()
        counted = [_value_counts(publication, name, domain) for name, domain in held if not linked]
        counted += [_linked_counts(publication)] if linked else []
        tables = [folder / name for name in value_tables(len(held), linked=linked)]
        return [(folder / QI_TABLE, _people_rows(publication)), *zip(tables, counted, strict=True)]

    def ordered(self, data: Folder, attributes: Sequence[str]) -> list[tuple[Folder, list[str]]]:
        tables = zip(value_tables(len(attributes)), attributes, strict=True)
        return [(data / table, [attribute]) for table, attribute in tables]

    def read(self, spark: SparkSession, data: Folder, manifest: Mapping[str, Any], place: int = 0) -> Grouped:
        declared = published_attributes(manifest)
        sensitive, column = declared[place], declared[place]["column"]
        if known_attributes(manifest):
            shown = _shown(spark, data, SENSITIVE_TABLE)
            return _agreeing(shown.people, shown.held, sensitive)
        table = value_tables(len(declared))[place]
        shown = _shown(spark, data, table)
        grouped = _agreeing(shown.people, shown.held, sensitive)
        typed = typed_values(spark, grouped.values, shown.held.schema[column].dataType.simpleString())
        single = sensitive["case"] == "svpi"
        files = BucketFiles.of(spark, data, table, column, typed, single=single)
        return replace(grouped, files=files, sensitivity=Sensitivity.declared(sensitive))

    def records(self, spark: SparkSession, data: Folder, attributes: Mapping[str, str]) -> DataFrame:
        table = read_folder(spark, data / SENSITIVE_TABLE)
        held = [C.column(name).alias(ours) for name, ours in attributes.items()]
        return table.select(C.GROUP_ID, *held, _people())

    def as_attack_source(self, spark: SparkSession, data: Folder, values: str) -> ShownTables:
        return _shown(spark, data, values)


def _shown(spark: SparkSession, data: Folder, table: str) -> ShownTables:
    """The table of people and one of values."""
    return ShownTables(*(read_folder(spark, data / name) for name in (QI_TABLE, table)))


def _people_rows(publication: Publication) -> DataFrame:
    """The table of people: true values and the group number."""
    layout = publication.layout
    rows = publication.groups.select(C.GROUP_ID, publication.people())
    rows = rows.select(C.GROUP_ID, F.inline(C.PEOPLE))
    for part in layout.published_packing.fields:
        code = F.shiftright(C.word(part.word), part.shift).bitwiseAND(F.lit((1 << part.bits) - 1))
        rows = rows.withColumn(part.name, code.cast("int"))
    wanted, lows = [F.col(C.GROUP_ID)], list[int]()
    for j, attribute in enumerate(layout.attributes):
        if isinstance(attribute, Categorical):
            rows = decode(rows, C.code(j), attribute.values, first_code=1)
            value = F.col(C.code(j)).cast(attribute.type)
        else:
            value = from_physical(_physical_value(C.code(j), attribute, lows), attribute)
        wanted.append(value.alias(attribute.name))
    wanted += [F.col(C.kept(j)).alias(name) for j, name in enumerate(publication.names)]
    return (beside_unseen(rows, _LOWS, lows) if lows else rows).select(*wanted)


def _physical_value(name: str, attribute: Ordered, lows: list[int]) -> Column:
    """The number that a code stands for; the lowest is added to `lows`, where the expression finds it."""
    code = F.col(name)
    if not attribute.narrow:
        return code
    lows.append(int(attribute.low or 0))
    return F.when(code != 0, code.cast("bigint") - 1 + F.col(_LOWS)[field(len(lows) - 1)])


def _value_counts(publication: Publication, name: str, domain: SensitiveDomain) -> DataFrame:
    """A table of values: occurrences of each value in each group."""
    held = publication.lists([name])[name]
    listed = held if domain.case == "svpi" else F.flatten(held)
    values = publication.groups.select(C.FRAGMENT, C.GROUP_ID, F.explode(listed).alias(C.VALUE))
    counted = values.groupBy(C.FRAGMENT, C.GROUP_ID, C.VALUE).agg(
        F.count(F.lit(1)).cast("int").alias(C.COUNT)
    )
    files = publication.order.files
    placed = one_partition_each(counted, files, F.col(C.FRAGMENT)).withColumn("place", F.col(C.VALUE))
    if domain.case == "svpi":
        placed = decode(placed, C.VALUE, domain.values, first_code=0)
    # Sorted last: Spark drops the order of what goes into a join.
    typed = F.col(C.VALUE).cast(domain.type)
    ordered = placed.sortWithinPartitions(C.GROUP_ID, "place")
    return ordered.select(C.GROUP_ID, typed.alias(domain.column), C.COUNT)


def _linked_counts(publication: Publication) -> DataFrame:
    """The table of values of linked attributes: occurrences of each combination in each group."""
    held, groups = publication.layout.held, publication.groups
    lists = [column.alias(name) for name, column in publication.lists(list(held)).items()]
    shown = groups.select(C.FRAGMENT, C.GROUP_ID, *lists)
    people = shown.select(C.FRAGMENT, C.GROUP_ID, F.inline(F.arrays_zip(*held)))
    keys = [C.FRAGMENT, C.GROUP_ID, *held]
    counted = people.groupBy(*keys).agg(F.count(F.lit(1)).cast("int").alias(C.COUNT))
    places = {name: f"place_{name}" for name in held}
    placed = one_partition_each(counted, publication.order.files, F.col(C.FRAGMENT))
    placed = placed.withColumns({place: F.col(name) for name, place in places.items()})
    for name, domain in held.items():
        placed = decode(placed, name, domain.values, first_code=0)
    ordered = placed.sortWithinPartitions(C.GROUP_ID, *places.values())
    typed = [F.col(name).cast(domain.type).alias(domain.column) for name, domain in held.items()]
    return ordered.select(C.GROUP_ID, *typed, C.COUNT)


def _people() -> Column:
    """The count of a row, which stops the job where it counts nobody."""
    counted = F.col(C.COUNT).cast("bigint")
    wrong = F.raise_error(F.lit(TWO_WAYS)).cast("bigint")
    return F.when(counted >= 1, counted).otherwise(wrong).alias(C.COUNT)


def _agreeing(people: DataFrame, counted: DataFrame, sensitive: Mapping[str, Any]) -> Grouped:
    """Groups from both tables, which stop the job where they do not agree."""
    name, case = sensitive["column"], sensitive["case"]
    text = text_of(C.column(name), counted.schema[name].dataType).alias(C.VALUE)
    pairs = counted.select(C.GROUP_ID, text, _people())
    values, counts = value_counts(pairs.select(C.VALUE, C.COUNT), counted.schema[name].dataType)
    entry = F.struct(F.col(C.SENSITIVE).alias(C.VALUE), F.col(C.COUNT).cast("bigint").alias(C.COUNT))
    collected = [F.collect_list(entry).alias("entries"), F.sum(C.COUNT).alias("occurrences")]
    listed = with_codes(pairs, values).groupBy(C.GROUP_ID).agg(*collected)
    sizes = people.groupBy(C.GROUP_ID).agg(F.count(F.lit(1)).alias(C.SIZE))
    both = sizes.join(listed, C.GROUP_ID, "full")
    agree = F.col(C.SIZE).isNotNull()
    if case == "svpi":
        agree = agree & F.coalesce(F.col("occurrences") == F.col(C.SIZE), F.lit(False))
    checked = F.when(agree, F.col(C.SIZE)).otherwise(F.raise_error(F.lit(TWO_WAYS)).cast("bigint"))
    entries = F.coalesce(F.col("entries"), F.array().cast("array<struct<value:int,count:bigint>>"))
    lists = [entries[field].alias(field) for field in (C.VALUE, C.COUNT)]
    number = F.col(C.GROUP_ID).cast("bigint").alias(C.GROUP_ID)
    groups = both.select(number, checked.alias(C.SIZE), *lists)
    kind = counted.schema[name].dataType.simpleString()
    return Grouped(groups, ListedGroups(max(1, len(values))), values, counts, case, None, pairs, kind=kind)
