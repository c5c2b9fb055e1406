"""Commit where folders can be renamed in one step: local disks and HDFS.

The former release is set aside, the new one takes its name, and the owner's files follow. A crash between
these steps is mended by the next run.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from ppdp_spark.errors import DataError, StorageError
from ppdp_spark.run.claim import BEAT, Claim
from ppdp_spark.run.commit.owner_files import STAGING, complete, promote
from ppdp_spark.run.scratch import clear_scratch
from ppdp_spark.run.storage import DATA, MANIFEST, PRIVATE, RELEASE, VERDICT, Folder

REPLACED, DISCARDED = ".replaced-", ".discarded-"


@dataclass(frozen=True)
class RenameCommit:
    """The commit of a run that has the claim on its output."""

    output: Folder
    claim: Claim
    data: ClassVar[str] = DATA

    @classmethod
    def of(cls, output: Folder, claim: Claim) -> RenameCommit:
        """For the run that has the claim: whatever else lies there has no living owner, and is mended."""
        recover(output)
        return cls(output, claim)

    def publish(self, release: Folder, private: Folder) -> None:
        """Swap release and verdict by renames; a crash between them is mended by the next run.

        A run that was taken for dead after it looked at its claim finds that its folder is gone: the
        rename fails, and the release of the others comes back.
        """
        self.claim.require()
        current, aside = self.output / RELEASE, self.output / f"{REPLACED}{self.claim.run_id}"
        verdict = self.output / PRIVATE / VERDICT
        if current.exists():
            current.move(aside)
            if verdict.exists():
                verdict.move(aside / VERDICT)
        verdict.delete()
        try:
            release.move(current)
        except OSError:
            restore(self.output, aside)
            self.claim.require()
            raise
        promote(private, self.output / PRIVATE)
        aside.delete()


def recover(output: Folder) -> None:
    """Mend what crashed runs left: a release set aside comes back, a commit is completed, the rest goes.

    For the run that has the claim on the output: whatever else lies there has no living owner.
    """
    names = output.children()
    for name in names:
        if name.startswith(REPLACED):
            restore(output, output / name)
        elif name.startswith((DISCARDED, BEAT)):
            (output / name).delete()
    for name in names:
        if name.startswith(STAGING):
            if not (output / name / RELEASE).exists():
                with suppress(DataError, OSError):
                    complete(output, output / name)
            with suppress(DataError, OSError, StorageError):
                clear_scratch(output / name)
            # Out of its place in one step: its run, should it be alive after all, cannot commit half of it.
            discarded = output / f"{DISCARDED}{name.removeprefix(STAGING)}"
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
