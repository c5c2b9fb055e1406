"""Releases of one text, for tests of staging and registry, and what lies in their place."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.run.commit.staging import Staging
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.summary import run_facts
from ppdp_spark.spec import ReleaseSpec


def spec_for(folder: Path, overwrite: bool = False) -> ReleaseSpec:
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "d",
            "input": {"path": "x.parquet"},
            "columns": {"quasi_identifiers": {"age": {}}},
            "privacy": {"k_anonymity": 2},
            "output": {"path": str(folder), "overwrite": overwrite},
        }
    )


def verdict(status: str = "pass", *, publishable: bool = True) -> Verdict:
    return Verdict((VerdictRow("k_anonymity", "k = 2", 2.0, 2.0, ">=", 1, 0, status),), publishable)


def publish(staging: Staging, text: str, *, judged: Verdict | None = None) -> Run:
    """Publish a release of one file that holds the text, with a table kept for the owner."""
    Path((staging.release / "part").path).write_text(text)
    Path((staging.owned / "kept").create().path, "table").write_text(text)
    facts = run_facts("anonymize", "d", Stages(), staging.run_id)
    summary = {**facts, "spec_fingerprint": "f", "warnings": ["of the spec"]}
    return staging.finish(judged or verdict(), summary, {"content": text}, kept=["kept"])


def published(output: Path, text: str, **more: bool) -> Run:
    with Staging.open(spec_for(output, overwrite=True), **more) as staging:
        return publish(staging, text)


def state(output: Path) -> tuple[str | None, str | None]:
    """The content of the release, and that of the release which the verdict is about.

    The owner's files are one run's, or there is no verdict.
    """
    place = output / "release/release.json"
    found = json.loads(place.read_text())["content"] if place.exists() else None
    private = output / "private"
    if not (private / "verdict.json").exists():
        return found, None
    judged = json.loads((private / "verdict.json").read_text())
    assert judged["run_id"] == json.loads((private / "summary.json").read_text())["run_id"]
    kept = (private / "kept/table").read_text()
    assert judged["manifest"] == hashlib.sha256(manifest_of(kept)).hexdigest()
    return found, kept


def manifest_of(text: str) -> bytes:
    return (json.dumps({"content": text}, indent=2) + "\n").encode()
