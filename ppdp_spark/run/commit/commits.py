"""The commit that suits the store of an output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ppdp_spark.run.claim import Claim
from ppdp_spark.run.commit.by_manifest import ManifestCommit
from ppdp_spark.run.commit.by_rename import RenameCommit
from ppdp_spark.run.storage import DATA, Folder

Commit: TypeAlias = RenameCommit | ManifestCommit


def commit_of(output: Folder, claim: Claim) -> Commit:
    """The commit of the run that has the claim; what crashed runs left is mended first."""
    return RenameCommit.of(output, claim) if output.store.renames else ManifestCommit.of(output, claim)


def located(manifest: Mapping[str, Any], data: str) -> dict[str, Any]:
    """The manifest of tables in a folder of this name; where it is the usual one, the manifest as it is."""
    if data == DATA:
        return dict(manifest)
    files = {data + name.removeprefix(DATA): digest for name, digest in manifest["files"].items()}
    return {**manifest, "data": data, "files": files}
