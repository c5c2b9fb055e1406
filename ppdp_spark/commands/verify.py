"""`verify`: the verdict of a release, derived again from its files and manifest alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.release.bookkeeping import Conservation, Eligibility, LeastPeople
from ppdp_spark.core.criteria.robustness import RRobustness
from ppdp_spark.core.data.grid import Numbers
from ppdp_spark.core.partition.partitioners import PARTITIONERS, Partitioner
from ppdp_spark.errors import DataError
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.commit.steady_reading import steadily
from ppdp_spark.run.criteria.absent_people import Counts
from ppdp_spark.run.criteria.guarantees import (
    NOTHING,
    criteria_of,
    promises_nothing,
    published_privacy,
    value_labels,
)
from ppdp_spark.run.criteria.knowledge import robust_criterion, unknown_names
from ppdp_spark.run.criteria.population import population_criteria
from ppdp_spark.run.manifest import published_attributes
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.storage import (
    EXTREMA,
    HOUSEHOLDS,
    MANIFEST,
    PRIVATE,
    SENSITIVE_TABLE,
    WEIGHTS,
    Folder,
    data_of,
    table_digests,
)
from ppdp_spark.run.summary import run_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.bounds.printed_bounds import bounds_rows, read_bounds
from ppdp_spark.spark.data.group_scan import reduce_groups
from ppdp_spark.spark.engine.parallel_jobs import all_at_once
from ppdp_spark.spark.judge.grouped_tables import Grouped
from ppdp_spark.spark.judge.households import verified
from ppdp_spark.spark.judge.prior_extrema import ReadExtrema, coded_extrema, digest
from ppdp_spark.spark.parquet.read_folder import read_folder
from ppdp_spark.spark.release.forms import form_in
from ppdp_spark.spark.release.published_tables import PublishedTables
from ppdp_spark.spark.release.several_attributes import judged_release
from ppdp_spark.spark.weights import weighed_groups


@told_plainly
def verify(output: str | Path, *, spark: SparkSession | None = None) -> Run:
    """Check the hashes, the sizes and every criterion of the release in an output folder.

    `output` may also be a release folder by itself, as others receive it.
    """
    root, session = Folder.at(output), session_of(None, spark)
    return steadily(root, lambda release: _verified(release, root, session))


def _verified(release: Folder, root: Folder, session: SparkSession) -> Run:
    stages, manifest = Stages(), release.read_json(MANIFEST)
    published = PublishedTables.at(release, session)
    with stages.stage("hashes"):
        files = files_row(release, manifest)
    with stages.stage("criteria"):
        rows = judge_release(session, release, manifest, owned=root / PRIVATE)
    verdict = Verdict((files, *rows))
    facts = run_facts("verify", manifest["dataset"], stages)
    stated = manifest["rows"]
    counted = {"form": manifest["form"], "rows": stated["published"], "groups": manifest["groups"]}
    counted |= {"written": stated["written"]} if "written" in stated else {}
    return Run(verdict, {**facts, "release": counted}, {"release": str(release)}, published)


def judge_release(
    spark: SparkSession,
    release: Folder,
    manifest: Mapping[str, Any],
    *,
    owned: Folder,
    alone: Callable[[Mapping[str, Numbers]], Mapping[str, int]] | None = None,
    absent: Callable[[Counts], list[VerdictRow]] | None = None,
) -> list[VerdictRow]:
    """Every criterion of the manifest, the number of rows and groups, and the bounds, from the data files.

    Robustness is about priors of people, and k in households about who belongs together, which a release
    does not show, and it may not show weights: `owned` has the owner's tables of them. Nor does it show whose
    value is unique: `alone` counts, by quasi-identifier, those among some values that one person of the
    original has. `absent` says what the published counts tell of people who are left out.
    """
    partitioner, privacy = _partitioner(manifest), published_privacy(manifest["privacy"])
    bounds = partial(_bounds, spark, release, manifest, alone)
    read = partial(form_in(manifest).read, spark, data_of(release, manifest), manifest)
    scans: list[Callable[[], Any]] = [bounds]
    if len(published_attributes(manifest)) > 1:
        scans.append(partial(judged_release, spark, release, manifest))
        printed, judged = all_at_once(spark, scans)
        return [*judged, *printed, *_weighed(spark, release, manifest, read, owned)]
    scans.append(partial(_judged_groups, read, manifest, partitioner))
    rows: list[VerdictRow]
    printed, (grouped, rows) = all_at_once(spark, scans)
    domain = grouped.domain
    if str(manifest.get("version", "")).startswith(_NAMES_UNCHECKED):
        rows += [_unprotected(name) for name in unknown_names(privacy, domain)]
    if (together := manifest.get("households")) is not None:
        know = together.get("members_know_each_other") is True
        rows += verified(privacy, grouped, domain, owned / HOUSEHOLDS, members_know=know)
    rows += _weighed(spark, release, manifest, lambda: grouped, owned)
    rows += printed
    if absent is not None:
        rows += absent(dict(zip(grouped.values, grouped.counts, strict=True)))
    robust = robust_criterion(privacy, domain, published=partitioner.each_value_once)
    return rows if robust is None else rows + _robustness(spark, robust, grouped, owned / EXTREMA)


def _judged_groups(
    read: Callable[[], Grouped], manifest: Mapping[str, Any], partitioner: Partitioner
) -> tuple[Grouped, list[VerdictRow]]:
    """The groups of a release, and the verdict of the criteria that need nothing else."""
    grouped, privacy = read(), published_privacy(manifest["privacy"])
    domain, stated = grouped.domain, manifest["rows"]
    criteria = criteria_of(privacy, domain)
    conserved = Conservation(stated["published"], manifest["groups"], stated.get("written"))
    suppressed = manifest.get("suppression")
    eligible = [Eligibility.stated(suppressed, domain.protected)] if suppressed else []
    least = _least_people(manifest) if partitioner.blind else []
    rows = grouped.judge([*criteria, *least, *eligible, conserved])
    return grouped, rows + ([NOTHING] if promises_nothing(privacy, criteria, domain) else [])


def _weighed(
    spark: SparkSession,
    release: Folder,
    manifest: Mapping[str, Any],
    read: Callable[[], Grouped],
    owned: Folder,
) -> list[VerdictRow]:
    """What weights say of the groups of a release; nothing of one without weights that demands nothing.

    The groups are read where there are weights, and not elsewhere.
    """
    privacy = published_privacy(manifest["privacy"])
    if "weights" not in manifest:
        return [one.unknown("the manifest knows of no weights") for one in population_criteria(privacy)]
    form, stated, data = form_in(manifest), manifest["weights"], data_of(release, manifest)
    shown = form.as_attack_source(spark, data, SENSITIVE_TABLE).people if stated["publish"] else None
    apart = form.traits.codes_published
    return weighed_groups.verified(privacy, stated, shown, read(), owned / WEIGHTS, told_apart=apart)


def _bounds(
    spark: SparkSession,
    release: Folder,
    manifest: Mapping[str, Any],
    alone: Callable[[Mapping[str, Numbers]], Mapping[str, int]] | None,
) -> list[VerdictRow]:
    """Where published ranges end, and whose values they print; nothing of a release that has no ranges."""
    if "bounds" not in manifest:
        return []
    printed = read_bounds(spark, data_of(release, manifest), manifest["columns"]["ranges"])
    return bounds_rows(printed, manifest["bounds"], manifest["groups"], alone)


def _partitioner(manifest: Mapping[str, Any]) -> Partitioner:
    """What made the groups of a release."""
    name = str(manifest.get("partitioner", "mondrian"))
    if name not in PARTITIONERS:
        known = ", ".join(PARTITIONERS)
        raise DataError(f"`partitioner` in {MANIFEST} is none of {known}: was it made by a newer version?")
    return PARTITIONERS[name]


def _least_people(manifest: Mapping[str, Any]) -> list[LeastPeople]:
    """That blind groups have the least size they are said to have."""
    stated = manifest.get("blind")
    if not isinstance(stated, Mapping) or not isinstance(stated.get("least_size"), int):
        raise DataError(f"`blind` in {MANIFEST} does not state the least size of the groups")
    return [LeastPeople(stated["least_size"], str(stated.get("chosen")))]


def _unprotected(name: str) -> VerdictRow:
    """A value that the spec protects and nobody has: in an old release perhaps one that was misspelt."""
    return VerdictRow("named_values", f"σ = {name} occurs", 0.0, 1.0, ">=", 0, 1, "fail")


_NAMES_UNCHECKED = "0.1."
"""Versions that did not check the names in `skyline.values`; later ones do before they publish."""


def _robustness(
    spark: SparkSession, robust: RRobustness, grouped: Grouped, extrema: Folder
) -> list[VerdictRow]:
    """The verdict on robustness from counts and the owner's prior extrema; without those it fails."""
    if not extrema.exists():
        return [_unverified(robust, "the owner's prior extrema are not there")]
    sets = len(robust.attribute_sets)
    files = None if grouped.files is None else grouped.files.with_extrema(extrema, sets)
    together = None if files is None else files.reduce([robust], grouped.width)
    if together is not None:
        return value_labels(robust.decide(together[0]), grouped.labels)
    owned = read_folder(spark, extrema)
    if digest(owned) != digest(grouped.pairs()):
        return [_unverified(robust, "the owner's prior extrema are not those of this release")]
    coded = coded_extrema(owned, grouped.values, sets)
    (found,) = reduce_groups(coded, [robust], ReadExtrema(grouped.width, sets))
    return value_labels(robust.decide(found), grouped.labels)


def _unverified(robust: RRobustness, reason: str) -> VerdictRow:
    return VerdictRow(
        robust.name, robust.level, None, robust.threshold, robust.relation, 0, 1, "fail", {"reason": reason}
    )


def files_row(release: Folder, manifest: Mapping[str, Any]) -> VerdictRow:
    """Whether the data files are exactly those of the manifest."""
    if "files" not in manifest:
        raise DataError(f"{MANIFEST} lists no files: it is not the manifest of a finished release")
    expected, found = manifest["files"], table_digests(release, manifest)
    wrong = sum(found.get(name) != digest for name, digest in expected.items())
    wrong += sum(name not in expected for name in found)
    status = "fail" if wrong else "pass"
    return VerdictRow("files", "SHA-256 as in the manifest", float(wrong), 0.0, "<=", 0, wrong, status)
