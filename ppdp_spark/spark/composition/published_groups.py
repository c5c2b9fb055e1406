"""Releases of ours as whoever holds several of them reads them: names, descriptions, counts of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.data.groups import BoolArray, FloatArray
from ppdp_spark.core.data.value_names import Sensitivity
from ppdp_spark.errors import DataError
from ppdp_spark.report.format.quoted_names import name as quoted
from ppdp_spark.run.commit.steady_reading import release_in
from ppdp_spark.run.manifest import known_attributes, published_attributes
from ppdp_spark.run.storage import MANIFEST, PRIVATE, SUMMARY, Folder, data_of, value_tables
from ppdp_spark.spark.data.profile import labels_of
from ppdp_spark.spark.data.sameness import text_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.judge.grouped_tables import value_counts, with_codes
from ppdp_spark.spark.maxent.sources import base_names
from ppdp_spark.spark.parquet.read_folder import read_folder
from ppdp_spark.spark.release.forms import form_in
from ppdp_spark.spark.release.publication import FormOnSpark


@dataclass(frozen=True)
class PublishedGroups:
    """A release that somebody holds.

    where
        place        where it is, as it was named
        data         its data files
        manifest     what it says of itself
        hierarchies  files that say what is below a published category, by quasi-identifier
    """

    place: str
    data: Folder
    manifest: Mapping[str, Any]
    hierarchies: Mapping[str, str]

    @classmethod
    def at(cls, location: str | Folder, hierarchies: Mapping[str, str] | None = None) -> PublishedGroups:
        """The release in an output folder, or a release folder by itself; `DataError` if there is none.

        Hierarchies that are not given are those of the owner's summary, if it lies beside the release.
        """
        root = location if isinstance(location, Folder) else Folder.at(location)
        release = release_in(root)
        manifest = release.read_json(MANIFEST)
        lacking = [name for name in manifest.get("files", {"": ""}) if not (release / name).exists()]
        if lacking:
            raise DataError(f"{len(lacking):,} files of the release in `{root}` are not there")
        trees = {**_declared(root), **(hierarchies or {})}
        return cls(str(root), data_of(release, manifest), manifest, trees)

    @property
    def form(self) -> FormOnSpark:
        return form_in(self.manifest)

    @property
    def names(self) -> list[str]:
        """Its quasi-identifiers."""
        return base_names(self.manifest["columns"])

    @property
    def ranges(self) -> list[str]:
        """Those of them that are published as ranges."""
        return list(self.manifest["columns"]["ranges"])

    @property
    def shows_people(self) -> bool:
        """Whether people show their own quasi-identifiers."""
        return self.form.traits.codes_published

    @property
    def attributes(self) -> dict[str, dict[str, Any]]:
        """The sensitive attributes of which everybody has one value, by column."""
        found = published_attributes(self.manifest)
        return {each["column"]: each for each in found if each["case"] == "svpi"}

    @property
    def shown_columns(self) -> set[str]:
        """Columns that it publishes about people beside their sensitive values."""
        return {*self.names, *self.manifest["columns"].get("publish_as_is", ())}

    def people(self, spark: SparkSession) -> DataFrame:
        """One row per person: the group, and what the release shows of quasi-identifiers."""
        tables = self._value_tables()
        return self.form.as_attack_source(spark, self.data, next(iter(tables.values()))).people

    def described(self, spark: SparkSession) -> DataFrame:
        """Its rows, each with the description of its group."""
        return read_folder(spark, self.data)

    def held(self, spark: SparkSession, column: str) -> DataFrame:
        """The values of an attribute as texts, in rows of `group_id`, `value` and `count`."""
        held = self.form.as_attack_source(spark, self.data, self._value_tables()[column]).held
        text = text_of(C.column(column), held.schema[column].dataType).alias(C.VALUE)
        group = F.col(C.GROUP_ID).cast("bigint").alias(C.GROUP_ID)
        return held.select(group, text, F.col(C.COUNT).cast("bigint").alias(C.COUNT))

    def kind(self, spark: SparkSession, column: str) -> Any:
        """The type of a sensitive column."""
        held = self.form.as_attack_source(spark, self.data, self._value_tables()[column]).held
        return held.schema[column].dataType

    def _value_tables(self) -> dict[str, str]:
        names = [each["column"] for each in published_attributes(self.manifest)]
        linked = bool(known_attributes(self.manifest))
        tables = value_tables(len(names), linked=linked)
        return dict(zip(names, tables * len(names) if linked else tables, strict=True))


def _declared(root: Folder) -> dict[str, str]:
    """The hierarchies of the spec in the owner's summary; none where it is not there."""
    private = root / PRIVATE
    if not (private / SUMMARY).exists():
        return {}
    try:
        columns = private.read_json(SUMMARY)["spec"]["columns"]["quasi_identifiers"]
    except (DataError, OSError, KeyError, TypeError):
        return {}
    found = {name: (column or {}).get("hierarchy") for name, column in columns.items()}
    return {name: path for name, path in found.items() if path and Folder.at(path).exists()}


def short_names(places: Sequence[str]) -> list[str]:
    """What releases are called: the last parts of their paths that tell them apart."""
    parts = [place.rstrip("/").split("/") for place in places]
    for depth in range(1, max(map(len, parts)) + 1):
        short = ["/".join(each[-depth:]) for each in parts]
        if len(set(short)) == len(short):
            return short
    return [f"{place} ({i})" for i, place in enumerate(places, 1)]


@dataclass(frozen=True)
class CommonValues:
    """The values of one attribute in all releases that publish it.

    where
        texts      in the order of codes
        table      how frequent each is
        protected  which need protection, in at least one of the releases
    """

    texts: tuple[str | None, ...]
    table: FloatArray
    protected: BoolArray

    @property
    def labels(self) -> tuple[str, ...]:
        return labels_of(self.texts)

    @classmethod
    def of(cls, spark: SparkSession, releases: Sequence[PublishedGroups], column: str) -> CommonValues:
        """`DataError` where releases publish values of different types."""
        kinds = [release.kind(spark, column) for release in releases]
        if len({kind.simpleString() for kind in kinds}) > 1:
            raise DataError(
                f"{quoted(column)} has different types in the releases "
                f"({', '.join(dict.fromkeys(kind.simpleString() for kind in kinds))}): its values cannot be "
                "compared"
            )
        held = releases[0].held(spark, column)
        for release in releases[1:]:
            held = held.unionByName(release.held(spark, column))
        texts, counts = value_counts(held.select(C.VALUE, C.COUNT), kinds[0])
        labels, kind = labels_of(texts), kinds[0].simpleString()
        protected = np.zeros(len(texts), bool)
        for release in releases:
            about = Sensitivity.declared(release.attributes[column])
            protected |= True if about is None else np.array(about.protects(labels, kind))
        whole = np.array(counts, np.float64)
        return cls(texts, whole / whole.sum(), protected)

    def groups(self, spark: SparkSession, release: PublishedGroups, column: str) -> DataFrame:
        """One row per group: `group_id`, `size`, and its values as `codes` and `counts`, ascending."""
        counted = with_codes(release.held(spark, column), self.texts)
        cells = counted.groupBy(C.GROUP_ID, C.SENSITIVE).agg(F.sum(C.COUNT).alias(C.COUNT))
        entry = F.sort_array(F.collect_list(F.struct(C.SENSITIVE, C.COUNT))).alias("entries")
        listed = cells.groupBy(C.GROUP_ID).agg(entry, F.sum(C.COUNT).alias(C.SIZE))
        return listed.select(
            C.GROUP_ID,
            F.col(C.SIZE).cast("bigint").alias(C.SIZE),
            F.col(f"entries.{C.SENSITIVE}").cast("array<int>").alias("codes"),
            F.col(f"entries.{C.COUNT}").cast("array<bigint>").alias("counts"),
        )
