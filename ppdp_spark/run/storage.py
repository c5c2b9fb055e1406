"""Files of a run on any store: staging, commit, hashes, JSON, owner-only folders."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdp_spark.errors import DataError, SpecError, StorageError
from ppdp_spark.stores.addresses import store_at
from ppdp_spark.stores.failures import StoreError
from ppdp_spark.stores.store import COPY_BYTES, Store, Stored

RELEASE, PRIVATE, DATA = "release", "private", "data"
EXTREMA, HOUSEHOLDS, WEIGHTS = "robustness", "households", "weights"
QI_TABLE, SENSITIVE_TABLE = "qi", "sensitive"
"""Folders of the two tables of the bucketized form; of several sensitive attributes, see `value_tables`."""

MANIFEST, VERDICT, SUMMARY, REPORT = "release.json", "verdict.json", "summary.json", "report.html"
PRINTED = "report.pdf"
_DATA_NAME = re.compile(f"{DATA}(-[0-9a-f]+)?")


@dataclass(frozen=True)
class Folder:
    """A folder, or a file, of a store."""

    store: Store
    path: str

    @classmethod
    def at(cls, location: str | Path) -> Folder:
        """The folder at a path or address; it need not exist yet."""
        try:
            return cls(*store_at(str(location)))
        except StoreError as error:
            raise StorageError(str(error)) from None

    def __truediv__(self, name: str) -> Folder:
        return Folder(self.store, f"{self.path}/{name}" if self.path or self.store.rooted else name)

    def __str__(self) -> str:
        """What Spark writes by."""
        return f"{self.store.prefix}{self.path}"

    @property
    def literal(self) -> str:
        """What Spark reads by: characters that would make the path a pattern are escaped."""
        return re.sub(r"([\[\]{}*?\\])", r"\\\1", str(self))

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def parent(self) -> Folder:
        """The folder that holds this one; of a root, the root itself."""
        return Folder(self.store, self.path.rpartition("/")[0])

    def info(self) -> Stored | None:
        return self.store.info(self.path)

    def exists(self) -> bool:
        return self.info() is not None

    def is_folder(self) -> bool:
        found = self.info()
        return found is not None and found.folder

    def create(self, *, private: bool = False) -> Folder:
        """Create the folder; a private one is readable by its owner only, where the store allows it."""
        try:
            self.store.create_folder(self.path, private=private)
        except OSError as error:
            raise StorageError.of(self, error) from None
        return self

    def restrict(self) -> None:
        """Take everything below, written by whomever, from all but the owner, where the store allows it."""
        self.store.restrict(self.path)

    def delete(self) -> None:
        self.store.delete(self.path)

    def move(self, target: Folder) -> None:
        self.store.move(self.path, target.path)

    def copy(self, target: Folder) -> None:
        self.store.copy(self.path, target.path)

    def children(self) -> list[str]:
        if not self.exists():
            return []
        return sorted(entry.name for entry in self.store.entries(self.path))

    def files(self, ending: str = "") -> Iterator[tuple[str, Stored]]:
        """All files below, by their path relative to the folder, sorted."""
        found = self.store.entries(self.path, recursive=True)
        for entry in sorted(found, key=lambda each: each.path):
            if not entry.folder and entry.name.endswith(ending):
                yield entry.path.removeprefix(self.path).lstrip("/"), entry

    def arrow_file(self, *, ranged: bool = False) -> Any:
        """The file, for Arrow to read; `ranged` if only a part of it will be."""
        return self.store.open(self.path, ranged=ranged)

    def writing(self, aside: Folder | None = None) -> AbstractContextManager[Any]:
        """The file, for Arrow to write: it is there once it is whole, and until then in a folder `aside`."""
        return self.store.writing(self.path, None if aside is None else aside.path)

    def write_text(self, name: str, text: str, *, private: bool = False) -> None:
        self.store.write((self / name).path, text.encode(), private=private)

    def write_new(self, name: str, text: str) -> None:
        """Write a file for the owner only unless it is there; of two at once one is kept, whole."""
        try:
            self.store.create((self / name).path, text.encode())
        except OSError as error:
            raise StorageError.of(self, error) from None

    def replace_text(self, name: str, text: str, tag: str | None) -> bool:
        """Write a file if its content still has the tag; without a tag, if it is not there."""
        return self.store.replace((self / name).path, text.encode(), tag)

    def read_bytes(self, name: str) -> bytes:
        return b"".join(self._chunks(name))

    def read_text(self, name: str) -> str:
        try:
            return self.read_bytes(name).decode(errors="replace")
        except OSError as error:
            raise StorageError.of(self, error) from None

    def write_json(self, name: str, content: Any, *, private: bool = False) -> None:
        self.write_text(name, json_text(content), private=private)

    def read_json(self, name: str) -> Any:
        try:
            return json.loads(self.read_bytes(name).decode())
        except (FileNotFoundError, NotADirectoryError):
            raise DataError(f"`{self}` has no {name}: it is not the output of a finished run") from None
        except (UnicodeDecodeError, json.JSONDecodeError):
            raise DataError(f"{name} in `{self}` is damaged: it is not JSON") from None

    def digest(self, name: str) -> str:
        """SHA-256 of a file."""
        digest = hashlib.sha256()
        for chunk in self._chunks(name):
            digest.update(chunk)
        return digest.hexdigest()

    def _chunks(self, name: str) -> Iterator[bytes]:
        opened = (self / name).arrow_file()
        with Path(opened).open("rb") if isinstance(opened, str) else opened as stream:
            while chunk := stream.read(COPY_BYTES):
                yield chunk


def json_text(content: Any) -> str:
    """JSON as it is written to files."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def copy_file(source: Folder, target: Folder) -> None:
    """Copy a file from one store to another."""
    opened = source.arrow_file(ranged=True)
    with Path(opened).open("rb") if isinstance(opened, str) else opened as stream:
        target.parent.create()
        with target.writing() as file:
            while chunk := stream.read(COPY_BYTES):
                file.write(chunk)


def tidy_table(folder: Folder) -> None:
    """Rename the files of a written table part-00000.parquet, … and drop everything else.

    Spark's own names carry a random number; a published name says nothing but its place.
    """
    parts = [name for name, info in folder.files(".parquet") if info.size > 0]
    for place, name in enumerate(parts):
        (folder / name).move(folder / f"part-{place:05d}.parquet")
    for name, _ in list(folder.files()):
        if not name.endswith(".parquet"):
            (folder / name).delete()


def value_tables(attributes: int, *, linked: bool = False) -> list[str]:
    """Folders of the values of a bucketized release: `sensitive`, or one for each of several attributes.

    Attributes that are linked share one.
    """
    if attributes == 1 or linked:
        return [SENSITIVE_TABLE]
    return [f"{SENSITIVE_TABLE}_{place}" for place in range(1, attributes + 1)]


def data_of(release: Folder, manifest: Mapping[str, Any]) -> Folder:
    """The folder of a release's tables: where folders cannot be renamed, one of a name of its own."""
    named = manifest.get("data", DATA)
    if not isinstance(named, str) or not _DATA_NAME.fullmatch(named):
        raise DataError(f"`data` in {MANIFEST} of `{release}` is not the name of a folder of tables")
    return release / named


def table_digests(release: Folder, manifest: Mapping[str, Any] | None = None) -> dict[str, str]:
    """SHA-256 of every data file of a release, by its path in the release.

    Beside the folder that a manifest names there may be one that the next commit removes.
    """
    inside = release if manifest is None or "data" not in manifest else data_of(release, manifest)
    above = "" if inside is release else f"{inside.name}/"
    return {above + name: inside.digest(name) for name, _ in inside.files(".parquet")}


def holds_release(output: Folder) -> bool:
    """Whether an output has a release: where folders cannot be renamed, one that a manifest names."""
    release = output / RELEASE
    return (release if output.store.renames else release / MANIFEST).exists()


def require_room(output: str) -> None:
    """Raise if an output holds a release, which nobody said may be replaced."""
    if holds_release(Folder.at(output)):
        raise SpecError(
            f"`output.path` ({output}) already holds a release: "
            "set `output.overwrite: true` (or --overwrite), or choose another path"
        )
