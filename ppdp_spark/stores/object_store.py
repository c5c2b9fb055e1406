"""S3, Google Cloud Storage and Azure Blob Storage through `obstore`.

It is one library for the three, retries what stores throttle or fail at, and writes a key only if it is
not there or has not changed, which pyarrow cannot and which a commit needs. Credentials are found as the
tools of the cloud find them: in the environment, from a web identity, or from the machine.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

import pyarrow as pa

from ppdp_spark.stores.failures import StoreError, lacking, missing, refused
from ppdp_spark.stores.store import Store, Stored

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

CLOUDS = {
    "s3": (
        "s3",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role; ",
    ),
    "gs": ("gcs", "set GOOGLE_APPLICATION_CREDENTIALS, or give the machine a service account; "),
    "az": ("azure", "set AZURE_STORAGE_ACCOUNT_NAME with its key or a client's secret, or an identity; "),
}
"""Of each cloud the extra of ours that installs its library, and where it looks for credentials."""

SCHEMES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "gcs": "gs"} | dict.fromkeys(
    ("abfs", "abfss", "az", "azure", "wasb", "wasbs"), "az"
)

_AT_ONCE = 16
_WHOLE = 1 << 25
"""Bytes up to which a file is fetched at once: every request of a store costs a tenth of a second."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Objects(Store):
    """Objects of one bucket or container, by their key."""

    root: str
    """The address of the bucket, with a slash at its end."""

    renames: ClassVar[bool] = False
    by_spark: ClassVar[bool] = False
    rooted: ClassVar[bool] = False

    @classmethod
    def at(cls, location: str) -> tuple[Objects, str]:
        """The store and the key of an address."""
        parts = urlsplit(location, allow_fragments=False)
        root = f"{parts.scheme}://{parts.netloc}/"
        if find_spec("obstore") is None:
            raise lacking(root, "obstore", CLOUDS[SCHEMES[parts.scheme]][0])
        return cls(root), location[len(root) - 1 :].strip("/")

    @property
    def prefix(self) -> str:
        return self.root

    @property
    def store(self) -> ObjectStore:
        return _opened(self.root, os.getpid())

    def info(self, path: str) -> Stored | None:
        import obstore

        try:
            return _entry(self._try("read", path, lambda: obstore.head(self.store, path)))
        except FileNotFoundError:
            pass
        below: list[Any] = self._try("listed", path, lambda: list(islice(obstore.list(self.store, path), 1)))
        return Stored(path, 0, None, True) if below and len(below[0]) else None

    def entries(self, path: str, *, recursive: bool = False) -> Iterator[Stored]:
        import obstore

        if recursive:
            listed = self._try(
                "listed", path, lambda: [o for some in obstore.list(self.store, path) for o in some]
            )
            yield from map(_entry, listed)
            return
        found = self._try("listed", path, lambda: obstore.list_with_delimiter(self.store, path))
        yield from (Stored(prefix, 0, None, True) for prefix in found["common_prefixes"])
        yield from map(_entry, found["objects"])

    def create_folder(self, path: str, *, private: bool = False) -> None:
        """Nothing: a key needs no folder, and who may read it is for the bucket to say."""

    def restrict(self, path: str) -> None:
        """Nothing: who may read a key is for the bucket to say."""

    def delete(self, path: str) -> None:
        import obstore

        keys = [entry.path for entry in self.entries(path, recursive=True)] or [path]
        with suppress(FileNotFoundError):
            self._try("removed", path, lambda: obstore.delete(self.store, keys))

    def move(self, source: str, target: str) -> None:
        """Not in one step: what is moved is at both places for a while."""
        self.copy(source, target)
        self.delete(source)

    def copy(self, source: str, target: str) -> None:
        """By the store itself: no byte comes here."""
        import obstore

        below = [entry.path for entry in self.entries(source, recursive=True)]

        def copied(key: str) -> None:
            goal = target + key[len(source) :]
            self._try("copied", key, lambda: obstore.copy(self.store, key, goal))

        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(copied, below or [source]))

    def open(self, path: str, *, ranged: bool = False) -> Any:
        import obstore

        found = self._try("read", path, lambda: obstore.head(self.store, path))
        if found["size"] <= _WHOLE and not ranged:
            return pa.BufferReader(
                self._try("read", path, lambda: obstore.get(self.store, path).bytes().to_bytes())
            )
        return pa.PythonFile(_Ranges(self, path, found["size"]), mode="r")

    @contextmanager
    def writing(self, path: str, aside: str | None = None) -> Iterator[Any]:
        """One atomic put of what was written: a file of a release is that of one fragment."""
        with pa.BufferOutputStream() as file:
            yield file
            content = memoryview(file.getvalue()).cast("B")
        self._put(path, content, "overwrite")

    def write(self, path: str, content: bytes, *, private: bool = False) -> None:
        self._put(path, content, "overwrite")

    def create(self, path: str, content: bytes) -> bool:
        return self.replace(path, content, None)

    def replace(self, path: str, content: bytes, tag: str | None) -> bool:
        """A put that was retried can find its own content there: that is no other's."""
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        try:
            self._put(path, content, "create" if tag is None else {"e_tag": tag})
        except (AlreadyExistsError, PreconditionError):
            return self._content(path) == content
        return True

    def stamp(self, path: str) -> bool:
        return False

    def _content(self, path: str) -> bytes | None:
        import obstore

        try:
            return self._try("read", path, lambda: obstore.get(self.store, path).bytes().to_bytes())
        except FileNotFoundError:
            return None

    def _put(self, path: str, content: Any, mode: Any) -> None:
        import obstore

        whole = mode != "overwrite"
        multipart = False if whole else None
        self._try(
            "written",
            path,
            lambda: obstore.put(self.store, path, content, mode=mode, use_multipart=multipart),
        )

    def _try(self, tried: str, path: str, does: Callable[[], Result]) -> Result:
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        try:
            return does()
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error) or tried == "written":
                raise StoreError(
                    f"`{self.root}` does not exist: make the bucket, or correct its name"
                ) from None
            raise missing(f"{self.root}{path}") from None
        except (AlreadyExistsError, PreconditionError, StoreError):
            raise
        except Exception as error:
            raise refused(f"{self.root}{path}", tried, error, _fix(self.root)) from None


class _Ranges(io.RawIOBase):
    """A large object, read in the ranges that are asked for."""

    def __init__(self, objects: Objects, path: str, size: int) -> None:
        self._objects, self._path, self._size, self._place = objects, path, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        self._place = base + offset
        return self._place

    def tell(self) -> int:
        return self._place

    def read(self, size: int = -1) -> bytes:
        import obstore

        end = self._size if size < 0 else min(self._size, self._place + size)
        if end <= self._place:
            return b""
        store, path = self._objects.store, self._path
        found: bytes = self._objects._try(
            "read", path, lambda: obstore.get_range(store, path, start=self._place, end=end).to_bytes()
        )
        self._place = end
        return found


def _entry(found: ObjectMeta) -> Stored:
    return Stored(found["path"], found["size"], found["last_modified"], False, found["e_tag"])


def _fix(root: str) -> str:
    _, credentials = CLOUDS[SCHEMES[root.partition(":")[0]]]
    return f"{credentials}check the address, and who may read and write there"


@lru_cache
def _opened(root: str, process: int) -> ObjectStore:
    """One client a process: its threads are not those of a process that forked it."""
    from obstore.store import from_url

    try:
        return from_url(_known(root))
    except Exception as error:
        raise refused(root, "reached", error, _fix(root)) from None


def _known(root: str) -> str:
    """The address as the library knows it."""
    scheme, rest = root.split(":", 1)
    return {"s3n": "s3", "gcs": "gs", "wasb": "abfs", "wasbs": "abfss"}.get(scheme, scheme) + ":" + rest
