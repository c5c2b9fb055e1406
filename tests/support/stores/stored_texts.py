"""Releases of one text on any store, made without Spark, and what lies in their place."""

from __future__ import annotations

import hashlib
import tempfile
from typing import Any

from ppdp_spark.run.commit.staging import Staging
from ppdp_spark.run.results import Run, Stages
from ppdp_spark.run.storage import DATA, MANIFEST, PRIVATE, RELEASE, VERDICT, Folder, data_of
from ppdp_spark.run.summary import run_facts
from ppdp_spark.spec import ReleaseSpec
from support.released.text_releases import spec_for, verdict

TABLE = "part-00000.parquet"


def publish(staging: Staging, text: str, status: str = "pass") -> Run:
    """Publish a release of one file that holds the text, with a table kept for the owner."""
    with ((staging.release / DATA).create() / TABLE).writing() as file:
        file.write(text.encode())
    (staging.owned / "kept").create().write_text("table", text)
    facts = run_facts("anonymize", "d", Stages(), staging.run_id)
    summary = {**facts, "spec_fingerprint": "f", "warnings": []}
    files = {f"{DATA}/{TABLE}": hashlib.sha256(text.encode()).hexdigest()}
    return staging.finish(verdict(status), summary, {"content": text, "files": files}, kept=["kept"])


def spec_at(place: str, overwrite: bool = False) -> ReleaseSpec:
    """A spec whose intermediates lie on this machine."""
    return spec_for(place, overwrite).model_copy(update={"scratch": tempfile.gettempdir()})


def published(output: str, text: str) -> Run:
    with Staging.open(spec_at(output, overwrite=True)) as staging:
        return publish(staging, text)


def content(release: Folder) -> str:
    """The text of a release whose manifest and table are of one run."""
    manifest = release.read_json(MANIFEST)
    data = data_of(release, manifest)
    assert {f"{data.name}/{TABLE}": data.digest(TABLE)} == manifest["files"], "a mixture"
    assert data.read_text(TABLE) == manifest["content"]
    return str(manifest["content"])


def state(output: Folder) -> tuple[str | None, str | None]:
    """The content of the release, and that of the release which the verdict is about."""
    release, private = output / RELEASE, output / PRIVATE
    found = content(release) if (release / MANIFEST).exists() else None
    if not (private / VERDICT).exists():
        return found, None
    judged: dict[str, Any] = private.read_json(VERDICT)
    assert judged["run_id"] == private.read_json("summary.json")["run_id"]
    if found is not None and judged["manifest"] != release.digest(MANIFEST):
        return found, "another"
    return found, (private / "kept").read_text("table")
