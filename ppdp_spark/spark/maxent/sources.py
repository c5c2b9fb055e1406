"""Releases to attack: ours in every form, and tables of groups made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.data.value_names import Sensitivity, ValueDomain
from ppdp_spark.core.maxent.statements.codes import TEXT
from ppdp_spark.errors import DataError
from ppdp_spark.run.manifest import known_attributes, published_attributes
from ppdp_spark.run.storage import Folder, data_of, value_tables
from ppdp_spark.spark.data.profile import labels_of
from ppdp_spark.spark.data.sameness import text_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.versions import from_arrow, to_arrow
from ppdp_spark.spark.judge.counts import group_names
from ppdp_spark.spark.judge.grouped_tables import value_counts, with_codes
from ppdp_spark.spark.maxent.buckets import GROUP, Source, canonical, cells_of_people, kinds_of, tuple_names
from ppdp_spark.spark.release.forms import form_in
from ppdp_spark.spec.messages import excerpt

if TYPE_CHECKING:
    from ppdp_spark.spec import ColumnsSpec


def attacked_attribute(manifest: Mapping[str, Any], chosen: str | None) -> int | None:
    """Which of the sensitive attributes of a release is attacked: the one there is, or is chosen by name.

    Published independently, they tell nothing about each other, so that the others need not be looked at.
    """
    names = [attribute["column"] for attribute in published_attributes(manifest)]
    if known_attributes(manifest):
        raise DataError(
            "the sensitive attributes of the release are linked, and `attack` does not look at what one "
            "tells of another: `ppdp verify` judges each for whoever knows others"
        )
    if chosen is None and len(names) > 1:
        raise DataError(
            f"the release has {len(names)} sensitive attributes, and `attack` is for one: name it in "
            "`attack.sensitive`"
        )
    if chosen is not None and chosen not in names:
        raise DataError(f"`attack.sensitive` ({excerpt(chosen)}) is not a sensitive column of the release")
    return names.index(chosen) if chosen is not None else 0 if names else None


def release_source(
    spark: SparkSession, release: Folder, manifest: Mapping[str, Any], chosen: str | None = None
) -> Source:
    """A release of ours; where it describes groups, each is one tuple of labels.

    `chosen` is the sensitive attribute that is attacked, if there are several.
    """
    place, declared = attacked_attribute(manifest, chosen), published_attributes(manifest)
    sensitive = None if place is None else declared[place]
    if place is None or sensitive is None or sensitive["case"] != "svpi":
        raise DataError(
            "the release has no sensitive column with one value per person: there is nothing to infer"
        )
    form, names = form_in(manifest), base_names(manifest["columns"])
    shown = form.as_attack_source(spark, data_of(release, manifest), value_tables(len(declared))[place])
    described = not form.traits.codes_published
    kinds = dict.fromkeys(names, TEXT) if described else kinds_of(shown.people, names)
    source = _source(
        form.traits.name,
        shown.people,
        shown.held,
        group=C.GROUP_ID,
        kinds=kinds,
        sensitive=sensitive,
    )
    return replace(source, exact=not described, described=described)


def table_source(table: DataFrame, columns: ColumnsSpec) -> Source:
    """Any table of people with a group column: which value stands beside whom is not used."""
    assert columns.group is not None and columns.attribute is not None
    names = list(columns.quasi_identifiers)
    held = table.select(C.column(columns.group), C.column(columns.attribute.column), F.lit(1).alias(C.COUNT))
    kinds, sensitive = kinds_of(table, names), columns.attribute.model_dump()
    return _source("table", table, held, group=columns.group, kinds=kinds, sensitive=sensitive)


def base_names(columns: Mapping[str, Any]) -> list[str]:
    """The quasi-identifiers of a manifest: of an ordered one only the label, not its two bounds."""
    names, found, at = columns["quasi_identifiers"], [], 0
    while at < len(names):
        found.append(names[at])
        at += 3 if names[at] in columns["ranges"] else 1
    return found


def _source(
    kind: str,
    people: DataFrame,
    held: DataFrame,
    *,
    group: str,
    kinds: Mapping[str, str],
    sensitive: Mapping[str, Any],
) -> Source:
    """People and values by group, under the names that tasks use; `sensitive` is the declared attribute."""
    name = sensitive["column"]
    shown = people.select(*_group(people, group), *canonical(people, kinds))
    named = shown.select(*GROUP, *tuple_names(kinds), *(C.code(j) for j in range(len(kinds))))
    texts = held.select(
        *_group(held, group),
        text_of(C.column(name), held.schema[name].dataType).alias(C.VALUE),
        C.column(C.COUNT).cast("bigint").alias(C.COUNT),
    )
    values, counts = value_counts(texts.select(C.VALUE, C.COUNT), held.schema[name].dataType)
    cells = cells_of_people(named, len(kinds))
    typed, about = held.schema[name].dataType.simpleString(), Sensitivity.declared(sensitive)
    domain = ValueDomain(labels_of(values), counts, kind=typed, sensitivity=about)
    return Source(kind, cells, texts, dict(kinds), values, domain=domain)


def _group(table: DataFrame, group: str) -> list[Any]:
    names = group_names(
        {group: C.column(group)}, {group: table.schema[group].dataType}, len(GROUP), as_printed=True
    )
    return [name.alias(alias) for name, alias in zip(names, GROUP, strict=True)]


def group_pairs(table: DataFrame, group: str, wanted: Sequence[Any]) -> list[tuple[int, int]]:
    """The two numbers of groups that a spec names, as the table names its own."""
    texts = pa.table({group: pa.array([_text(value) for value in wanted], pa.string())})
    kind = table.schema[group].dataType
    typed = F.expr(f"try_cast({C.quoted(group)} AS {kind.simpleString()})").alias(group)
    asked = from_arrow(table.sparkSession, texts).select(typed)
    found = to_arrow(asked.select(*_group(asked, group)))
    return list(zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def original_counts(table: DataFrame, source: Source, sensitive: str) -> DataFrame:
    """People of the original by tuple and value: `t1, t2`, `q0, q1, …`, `value` (code) and `count`.

    A value that the release lacks has the code −1.
    """
    kinds = source.attributes
    lacking = [name for name in (*kinds, sensitive) if name not in table.columns]
    if lacking:
        raise DataError([f"`attack.original`: the table has no column `{name}`" for name in lacking])
    differing = [name for name, kind in kinds_of(table, list(kinds)).items() if kind != kinds[name]]
    if differing:
        raise DataError(
            [f"`attack.original`: `{name}` is not of the same type as in the release" for name in differing]
        )
    text = text_of(C.column(sensitive), table.schema[sensitive].dataType).alias(C.VALUE)
    codes = [C.code(j) for j in range(len(kinds))]
    shown = table.select(*canonical(table, kinds), text)
    counted = shown.groupBy(*codes, C.VALUE).agg(F.count(F.lit(1)).alias(C.COUNT))
    code = F.coalesce(F.col(C.SENSITIVE), F.lit(-1)).alias(C.VALUE)
    coded = with_codes(counted, source.values).select(*tuple_names(kinds), *codes, code, C.COUNT)
    return coded.groupBy("t1", "t2", *codes, C.VALUE).agg(F.sum(C.COUNT).alias(C.COUNT))
