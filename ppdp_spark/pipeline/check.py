"""`check`: what any table of groups achieves, whoever made it."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.guarantees import criteria_of, measured_criteria
from ppdp_spark.pipeline.session import session_of
from ppdp_spark.results import Run, Stages, Verdict
from ppdp_spark.spark import columns as C
from ppdp_spark.spark.released import coded_values, occurrences, sensitive_text, value_counts
from ppdp_spark.spark.statistics import group_counts, judge
from ppdp_spark.spark.tables import read_table, require_columns
from ppdp_spark.spec import ReleaseSpec
from ppdp_spark.summary import run_facts


def check(spec: ReleaseSpec, *, table: DataFrame | None = None, spark: SparkSession | None = None) -> Run:
    """Judge a table by the criteria of the spec, and measure it by all others, in one scan.

    Groups are the rows with the same value in `columns.group` or, without one, in all
    quasi-identifiers; they are taken as they stand, nulls equal to each other.
    """
    spec.require_for("check")
    stages = Stages()
    with stages.stage("read"):
        table = read_table(session_of(table, spark), spec.input) if table is None else table
        require_columns(table, spec.columns)
    keys = [spec.columns.group] if spec.columns.group else list(spec.columns.quasi_identifiers)
    sensitive = spec.columns.sensitive
    with stages.stage("values"):
        texts: list[str | None] = []
        counts: list[int] = []
        if sensitive is not None:
            texts, counts = value_counts(occurrences(table, sensitive.column, sensitive.case))
    with stages.stage("scan"):
        case = None if sensitive is None else sensitive.case
        text = [] if sensitive is None else [sensitive_text(sensitive.column, sensitive.case)]
        rows = table.select(*(C.column(key).alias(f"key{i}") for i, key in enumerate(keys)), *text)
        values = coded_values(rows, texts, case)
        number = "key0" if _numbered(table, spec) else None
        groups = group_counts(values, [f"key{i}" for i in range(len(keys))], case=case, number=number)
        labels = ["null" if value is None else value for value in texts]
        criteria = criteria_of(spec.privacy, labels=labels, counts=counts, case=case or "svpi")
        measured = measured_criteria(spec.privacy, counts)
        verdict = Verdict(tuple(judge(groups, [*criteria, *measured], max(1, len(texts)))))
    facts = run_facts("check", spec.dataset, stages)
    found = {"groups": verdict.rows[0].groups}
    summary = {**facts, "spec": spec.to_dict(), "warnings": list(spec.warnings), "release": found}
    return Run(verdict, summary)


def _numbered(table: DataFrame, spec: ReleaseSpec) -> bool:
    """Whether the group column itself is an integer that can name groups in witnesses."""
    name = spec.columns.group
    return name is not None and table.schema[name].dataType.simpleString() in (
        "tinyint",
        "smallint",
        "int",
        "bigint",
    )
