"""Write, audit, publish: a run works in a folder of its own and commits by renaming."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

from pyspark.sql import DataFrame

from ppdp_spark.errors import InfeasibleError, SpecError
from ppdp_spark.report import render
from ppdp_spark.results import Run, Verdict, finite
from ppdp_spark.spec import ReleaseSpec
from ppdp_spark.storage import MANIFEST, PRIVATE, RELEASE, REPORT, SUMMARY, VERDICT, Folder
from ppdp_spark.summary import new_run_id

_STAGING, _REPLACED = ".staging-", ".replaced-"


@dataclass(frozen=True)
class Staging:
    """The output folder of a run and the run's own folder inside it.

    where
        scratch  raw intermediates; gone when the run ends, however it ends
        release  what will be published if the verdict passes
    """

    output: Folder
    run_id: str

    @property
    def folder(self) -> Folder:
        return self.output / f"{_STAGING}{self.run_id}"

    @property
    def scratch(self) -> Folder:
        return self.folder / "scratch"

    @property
    def release(self) -> Folder:
        return self.folder / RELEASE

    @classmethod
    @contextmanager
    def open(cls, spec: ReleaseSpec) -> Iterator[Staging]:
        """A fresh run folder below `output.path`; refuses to replace a release unless told to."""
        assert spec.output.path is not None
        staging = cls(Folder.at(spec.output.path), new_run_id())
        staging._recover()
        if (staging.output / RELEASE).exists() and not spec.output.overwrite:
            raise SpecError(
                f"`output.path` ({spec.output.path}) already holds a release: "
                "set `output.overwrite: true` (or --overwrite), or choose another path"
            )
        staging.folder.create(private=True)
        staging.scratch.create(private=True)
        staging.release.create()
        try:
            yield staging
        finally:
            staging.folder.delete()

    def _recover(self) -> None:
        """Put back a release that a crashed run had set aside, and clear what crashed runs left."""
        for name in self.output.children():
            if name.startswith(_REPLACED):
                if (self.output / RELEASE / MANIFEST).exists():
                    (self.output / name).delete()
                else:
                    (self.output / RELEASE).delete()
                    (self.output / name).move(self.output / RELEASE)
            elif name.startswith(_STAGING):
                (self.output / name).delete()

    def saver(self, name: str) -> Callable[[DataFrame], DataFrame]:
        """Writes a table to scratch and reads it back, so that nothing is computed twice."""
        numbers = count(1)

        def save(table: DataFrame) -> DataFrame:
            folder = self.scratch / f"{name}-{next(numbers)}"
            table.write.parquet(str(folder))
            return table.sparkSession.read.parquet(folder.literal)

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
        self._commit()
        for name in kept:
            self._move_to_private(name)
        paths = self._write_private(verdict, summary)
        return Run(verdict, summary, {"release": str(self.output / RELEASE), **paths})

    def keep(self, name: str, verdict: Verdict, summary: Mapping[str, Any]) -> Run:
        """Move a scratch table to the owner's private folder, with its verdict."""
        moved = self._move_to_private(name)
        paths = self._write_private(verdict, summary)
        return Run(verdict, summary, {name: str(moved), **paths})

    def _move_to_private(self, name: str) -> Folder:
        private = (self.output / PRIVATE).create(private=True)
        (private / name).delete()
        (self.scratch / name).move(private / name)
        return private / name

    def fail(self, verdict: Verdict, summary: Mapping[str, Any]) -> None:
        """Write the verdict of a run that publishes nothing."""
        self._write_private(verdict, summary)

    def _commit(self) -> None:
        """Swap the release by two renames; a crash between them is mended by the next run."""
        current, aside = self.output / RELEASE, self.output / f"{_REPLACED}{self.run_id}"
        if current.exists():
            current.move(aside)
        self.release.move(current)
        aside.delete()

    def _write_private(self, verdict: Verdict, summary: Mapping[str, Any]) -> dict[str, str]:
        return write_private(self.output / PRIVATE, verdict, summary)


def write_private(folder: Folder, verdict: Verdict, summary: Mapping[str, Any]) -> dict[str, str]:
    """Verdict, summary and report, for the owner's eyes only; the verdict, which others wait for, last."""
    folder.create(private=True)
    plain, judged = finite(summary), verdict.to_dict()
    stamped = {"run_id": plain["run_id"], "dataset": plain["dataset"], **judged}
    folder.write_json(SUMMARY, plain, private=True)
    folder.write_text(REPORT, render(plain, judged), private=True)
    folder.write_json(VERDICT, stamped, private=True)
    named = {"verdict": VERDICT, "summary": SUMMARY, "report": REPORT}
    return {key: str(folder / name) for key, name in named.items()}


def write_findings(spec: ReleaseSpec, command: str, verdict: Verdict, summary: Mapping[str, Any]) -> Run:
    """The result of a command that publishes nothing; written below `private/` if there is an output."""
    paths: dict[str, str] = {}
    if spec.output.path is not None:
        private = (Folder.at(spec.output.path) / PRIVATE).create(private=True)
        paths = write_private(private / command, verdict, summary)
    return Run(verdict, summary, paths)
