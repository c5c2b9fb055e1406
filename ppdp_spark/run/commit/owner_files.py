"""The owner's files of a run: written by themselves, and moved to their place with the verdict last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdp_spark.report import render
from ppdp_spark.run.registry import Registry
from ppdp_spark.run.results import Verdict, finite
from ppdp_spark.run.storage import MANIFEST, PRINTED, PRIVATE, RELEASE, REPORT, SUMMARY, VERDICT, Folder

STAGING, RECORD = ".staging-", "record.json"
"""What the folder of a run begins with, and what it tells the registry."""


def write_private(
    folder: Folder, verdict: Verdict, summary: Mapping[str, Any], *, manifest: str | None = None
) -> None:
    """Verdict, summary and report, for the owner's eyes only; the verdict goes first and comes last.

    `manifest` is the digest of the manifest that the verdict is about, if there is a release.
    """
    folder.create(private=True)
    (folder / VERDICT).delete()
    (folder / PRINTED).delete()
    plain, judged = finite(summary), verdict.to_dict()
    stamped = {"run_id": plain["run_id"], "dataset": plain["dataset"], "manifest": manifest, **judged}
    folder.write_json(SUMMARY, plain, private=True)
    folder.write_text(REPORT, render(plain, stamped), private=True)
    folder.write_json(VERDICT, stamped, private=True)


def promote(staged: Folder, private: Folder) -> None:
    """Move the owner's files to their place; the old verdict goes first, the new one comes last."""
    private.create(private=True)
    staged.restrict()
    (private / VERDICT).delete()
    (private / PRINTED).delete()
    for name in sorted(staged.children(), key=lambda name: name == VERDICT):
        (private / name).delete()
        (staged / name).move(private / name)


def complete(output: Folder, staging: Folder) -> bool:
    """Bring the owner's files and the record of a run that crashed after its release was in place.

    Says whether the release that is there is that of the run.
    """
    staged, digest = staging / PRIVATE, (output / RELEASE).digest(MANIFEST)
    own = False
    if (staged / VERDICT).exists() and staged.read_json(VERDICT).get("manifest") == digest:
        promote(staged, output / PRIVATE)
        own = True
    if (staging / RECORD).exists() and (record := staging.read_json(RECORD)).get("manifest") == digest:
        Registry.beside(output).add(record)
        own = True
    return own
