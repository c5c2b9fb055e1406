"""What is published of numbered groups, and what every form of a release can do with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.attributes import Ordered
from ppdp_spark.core.data.forms import ReleaseForm
from ppdp_spark.run.storage import Folder, tidy_table
from ppdp_spark.spark.data.encode import typed_values
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.versions import type_of
from ppdp_spark.spark.judge.grouped_tables import Grouped
from ppdp_spark.spark.judge.prior_extrema import extrema_rows
from ppdp_spark.spark.parquet.write_folder import write_folder
from ppdp_spark.spark.release.described_rows import DescribedRows, PriorRows, Values
from ppdp_spark.spark.release.household_rows import HouseholdRows, household_table
from ppdp_spark.spark.release.numbering import Order
from ppdp_spark.spark.release.write_files import writable, write_tables
from ppdp_spark.spark.weights.weight_rows import WeightRows, weight_table


@dataclass(frozen=True)
class Publication:
    """Numbered groups and where the tables made of them go.

    where
        names    columns published as they are
        folder   of the release's data
        unfinished  for files in the making, of the same store
        scratch  for what Spark writes on the way to another store
        owned    where the owner's extrema of priors go, if there are priors
        sets     attribute sets of the priors
        households  where the owner's table of households goes, if people have them
        weights     where the owner's table of weights goes, if people have some that are not published
    """

    groups: DataFrame
    layout: Layout
    order: Order
    names: Sequence[str]
    folder: Folder
    unfinished: Folder
    scratch: Folder
    owned: Folder | None = None
    sets: int = 0
    households: Folder | None = None
    weights: Folder | None = None

    def lists(self, names: Mapping[str, str] | Sequence[str]) -> dict[str, Column]:
        """Lists of what the people of numbered groups have."""
        return {name: F.col(name) if self.layout.in_order else F.col(C.PEOPLE)[name] for name in names}

    def people(self) -> Column:
        """The people of a group as an array of structs, in the order of their content."""
        names = self.layout.published_names
        if not names:
            each = F.transform(F.sequence(F.lit(1), F.col(C.SIZE)), lambda i: F.struct(i.alias("position")))
            return each.alias(C.PEOPLE)
        return F.arrays_zip(*names).alias(C.PEOPLE) if self.layout.in_order else F.col(C.PEOPLE)

    def owned_columns(self) -> list[str]:
        """What groups tell the owner alone: of priors, if they were judged with them, households, weights."""
        names = (
            C.COUNTED_VALUES,
            C.COUNTS,
            C.LOWS,
            C.HIGHS,
            C.HOUSEHOLD_NUMBERS,
            C.HOUSEHOLD_VALUES,
            C.WEIGHTS,
        )
        return [name for name in names if name in self.groups.columns]

    def types(self, form: ReleaseForm) -> list[T.DataType]:
        """The types of all that is published, texts of ours left out."""
        layout = self.layout
        declared = [a.type for a in layout.attributes if form.codes_published or isinstance(a, Ordered)]
        declared += [domain.type for domain in layout.domains]
        held = self.groups.select(*self.lists([C.kept(j) for j in range(layout.kept)]).values()).schema
        return [type_of(kind) for kind in declared] + [field.dataType for field in held]

    def owned_tables(self) -> Iterator[tuple[Folder, DescribedRows]]:
        """The owner's tables, for tasks to write beside the published ones."""
        if self.households is not None:
            yield self.households, HouseholdRows.of(self.groups, self.layout)
        if self.weights is not None:
            yield self.weights, WeightRows()
        domain = None if self.owned is None else self.layout.domain
        if domain is not None and self.owned is not None:
            values = Values(typed_values(self.groups.sparkSession, domain.values, "string"))
            yield self.owned, PriorRows(values, self.sets)

    def write_owned(self) -> None:
        """The owner's tables by Spark's writer."""
        if self.households is not None:
            write_folder(household_table(self.groups, self.layout), self.households, self.scratch)
        if self.weights is not None:
            write_folder(weight_table(self.groups), self.weights, self.scratch)
        if self.owned is not None and self.layout.domain is not None:
            kept_back = extrema_rows(self.groups, self.layout.domain.values, self.sets)
            write_folder(kept_back, self.owned, self.scratch)


@dataclass(frozen=True)
class ShownTables:
    """What an adversary has of a release.

    where
        people  one row per person: the group, and what the release shows of the quasi-identifiers
        held    one row per group and sensitive value, with `count`; a value may have several rows
    """

    people: DataFrame
    held: DataFrame


class FormOnSpark(ABC):
    """A form of a release as tables: how they are written, read for judgement, and seen by an adversary."""

    traits: ClassVar[ReleaseForm]

    def write(self, publication: Publication) -> int | None:
        """Write the tables; how many people they have, if the tasks that wrote them say so."""
        if writable(publication.types(self.traits)):
            groups, tables = self.spread(publication)
            return write_tables(groups, [*tables, *publication.owned_tables()], publication.unfinished)[0]
        for folder, table in self.tables(publication):
            write_folder(table, folder, publication.scratch)
            tidy_table(folder)
        publication.write_owned()
        return None

    @abstractmethod
    def spread(self, publication: Publication) -> tuple[DataFrame, list[tuple[Folder, DescribedRows]]]:
        """Groups and the tables that tasks make of them, that of people first."""

    @abstractmethod
    def tables(self, publication: Publication) -> list[tuple[Folder, DataFrame]]:
        """The same tables for Spark's writer."""

    @abstractmethod
    def read(self, spark: SparkSession, data: Folder, manifest: Mapping[str, Any], place: int = 0) -> Grouped:
        """The groups of a release of ours: nothing but its data files and its manifest is used.

        `place` says which sensitive attribute is counted, if there are several.
        """

    @abstractmethod
    def ordered(self, data: Folder, attributes: Sequence[str]) -> list[tuple[Folder, list[str]]]:
        """Tables with columns of several sensitive attributes, which are sorted in each group."""

    @abstractmethod
    def records(self, spark: SparkSession, data: Folder, attributes: Mapping[str, str]) -> DataFrame:
        """The combinations of values of linked attributes in each group, with `count` people each.

        `attributes` are their columns, with our names, which no column of a user's can have.
        """

    @abstractmethod
    def as_attack_source(self, spark: SparkSession, data: Folder, values: str) -> ShownTables:
        """The release as an adversary reads it, with one of its tables of `values` if there are several."""
