"""`check`: what any table of groups achieves, whoever made it."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.commands.verify import value_domain
from ppdp_spark.run.guarantees import (
    NOTHING,
    criteria_of,
    measured_criteria,
    promises_nothing,
)
from ppdp_spark.run.knowledge import require_named_values
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.staging import write_findings
from ppdp_spark.run.summary import run_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.given_tables import TableLike, source_of, table_of
from ppdp_spark.spark.data.identifiers import require_one_row_each
from ppdp_spark.spark.data.tables import require_columns
from ppdp_spark.spark.judge.grouped_tables import Grouped, read_groups
from ppdp_spark.spark.judge.robustness import audited
from ppdp_spark.spec import Command, ReleaseSpec, SpecLike


@told_plainly
def check(spec: SpecLike, *, table: TableLike | None = None, spark: SparkSession | None = None) -> Run:
    """Judge a table by the criteria of the spec, and measure it by all others, in one scan.

    Groups are the rows with the same value in `columns.group` or, without one, in all
    quasi-identifiers; they are taken as they stand, nulls equal to each other. With an
    `output.path` the verdict and the report are written below its `private/check`. `spec`, `table`
    and `spark` are those of `anonymize`.
    """
    spec, stages = ReleaseSpec.of(spec), Stages()
    people = grouped_people(spec, "check", stages, table=table, spark=spark)
    with stages.stage("count"):
        grouped = read_groups(people, spec.columns)
    with stages.stage("judge"):
        domain = value_domain(grouped)
        require_named_values(spec.privacy, domain)
        criteria = criteria_of(spec.privacy, domain)
        measured = measured_criteria(spec.privacy, domain)
        rows = grouped.judge([*criteria, *measured])
        if spec.privacy.criteria and promises_nothing(spec.privacy, criteria, domain):
            rows = [NOTHING, *rows]
        if spec.privacy.robustness is not None:
            rows = audited(spec, people, grouped) + rows
        verdict = Verdict(tuple(rows))
    summary = finding_facts(spec, "check", stages, grouped, source=source_of(spec, table))
    summary["release"] = {"groups": verdict.rows[-1].groups}
    return write_findings(spec, "check", verdict, summary)


def grouped_people(
    spec: ReleaseSpec,
    command: Command,
    stages: Stages,
    *,
    table: TableLike | None,
    spark: SparkSession | None,
) -> DataFrame:
    """The spec's table or the one given in its place, found fit to be read as groups."""
    spec.require_for(command, table_given=table is not None)
    with stages.stage("read"):
        people = table_of(spec, table, spark)
        require_columns(people, spec.columns)
        require_one_row_each(people, spec.columns)
    return people


def finding_facts(
    spec: ReleaseSpec, command: Command, stages: Stages, grouped: Grouped, *, source: str
) -> dict[str, Any]:
    """What the summaries of `check` and `explore` share."""
    listed = zip(grouped.labels, grouped.counts, strict=True)
    sensitive = None
    if spec.columns.sensitive is not None:
        values = [{"value": label, "count": count} for label, count in listed]
        sensitive = {**spec.columns.sensitive.model_dump(), "distinct": len(values), "values": values[:1_000]}
    return {
        **run_facts(command, spec.dataset, stages),
        "spec": spec.to_dict(),
        "warnings": list(spec.warnings),
        "input": {"source": source},
        "sensitive": sensitive,
    }
