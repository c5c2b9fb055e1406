"""Write, audit, publish: a run works in a folder of its own and commits by renaming.

Everything a run leaves, the owner's files included, is written before the first rename: a full disk
or a crash cannot come between a release and its verdict. A verdict names the manifest it judges, and no
verdict lies beside a release of another run at any moment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

from pyspark.sql import DataFrame

from ppdp_spark.errors import DataError, InfeasibleError
from ppdp_spark.report import render
from ppdp_spark.run.claim import BEAT, Claim
from ppdp_spark.run.registry import Registry, record_of
from ppdp_spark.run.results import Run, Verdict, finite
from ppdp_spark.run.storage import (
    MANIFEST,
    PRINTED,
    PRIVATE,
    RELEASE,
    REPORT,
    SUMMARY,
    VERDICT,
    Folder,
    require_room,
)
from ppdp_spark.run.summary import new_run_id
from ppdp_spark.spec import ReleaseSpec

log = logging.getLogger(__name__)

_STAGING, _REPLACED, _DISCARDED = ".staging-", ".replaced-", ".discarded-"
_RECORD = "record.json"


@dataclass(frozen=True)
class Staging:
    """The output folder of a run and the run's own folder inside it.

    where
        claim    what keeps other runs away from the output
        trial    whether the release is for choosing only, and not entered in the registry
        scratch  raw intermediates; gone when the run ends, however it ends
        release  what will be published if the verdict passes
        private  what the owner will find beside it
    """

    output: Folder
    run_id: str
    claim: Claim
    trial: bool = False

    @property
    def folder(self) -> Folder:
        return self.output / f"{_STAGING}{self.run_id}"

    @property
    def scratch(self) -> Folder:
        return self.folder / "scratch"

    @property
    def release(self) -> Folder:
        return self.folder / RELEASE

    @property
    def private(self) -> Folder:
        return self.folder / PRIVATE

    @classmethod
    @contextmanager
    def open(cls, spec: ReleaseSpec, *, trial: bool = False) -> Iterator[Staging]:
        """A fresh run folder below `output.path`; refuses to replace a release unless told to.

        One run at a time has an output: a second one gets a `BusyError` and touches nothing.
        """
        assert spec.output.path is not None
        output, run_id = Folder.at(spec.output.path), new_run_id()
        with Claim.held(output, run_id) as claim:
            recover(output)
            if not spec.output.overwrite:
                require_room(spec.output.path)
            staging = cls(output, run_id, claim, trial)
            try:
                staging.folder.create(private=True)
                staging.scratch.create(private=True)
                staging.release.create()
                yield staging
            finally:
                try:
                    staging.folder.delete()
                except OSError:
                    log.warning("`%s` could not be removed; the next run will try again", staging.folder)

    def saver(self, name: str) -> Callable[[DataFrame], DataFrame]:
        """Writes a table to scratch and reads it back, so that nothing is computed twice."""
        numbers = count(1)

        def save(table: DataFrame) -> DataFrame:
            folder = self.scratch / f"{name}-{next(numbers)}"
            table.write.parquet(str(folder))
            return table.sparkSession.read.schema(table.schema).parquet(folder.literal)

        return save

    def finish(
        self,
        verdict: Verdict,
        summary: Mapping[str, Any],
        manifest: Mapping[str, Any],
        *,
        kept: Sequence[str] = (),
    ) -> Run:
        """Publish if the verdict passes; otherwise say why and leave the earlier release alone.

        `kept` are scratch tables that the owner needs to verify the release again.
        """
        if not verdict.ok:
            self.fail(verdict, summary)
            failing = ", ".join(row.criterion for row in verdict.failures)
            raise InfeasibleError(f"the written release does not verify ({failing}): nothing was published")
        self.release.write_json(MANIFEST, manifest)
        digest = self.release.digest(MANIFEST)
        record, registry = None, Registry.beside(self.output)
        if verdict.publishable and not self.trial:
            record = record_of(summary, self.output, digest)
            summary = _warned(summary, registry.warnings(record))
            self.folder.write_json(_RECORD, record)
        write_private(self.private, verdict, summary, manifest=digest)
        for name in kept:
            (self.scratch / name).move(self.private / name)
        self._commit()
        unwritten = registry.enter(record) if record is not None else []
        if unwritten:
            summary = _warned(summary, unwritten)
            write_private(self.output / PRIVATE, verdict, summary, manifest=digest)
        return Run(verdict, summary, {"release": str(self.output / RELEASE), **_paths(self.output / PRIVATE)})

    def keep(self, name: str, verdict: Verdict, summary: Mapping[str, Any]) -> Run:
        """Move a scratch table to the owner's private folder, with its verdict."""
        write_private(self.private, verdict, summary)
        (self.scratch / name).move(self.private / name)
        self.claim.require()
        promote(self.private, self.output / PRIVATE)
        private = self.output / PRIVATE
        return Run(verdict, summary, {name: str(private / name), **_paths(private)})

    def fail(self, verdict: Verdict, summary: Mapping[str, Any]) -> None:
        """Write the verdict of a run that publishes nothing."""
        self.claim.require()
        write_private(self.output / PRIVATE, verdict, summary)

    def _commit(self) -> None:
        """Swap release and verdict by renames; a crash between them is mended by the next run.

        A run that was taken for dead after it looked at its claim finds that its folder is gone: the
        rename fails, and the release of the others comes back.
        """
        self.claim.require()
        current, aside = self.output / RELEASE, self.output / f"{_REPLACED}{self.run_id}"
        verdict = self.output / PRIVATE / VERDICT
        if current.exists():
            current.move(aside)
            if verdict.exists():
                verdict.move(aside / VERDICT)
        verdict.delete()
        try:
            self.release.move(current)
        except OSError:
            restore(self.output, aside)
            self.claim.require()
            raise
        promote(self.private, self.output / PRIVATE)
        aside.delete()


def recover(output: Folder) -> None:
    """Mend what crashed runs left: a release set aside comes back, a commit is completed, the rest goes.

    For the run that has the claim on the output: whatever else lies there has no living owner.
    """
    names = output.children()
    for name in names:
        if name.startswith(_REPLACED):
            restore(output, output / name)
        elif name.startswith((_DISCARDED, BEAT)):
            (output / name).delete()
    for name in names:
        if name.startswith(_STAGING):
            with suppress(DataError, OSError):
                _complete(output, output / name)
            # Out of its place in one step: its run, should it be alive after all, cannot commit half of it.
            discarded = output / f"{_DISCARDED}{name.removeprefix(_STAGING)}"
            (output / name).move(discarded)
            discarded.delete()


def restore(output: Folder, aside: Folder) -> None:
    """Put back a release that was set aside, with its verdict, unless a whole one took its place."""
    if not aside.exists():
        return
    if (output / RELEASE / MANIFEST).exists():
        aside.delete()
        return
    (output / RELEASE).delete()
    if (aside / VERDICT).exists():
        (output / PRIVATE / VERDICT).delete()
        (aside / VERDICT).move(output / PRIVATE / VERDICT)
    aside.move(output / RELEASE)


def _complete(output: Folder, staging: Folder) -> None:
    """Bring the owner's files and the record of a run that crashed after its release was in place."""
    if (staging / RELEASE).exists():
        return
    staged, digest = staging / PRIVATE, (output / RELEASE).digest(MANIFEST)
    if (staged / VERDICT).exists() and staged.read_json(VERDICT).get("manifest") == digest:
        promote(staged, output / PRIVATE)
    if (staging / _RECORD).exists() and (record := staging.read_json(_RECORD)).get("manifest") == digest:
        Registry.beside(output).add(record)


def promote(staged: Folder, private: Folder) -> None:
    """Move the owner's files to their place; the old verdict goes first, the new one comes last."""
    private.create(private=True)
    staged.restrict()
    (private / VERDICT).delete()
    (private / PRINTED).delete()
    for name in sorted(staged.children(), key=lambda name: name == VERDICT):
        (private / name).delete()
        (staged / name).move(private / name)


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


def _paths(private: Folder) -> dict[str, str]:
    named = {"verdict": VERDICT, "summary": SUMMARY, "report": REPORT}
    return {key: str(private / name) for key, name in named.items()}


def _warned(summary: Mapping[str, Any], warnings: Sequence[str]) -> dict[str, Any]:
    return {**summary, "warnings": [*summary.get("warnings", ()), *warnings]}


def write_findings(spec: ReleaseSpec, command: str, verdict: Verdict, summary: Mapping[str, Any]) -> Run:
    """The result of a command that publishes nothing; written below `private/` if there is an output."""
    if spec.output.path is None:
        return Run(verdict, summary, {})
    folder = (Folder.at(spec.output.path) / PRIVATE).create(private=True) / command
    with Claim.held(folder, summary["run_id"]):
        write_private(folder, verdict, summary)
    return Run(verdict, summary, _paths(folder))
