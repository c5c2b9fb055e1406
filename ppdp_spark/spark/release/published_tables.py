"""The published tables of a run as Spark frames, read from the committed files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.errors import DataError
from ppdp_spark.run.manifest import known_attributes, published_attributes
from ppdp_spark.run.storage import MANIFEST, QI_TABLE, SENSITIVE_TABLE, Folder, data_of, value_tables
from ppdp_spark.spark.parquet.read_folder import read_folder


@dataclass(frozen=True)
class PublishedTables:
    """The tables of a release, and the manifest they were published with.

    where
        folder      the release folder
        form        `generalized`, `bucketized` or `rowwise`
        attributes  columns of the sensitive attributes
        linked      whether the tables show which values of several attributes belong together
        digest      SHA-256 of the manifest
        data        the folder of the tables
        session     what reads the tables
    """

    folder: Folder
    form: str
    attributes: tuple[str, ...]
    linked: bool
    digest: str
    data: Folder
    session: SparkSession

    @classmethod
    def at(cls, folder: Folder, session: SparkSession) -> PublishedTables:
        """Those of the release that is in a folder now."""
        manifest = folder.read_json(MANIFEST)
        attributes = tuple(one["column"] for one in published_attributes(manifest))
        linked = bool(known_attributes(manifest))
        return cls(
            folder,
            manifest["form"],
            attributes,
            linked,
            folder.digest(MANIFEST),
            data_of(folder, manifest),
            session,
        )

    @property
    def generalized(self) -> DataFrame:
        return self._read(("generalized", "rowwise"), self.data)

    @property
    def quasi_identifiers(self) -> DataFrame:
        return self._read(("bucketized",), self.data / QI_TABLE)

    @property
    def sensitive(self) -> DataFrame:
        if len(self.attributes) > 1 and not self.linked:
            raise DataError("the release has several sensitive attributes: use `run.sensitive_tables`")
        return self._read(("bucketized",), self.data / SENSITIVE_TABLE)

    @property
    def by_attribute(self) -> dict[str, DataFrame]:
        if self.linked:
            raise DataError("the sensitive attributes of the release are linked: use `run.sensitive_table`")
        tables = zip(self.attributes, value_tables(len(self.attributes)), strict=True)
        return {name: self._read(("bucketized",), self.data / table) for name, table in tables}

    def _read(self, forms: Sequence[str], table: Folder) -> DataFrame:
        if self.form not in forms:
            offered = {
                "generalized": "`run.release`",
                "bucketized": "`run.qi_table` and `run.sensitive_table`",
                "rowwise": "`run.release`",
            }
            raise DataError(f"the release is {self.form}: use {offered[self.form]}")
        if not (self.folder / MANIFEST).exists():
            raise DataError(f"`{self.folder}` does not hold the release of this run any more")
        if self.folder.digest(MANIFEST) != self.digest:
            raise DataError(f"`{self.folder}` holds the release of a later run: use the result of that one")
        return read_folder(self.session, table)
