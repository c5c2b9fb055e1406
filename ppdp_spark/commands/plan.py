"""`plan`: what blind grouping would come to, from public facts alone, before anybody looks at values.

Blind groups are published or refused, and a second try tells that the first one failed. So what can be
known beforehand is shown beforehand: the least size K, the chance that such groups pass, what they lose.
Groups are made, of quasi-identifiers; who has which sensitive value has no part in any figure, hence a plan
may be looked at, and the spec changed, as often as one likes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.release.bookkeeping import LeastPeople
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.partition.least_size import Chance, LeastSize
from ppdp_spark.run.criteria.knowledge import require_named_values
from ppdp_spark.run.criteria.least_size import chance_of
from ppdp_spark.run.criteria.refusals import infeasible
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.summary import run_facts, spec_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.bounds.bound_grids import with_grids
from ppdp_spark.spark.data.identifiers import require_one_row_each
from ppdp_spark.spark.data.person_records import input_facts, one_record_each
from ppdp_spark.spark.data.profile import profile_table
from ppdp_spark.spark.data.survey_weights import require_weights
from ppdp_spark.spark.data.tables import assign_roles, require_single_values
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.held_tables import Save, held_tables
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.input.given_tables import TableLike, source_of, table_of
from ppdp_spark.spark.partition.coded_table import CodedTable
from ppdp_spark.spark.partition.mondrian import BlindTable, blind_groups
from ppdp_spark.spark.partition.whole_table import feasibility, value_domain, value_domains
from ppdp_spark.spark.release.release_summary import measured_facts
from ppdp_spark.spark.utility.measure import measure
from ppdp_spark.spec import ReleaseSpec, SpecLike
from ppdp_spark.spec.requirements import case_of

REASON = "a plan, from public facts: nothing is published, and the release may still be refused"


@told_plainly
def plan(spec: SpecLike, *, table: TableLike | None = None, spark: SparkSession | None = None) -> Run:
    """The least size of blind groups, their chance to pass, and what they lose; nothing is written.

        print(plan("spec.yaml", table=people).summary["blind"])

    `spec`, `table` and `spark` are those of `anonymize`; the partitioner must be blind.
    """
    spec = ReleaseSpec.of(spec)
    spec.require_for("plan", table_given=table is not None)
    stages = Stages()
    with held_tables() as hold:
        with stages.stage("read") as counts:
            given = table_of(spec, table, spark)
            people, brought = one_record_each(given, spec.columns, hold)
            require_single_values(given, spec)
            roles = assign_roles(people, spec.columns, source=given)
            require_one_row_each(people, spec.columns)
            weighed = require_weights(people, spec.columns)
            profile = with_grids(people, spec, roles, profile_table(people, spec, roles))
            counts["rows"] = profile.kept
            require_named_values(spec, value_domains(profile))
        coded = CodedTable.of(people, spec, roles, profile, saver=_keeping(hold), stages=stages)
        assert coded.least is not None
        refused = infeasible(
            [*feasibility(spec.privacy, profile), *BlindTable(coded).necessary()], case_of(spec)
        )
        if refused is not None:
            raise refused.error
        groups = blind_groups(coded)
        metrics = measure(groups, coded.layout, stages, None)
        with stages.stage("chance"):
            chance = chance_of(spec, value_domain(profile), _sizes(groups))
    summary = {
        **run_facts("plan", spec.dataset, stages),
        **spec_facts(spec),
        "input": {"rows": profile.rows, "source": source_of(spec, table), **input_facts(brought)},
        "blind": {**coded.least.to_dict(), "chance": None if chance is None else chance.share},
        "metrics": measured_facts(spec, metrics),
    }
    summary["warnings"] += [] if weighed is None else weighed.warnings
    return Run(Verdict(tuple(_rows(coded.least, chance, metrics)), False, REASON), summary)


def _keeping(hold: Save) -> Callable[[str], Save]:
    """What gives a place to tables of a name: all of them are held."""
    return lambda name: hold


def _sizes(groups: DataFrame) -> IntArray:
    """The sizes of all groups, from how many there are of each size."""
    found = to_arrow(groups.groupBy(C.SIZE).agg(F.count(F.lit(1)).alias("groups"))).sort_by(C.SIZE)
    return np.repeat(*(found.column(i).to_numpy().astype(np.int64) for i in range(2)))


def _rows(least: LeastSize, chance: Chance | None, metrics: dict[str, Any]) -> list[VerdictRow]:
    """What there is to know before the release, as rows that demand nothing."""
    groups, known = metrics["groups"], {"least_size": least.size, "chosen": least.chosen}
    smallest, judged = float(metrics["smallest"]), LeastPeople(least.size, least.chosen)
    rows = [
        VerdictRow(
            judged.name,
            judged.level,
            smallest,
            None,
            ">=",
            groups,
            0,
            "measured",
            parameters=known,
        )
    ]
    if chance is not None:
        level = f"share of {chance.drawn} releases drawn at random, values apart from quasi-identifiers"
        rows.append(VerdictRow("chance_to_pass", level, chance.share, None, ">=", groups, 0, "measured"))
    return rows
