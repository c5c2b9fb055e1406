"""`check`: what any table of groups achieves, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.commands.verify import files_row, judge_release
from ppdp_spark.core.criteria.anonymity import KAnonymity
from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.commit.staging import write_findings
from ppdp_spark.run.criteria.guarantees import (
    NOTHING,
    criteria_of,
    measured_criteria,
    promises_nothing,
)
from ppdp_spark.run.criteria.knowledge import require_named_values
from ppdp_spark.run.inputs.released import Released
from ppdp_spark.run.manifest import known_attributes
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.summary import one_or_all, run_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.identifiers import require_households, require_one_row_each
from ppdp_spark.spark.data.person_records import PersonFacts, input_facts, one_record_each
from ppdp_spark.spark.data.survey_weights import require_weights
from ppdp_spark.spark.data.tables import require_columns
from ppdp_spark.spark.engine.held_tables import Save, held_tables
from ppdp_spark.spark.input.given_tables import TableLike, source_of, table_of
from ppdp_spark.spark.judge.grouped_tables import Grouped
from ppdp_spark.spark.judge.households import checked
from ppdp_spark.spark.judge.robustness import audited
from ppdp_spark.spark.judge.several_attributes import judged_table, read_attributes
from ppdp_spark.spark.release.several_attributes import measured_rows, released_cells
from ppdp_spark.spark.weights import weighed_groups
from ppdp_spark.spec import Command, ReleaseSpec, SpecLike


@told_plainly
def check(
    spec: SpecLike | Released, *, table: TableLike | None = None, spark: SparkSession | None = None
) -> Run:
    """Judge a table by the criteria of the spec, and measure it by all others, in one scan.

    Groups are the rows with the same value in `columns.group` or, without one, in all
    quasi-identifiers; they are taken as they stand, nulls equal to each other. With an
    `output.path` the verdict and the report are written below its `private/check`. `spec`, `table`
    and `spark` are those of `anonymize`; in the place of a spec, the output folder of a run stands for its
    release, which is judged as `verify` does and measured by all other criteria.
    """
    released = Released.at(spec, "check") if table is None else None
    if released is not None:
        return released.steadily(partial(_checked_release, spark=session_of(None, spark)))
    assert not isinstance(spec, Released)
    spec, stages = ReleaseSpec.of(spec), Stages()
    with held_tables() as hold:
        people, brought = grouped_people(spec, "check", stages, hold, table=table, spark=spark)
        weighed = require_weights(people, spec.columns)
        with stages.stage("count"):
            cells = read_attributes(people, spec.columns)
        with stages.stage("judge"):
            verdict = Verdict(tuple(_judged(spec, people, cells)))
    read = {"source": source_of(spec, table), **input_facts(brought)}
    summary = finding_facts(spec, "check", stages, cells, read=read)
    last = [row for row in verdict.rows if len(cells) < 2 or row.criterion == KAnonymity.name][-1]
    summary["release"] = {"groups": last.groups}
    if weighed is not None:
        summary["warnings"] += weighed.warnings
    return write_findings(spec, "check", verdict, summary)


def _checked_release(released: Released, spark: SparkSession) -> Run:
    """A release of ours by the criteria of its manifest, and measured by all others."""
    spec, manifest, stages = released.spec, released.manifest, Stages()
    with stages.stage("count"):
        cells = released_cells(spark, released.folder, manifest)
    with stages.stage("judge"):
        rows = [files_row(released.folder, manifest)]
        rows += judge_release(spark, released.folder, manifest, owned=released.owned)
        rows += measured_rows(cells, spec.privacy, known_attributes(manifest))
    summary = finding_facts(spec, "check", stages, cells, read={"source": str(released.folder)})
    summary["release"] = release_facts(manifest)
    return write_findings(spec, "check", Verdict(tuple(rows)), summary)


def _judged(spec: ReleaseSpec, people: DataFrame, cells: Mapping[str, Grouped]) -> list[VerdictRow]:
    """Robustness first, if it is demanded; then the other criteria, and what was measured unasked."""
    require_named_values(spec, {name: grouped.domain for name, grouped in cells.items()})
    weighed = weighed_groups.checked(spec.privacy, spec.columns, people)
    if len(cells) > 1:
        return [*judged_table(spec.privacy, spec.columns, people, cells), *weighed]
    (grouped,) = cells.values()
    domain = grouped.domain
    criteria = criteria_of(spec.privacy, domain)
    measured = measured_criteria(spec.privacy, domain)
    rows = grouped.judge([*criteria, *measured])
    if spec.columns.household is not None:
        rows += checked(spec, people, grouped, domain)
    rows += weighed
    if spec.privacy.criteria and promises_nothing(spec.privacy, criteria, domain):
        rows = [NOTHING, *rows]
    return rows if spec.privacy.robustness is None else audited(spec, people, grouped) + rows


def grouped_people(
    spec: ReleaseSpec,
    command: Command,
    stages: Stages,
    hold: Save,
    *,
    table: TableLike | None,
    spark: SparkSession | None,
) -> tuple[DataFrame, PersonFacts | None]:
    """The spec's table or the one given in its place, found fit to be read as groups.

    The rows of a person within a group become one record, if `columns.person` says what a person is.
    """
    spec.require_for(command, table_given=table is not None)
    columns = spec.columns
    within = [columns.group] if columns.group else list(columns.quasi_identifiers)
    with stages.stage("read"):
        people, brought = one_record_each(table_of(spec, table, spark), columns, hold, within=within)
        require_columns(people, columns)
        require_one_row_each(people, columns)
        require_households(people, columns)
    return people, brought


def release_facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a summary says of a release of ours."""
    stated = manifest["rows"]
    counted = {"form": manifest["form"], "rows": stated["published"], "groups": manifest["groups"]}
    return counted | ({"written": stated["written"]} if "written" in stated else {})


def finding_facts(
    spec: ReleaseSpec,
    command: Command,
    stages: Stages,
    cells: Mapping[str, Grouped],
    *,
    read: Mapping[str, Any],
) -> dict[str, Any]:
    """What the summaries of `check` and `explore` share; `cells` are counted by attribute."""
    sensitive = []
    for declared in spec.columns.attributes:
        listed = zip(cells[declared.column].labels, cells[declared.column].counts, strict=True)
        values = [{"value": label, "count": count} for label, count in listed]
        told = {"distinct": len(values), "values": values[:1_000]}
        sensitive.append({**declared.model_dump(mode="json", exclude_none=True), **told})
    return {
        **run_facts(command, spec.dataset, stages),
        "spec": spec.to_dict(),
        "warnings": list(spec.warnings),
        "input": dict(read),
        "sensitive": one_or_all(sensitive),
    }
