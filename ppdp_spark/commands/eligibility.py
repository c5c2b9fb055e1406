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
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.summary import run_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.identifiers import require_one_row_each
from ppdp_spark.spark.data.profile import Profile, profile_table
from ppdp_spark.spark.data.tables import assign_roles, read_table
from ppdp_spark.spark.data.whole_table import feasibility
from ppdp_spark.spark.suppression import suppression_stage
from ppdp_spark.spec import ReleaseSpec

REASON = "about the table as one group: nothing is published, and a release may still fail"


@told_plainly
def eligibility(
    spec: ReleaseSpec, *, table: DataFrame | None = None, spark: SparkSession | None = None
) -> Run:
    """What can be said of the table without suppressing or publishing any of it."""
    spec.require_for("eligibility")
    stages = Stages()
    with stages.stage("read") as counts:
        table = read_table(session_of(table, spark), spec.input) if table is None else table
        roles = assign_roles(table, spec.columns)
        require_one_row_each(table, spec.columns)
        profile = profile_table(table, spec, roles)
        counts["rows"] = profile.kept
    rows = () if spec.suppression.method != "none" else tuple(_undivided(spec, profile))
    summary = {
        **run_facts("eligibility", spec.dataset, stages),
        "spec": spec.to_dict(),
        "warnings": list(spec.warnings),
    }
    return Run(Verdict(rows, False, REASON), summary)


def _undivided(spec: ReleaseSpec, profile: Profile) -> list[VerdictRow]:
    """The verdict on everybody as one group; no release is safer where unions of safe groups are safe."""
    whole = feasibility(spec.privacy, profile)
    return [*suppression_stage.decide(spec, profile.sensitive, random.Random()).rows, *whole]
