"""Commit where folders cannot be renamed: S3, Google Cloud Storage, Azure Blob Storage.

A release is what its manifest names. Verified tables are copied, by the store itself, to a folder of the
release under a name of its own run; then one atomic put of the manifest makes them the release, and what
it replaced goes. Unverified tables never lie below `release/`.

The put holds only if the manifest is still the one that was there when the run got its claim. So a run that
was taken for dead cannot undo what another has published since, whenever it goes on. Nor can it find its
tables gone: other folders of tables are removed only after such a put, when no older run can succeed any
more.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from ppdp_spark.errors import BusyError, DataError, StorageError
from ppdp_spark.run.claim import BEAT, Claim
from ppdp_spark.run.commit.owner_files import STAGING, complete, promote
from ppdp_spark.run.scratch import clear_scratch
from ppdp_spark.run.storage import DATA, MANIFEST, PRIVATE, RELEASE, VERDICT, Folder, data_of

log = logging.getLogger(__name__)

_FORMER = "former-verdict.json"
"""In the folder of a run, the verdict on the release that it is about to replace."""


@dataclass(frozen=True)
class ManifestCommit:
    """The commit of a run that has the claim on its output; `former` is the tag of the manifest it found."""

    output: Folder
    claim: Claim
    former: str | None

    @classmethod
    def of(cls, output: Folder, claim: Claim) -> ManifestCommit:
        """For the run that has the claim: what crashed runs left is mended first."""
        recover(output)
        found = (output / RELEASE / MANIFEST).info()
        return cls(output, claim, None if found is None else found.tag)

    @property
    def data(self) -> str:
        """The folder of this run's tables in the release; it does not say when the run was."""
        return f"{DATA}-{sha256(self.claim.run_id.encode()).hexdigest()[:16]}"

    def publish(self, release: Folder, private: Folder) -> None:
        """Copy the tables to their place, put the manifest, and bring the owner's files."""
        place = self.output / RELEASE
        text, expected = release.read_text(MANIFEST), release.read_json(MANIFEST)["files"]
        (release / DATA).copy(place / self.data)
        self.claim.require()
        if {f"{self.data}/{name}" for name, _ in (place / self.data).files()} != set(expected):
            raise self._overtaken()
        verdict = self.output / PRIVATE / VERDICT
        if verdict.exists():
            verdict.move(release.parent / _FORMER)
        if not place.replace_text(MANIFEST, text, self.former):
            restore_verdict(self.output, release.parent)
            raise self._overtaken()
        try:
            sweep(place)
        except OSError as error:
            log.warning("tables of the former release could not be removed from `%s`: %s", place, error)
        promote(private, self.output / PRIVATE)

    def _overtaken(self) -> BusyError:
        (self.output / RELEASE / self.data).delete()
        return BusyError(
            f"`{self.output}` was taken over by another run while this one was publishing: "
            "nothing was published"
        )


def recover(output: Folder) -> None:
    """Complete the commit of a run that crashed in it, and remove what crashed runs left.

    Copied tables of a run that crashed before its put stay: should it be alive after all, its put must
    find them. They go with the next commit.
    """
    for name in output.children():
        if name.startswith(STAGING):
            with suppress(DataError, OSError):
                if complete(output, output / name):
                    sweep(output / RELEASE)
                restore_verdict(output, output / name)
            with suppress(DataError, OSError, StorageError):
                clear_scratch(output / name)
            (output / name).delete()
        elif name.startswith(BEAT):
            (output / name).delete()


def restore_verdict(output: Folder, staging: Folder) -> None:
    """Put back the verdict that a run took away, if the release it is about is still there."""
    private = output / PRIVATE
    if (private / VERDICT).exists() or not (staging / _FORMER).exists():
        return
    if staging.read_json(_FORMER).get("manifest") == (output / RELEASE).digest(MANIFEST):
        (staging / _FORMER).move(private / VERDICT)


def sweep(release: Folder) -> None:
    """Remove all tables but those of the manifest, for whoever has just put it."""
    current = data_of(release, release.read_json(MANIFEST)).name
    for name in release.children():
        if name.startswith(DATA) and name != current:
            (release / name).delete()
