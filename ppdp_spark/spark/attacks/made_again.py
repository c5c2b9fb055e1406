"""The groups of a release of ours, made again to see what a reader concludes who knows the program.

A release shows what was published. Which cuts were refused follows from everybody's quasi-identifiers and
the program: so the program runs again on the original, by the spec that the owner has of the run, with the
audit of `anonymize`. Nothing is written. An answer about other groups than the published ones would be
worthless: what would be published now must be what the release has, row by row.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.run.criteria.audits import silence
from ppdp_spark.run.registry import Registry
from ppdp_spark.run.results import Stages
from ppdp_spark.run.storage import MANIFEST, PRIVATE, RELEASE, SUMMARY, Folder, data_of
from ppdp_spark.run.summary import package_version
from ppdp_spark.spark.bounds.bound_grids import with_grids
from ppdp_spark.spark.data.person_records import one_record_each
from ppdp_spark.spark.data.profile import profile_table
from ppdp_spark.spark.data.tables import assign_roles, require_single_values
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.held_tables import Save, held_tables
from ppdp_spark.spark.input.given_tables import table_of
from ppdp_spark.spark.parquet.read_folder import read_folder
from ppdp_spark.spark.partition.coded_table import CodedTable, Placements
from ppdp_spark.spark.partition.partitioners import partitioner_of
from ppdp_spark.spark.release.forms import form_of
from ppdp_spark.spark.release.numbering import number_groups, order_groups
from ppdp_spark.spark.release.publication import Publication
from ppdp_spark.spark.suppression import suppression_stage as suppression
from ppdp_spark.spark.utility.measure import measure
from ppdp_spark.spec import AttackSpec, ReleaseSpec
from ppdp_spark.spec.requirements import not_audited

OTHER = (
    "`attack.audit`: the groups made of `attack.original` are not those of `attack.release`: name the table "
    "that the release was made from, unchanged"
)


def audited_program(wanted: AttackSpec, spark: SparkSession, stages: Stages) -> list[VerdictRow]:
    """The verdict on a reader who knows the program that made `attack.release`; nothing unless it is asked.

    It is the row that `anonymize` with the same `audit` has in its verdict.
    """
    if wanted.audit is None:
        return []
    assert wanted.release is not None
    output = Folder.at(wanted.release)
    spec = _spec_of(output, wanted)
    reason = not_audited(spec)
    if reason is not None and wanted.audit.at_most is not None:
        raise SpecError(
            f"`attack.audit.at_most` cannot be checked, for there is no audit ({reason}): remove it"
        )
    if reason is not None or wanted.audit.algorithm == "none":
        return silence(spec)
    with held_tables() as hold:
        coded = _coded(spec, spark, Registry.beside(output), hold=hold, stages=stages)
        placed = partitioner_of(coded).place()
        release = output / RELEASE
        _require_published(placed, coded, data_of(release, release.read_json(MANIFEST)))
    return list(placed.audit)


def _spec_of(output: Folder, wanted: AttackSpec) -> ReleaseSpec:
    """The spec of the run that made a release, about the original, with the audit that is wanted."""
    private = output / PRIVATE
    if not (private / SUMMARY).exists():
        raise DataError(
            f"`attack.audit` needs the spec of the run, and `{private / SUMMARY}` is not there: name the "
            "whole output folder of the release in `attack.release`"
        )
    assert wanted.original is not None and wanted.audit is not None
    made_by = (output / RELEASE).read_json(MANIFEST).get("version")
    if made_by != package_version():
        raise DataError(
            f"`attack.audit`: the release was made by version {made_by} of ppdp-spark, and this is "
            f"{package_version()}, which may refuse other cuts: use the version that made it"
        )
    plain = dict(private.read_json(SUMMARY)["spec"])
    if "unsafe_fixed_seed" in plain.get("suppression", {}):
        raise DataError(
            "`attack.audit`: the suppression of the release used a fixed seed, which is not kept: the rows "
            "that went cannot be told"
        )
    about = {
        "input": wanted.original.model_dump(mode="json", exclude_none=True),
        "audit": wanted.audit.model_dump(mode="json", exclude_none=True),
    }
    return ReleaseSpec.parse({**plain, "attack": None, "explore": None, **about})


def _coded(
    spec: ReleaseSpec, spark: SparkSession, draws: Registry, *, hold: Save, stages: Stages
) -> CodedTable:
    """The table of the release in codes, once the same rows are suppressed."""
    with stages.stage("read original") as counts:
        given = table_of(spec, None, spark)
        people, _ = one_record_each(given, spec.columns, hold)
        require_single_values(given, spec)
        roles = assign_roles(people, spec.columns, source=given)
        profile = with_grids(people, spec, roles, profile_table(people, spec, roles))
        counts["rows"] = profile.rows
    suppressing = suppression.decisive(spec, profile)
    if spec.suppression.method != "none" and not draws.has_draw_key:
        raise DataError(
            f"`attack.audit`: the key of the release's random suppression is not in `{draws.folder}`: the "
            "rows that went cannot be told"
        )
    rng = suppression.generator(spec, suppressing, draws)
    decision = suppression.decide(spec, suppressing, rng)
    if not decision.ok:
        raise DataError(OTHER)
    kept, left = suppression.apply(people, spec, roles, profile, decision=decision, rng=rng)
    everyone = (people, profile)
    return CodedTable.of(
        kept, spec, roles, left, saver=lambda name: hold, stages=stages, unsuppressed=everyone
    )


def _require_published(placed: Placements, coded: CodedTable, data: Folder) -> None:
    """Raise unless a release of these groups has the rows that the data folder has."""
    metrics = measure(placed.groups, coded.layout, coded.stages, None)
    order = order_groups(placed.groups, coded.layout.attributes, metrics["ncp"], metrics["people"])
    publication = Publication(
        number_groups(placed.groups, order, coded.layout),
        coded.layout,
        order,
        names=coded.spec.columns.as_is,
        folder=data,
        scratch=data,
        unfinished=data,
    )
    with coded.stages.stage("compare"):
        for folder, table in form_of(coded.spec).tables(publication):
            published = read_folder(table.sparkSession, folder)
            if published.columns != table.columns or _content(published) != _content(table):
                raise DataError(OTHER)


def _content(table: DataFrame) -> tuple[Any, ...]:
    """The number of rows, and a hash of them that does not depend on their order. It notices accidents."""
    names = [C.column(name) for name in table.columns]
    each = F.xxhash64(*(part for name in names for part in (name.isNull(), name)))
    return tuple(only_row(table.agg(F.count(F.lit(1)), F.sum(each.cast("decimal(38,0)")))))
