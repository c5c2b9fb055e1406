"""Write, audit, publish: a run works in a folder of its own, and a release takes its place at once.

Everything a run leaves, the owner's files included, is written before the first step of its commit: a
full disk or a crash cannot come between a release and its verdict. A verdict names the manifest it
judges, and no verdict lies beside a release of another run at any moment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from typing import Any

from pyspark.sql import DataFrame

from ppdp_spark.errors import InfeasibleError
from ppdp_spark.run.claim import Claim
from ppdp_spark.run.commit.commits import Commit, commit_of, located
from ppdp_spark.run.commit.owner_files import RECORD, STAGING, promote, write_private
from ppdp_spark.run.registry import Registry, record_of
from ppdp_spark.run.results import Run, Verdict
from ppdp_spark.run.scratch import ELSEWHERE, removed, scratch_elsewhere
from ppdp_spark.run.storage import (
    MANIFEST,
    PRIVATE,
    RELEASE,
    REPORT,
    SUMMARY,
    VERDICT,
    Folder,
    json_text,
    require_room,
)
from ppdp_spark.run.summary import new_run_id
from ppdp_spark.spec import ReleaseSpec

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Staging:
    """The output folder of a run and the run's own folder inside it.

    where
        claim    what keeps other runs away from the output
        commit   how a release takes the place of the former one there
        trial    whether the release is for choosing only, and not entered in the registry
        scratch  raw intermediates; gone when the run ends, however it ends
        release  what will be published if the verdict passes
        owned    tables that the owner will need, once there is a release
        private  what the owner will find beside it
    """

    output: Folder
    run_id: str
    claim: Claim
    commit: Commit
    scratch: Folder
    trial: bool = False

    @property
    def folder(self) -> Folder:
        return self.output / f"{STAGING}{self.run_id}"

    @property
    def release(self) -> Folder:
        return self.folder / RELEASE

    @property
    def owned(self) -> Folder:
        return self.folder / "owned"

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
            commit = commit_of(output, claim)
            if not spec.output.overwrite:
                require_room(spec.output.path)
            staging = cls(output, run_id, claim, commit, _scratch(spec, output, run_id), trial)
            try:
                staging.folder.create(private=True)
                if staging.scratch.parent != staging.folder:
                    staging.folder.write_json(ELSEWHERE, {"folder": str(staging.scratch)})
                staging.scratch.create(private=True)
                staging.release.create()
                yield staging
            finally:
                if staging.scratch.parent != staging.folder:
                    removed(staging.scratch)
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

        `kept` are tables in `owned` that the owner needs to verify the release again.
        """
        if not verdict.ok:
            self.fail(verdict, summary)
            failing = ", ".join(row.criterion for row in verdict.failures)
            raise InfeasibleError(f"the written release does not verify ({failing}): nothing was published")
        self.release.write_json(MANIFEST, located(manifest, self.commit.data))
        digest = self.release.digest(MANIFEST)
        record, registry = None, Registry.beside(self.output)
        if verdict.publishable and not self.trial:
            content = sha256(json_text(manifest).encode()).hexdigest()
            record = record_of(summary, self.output, digest, content)
            summary = _warned(summary, registry.warnings(record))
            self.folder.write_json(RECORD, record)
        write_private(self.private, verdict, summary, manifest=digest)
        for name in kept:
            (self.owned / name).move(self.private / name)
        self.commit.publish(self.release, self.private)
        unwritten = registry.enter(record) if record is not None else []
        if unwritten:
            summary = _warned(summary, unwritten)
            write_private(self.output / PRIVATE, verdict, summary, manifest=digest)
        return Run(verdict, summary, {"release": str(self.output / RELEASE), **_paths(self.output / PRIVATE)})

    def keep(self, name: str, verdict: Verdict, summary: Mapping[str, Any]) -> Run:
        """Move a table in `owned` to the owner's private folder, with its verdict."""
        write_private(self.private, verdict, summary)
        (self.owned / name).move(self.private / name)
        self.claim.require()
        promote(self.private, self.output / PRIVATE)
        private = self.output / PRIVATE
        return Run(verdict, summary, {name: str(private / name), **_paths(private)})

    def fail(self, verdict: Verdict, summary: Mapping[str, Any]) -> None:
        """Write the verdict of a run that publishes nothing."""
        self.claim.require()
        write_private(self.output / PRIVATE, verdict, summary)


def _scratch(spec: ReleaseSpec, output: Folder, run_id: str) -> Folder:
    """Where raw intermediates go: to the folder of the run, unless Spark cannot or the spec says so."""
    if spec.scratch is None and output.store.by_spark:
        return output / f"{STAGING}{run_id}" / "scratch"
    return scratch_elsewhere(spec.scratch, f"the store of `output.path` ({output})")


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
