"""Robustness of any table of groups whose people show the attributes that the priors speak of."""

from __future__ import annotations

from pyspark.sql import DataFrame

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.robustness.posterior_audit import PosteriorAudit
from ppdp_spark.errors import DataError
from ppdp_spark.run.criteria.guarantees import value_labels
from ppdp_spark.run.criteria.knowledge import attribute_labels, robust_criterion
from ppdp_spark.spark.data.sameness import text_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.judge.grouped_tables import Grouped, with_codes
from ppdp_spark.spark.judge.posterior_audit import audit_rows, signature_columns, signature_names, signed_rows
from ppdp_spark.spark.partition.priors import PriorSet
from ppdp_spark.spark.partition.supplied_priors import coded_values, priors_of, stated
from ppdp_spark.spec import PriorSpec, ReleaseSpec


def audited(spec: ReleaseSpec, table: DataFrame, grouped: Grouped) -> list[VerdictRow]:
    """The worst posteriors of the table's groups, one verdict row an attribute set.

    The attributes of the priors must be columns of the table, not generalized: a reader who cannot see
    them looks them up elsewhere. Priors are learned from this very table unless they are supplied.
    """
    robust = robust_criterion(spec.privacy, grouped.domain)
    assert robust is not None and spec.privacy.robustness is not None and spec.columns.attribute is not None
    sets = spec.privacy.robustness.priors
    _require(table, sets)
    keys = [spec.columns.group] if spec.columns.group else list(spec.columns.quasi_identifiers)
    name = spec.columns.attribute.column
    text = text_of(C.column(name), table.schema[name].dataType)
    signed = signed_rows(table, keys, [prior.attributes for prior in sets], text)
    rows = with_codes(signed, grouped.values).drop(C.VALUE)
    priors = _priors(spec, table, rows, grouped)
    people, width = sum(grouped.counts), grouped.width
    found = audit_rows(rows, priors, PosteriorAudit(robust), people=people, width=width)
    return value_labels(found, grouped.labels)


def _require(table: DataFrame, sets: tuple[PriorSpec, ...]) -> None:
    missing = sorted({name for prior in sets for name in prior.attributes} - set(table.columns))
    if missing:
        raise DataError(
            [f"`privacy.robustness.priors`: the table has no column `{name}`" for name in missing]
        )


def _priors(spec: ReleaseSpec, table: DataFrame, rows: DataFrame, grouped: Grouped) -> list[PriorSet]:
    assert spec.privacy.robustness is not None
    sets, labels = spec.privacy.robustness.priors, attribute_labels(spec.privacy)
    keys = [signature_columns(i) for i in range(len(sets))]
    assert spec.columns.attribute is not None
    kind = table.schema[spec.columns.attribute.column].dataType
    counts = dict(zip(grouped.labels, grouped.counts, strict=True))

    def encode(given: DataFrame, prior: PriorSpec, names: tuple[str, ...]) -> DataFrame:
        typed = {name: C.column(name).cast(table.schema[name].dataType) for name in prior.attributes}
        named = given.select(*(column.alias(name) for name, column in typed.items()), *stated(given, kind))
        signed = zip(names, signature_names(named, prior.attributes), strict=True)
        columns = [column.alias(name) for name, column in signed]
        return coded_values(named.select(*columns, C.VALUE, "share"), grouped.values)

    wanted = list(zip(labels, keys, sets, strict=True))
    return priors_of(rows, wanted, encode, counts, lambda computed: computed)
