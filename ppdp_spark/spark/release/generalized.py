"""Forms in which groups are described: one row per person, or the rows of people apart from each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.data.attributes import Attribute, Categorical
from ppdp_spark.core.data.forms import FORMS, ReleaseForm
from ppdp_spark.core.data.packing import Packing
from ppdp_spark.run.manifest import published_attributes
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.data.encode import decode, typed_values
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.physical import from_physical, range_label
from ppdp_spark.spark.data.profile import SensitiveDomain
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.judge.generalized_files import ReleaseFiles
from ppdp_spark.spark.judge.grouped_tables import Grouped, counted_groups, rows_of_groups
from ppdp_spark.spark.parquet.read_folder import read_folder
from ppdp_spark.spark.release.described_rows import (
    DescribedRows,
    PeopleRows,
    Reading,
    UnlinkedRows,
    Values,
)
from ppdp_spark.spark.release.publication import FormOnSpark, Publication, ShownTables


class GeneralizedForm(FormOnSpark):
    """One table, a row per person.

    Columns get the user's names in the last step only, where they cannot meet ours.
    """

    traits: ClassVar[ReleaseForm] = FORMS["generalized"]

    def spread(self, publication: Publication) -> tuple[DataFrame, list[tuple[Folder, DescribedRows]]]:
        layout, groups = publication.layout, publication.groups
        described, people = _described(layout), _own_columns(publication)
        lists, readings = publication.lists(people), dict[str, Reading]()
        for name, domain in layout.held.items():
            if domain.case == "svpi":
                readings[name] = Values(typed_values(groups.sparkSession, domain.values, domain.type))
            else:
                lists[name] = lists[name].cast(f"array<array<{domain.type}>>")
        held = [column.alias(name) for name, column in lists.items()]
        public = {ours: name for ours, (name, _) in described.items()}
        shared = _aliased(described)
        wanted = groups.select(C.FRAGMENT, C.SIZE, *shared, *held, *publication.owned_columns())
        rows = PeopleRows(public, tuple(people), Packing(()), people, readings)
        return wanted, [(publication.folder, rows)]

    def tables(self, publication: Publication) -> list[tuple[Folder, DataFrame]]:
        layout = publication.layout
        described, people = _described(layout), _own_columns(publication)
        rows = publication.groups.select(*_aliased(described), publication.people())
        rows = rows.select(*described, F.inline(C.PEOPLE))
        for name, domain in layout.held.items():
            rows = _decoded_sensitive(rows, name, domain)
        public = {ours: name for ours, (name, _) in described.items()} | people
        named = rows.select(*(F.col(ours).alias(name) for ours, name in public.items()))
        return [(publication.folder, named)]

    def ordered(self, data: Folder, attributes: Sequence[str]) -> list[tuple[Folder, list[str]]]:
        return [(data, list(attributes))]

    def read(self, spark: SparkSession, data: Folder, manifest: Mapping[str, Any], place: int = 0) -> Grouped:
        table, declared = read_folder(spark, data), published_attributes(manifest)
        sensitive = declared[place] if declared else None
        names = manifest["columns"]["quasi_identifiers"]
        described = F.xxhash64(*(C.column(name) for name in names))
        keys = {C.GROUP_ID: C.column(C.GROUP_ID)}
        grouped = counted_groups(table, keys, sensitive, same=described)
        if grouped.rows is None:
            return grouped
        column = None if sensitive is None else sensitive["column"]
        kind = "string" if column is None else table.schema[column].dataType.simpleString()
        # That groups are described in one way is seen once, with the first attribute.
        seen = () if place else names
        files = ReleaseFiles.of(spark, data, seen, column, typed_values(spark, grouped.values, kind))
        return replace(grouped, files=files)

    def records(self, spark: SparkSession, data: Folder, attributes: Mapping[str, str]) -> DataFrame:
        table = read_folder(spark, data)
        held = [C.column(name).alias(ours) for name, ours in attributes.items()]
        return table.select(C.GROUP_ID, *held, F.lit(1).cast("bigint").alias(C.COUNT))

    def as_attack_source(self, spark: SparkSession, data: Folder, values: str) -> ShownTables:
        """Which value stands beside whom is not used: everybody of a group looks alike."""
        table = read_folder(spark, data)
        return ShownTables(table, table.withColumn(C.COUNT, F.lit(1)))


class RowwiseForm(GeneralizedForm):
    """One table of the rows of people, with the description of their group and how many people it has.

    The rows of a group are in the order of their values: which of them belong together, and how many are of
    one person, is not told.
    """

    traits: ClassVar[ReleaseForm] = FORMS["rowwise"]

    def spread(self, publication: Publication) -> tuple[DataFrame, list[tuple[Folder, DescribedRows]]]:
        layout, session = publication.layout, publication.groups.sparkSession
        described, domain = _described(layout), layout.domain
        assert domain is not None
        public = {ours: name for ours, (name, _) in described.items()} | {C.SIZE: C.PEOPLE}
        wanted = publication.groups.select(C.FRAGMENT, C.SIZE, *_aliased(described), C.SENSITIVE)
        values = Values(typed_values(session, domain.values, domain.type))
        return wanted, [(publication.folder, UnlinkedRows(public, domain, values))]

    def tables(self, publication: Publication) -> list[tuple[Folder, DataFrame]]:
        described, domain = _described(publication.layout), publication.layout.domain
        assert domain is not None
        value = F.posexplode(C.SENSITIVE).alias("place", C.VALUE)
        rows = publication.groups.select(*_aliased(described), C.SIZE, value)
        named = [F.col(ours).alias(name) for ours, (name, _) in described.items()]
        typed = F.col(C.VALUE).cast(domain.type).alias(domain.column)
        ordered = rows.sortWithinPartitions(C.GROUP_ID, "place")
        return [(publication.folder, ordered.select(*named, F.col(C.SIZE).alias(C.PEOPLE), typed))]

    def read(self, spark: SparkSession, data: Folder, manifest: Mapping[str, Any], place: int = 0) -> Grouped:
        table, sensitive = read_folder(spark, data), published_attributes(manifest)[place]
        described = [C.column(name) for name in manifest["columns"]["quasi_identifiers"]]
        return rows_of_groups(table, sensitive["column"], F.xxhash64(*described))

    def as_attack_source(self, spark: SparkSession, data: Folder, values: str) -> ShownTables:
        """As many people as a group says it has; which rows are whose is not used."""
        table = read_folder(spark, data)
        each = F.explode(F.sequence(F.lit(1), F.col(C.PEOPLE))).alias("place")
        people = table.dropDuplicates([C.GROUP_ID]).select("*", each).drop("place")
        return ShownTables(people, table.withColumn(C.COUNT, F.lit(1)))


def _described(layout: Layout) -> dict[str, tuple[str, Column]]:
    """What each person of a group gets of it: our name of the column, the published one, the value."""
    found = {C.GROUP_ID: (C.GROUP_ID, F.col(C.GROUP_ID))}
    for j, attribute in enumerate(layout.attributes):
        names = GeneralizedForm.traits.columns(attribute.name, ordered=not isinstance(attribute, Categorical))
        for name, value in zip(names, _description(attribute, j), strict=True):
            found[f"published{len(found)}"] = (name, value)
    return found


def _description(attribute: Attribute, position: int) -> list[Column]:
    """A readable label of a group and, for ordered attributes, both bounds."""
    if isinstance(attribute, Categorical):
        return [F.col(C.label(position))]
    low = from_physical(F.col(C.low(position)), attribute)
    high = from_physical(F.col(C.high(position)), attribute)
    return [range_label(low, high, F.col(C.mixed(position)), attribute), low, high]


def _aliased(described: Mapping[str, tuple[str, Column]]) -> list[Column]:
    return [value.alias(ours) for ours, (_, value) in described.items()]


def _own_columns(publication: Publication) -> dict[str, str]:
    """What people have of their own: our names and the published ones."""
    found = {name: domain.column for name, domain in publication.layout.held.items()}
    return found | {C.kept(j): name for j, name in enumerate(publication.names)}


def _decoded_sensitive(rows: DataFrame, name: str, domain: SensitiveDomain) -> DataFrame:
    if domain.case != "svpi":
        return rows.withColumn(name, F.col(name).cast(f"array<{domain.type}>"))
    decoded = decode(rows, name, domain.values, first_code=0)
    return decoded.withColumn(name, F.col(name).cast(domain.type))
