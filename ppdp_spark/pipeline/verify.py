"""`verify`: the verdict of a release, derived again from its files and manifest alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.conservation import Conservation
from ppdp_spark.core.criteria.eligibility import Eligibility
from ppdp_spark.errors import DataError
from ppdp_spark.guarantees import criteria_of
from ppdp_spark.pipeline.failures import told_plainly
from ppdp_spark.pipeline.session import session_of
from ppdp_spark.results import Run, Stages, Verdict
from ppdp_spark.spark.released import read_release
from ppdp_spark.spec import Privacy
from ppdp_spark.storage import MANIFEST, RELEASE, Folder, table_digests
from ppdp_spark.summary import run_facts


@told_plainly
def verify(output: str | Path, *, spark: SparkSession | None = None) -> Run:
    """Check the hashes, the sizes and every criterion of the release in an output folder."""
    stages = Stages()
    root = Folder.at(output)
    release = root / RELEASE if (root / RELEASE).exists() else root
    manifest = release.read_json(MANIFEST)
    with stages.stage("hashes"):
        files = _files_row(release, manifest)
    with stages.stage("criteria"):
        rows = judge_release(session_of(None, spark), release, manifest)
    verdict = Verdict((files, *rows))
    facts = run_facts("verify", manifest["dataset"], stages)
    counted = {"form": manifest["form"], "rows": manifest["rows"]["published"], "groups": manifest["groups"]}
    return Run(verdict, {**facts, "release": counted}, {"release": str(release)})


def judge_release(spark: SparkSession, release: Folder, manifest: Mapping[str, Any]) -> list[VerdictRow]:
    """Every criterion of the manifest, and the number of rows and groups, from the data files."""
    grouped = read_release(spark, release, manifest)
    privacy = Privacy.model_validate(manifest["privacy"])
    criteria = criteria_of(privacy, labels=grouped.labels, counts=grouped.counts, case=grouped.case or "svpi")
    conserved = Conservation(manifest["rows"]["published"], manifest["groups"])
    suppressed = manifest.get("suppression")
    eligible = [Eligibility(suppressed["l"], suppressed["total"])] if suppressed else []
    return grouped.judge([*criteria, *eligible, conserved])


def _files_row(release: Folder, manifest: Mapping[str, Any]) -> VerdictRow:
    """Whether the data files are exactly those of the manifest."""
    if "files" not in manifest:
        raise DataError(f"{MANIFEST} lists no files: it is not the manifest of a finished release")
    expected, found = manifest["files"], table_digests(release)
    wrong = sum(found.get(name) != digest for name, digest in expected.items())
    wrong += sum(name not in expected for name in found)
    status = "fail" if wrong else "pass"
    return VerdictRow("files", "SHA-256 as in the manifest", float(wrong), 0.0, "<=", 0, wrong, status)
