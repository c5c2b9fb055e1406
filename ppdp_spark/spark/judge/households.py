"""Verdicts on the households of groups: of any table that has a column for them, and of the owner's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import Criterion, VerdictRow
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.run.criteria.households import household_criteria, household_measures
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.data.group_scan import reduce_groups
from ppdp_spark.spark.data.identifiers import household_words
from ppdp_spark.spark.data.sameness import text_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.judge.counts import placed_rows
from ppdp_spark.spark.judge.grouped_tables import Grouped, with_codes
from ppdp_spark.spark.judge.household_counts import CountHouseholds, Fingerprint
from ppdp_spark.spark.parquet.read_folder import read_folder
from ppdp_spark.spec import PrivacySpec, ReleaseSpec


def checked(spec: ReleaseSpec, table: DataFrame, grouped: Grouped, domain: ValueDomain) -> list[VerdictRow]:
    """The verdict on the households of a table's groups, and what is measured of them unasked."""
    columns, household = spec.columns, spec.columns.household
    assert household is not None
    names = [columns.group] if columns.group else list(columns.quasi_identifiers)
    text = None
    sensitive = columns.attribute
    if sensitive is not None and sensitive.case == "svpi":
        text = text_of(C.column(sensitive.column), table.schema[sensitive.column].dataType)
    rows = _rows(table, {f"key{i}": C.column(name) for i, name in enumerate(names)}, household.column, text)
    know = household.members_know_each_other
    criteria = household_criteria(spec.privacy, domain, members_know=know)
    measures = household_measures(spec.privacy, domain, members_know=know)
    return _judged(rows, grouped, (*criteria, *measures))


def verified(
    privacy: PrivacySpec,
    grouped: Grouped,
    domain: ValueDomain,
    owned: Folder,
    *,
    members_know: bool,
) -> list[VerdictRow]:
    """The verdict on the households of a release from the owner's table; without it that fails.

    The table must have the groups of the release, as many people in them and, with one value per person, the
    same values.
    """
    criteria = household_criteria(privacy, domain, members_know=members_know)
    if not owned.exists():
        return [criterion.unknown("the owner's table of households is not there") for criterion in criteria]
    table = read_folder(grouped.groups.sparkSession, owned)
    text = C.column(C.VALUE) if C.VALUE in table.columns else None
    rows = _rows(table, {C.GROUP_ID: F.col(C.GROUP_ID)}, C.HOUSEHOLD, text)
    same = Fingerprint(counted=text is not None)
    released, (kept,) = grouped.reduce([same])[0], _reduced(rows, grouped, [same], unknown=1)
    if released != kept:
        reason = "the owner's table of households is not that of this release"
        return [criterion.unknown(reason) for criterion in criteria]
    measures = household_measures(privacy, domain, members_know=members_know)
    return _judged(rows, grouped, (*criteria, *measures))


def _rows(table: DataFrame, keys: Mapping[str, Column], household: str, text: Column | None) -> DataFrame:
    """One row per person: the keys of the group, the value as text, and the household."""
    value = F.lit(None).cast("string") if text is None else text
    named = [key.alias(name) for name, key in keys.items()]
    return table.select(*named, value.alias(C.VALUE), *household_words(table, household))


def _reduced(rows: DataFrame, grouped: Grouped, reductions: Sequence[Any], *, unknown: int = 0) -> list[Any]:
    """What each reduction makes of the groups, values that `grouped` does not have being one more value.

    There is a column of counts for it only if `unknown` is 1.
    """
    single, width = grouped.case == "svpi", grouped.width
    coded = with_codes(rows, grouped.values) if single else rows.withColumn(C.SENSITIVE, F.lit(0))
    coded = coded.withColumn(C.SENSITIVE, F.coalesce(C.SENSITIVE, F.lit(width)))
    keys = [name for name in rows.columns if name not in (C.VALUE, *C.HOUSEHOLD_NAME)]
    types = {name: rows.schema[name].dataType for name in keys}
    placed = placed_rows(coded, types, None, *C.HOUSEHOLD_NAME)
    return reduce_groups(placed, reductions, CountHouseholds(width + unknown if single else 1))


def _judged(rows: DataFrame, grouped: Grouped, criteria: Sequence[Criterion[Any]]) -> list[VerdictRow]:
    found = _reduced(rows, grouped, criteria)
    return [row for c, statistic in zip(criteria, found, strict=True) for row in c.decide(statistic)]
