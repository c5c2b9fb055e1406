"""`eligibility`: can any release of the table meet the spec? The first questions of `anonymize`, alone.

For a scheduler that would rather know before the work: roles, types and nulls of the columns, repeated
identifiers and, unless rows are to be suppressed, whether the table is l-eligible and meets every criterion
as one group. Nothing is drawn at random here: a run that goes on only after a lucky draw would change the
odds of the next.
"""

from __future__ import annotations

import random

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.run.criteria.knowledge import require_named_values
from ppdp_spark.run.criteria.refusals import NOT_FOUND
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.summary import run_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.encode import encode_rows
from ppdp_spark.spark.data.identifiers import household_words, require_households, require_one_row_each
from ppdp_spark.spark.data.person_records import input_facts, one_record_each
from ppdp_spark.spark.data.profile import Profile, profile_table, take_part
from ppdp_spark.spark.data.survey_weights import require_weights, units_of
from ppdp_spark.spark.data.tables import Roles, assign_roles, require_single_values
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.held_tables import held_tables
from ppdp_spark.spark.input.given_tables import TableLike, source_of, table_of
from ppdp_spark.spark.judge.several_attributes import feasible_cells
from ppdp_spark.spark.partition.whole_table import (
    enough_households,
    enough_population,
    feasibility,
    value_domains,
)
from ppdp_spark.spark.suppression import suppression_stage
from ppdp_spark.spec import ReleaseSpec, SpecLike
from ppdp_spark.spec.requirements import case_of

REASON = "about the table as one group: nothing is published, and a release may still fail"


@told_plainly
def eligibility(spec: SpecLike, *, table: TableLike | None = None, spark: SparkSession | None = None) -> Run:
    """What can be said of the table without suppressing or publishing any of it.

    `spec`, `table` and `spark` are those of `anonymize`.
    """
    spec = ReleaseSpec.of(spec)
    spec.require_for("eligibility", table_given=table is not None)
    stages = Stages()
    with held_tables() as hold, stages.stage("read") as counts:
        given = table_of(spec, table, spark)
        people, brought = one_record_each(given, spec.columns, hold)
        require_single_values(given, spec)
        roles = assign_roles(people, spec.columns, source=given)
        require_one_row_each(people, spec.columns)
        require_households(people, spec.columns)
        weighed = require_weights(people, spec.columns)
        profile = profile_table(people, spec, roles)
        require_named_values(spec, value_domains(profile))
        counts["rows"] = profile.kept
        rows = () if spec.suppression.method != "none" else tuple(_undivided(people, spec, roles, profile))
    summary = {
        **run_facts("eligibility", spec.dataset, stages),
        "spec": spec.to_dict(),
        "warnings": [*spec.warnings, *([] if weighed is None else weighed.warnings)],
        "input": {"source": source_of(spec, table), **input_facts(brought)},
    }
    reason = REASON if case_of(spec) == "svpi" else f"{REASON}; if it fails: {NOT_FOUND}"
    return Run(Verdict(rows, False, reason), summary)


def _undivided(people: DataFrame, spec: ReleaseSpec, roles: Roles, profile: Profile) -> list[VerdictRow]:
    """The verdict on everybody as one group; no release is safer where unions of safe groups are safe."""
    whole = feasibility(spec.privacy, profile, spec.columns.known)
    if spec.columns.household is not None:
        words = household_words(people, spec.columns.household.column)
        whole += enough_households(people.where(take_part(people, spec, roles)).select(*words), spec)
    if spec.columns.weight is not None:
        units = units_of(people, spec.columns.weight.column).alias(C.WEIGHT)
        whole += enough_population(people.where(take_part(people, spec, roles)).select(units), spec)
    if spec.columns.known:
        whole += feasible_cells(encode_rows(people, spec, roles, profile, only=()), spec, profile)
    decisive = suppression_stage.decisive(spec, profile)
    return [*suppression_stage.decide(spec, decisive, random.Random()).rows, *whole]
