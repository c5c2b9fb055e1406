"""`suppress`: restore eligibility of skewed data, alone; what is kept stays in the house."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from ppdp_spark.errors import BudgetError
from ppdp_spark.run.commit.staging import Staging
from ppdp_spark.run.criteria.knowledge import require_named_values
from ppdp_spark.run.registry import Registry
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.summary import run_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.identifiers import require_one_row_each
from ppdp_spark.spark.data.person_records import input_facts, one_record_each
from ppdp_spark.spark.data.profile import count_sensitive
from ppdp_spark.spark.data.survey_weights import require_weights
from ppdp_spark.spark.data.tables import assign_roles
from ppdp_spark.spark.input.given_tables import TableLike, source_of, table_of
from ppdp_spark.spark.input.input_files import InputFiles
from ppdp_spark.spark.parquet.write_folder import write_folder
from ppdp_spark.spark.suppression import suppression_stage as suppression
from ppdp_spark.spec import ReleaseSpec, SpecLike

KEPT = "kept"


@told_plainly
def suppress(spec: SpecLike, *, table: TableLike | None = None, spark: SparkSession | None = None) -> Run:
    """Write the rows that may take part in a release to `private/kept`, with the verdict and the audit.

    They are raw microdata and not for publication, whatever the verdict says. `spec`, `table` and
    `spark` are those of `anonymize`.
    """
    spec = ReleaseSpec.of(spec)
    spec.require_for("suppress", table_given=table is not None)
    stages = Stages()
    with Staging.open(spec) as staging:
        with stages.stage("read") as counts:
            given = table_of(spec, table, spark)
            files = InputFiles.of(given)
            people, brought = one_record_each(given, spec.columns, staging.saver("people"))
            roles = assign_roles(people, spec.columns, source=given)
            require_one_row_each(people, spec.columns)
            weighed = require_weights(people, spec.columns)
            domain = count_sensitive(people, spec, roles)
            require_named_values(spec, {domain.column: domain.judged})
            counts["rows"] = sum(domain.counts)
        rng = suppression.generator(spec, domain, Registry.beside(staging.output))
        decision = suppression.decide(spec, domain, rng)
        reason = "raw microdata: for the owner only"
        verdict = Verdict(decision.rows, False, reason)
        facts = {
            "spec": spec.to_dict(),
            "warnings": [*spec.warnings, *([] if weighed is None else weighed.warnings)],
            "input": {"rows": sum(domain.counts), "source": source_of(spec, table), **input_facts(brought)},
            "suppression": suppression.facts(domain, decision),
        }
        if not decision.within_budget:
            staging.fail(verdict, {**_run_facts(spec, stages, staging), **facts})
            raise BudgetError(
                f"suppression would exceed `suppression.budget`: nothing was written; {suppression.SAME_DRAW}"
            )
        with stages.stage("suppress"):
            rows = suppression.declared_rows(people, spec, roles)
            kept = suppression.taken_away(rows, spec, domain, decision=decision, rng=rng)
            write_folder(kept, staging.owned / KEPT, staging.scratch)
            files.require_same()
        return staging.keep(KEPT, verdict, {**_run_facts(spec, stages, staging), **facts})


def _run_facts(spec: ReleaseSpec, stages: Stages, staging: Staging) -> dict[str, Any]:
    return run_facts("suppress", spec.dataset, stages, staging.run_id)
