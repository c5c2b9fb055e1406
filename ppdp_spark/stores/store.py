"""What every store of files can do, and what is known of a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

COPY_BYTES = 1 << 22


@dataclass(frozen=True)
class Stored:
    """A file or a folder.

    where
        path      within the store
        size      bytes of a file
        modified  when it was written, by the clock of the store
        folder    whether it is a folder
        tag       tells one content of the file from another, where the store has such tags
    """

    path: str
    size: int
    modified: datetime | None
    folder: bool
    tag: str | None = None

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class Store(ABC):
    """A store of files. It holds an address and nothing else, so that tasks can be sent one.

    Whatever fails is told as an `OSError` without secrets; what is not there as a `FileNotFoundError`.
    """

    renames: ClassVar[bool]
    """Whether folders can be renamed in one step; else a release is what its manifest names."""
    by_spark: ClassVar[bool]
    """Whether Spark reads and writes it by itself, wherever it runs."""

    rooted: ClassVar[bool] = True
    """Whether paths begin with a slash."""

    @property
    @abstractmethod
    def prefix(self) -> str:
        """What stands before a path in an address."""

    @abstractmethod
    def info(self, path: str) -> Stored | None:
        """The file or folder at a path; None if there is none."""

    @abstractmethod
    def entries(self, path: str, *, recursive: bool = False) -> Iterator[Stored]:
        """What is in a folder, in any order."""

    @abstractmethod
    def create_folder(self, path: str, *, private: bool = False) -> None:
        """Make a folder, and those above it, where there are folders."""

    @abstractmethod
    def restrict(self, path: str) -> None:
        """Take everything below, written by whomever, from all but the owner, where the store allows it."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Remove a file, or a folder with all in it, if it is there."""

    @abstractmethod
    def move(self, source: str, target: str) -> None:
        """Give a file or a folder another path."""

    @abstractmethod
    def copy(self, source: str, target: str) -> None:
        """Copy a file or a folder, where folders cannot be renamed."""

    @abstractmethod
    def open(self, path: str, *, ranged: bool = False) -> Any:
        """A file to read from, at any place, as Arrow takes it; `ranged` if only a part will be read."""

    @abstractmethod
    def writing(self, path: str, aside: str | None = None) -> AbstractContextManager[Any]:
        """A file to write to, that appears under its path once it is whole; `aside` is a folder for it."""

    @abstractmethod
    def write(self, path: str, content: bytes, *, private: bool = False) -> None:
        """Write a file, whether it is there or not."""

    @abstractmethod
    def create(self, path: str, content: bytes) -> bool:
        """Write a private file unless it is there; False if it is. Of two at once one is kept, whole."""

    @abstractmethod
    def replace(self, path: str, content: bytes, tag: str | None) -> bool:
        """Write a file if its content still has the tag, or, without a tag, if it is not there."""

    @abstractmethod
    def stamp(self, path: str) -> bool:
        """Renew the time of a file that is there; False where that cannot be done without writing it."""
