"""Where Spark keeps what it writes and reads again within one run: beside the release, or elsewhere.

These are raw intermediates. Where Spark itself cannot write to the store of an output, and where the spec
says so, they lie elsewhere; the folder goes when the run ends, however it ends.
"""

from __future__ import annotations

import atexit
import logging
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from uuid import uuid4

from pyspark.sql import SparkSession

from ppdp_spark.errors import SpecError
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.storage import Folder

log = logging.getLogger(__name__)

_NAME, ELSEWHERE = "ppdp-scratch-", "scratch.json"
"""What a folder elsewhere begins with, and the file in the folder of a run that says where it is."""

_OPEN: ContextVar[ExitStack | None] = ContextVar("scratch folders of the command that runs", default=None)


def scratch_elsewhere(wanted: str | None, needed_for: str, spark: SparkSession | None = None) -> Folder:
    """A name for a new folder where the spec says, or else on this machine if Spark runs on it alone."""
    if wanted is not None:
        found = Folder.at(wanted)
        if not found.store.by_spark:
            raise SpecError(
                f"`scratch` ({wanted}) is on a store that Spark cannot write to by itself: name a folder on "
                "HDFS, or one that all nodes share"
            )
        return found / f"{_NAME}{uuid4().hex}"
    master = session_of(None, spark).conf.get("spark.master", "") or ""
    if not master.startswith("local"):
        raise SpecError(
            f"`scratch` is missing: Spark cannot use {needed_for} by itself; name a folder on HDFS, or one "
            "that all nodes share, as in `scratch: hdfs://namenode/tmp`"
        )
    return Folder.at(tempfile.gettempdir()) / f"{_NAME}{uuid4().hex}"


@contextmanager
def scratch_cleared() -> Iterator[None]:
    """Folders that are opened inside go when the block ends."""
    with ExitStack() as folders:
        token = _OPEN.set(folders)
        try:
            yield
        finally:
            _OPEN.reset(token)


def opened(folder: Folder) -> Folder:
    """Make a folder that goes when the command ends, or at the latest with the program."""
    command = _OPEN.get()
    if command is None:
        atexit.register(removed, folder)
    else:
        command.callback(removed, folder)
    return folder.create(private=True)


def removed(folder: Folder) -> None:
    """Remove raw intermediates; where that fails, say so."""
    try:
        folder.delete()
    except OSError:
        log.warning("`%s` could not be removed: it holds raw intermediates, remove it by hand", folder)


def clear_scratch(staging: Folder) -> None:
    """Remove what a crashed run left elsewhere, as far as this machine can see it."""
    if (staging / ELSEWHERE).exists():
        place = Folder.at(str(staging.read_json(ELSEWHERE)["folder"]))
        if place.name.startswith(_NAME):
            place.delete()
