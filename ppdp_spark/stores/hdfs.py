"""HDFS through `hdfs-native`: it speaks the protocol itself, so that neither Java nor libhdfs is needed.

Names of clusters, high availability and Kerberos are read from the files that HADOOP_CONF_DIR names.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import pyarrow as pa

from ppdp_spark.stores.failures import StoreError, lacking, missing, refused
from ppdp_spark.stores.store import Store, Stored

if TYPE_CHECKING:
    from hdfs_native import Client, FileStatus

_FIX = (
    "check the address, that the NameNode and its DataNodes run, and who may write there (HADOOP_CONF_DIR, "
    "HADOOP_USER_NAME or a Kerberos ticket)"
)
_PATIENCE = 10.0
_OWNER_FOLDER, _OWNER_FILE, _PUBLIC_FILE = 0o700, 0o600, 0o644

Result = TypeVar("Result")


@dataclass(frozen=True)
class Hdfs(Store):
    """Files of one cluster, by their path from its root."""

    root: str
    """The address without a path: `hdfs://host:port`, or `hdfs://name` of a cluster."""

    renames: ClassVar[bool] = True
    by_spark: ClassVar[bool] = True

    @classmethod
    def at(cls, location: str) -> tuple[Hdfs, str]:
        """The store and the path of an address."""
        parts = urlsplit(location, allow_fragments=False)
        root = f"{parts.scheme}://{parts.netloc}"
        if find_spec("hdfs_native") is None:
            raise lacking(root, "hdfs-native", "hdfs")
        return cls(root), "/" + location[len(root) :].strip("/")

    @property
    def prefix(self) -> str:
        return self.root

    @property
    def client(self) -> Client:
        return _client(self.root, os.getpid())

    def info(self, path: str) -> Stored | None:
        try:
            return self._entry(self._try("read", path, lambda: self.client.get_file_info(path or "/")))
        except FileNotFoundError:
            return None

    def entries(self, path: str, *, recursive: bool = False) -> Iterator[Stored]:
        listed = self._try("listed", path, lambda: list(self.client.list_status(path or "/", recursive)))
        return map(self._entry, listed)

    def create_folder(self, path: str, *, private: bool = False) -> None:
        self._try("created", path, lambda: self.client.mkdirs(path or "/", 0o755, True))
        if private:
            self._try("made private", path, lambda: self.client.set_permission(path, _OWNER_FOLDER))

    def restrict(self, path: str) -> None:
        found = self.info(path)
        for each in [] if found is None else [found, *self.entries(path, recursive=True)]:
            mode = _OWNER_FOLDER if each.folder else _OWNER_FILE
            self.client.set_permission(each.path, mode)

    def delete(self, path: str) -> None:
        self._try("removed", path, lambda: self.client.delete(path, True))

    def move(self, source: str, target: str) -> None:
        self._try("renamed", source, lambda: self.client.rename(source, target))

    def copy(self, source: str, target: str) -> None:
        with self.writing(target) as file:
            file.write(self._try("read", source, self.client.read(source).readall))

    def open(self, path: str, *, ranged: bool = False) -> Any:
        return pa.PythonFile(self._try("read", path, lambda: self.client.read(path)), mode="r")

    @contextmanager
    def writing(self, path: str, aside: str | None = None) -> Iterator[Any]:
        unfinished = f"{aside or path.rpartition('/')[0]}/.{uuid4().hex}"
        opened = self._try("written", unfinished, lambda: self.client.create(unfinished))
        with pa.PythonFile(opened, mode="w") as file:
            yield file
        self._try("renamed", path, lambda: self.client.rename(unfinished, path, True))

    def write(self, path: str, content: bytes, *, private: bool = False) -> None:
        self._put(path, content, private=private, overwrite=True)

    def create(self, path: str, content: bytes) -> bool:
        unfinished = f"{path}.{uuid4().hex}"
        self._put(unfinished, content, private=True)
        try:
            self._try("created", path, lambda: self.client.rename(unfinished, path))
        except FileExistsError:
            self.delete(unfinished)
            return False
        return True

    def replace(self, path: str, content: bytes, tag: str | None) -> bool:
        raise NotImplementedError("releases on HDFS are replaced by renames")

    def stamp(self, path: str) -> bool:
        return False

    def _put(self, path: str, content: bytes, *, private: bool, overwrite: bool = False) -> None:
        from hdfs_native import WriteOptions

        mode = _OWNER_FILE if private else _PUBLIC_FILE
        options = WriteOptions(permission=mode, overwrite=overwrite)

        def put() -> None:
            with self.client.create(path, options) as file:
                file.write(content)

        self._try("written", path, put)

    def _try(self, tried: str, path: str, does: Callable[[], Result]) -> Result:
        try:
            return does()
        except FileNotFoundError:
            raise missing(f"{self.root}{path}") from None
        except (FileExistsError, StoreError):
            raise
        except Exception as error:
            raise refused(f"{self.root}{path}", tried, error, _FIX) from None

    def _entry(self, found: FileStatus) -> Stored:
        modified = datetime.fromtimestamp(found.modification_time / 1000, timezone.utc)
        return Stored(found.path.rstrip("/"), found.length, modified, found.isdir)


@lru_cache
def _client(root: str, process: int) -> Client:
    """One connection a process: those of a process that forked are not its children's."""
    from hdfs_native import Client

    parts = urlsplit(root)
    if parts.port is not None:
        _require_answer(root, str(parts.hostname), parts.port)
    try:
        return Client(root if parts.netloc else None)
    except Exception as error:
        raise refused(root, "reached", error, _FIX) from None


def _require_answer(root: str, host: str, port: int) -> None:
    """The library would try for minutes to reach a host that nobody listens on."""
    try:
        socket.create_connection((host, port), timeout=_PATIENCE).close()
    except OSError:
        raise StoreError(f"`{root}` could not be reached: the NameNode does not answer; {_FIX}") from None
