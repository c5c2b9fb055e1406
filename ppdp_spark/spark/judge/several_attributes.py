"""Several sensitive attributes of any table judged one by one, as a reader who knows the others sees them.

In a table that is not a release of ours they stand side by side in rows. Whoever knows some of them finds the
person's row by these, so the rest must be safe in every cell of a group and the values of the others
[Machanavajjhala et al. 2007]. Criteria that unions keep hold in coarser cells, too: of whoever knows
only some of the others, or none. All are taken for known, unless the spec says which are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.run.criteria.guarantees import measured_criteria
from ppdp_spark.run.criteria.several_attributes import (
    criteria_of_groups,
    criteria_of_values,
    known_beside,
    labelled,
    unprotected,
)
from ppdp_spark.spark.data.group_scan import reduce_groups
from ppdp_spark.spark.data.profile import Profile
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.parallel_jobs import all_at_once
from ppdp_spark.spark.judge.counts import CountGroups, placed_rows
from ppdp_spark.spark.judge.grouped_tables import Grouped, read_groups
from ppdp_spark.spark.partition.whole_table import value_domains
from ppdp_spark.spec import ColumnsSpec, PrivacySpec, ReleaseSpec


def read_attributes(table: DataFrame, columns: ColumnsSpec) -> dict[str, Grouped]:
    """The cells of each attribute in any table: its groups, divided by the values of others that are known.

    Those of one attribute, or of none, are the groups.
    """
    if len(columns.attributes) < 2:
        return {"".join(attribute.column for attribute in columns.attributes): read_groups(table, columns)}
    cells = {}
    for attribute in columns.attributes:
        alone = columns.model_copy(update={"sensitive": attribute})
        cells[attribute.column] = read_groups(table, alone, also=known_in_rows(attribute.column, columns))
    return cells


def judged_groups(
    privacy: PrivacySpec,
    columns: ColumnsSpec,
    table: DataFrame,
    domain: ValueDomain,
    *,
    measured: bool = False,
) -> list[VerdictRow]:
    """The criteria of groups for the groups, and what is `measured` of them unasked.

    `domain` is that of any attribute: they do not look at values.
    """
    groups = read_groups(table, columns.model_copy(update={"sensitive": None}))
    unasked = measured_criteria(privacy.of_groups, groups.domain) if measured else ()
    return groups.judge([*criteria_of_groups(privacy, {"": domain}), *unasked])


def judged_table(
    privacy: PrivacySpec, columns: ColumnsSpec, table: DataFrame, cells: Mapping[str, Grouped]
) -> list[VerdictRow]:
    """The criteria of groups for the groups, those of values for the cells, and what was measured unasked."""
    domains = {name: grouped.domain for name, grouped in cells.items()}
    rows = list(unprotected(privacy, domains)) if privacy.criteria else []
    rows += judged_groups(privacy, columns, table, next(iter(domains.values())), measured=True)
    of_groups = {name for family in families() if not family.traits.sensitive for name in family.names}
    for name, grouped in cells.items():
        criteria = criteria_of_values(privacy, name, grouped.domain)
        measured = measured_criteria(privacy.of_attribute(name), grouped.domain)
        asked = [*criteria, *(one for one in measured if one.name not in of_groups)]
        rows += labelled(grouped.judge(asked), name, known_in_rows(name, columns))
    return rows


def feasible_cells(rows: DataFrame, spec: ReleaseSpec, profile: Profile) -> list[VerdictRow]:
    """The verdict on the cells of an undivided table, in coded rows, for whoever knows linked attributes.

    A cell of the table is the union of those of its groups: where unions keep criteria, no release is safer.
    """
    domains, known = value_domains(profile), spec.columns.known
    places = {name: C.sensitive(place) for place, name in enumerate(domains)}

    def judged(attribute: str) -> list[VerdictRow]:
        beside, domain = known_beside(attribute, known), domains[attribute]
        keys = {f"key{i}": F.col(places[name]).cast("int") for i, name in enumerate(beside)}
        value = F.col(places[attribute]).cast("int").alias(C.SENSITIVE)
        shown = rows.select(*(key.alias(name) for name, key in keys.items()), value)
        counted = shown.groupBy(*keys, C.SENSITIVE).agg(F.count(F.lit(1)).alias(C.COUNT))
        cells = placed_rows(counted, dict.fromkeys(keys, T.IntegerType()), None, C.COUNT)
        criteria = criteria_of_values(spec.privacy, attribute, domain)
        found = reduce_groups(cells, criteria, CountGroups(len(domain.labels), people_counted=False))
        told = [row for c, each in zip(criteria, found, strict=True) for row in c.decide(each)]
        return labelled(told, attribute, beside)

    wanted = [name for name in domains if known_beside(name, known)]
    told = all_at_once(rows.sparkSession, [partial(judged, name) for name in wanted])
    return [row for some in told for row in some]


def known_in_rows(attribute: str, columns: ColumnsSpec) -> tuple[str, ...]:
    """The other attributes that somebody may know of a person, where rows show all: all unless declared."""
    return known_beside(attribute, columns.known or [each.column for each in columns.attributes])
