"""A release of several sensitive attributes judged from its files: each by itself, and what could link them.

Where the attributes of a group are published independently, each has to satisfy its criteria by itself; that
nothing links them is part of the verdict. Where rows keep them together, each has to satisfy its criteria in
every cell of what somebody may know of the others. Commands that measure what a release tells read the same
cells, of one attribute or of several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import Criterion, VerdictRow
from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.criteria.release.bookkeeping import Conservation, Eligibility
from ppdp_spark.core.data.value_names import Sensitivity
from ppdp_spark.errors import DataError
from ppdp_spark.run.criteria.guarantees import measured_criteria, published_privacy
from ppdp_spark.run.criteria.several_attributes import (
    criteria_of_groups,
    criteria_of_values,
    known_beside,
    labelled,
    unprotected,
)
from ppdp_spark.run.manifest import known_attributes, published_attributes
from ppdp_spark.run.storage import MANIFEST, Folder, data_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.parallel_jobs import all_at_once
from ppdp_spark.spark.judge.grouped_tables import Grouped, counted_groups
from ppdp_spark.spark.judge.value_order import out_of_order, unlinked_row
from ppdp_spark.spark.release.forms import form_in
from ppdp_spark.spec import PrivacySpec


def judged_release(spark: SparkSession, release: Folder, manifest: Mapping[str, Any]) -> list[VerdictRow]:
    """Every criterion of the manifest for each attribute, and the order of what is published unlinked."""
    if known_attributes(manifest):
        return _judged_linked(spark, data_of(release, manifest), manifest)
    form, data = form_in(manifest), data_of(release, manifest)
    privacy = published_privacy(manifest["privacy"])
    names = [attribute["column"] for attribute in published_attributes(manifest)]
    reading = [partial(form.read, spark, data, manifest, place) for place in range(len(names))]
    read = dict(zip(names, all_at_once(spark, reading), strict=True))
    domains = {name: grouped.domain for name, grouped in read.items()}
    conserved = Conservation(manifest["rows"]["published"], manifest["groups"])
    of_groups = criteria_of_groups(privacy, domains)
    scans: list[Callable[[], list[VerdictRow]]] = []
    for place, (name, grouped) in enumerate(read.items()):
        own = [
            *criteria_of_values(privacy, name, grouped.domain),
            *_eligible(manifest, name, grouped),
            conserved,
        ]
        scans.append(partial(_judged, grouped, () if place else of_groups, own, name))
    ordered = form.ordered(data, names)
    scans += [partial(_in_order, spark, *each, read, manifest["groups"]) for each in ordered]
    found = all_at_once(spark, scans)
    judged = [row for rows in found[: len(names)] for row in rows]
    orders = [row for rows in found[len(names) :] for row in rows]
    wrong = sum(row.violations for row in orders)
    return [*unprotected(privacy, domains), *judged, unlinked_row(wrong, manifest["groups"])]


def _judged_linked(spark: SparkSession, data: Folder, manifest: Mapping[str, Any]) -> list[VerdictRow]:
    """Criteria of groups in groups, those of each attribute in the cells of what is known beside it."""
    form, privacy = form_in(manifest), published_privacy(manifest["privacy"])
    known = known_attributes(manifest)
    _require_linkable(manifest)
    names = [attribute["column"] for attribute in published_attributes(manifest)]
    groups, read = form.read(spark, data, manifest), linked_cells(spark, data, manifest)
    domains = {name: grouped.domain for name, grouped in read.items()}
    conserved = Conservation(manifest["rows"]["published"], manifest["groups"])
    scans: list[Callable[[], list[VerdictRow]]] = [
        partial(groups.judge, [*criteria_of_groups(privacy, domains), conserved])
    ]
    scans += [
        partial(
            grouped.judge,
            [*criteria_of_values(privacy, name, grouped.domain), *_eligible(manifest, name, grouped)],
        )
        for name, grouped in read.items()
    ]
    shared, *own = all_at_once(spark, scans)
    told = [labelled(rows, name, known_beside(name, known)) for name, rows in zip(names, own, strict=True)]
    return [*unprotected(privacy, domains), *shared, *(row for rows in told for row in rows)]


def _require_linkable(manifest: Mapping[str, Any]) -> None:
    """`DataError` where a manifest says what is not defined for linked attributes: no spec of ours does."""
    if any(Sensitivity.declared(attribute) is not None for attribute in published_attributes(manifest)):
        raise DataError(
            f"`sensitive` in {MANIFEST} says that some values need no protection, which is not defined where "
            "sensitive attributes are linked"
        )
    for said in ("weights", "households"):
        if said in manifest:
            raise DataError(f"`{said}` in {MANIFEST} is not defined where sensitive attributes are linked")
    if form_in(manifest).traits.of_rows:
        raise DataError(f"`form` in {MANIFEST} is not defined where sensitive attributes are linked")


def _eligible(manifest: Mapping[str, Any], attribute: str, grouped: Grouped) -> list[Eligibility]:
    """What suppression says of the attribute that decided which rows went."""
    suppressed = manifest.get("suppression")
    if not suppressed:
        return []
    names = [each["column"] for each in published_attributes(manifest)]
    if suppressed.get("attribute") not in names:
        raise DataError(f"`suppression` in {MANIFEST} does not say which sensitive attribute decided")
    if suppressed["attribute"] != attribute:
        return []
    return [Eligibility.stated(suppressed, grouped.domain.protected)]


def _judged(
    grouped: Grouped, of_groups: Sequence[Criterion[Any]], own: Sequence[Criterion[Any]], attribute: str
) -> list[VerdictRow]:
    """Criteria of groups and of one attribute in one scan; rows about the attribute say so."""
    statistics = grouped.reduce([*of_groups, *own])
    shared = [c.decide(each) for c, each in zip(of_groups, statistics, strict=False)]
    alone = [c.decide(each) for c, each in zip(own, statistics[len(of_groups) :], strict=True)]
    return [row for rows in shared for row in rows] + labelled([r for rows in alone for r in rows], attribute)


def _in_order(
    spark: SparkSession, folder: Folder, columns: Sequence[str], read: Mapping[str, Grouped], groups: int
) -> list[VerdictRow]:
    """The order of the values in one table."""
    wrong = out_of_order(spark, folder, {column: read[column].values for column in columns})
    return [unlinked_row(wrong, groups)]


def released_cells(spark: SparkSession, release: Folder, manifest: Mapping[str, Any]) -> dict[str, Grouped]:
    """The groups of each sensitive attribute, or their cells where it is published side by side with others.

    A release without a sensitive attribute has its groups under an empty name.
    """
    form, data = form_in(manifest), data_of(release, manifest)
    names = [attribute["column"] for attribute in published_attributes(manifest)]
    if known_attributes(manifest):
        return linked_cells(spark, data, manifest)
    if not names:
        return {"": form.read(spark, data, manifest)}
    reading = [partial(form.read, spark, data, manifest, place) for place in range(len(names))]
    return dict(zip(names, all_at_once(spark, reading), strict=True))


def linked_cells(spark: SparkSession, data: Folder, manifest: Mapping[str, Any]) -> dict[str, Grouped]:
    """The cells of each linked attribute: its groups, divided by what somebody may know beside it."""
    known = known_attributes(manifest)
    names = [attribute["column"] for attribute in published_attributes(manifest)]
    held = {name: C.sensitive(place) for place, name in enumerate(names)}
    records: DataFrame = form_in(manifest).records(spark, data, held)

    def cells(attribute: str) -> Grouped:
        keys = [C.GROUP_ID, *(held[name] for name in known_beside(attribute, known))]
        one = {"column": held[attribute], "case": "svpi"}
        named = {f"key{i}": F.col(key) for i, key in enumerate(keys)}
        return counted_groups(records, named, one, people=F.col(C.COUNT))

    found = all_at_once(spark, [partial(cells, name) for name in names])
    return dict(zip(names, found, strict=True))


def measured_rows(
    cells: Mapping[str, Grouped], privacy: PrivacySpec, known: Sequence[str]
) -> list[VerdictRow]:
    """What a release achieves in every criterion that nobody demanded."""
    if len(cells) == 1:
        (grouped,) = cells.values()
        return grouped.judge(measured_criteria(privacy, grouped.domain))
    of_groups = {name for family in families() if not family.traits.sensitive for name in family.names}
    rows: list[VerdictRow] = []
    for name, grouped in cells.items():
        unasked = measured_criteria(privacy.of_attribute(name), grouped.domain)
        asked = [criterion for criterion in unasked if criterion.name not in of_groups]
        rows += labelled(grouped.judge(asked), name, known_beside(name, known))
    return rows
