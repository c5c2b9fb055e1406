"""One run at a time on an output: a claim is a small file that lives as long as its run.

A run writes a claim under a name of its own and then lists all claims. It has the output once its list,
made after its claim was written, shows no other living claim: of two runs, at most one can list
without seeing the other. That needs neither locks nor exclusive creation, which remote file systems do
not share, but only that a written file is listed. Of runs that start at the same moment the one with
the smallest run id waits a little for the others to withdraw. The winner marks its claim as held.

A claim is dead if its process is gone, where that can be seen from here, or if its heartbeat stopped.
Ages are differences of times that the file system stamped: clocks of machines do not matter.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ppdp_spark.errors import BusyError, DataError, StorageError
from ppdp_spark.run.storage import Folder

log = logging.getLogger(__name__)

CLAIM, BEAT = ".claim-", ".beat-"


@dataclass(frozen=True)
class Pace:
    """The times of a claim, in seconds.

    where
        beat      between two heartbeats
        stale     without a heartbeat for so long, a run whose process cannot be looked at counts as dead
        patience  how long the first of several runs waits for the others to withdraw
    """

    beat: float = 15.0
    stale: float = 180.0
    patience: float = 3.0


USUAL = Pace()


@dataclass(frozen=True)
class Claim:
    """The claim of a run on a folder."""

    folder: Folder
    run_id: str
    pace: Pace = USUAL

    @classmethod
    @contextmanager
    def held(cls, folder: Folder, run_id: str, pace: Pace = USUAL) -> Iterator[Claim]:
        """Claim the folder while the work inside goes on; `BusyError` at once if another run has it."""
        claim = cls(folder.create(), run_id, pace)
        ended = threading.Event()
        beating = threading.Thread(target=claim._beat, args=(ended,), daemon=True, name="claim")
        try:
            claim._take()
            beating.start()
            yield claim
        finally:
            ended.set()
            if beating.ident is not None:
                beating.join(pace.patience)
            with suppress(OSError):
                claim.file.delete()
                claim.beat.delete()

    @property
    def file(self) -> Folder:
        return self.folder / f"{CLAIM}{self.run_id}"

    @property
    def beat(self) -> Folder:
        """The heartbeat, where a claim cannot be stamped but only be written again."""
        return self.folder / f"{BEAT}{self.run_id}"

    def require(self) -> None:
        """Raise if another run, taking this one for dead, took over the folder."""
        if not self.file.exists():
            raise BusyError(
                f"`{self.folder}` was taken over by another run, because this one had given no sign of "
                "life: nothing was published"
            )

    def _take(self) -> None:
        self._write(held=False)
        patient_until = time.monotonic() + self.pace.patience
        while rivals := self._rivals():
            first = min(rivals)
            had = [run_id for run_id, content in rivals.items() if content.get("held")]
            if had or first < self.run_id or time.monotonic() > patient_until:
                first = had[0] if had else first
                raise BusyError(
                    f"another run works on `{self.folder}`: {_described(rivals[first], first)}; wait until "
                    "it ends, or stop it, and run again. Nothing was touched"
                )
            time.sleep(0.1)
        self._write(held=True)

    def _write(self, *, held: bool) -> None:
        since = datetime.now(timezone.utc).isoformat(timespec="seconds")
        content = {"run_id": self.run_id, "host": socket.gethostname(), "pid": os.getpid(), "since": since}
        content |= {"held": held, "place": process_space(), "process": process_mark(os.getpid())}
        try:
            self.folder.write_json(self.file.name, content)
        except OSError as error:
            raise StorageError.of(self.folder, error) from None

    def _rivals(self) -> dict[str, Mapping[str, Any]]:
        """Other living claims by run id. Dead ones go; only their own runs could miss them."""
        found = {}
        mine = self.file.info()
        now = None if mine is None else mine.modified
        for name in self.folder.children():
            run_id = name.removeprefix(CLAIM)
            if not name.startswith(CLAIM) or run_id == self.run_id:
                continue
            content, info = _content(self.folder, name), (self.folder / name).info()
            if info is None:
                continue
            rival = Claim(self.folder, run_id)
            stamps = [each.modified for each in (info, rival.beat.info()) if each and each.modified]
            stale = bool(now and stamps and (now - max(stamps)).total_seconds() > self.pace.stale)
            if _alive(content, stale=stale):
                found[run_id] = content
            else:
                log.warning("run %s did not end properly: its claim and its staging are removed", run_id)
                rival.file.delete()
                rival.beat.delete()
        return found

    def _beat(self, ended: threading.Event) -> None:
        """Stamp the claim again and again, until the run ends or the claim was taken away."""
        while not ended.wait(self.pace.beat) and self._stamped():
            pass

    def _stamped(self) -> bool:
        """Stamp the claim, if it is there; one that was taken away must not come back.

        So it is not written again where it cannot be stamped: it could vanish just before. A beat
        without a claim means nothing.
        """
        try:
            if self.folder.store.stamp(self.file.path):
                return True
            if self.file.exists():
                self.folder.write_text(self.beat.name, "")
            else:
                return False
        except FileNotFoundError:
            return False
        except (OSError, StorageError) as error:
            log.warning("the claim on `%s` could not be renewed: %s", self.folder, type(error).__name__)
        return True


def _content(folder: Folder, name: str) -> Mapping[str, Any]:
    """What a claim says; nothing if it is gone or half written, when its age must do."""
    try:
        content = folder.read_json(name)
    except (DataError, OSError):
        return {}
    return content if isinstance(content, dict) else {}


def _alive(content: Mapping[str, Any], *, stale: bool) -> bool:
    """Whether the process of a claim runs, as far as can be seen from here; else whether it beats."""
    if content.get("place") == process_space() and isinstance(content.get("pid"), int):
        return process_mark(content["pid"]) == content.get("process")
    return not stale


def _described(content: Mapping[str, Any], run_id: str) -> str:
    known = {key: content.get(key, "unknown") for key in ("pid", "host", "since")}
    return f"run {run_id}, process {known['pid']} on {known['host']}, since {known['since']}"


def process_space() -> str:
    """Where process numbers mean the same: this boot of this machine and, in containers, this one."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)


def process_mark(pid: int) -> str | None:
    """What tells a running process from a later one with its number: when it began; None if it is gone."""
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if state in "ZX" else rest[18]
    except OSError:
        pass
    if Path("/proc/self/stat").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return "running"
