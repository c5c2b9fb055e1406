"""Several sensitive attributes of any table judged one by one, as a reader who knows the others sees them.

In a table that is not a release of ours they stand side by side in rows. Whoever knows some of them finds the
person's row by these, so the rest must be safe in every cell of a group and the values of the others
[Machanavajjhala et al. 2007]. Criteria that unions keep hold in coarser cells, too: of whoever knows
only some of the others, or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.families import families
from ppdp_spark.run.criteria.guarantees import measured_criteria
from ppdp_spark.run.criteria.several_attributes import (
    criteria_of_groups,
    criteria_of_values,
    labelled,
    unprotected,
)
from ppdp_spark.spark.judge.grouped_tables import Grouped, read_groups
from ppdp_spark.spec import ColumnsSpec, PrivacySpec


def read_attributes(table: DataFrame, columns: ColumnsSpec) -> dict[str, Grouped]:
    """The cells of each attribute in any table: its groups, divided by the values of all other attributes.

    Those of one attribute, or of none, are the groups.
    """
    names = [attribute.column for attribute in columns.attributes]
    if len(names) < 2:
        return {"".join(names): read_groups(table, columns)}
    cells = {}
    for attribute in columns.attributes:
        alone = columns.model_copy(update={"sensitive": attribute})
        known = [name for name in names if name != attribute.column]
        cells[attribute.column] = read_groups(table, alone, also=known)
    return cells


def judged_table(
    privacy: PrivacySpec, columns: ColumnsSpec, table: DataFrame, cells: Mapping[str, Grouped]
) -> list[VerdictRow]:
    """The criteria of groups for the groups, those of values for the cells, and what was measured unasked."""
    domains = {name: grouped.domain for name, grouped in cells.items()}
    groups = read_groups(table, columns.model_copy(update={"sensitive": None}))
    rows = list(unprotected(privacy, domains)) if privacy.criteria else []
    measured = measured_criteria(privacy.of_groups, groups.domain)
    rows += groups.judge([*criteria_of_groups(privacy, domains), *measured])
    of_groups = {name for family in families() if not family.traits.sensitive for name in family.names}
    for name, grouped in cells.items():
        criteria = criteria_of_values(privacy, name, grouped.domain)
        measured = measured_criteria(privacy.of_attribute(name), grouped.domain)
        asked = [*criteria, *(one for one in measured if one.name not in of_groups)]
        told = labelled(grouped.judge(asked), name)
        rows += [replace(row, witness=_cell(row.witness)) for row in told]
    return rows


def _cell(witness: Mapping[str, Any]) -> dict[str, Any]:
    """Cells are not the groups that a reader sees: what names one is called by its name."""
    return {("cell" if fact == "group" else fact): value for fact, value in witness.items()}
