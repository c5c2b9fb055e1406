"""Files of a run on any file system: staging, commit by rename, hashes, JSON, owner-only folders."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyarrow import fs

from ppdp_spark.errors import DataError, SpecError, StorageError

RELEASE, PRIVATE, DATA = "release", "private", "data"
EXTREMA, HOUSEHOLDS, WEIGHTS = "robustness", "households", "weights"
QI_TABLE, SENSITIVE_TABLE = "qi", "sensitive"
"""Folders of the two tables of the bucketized form; of several sensitive attributes, see `value_tables`."""

MANIFEST, VERDICT, SUMMARY, REPORT = "release.json", "verdict.json", "summary.json", "report.html"
PRINTED = "report.pdf"
_CHUNK = 1 << 22


@dataclass(frozen=True)
class Folder:
    """A folder on a local or remote file system."""

    system: fs.FileSystem
    path: str
    scheme: str

    @classmethod
    def at(cls, location: str | Path) -> Folder:
        """The folder at a path or URI; it need not exist yet."""
        text = str(location)
        if "://" in text:
            system, path = fs.FileSystem.from_uri(text)
            scheme = text.split("://", 1)[0]
            prefix = text[: text.index(path)] if path in text else f"{scheme}:///"
            return cls(system, path.rstrip("/"), "" if scheme == "file" else prefix)
        return cls(fs.LocalFileSystem(), str(Path(text).absolute()), "")

    def __truediv__(self, name: str) -> Folder:
        return Folder(self.system, f"{self.path}/{name}", self.scheme)

    def __str__(self) -> str:
        """What Spark writes by."""
        return f"{self.scheme}{self.path}"

    @property
    def literal(self) -> str:
        """What Spark reads by: characters that would make the path a pattern are escaped."""
        return re.sub(r"([\[\]{}*?\\])", r"\\\1", str(self))

    @property
    def local(self) -> bool:
        return isinstance(self.system, fs.LocalFileSystem)

    @property
    def parent(self) -> Folder:
        """The folder that holds this one; of a root, the root itself."""
        above, slash, _ = self.path.rpartition("/")
        return Folder(self.system, above, self.scheme) if slash else self

    def info(self) -> fs.FileInfo:
        return self.system.get_file_info(self.path)

    def exists(self) -> bool:
        return bool(self.info().type != fs.FileType.NotFound)

    def is_folder(self) -> bool:
        return bool(self.info().type == fs.FileType.Directory)

    def create(self, *, private: bool = False) -> Folder:
        """Create the folder; a private one is readable by its owner only, where the system allows it."""
        try:
            self.system.create_dir(self.path, recursive=True)
            if private and self.local:
                Path(self.path).chmod(0o700)
        except OSError as error:
            raise StorageError.of(self, error) from None
        return self

    def restrict(self) -> None:
        """Take everything below, written by whomever, from all but the owner, where the system allows it."""
        if self.local:
            for path in (Path(self.path), *Path(self.path).rglob("*")):
                path.chmod(0o700 if path.is_dir() else 0o600)

    def delete(self) -> None:
        with suppress(FileNotFoundError):
            info = self.info()
            if info.type == fs.FileType.Directory:
                self.system.delete_dir(self.path)
            elif info.type == fs.FileType.File:
                self.system.delete_file(self.path)

    def move(self, target: Folder) -> None:
        self.system.move(self.path, target.path)

    def children(self) -> list[str]:
        if not self.exists():
            return []
        return sorted(info.base_name for info in self.system.get_file_info(fs.FileSelector(self.path)))

    def files(self, ending: str = "") -> Iterator[tuple[str, fs.FileInfo]]:
        """All files below, by their path relative to the folder, sorted."""
        found = self.system.get_file_info(fs.FileSelector(self.path, recursive=True))
        for info in sorted(found, key=lambda each: each.path):
            if info.type == fs.FileType.File and info.base_name.endswith(ending):
                yield info.path[len(self.path) + 1 :], info

    def write_text(self, name: str, text: str, *, private: bool = False) -> None:
        with self.system.open_output_stream(f"{self.path}/{name}") as stream:
            stream.write(text.encode())
        if private and self.local:
            Path(f"{self.path}/{name}").chmod(0o600)

    def write_new(self, name: str, text: str) -> None:
        """Write a file for the owner only unless it is there; of two at once one is kept, whole."""
        if not self.local:
            self.write_text(name, text, private=True)
            return
        unfinished = Path(f"{self.path}/{name}.{uuid4().hex}")
        try:
            unfinished.touch(0o600)
            unfinished.write_text(text)
            with suppress(FileExistsError):
                Path(f"{self.path}/{name}").hardlink_to(unfinished)
        except OSError as error:
            raise StorageError.of(self, error) from None
        finally:
            unfinished.unlink(missing_ok=True)

    def read_text(self, name: str) -> str:
        try:
            with self.system.open_input_stream(f"{self.path}/{name}") as stream:
                return str(stream.read().decode(errors="replace"))
        except OSError as error:
            raise StorageError.of(self, error) from None

    def write_json(self, name: str, content: Any, *, private: bool = False) -> None:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=str)
        self.write_text(name, text + "\n", private=private)

    def read_json(self, name: str) -> Any:
        try:
            with self.system.open_input_stream(f"{self.path}/{name}") as stream:
                return json.loads(stream.read().decode())
        except FileNotFoundError:
            raise DataError(f"`{self}` has no {name}: it is not the output of a finished run") from None
        except (UnicodeDecodeError, json.JSONDecodeError):
            raise DataError(f"{name} in `{self}` is damaged: it is not JSON") from None

    def digest(self, name: str) -> str:
        """SHA-256 of a file."""
        digest = hashlib.sha256()
        with self.system.open_input_stream(f"{self.path}/{name}") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
        return digest.hexdigest()


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


def table_digests(release: Folder) -> dict[str, str]:
    """SHA-256 of every data file of a release, by its path in the release."""
    return {name: release.digest(name) for name, _ in release.files(".parquet")}


def require_room(output: str) -> None:
    """Raise if an output holds a release, which nobody said may be replaced."""
    if (Folder.at(output) / RELEASE).exists():
        raise SpecError(
            f"`output.path` ({output}) already holds a release: "
            "set `output.overwrite: true` (or --overwrite), or choose another path"
        )
