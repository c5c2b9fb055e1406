"""`suppress`: restore eligibility of skewed data, alone; what is kept stays in the house."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.errors import BudgetError
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.registry import Registry
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.staging import Staging
from ppdp_spark.run.summary import run_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.identifiers import require_one_row_each
from ppdp_spark.spark.data.inputs import InputFiles
from ppdp_spark.spark.data.person_records import one_record_each
from ppdp_spark.spark.data.profile import count_sensitive
from ppdp_spark.spark.data.tables import assign_roles, read_table
from ppdp_spark.spark.suppression import suppression_stage as suppression
from ppdp_spark.spec import ReleaseSpec

KEPT = "kept"


@told_plainly
def suppress(spec: ReleaseSpec, *, table: DataFrame | None = None, spark: SparkSession | None = None) -> Run:
    """Write the rows that may take part in a release to `private/kept`, with the verdict and the audit.

    They are raw microdata and not for publication, whatever the verdict says.
    """
    spec.require_for("suppress")
    stages = Stages()
    with Staging.open(spec) as staging:
        with stages.stage("read") as counts:
            table = read_table(session_of(table, spark), spec.input) if table is None else table
            files, source = InputFiles.of(table), table
            table, _ = one_record_each(table, spec.columns, staging.saver("people"))
            roles = assign_roles(table, spec.columns, source=source)
            require_one_row_each(table, spec.columns)
            domain = count_sensitive(table, spec, roles)
            counts["rows"] = sum(domain.counts)
        rng = suppression.generator(spec, domain, Registry.beside(staging.output))
        decision = suppression.decide(spec, domain, rng)
        reason = "raw microdata: for the owner only"
        verdict = Verdict(decision.rows, False, reason)
        facts = {
            "spec": spec.to_dict(),
            "warnings": list(spec.warnings),
            "suppression": suppression.facts(domain, decision),
        }
        if not decision.within_budget:
            staging.fail(verdict, {**_run_facts(spec, stages, staging), **facts})
            raise BudgetError(
                f"suppression would exceed `suppression.budget`: nothing was written; {suppression.SAME_DRAW}"
            )
        with stages.stage("suppress"):
            rows = suppression.declared_rows(table, spec, roles)
            kept = suppression.taken_away(rows, spec, domain, decision=decision, rng=rng)
            kept.write.parquet(str(staging.scratch / KEPT))
            files.require_same()
        return staging.keep(KEPT, verdict, {**_run_facts(spec, stages, staging), **facts})


def _run_facts(spec: ReleaseSpec, stages: Stages, staging: Staging) -> dict[str, Any]:
    return run_facts("suppress", spec.dataset, stages, staging.run_id)
