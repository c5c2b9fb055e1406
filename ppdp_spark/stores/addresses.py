"""Which store a path or an address means."""

from __future__ import annotations

from pathlib import Path

from ppdp_spark.stores.failures import StoreError
from ppdp_spark.stores.hdfs import Hdfs
from ppdp_spark.stores.local_disk import LocalDisk
from ppdp_spark.stores.object_store import SCHEMES, Objects
from ppdp_spark.stores.store import Store

LOCAL = LocalDisk()


def store_at(location: str) -> tuple[Store, str]:
    """The store and the path in it; nothing need be there."""
    scheme, marked, rest = location.partition("://")
    if not marked:
        return LOCAL, str(Path(location).absolute())
    if scheme == "file":
        return LOCAL, "/" + rest.partition("/")[2].rstrip("/")
    if scheme in ("hdfs", "viewfs"):
        return Hdfs.at(location)
    if scheme in SCHEMES:
        return Objects.at(location)
    known = ", ".join(f"{each}://" for each in ("file", "hdfs", "s3", "s3a", "gs", "abfss"))
    raise StoreError(f"`{scheme}://` is no kind of store that is known here: use a path, or one of {known}")


def remote(location: str) -> bool:
    """Whether an address means a store that is not a disk of this machine, and that is known here."""
    scheme, marked, _ = location.partition("://")
    return bool(marked) and (scheme in SCHEMES or scheme in ("hdfs", "viewfs"))


def read_bytes(location: str, most: int | None = None) -> bytes:
    """The content of a file anywhere, at most so many bytes of it."""
    store, path = store_at(location)
    opened = store.open(path)
    if isinstance(opened, str):
        with Path(opened).open("rb") as file:
            return file.read(-1 if most is None else most)
    with opened:
        return bytes(opened.read(most))
