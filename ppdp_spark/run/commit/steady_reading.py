"""A release is read as it was or as it is: what is read while another takes its place is read again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from ppdp_spark.errors import DataError
from ppdp_spark.run.commit.by_rename import REPLACED
from ppdp_spark.run.storage import MANIFEST, RELEASE, Folder

Result = TypeVar("Result")

_TIMES = 5
_PATIENCE = 5.0
"""Seconds to wait for a release that is set aside and has no successor yet."""


def steadily(output: Folder, read: Callable[[Folder], Result]) -> Result:
    """What `read` makes of the release in an output, or of a release folder by itself.

    It reads again if the manifest is another one afterwards, whether it failed or not.
    """
    for left in reversed(range(_TIMES)):
        release = release_in(output)
        before = _seen(release)
        try:
            found = read(release)
        except Exception:
            if not left or (_seen(release) == before and (before is not None or release == output)):
                raise
        else:
            if _seen(release) == before:
                return found
    raise DataError(f"the release in `{output}` was replaced again and again while it was read: try again")


def release_in(output: Folder) -> Folder:
    """The release folder of an output, or the folder itself where there is none."""
    until = time.monotonic() + _PATIENCE
    while not (output / RELEASE).exists():
        if time.monotonic() > until or not _between(output):
            return output
        time.sleep(0.02)
    return output / RELEASE


def _between(output: Folder) -> bool:
    """Whether a run is between the two renames of its commit."""
    return (output / RELEASE).exists() or any(name.startswith(REPLACED) for name in output.children())


def _seen(release: Folder) -> str | None:
    try:
        return release.digest(MANIFEST)
    except OSError:
        return None
