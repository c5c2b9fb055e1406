"""Local disks, and whatever is mounted like one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from stat import S_ISDIR
from typing import Any, ClassVar
from uuid import uuid4

import pyarrow as pa

from ppdp_spark.stores.store import Store, Stored


@dataclass(frozen=True)
class LocalDisk(Store):
    """Files by their absolute path."""

    renames: ClassVar[bool] = True
    by_spark: ClassVar[bool] = True

    @property
    def prefix(self) -> str:
        return ""

    def info(self, path: str) -> Stored | None:
        try:
            found = Path(path).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        modified = datetime.fromtimestamp(found.st_mtime, timezone.utc)
        folder = S_ISDIR(found.st_mode)
        return Stored(path, 0 if folder else found.st_size, modified, folder)

    def entries(self, path: str, *, recursive: bool = False) -> Iterator[Stored]:
        for each in Path(path).iterdir():
            found = self.info(str(each))
            if found is not None:
                yield found
                if recursive and found.folder:
                    yield from self.entries(found.path, recursive=True)

    def create_folder(self, path: str, *, private: bool = False) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)
        if private:
            Path(path).chmod(0o700)

    def restrict(self, path: str) -> None:
        for each in (Path(path), *Path(path).rglob("*")):
            each.chmod(0o700 if each.is_dir() else 0o600)

    def delete(self, path: str) -> None:
        with suppress(FileNotFoundError):
            if Path(path).is_dir() and not Path(path).is_symlink():
                shutil.rmtree(path)
            else:
                Path(path).unlink()

    def move(self, source: str, target: str) -> None:
        Path(source).rename(target)

    def copy(self, source: str, target: str) -> None:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        if Path(source).is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)

    def open(self, path: str, *, ranged: bool = False) -> Any:
        return path

    @contextmanager
    def writing(self, path: str, aside: str | None = None) -> Iterator[Any]:
        unfinished = Path(aside or Path(path).parent) / f".{uuid4().hex}"
        with pa.OSFile(str(unfinished), "wb") as file:
            yield file
        unfinished.replace(path)

    def write(self, path: str, content: bytes, *, private: bool = False) -> None:
        with Path(path).open("wb") as file:
            file.write(content)
        if private:
            Path(path).chmod(0o600)

    def create(self, path: str, content: bytes) -> bool:
        unfinished = Path(f"{path}.{uuid4().hex}")
        try:
            unfinished.touch(0o600)
            unfinished.write_bytes(content)
            Path(path).hardlink_to(unfinished)
        except FileExistsError:
            return False
        finally:
            unfinished.unlink(missing_ok=True)
        return True

    def replace(self, path: str, content: bytes, tag: str | None) -> bool:
        raise NotImplementedError("releases on local disks are replaced by renames")

    def stamp(self, path: str) -> bool:
        os.utime(path)
        return True
