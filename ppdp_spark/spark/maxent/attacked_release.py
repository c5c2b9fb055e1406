"""A release under attack and the table it was made from, as far as an attack needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.maxent.rules import Rule, attribute_sets
from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.run.commit.steady_reading import release_in
from ppdp_spark.run.criteria.knowledge import require_named_values
from ppdp_spark.run.manifest import published_attributes
from ppdp_spark.run.scratch import opened, scratch_elsewhere
from ppdp_spark.run.storage import MANIFEST, Folder
from ppdp_spark.spark.data.encode import decode
from ppdp_spark.spark.data.tables import require_columns
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.versions import from_arrow
from ppdp_spark.spark.input.given_tables import TableLike, table_of
from ppdp_spark.spark.input.read_table import read_table
from ppdp_spark.spark.maxent.buckets import GROUP, SHARED, TUPLE, Source
from ppdp_spark.spark.maxent.external import resolved
from ppdp_spark.spark.maxent.rules import Mining
from ppdp_spark.spark.maxent.solvers import Known
from ppdp_spark.spark.maxent.sources import group_pairs, original_counts, release_source, table_source
from ppdp_spark.spark.parquet.write_folder import write_folder
from ppdp_spark.spec import AttackSpec, MineSpec, ReleaseSpec

POSTERIOR = "posterior"


class Attacked:
    """The release, what is kept in memory of it, and warnings on the way.

    where
        group  a table with the release's group column, and that column's name
    """

    def __init__(self, source: Source, group: tuple[DataFrame, str], kept: list[DataFrame]) -> None:
        self.source, self._group, self._kept = source, group, kept
        self.warnings: list[str] = []
        self._counts: DataFrame | None = None
        self._rows = 0

    def read_original(self, table: DataFrame, sensitive: str) -> None:
        """Count the table that the release was made from."""
        self._counts = self.keep(original_counts(table, self.source, sensitive))

    def keep(self, table: DataFrame) -> DataFrame:
        """The table, kept in memory until the attack is over."""
        self._kept.append(table.persist())
        return self._kept[-1]

    def close(self) -> None:
        for table in self._kept:
            table.unpersist()

    def rules(self, mine: MineSpec) -> tuple[list[Rule], list[Rule]]:
        """The strongest rules of the original, as many as the longest step needs."""
        assert self._counts is not None
        number = len(self.source.attributes)
        sizes = [size for size in mine.attributes if size <= number]
        mining = Mining(
            attributes=number,
            values=len(self.source.values),
            positive=max(mine.positive, default=0),
            negative=max(mine.negative, default=0),
            support=mine.support,
            negated=mine.negated,
        )
        return mining.rules(self._counts, attribute_sets(number, sizes))

    def groups(self, wanted: Sequence[Any]) -> list[tuple[int, int]]:
        """The groups that a spec names."""
        return group_pairs(*self._group, wanted) if wanted else []

    def require_certain(self) -> None:
        """People can be named only where it is certain who is in each group."""
        unsure = self.source.cells.where(SHARED)
        if self.source.described and not unsure.isEmpty():
            raise DataError(
                "`attack.people` needs groups whose people are certain: `attack.external` leaves several "
                "groups possible for some people"
            )

    def tuples(self) -> int:
        """Different combinations of quasi-identifiers."""
        return self.source.cells.select(*TUPLE).distinct().count()

    def truth(self, people: int) -> DataFrame | None:
        """The original by tuple and value; None unless it is the table of exactly these people."""
        if self._counts is None or self._original_rows() != people:
            return None
        return self._counts.select(*TUPLE, C.VALUE, C.COUNT)

    def warn_of_size(self, people: int) -> None:
        if self._counts is not None and self._original_rows() != people:
            self.warnings.append(
                f"`attack.original` has {self._original_rows():,} rows and the release {people:,} people: "
                "rules of the one need not be true of the other (state `mine.within`), and the distance from "
                "the truth is not measured"
            )

    def _original_rows(self) -> int:
        if not self._rows and self._counts is not None:
            found = only_row(self._counts.agg(F.sum(C.COUNT).alias(C.COUNT)))
            self._rows = int(found[C.COUNT] or 0)
        return self._rows

    def write(
        self, posterior: DataFrame, folder: Folder, people: Sequence[Known], scratch: str | None
    ) -> None:
        """P*(s | q) for the owner, most probable first: tuples in `given`, named people in `person`."""
        codes = [C.code(j) for j in range(len(self.source.attributes))]
        shown = self.source.cells.select(*TUPLE, *codes).dropDuplicates(list(TUPLE))
        fields = [F.col(code).alias(name) for code, name in zip(codes, self.source.attributes, strict=True)]
        joined = posterior.join(shown, list(TUPLE)).select(
            F.struct(*fields).alias("given"), "person", C.VALUE, "posterior", "prior", C.PEOPLE, "group"
        )
        named = decode(joined, C.VALUE, self.source.labels, first_code=0)
        names = pa.table(
            {
                "number": pa.array(range(len(people)), pa.int32()),
                "pseudonym": pa.array([known.name for known in people], pa.string()),
            }
        )
        known = from_arrow(posterior.sparkSession, names)
        told = named.join(F.broadcast(known), F.col("person") == F.col("number"), "left")
        ordered = told.orderBy(F.col("posterior").desc(), F.col(C.PEOPLE).desc(), "group", C.VALUE)
        folder.create(private=True)
        (folder / POSTERIOR).delete()
        shown = ordered.select(
            "given", F.col("pseudonym").alias("person"), C.VALUE, "posterior", "prior", C.PEOPLE, "group"
        )
        aside = folder
        if not folder.store.by_spark:
            aside = opened(scratch_elsewhere(scratch, f"the store of `output.path` ({folder})"))
        write_folder(shown, folder / POSTERIOR, aside)
        (folder / POSTERIOR).restrict()


def open_release(spec: ReleaseSpec, spark: SparkSession, table: TableLike | None) -> Attacked:
    """The release that the spec attacks, checked, and its original."""
    wanted = spec.attack or AttackSpec()
    if wanted.release is None:
        groups = table_of(spec, table, spark)
        require_columns(groups, spec.columns)
        columns = spec.columns
        assert columns.group is not None and columns.attribute is not None
        opened = Attacked(table_source(groups, columns), (groups, columns.group), [])
        sensitive = columns.attribute.column
        require_named_values(spec, {sensitive: opened.source.domain})
    else:
        opened, sensitive = _ours(spec, spark, wanted.release)
    for name, about in (("mine", "speaks of"), ("learn", "learns from")):
        if getattr(wanted, name) is not None and not opened.source.exact:
            raise SpecError(
                f"`attack.{name}` {about} exact quasi-identifiers, which this generalized release does not "
                "show: add `attack.external`, a table of people with their quasi-identifiers"
            )
    if wanted.original is not None and opened.source.exact:
        opened.read_original(read_table(spark, wanted.original, scratch=spec.scratch), sensitive)
    return opened


def _ours(spec: ReleaseSpec, spark: SparkSession, path: str) -> tuple[Attacked, str]:
    """A release of ours and the name of its sensitive column."""
    root = Folder.at(path)
    release = release_in(root)
    if not (release / MANIFEST).exists():
        raise DataError(f"`attack.release` ({path}) holds no release of ours: {MANIFEST} is not there")
    manifest = release.read_json(MANIFEST)
    chosen = None if spec.attack is None else spec.attack.sensitive
    source, kept = release_source(spark, release, manifest, chosen), list[DataFrame]()
    named = [one for one in spec.columns.attributes if chosen is None or one.column == chosen]
    if any(one.sensitivity not in (None, source.domain.sensitivity) for one in named):
        raise SpecError(
            "`columns.sensitive` protects other values than the manifest of `attack.release` says: remove "
            "`not_sensitive` and `only`"
        )
    external = spec.attack.external if spec.attack is not None else None
    if external is not None:
        if not source.described:
            raise SpecError("`attack.external` is for generalized releases: this one shows quasi-identifiers")

        def keep(table: DataFrame) -> DataFrame:
            kept.append(table.persist())
            return kept[-1]

        declared = spec.columns.quasi_identifiers.items()
        source = resolved(
            source,
            read_table(spark, external, scratch=spec.scratch),
            release=release,
            manifest=manifest,
            hierarchies={name: column.hierarchy for name, column in declared if column.hierarchy is not None},
            keep=keep,
        )
    column = chosen or published_attributes(manifest)[0]["column"]
    return Attacked(source, (source.cells, GROUP[0]), kept), column
