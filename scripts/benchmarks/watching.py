"""A process of our own and all it starts: its phases, its memory by phase, and an end to it in time."""

from __future__ import annotations

import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

from benchmarks.bench import PHASE

SAMPLED_EVERY = 0.25
KINDS = ("jvm", "workers", "driver")


class Watched:
    """Runs a command, follows its phases and samples the resident memory of the process tree.

    Memory is resident set size, summed over processes: pages that forked workers share count for
    each of them, so that the sums are upper bounds.
    """

    def __init__(self, command: list[str], *, folder: Path, env: dict[str, str], log: IO[str]) -> None:
        self.phase, self.since = "starting", time.monotonic()
        self.peaks: dict[str, dict[str, int]] = {}
        self.now: dict[str, int] = {}
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        self._root = psutil.Process(self._process.pid)
        self._listener = threading.Thread(target=self._listen, args=(log,), daemon=True)
        self._listener.start()

    @property
    def code(self) -> int | None:
        return self._process.poll()

    @property
    def phase_seconds(self) -> float:
        return time.monotonic() - self.since

    def sample(self) -> None:
        """Look at the memory of every process of the tree once."""
        totals = dict.fromkeys(KINDS, 0)
        for process in self._tree():
            with suppress(psutil.Error):
                if not self._borrowed(process):
                    totals[self._kind(process)] += process.memory_info().rss
        totals["total"] = sum(totals.values())
        peak = self.peaks.setdefault(self.phase, dict(totals))
        for kind, size in totals.items():
            peak[kind] = max(peak[kind], size)
        self.now = totals

    def stop(self) -> None:
        """End the process and all that it started; harmless when they are gone."""
        tree = self._tree()
        for process in tree:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(tree, timeout=10)
        self._process.wait()

    def finish(self) -> None:
        """Wait until the last words of the process are read."""
        self._process.wait()
        self._listener.join(timeout=10)

    def _tree(self) -> list[psutil.Process]:
        try:
            return [self._root, *self._root.children(recursive=True)]
        except psutil.Error:
            return []

    def _borrowed(self, process: psutil.Process) -> bool:
        """Whether it is a child of a JVM that is about to become another program: its memory is the JVM's."""
        parent = process.parent()
        return parent is not None and all(Path(each.exe()).name == "java" for each in (process, parent))

    def _kind(self, process: psutil.Process) -> str:
        """Asked anew each time: a process of Spark is a shell first, and a JVM later."""
        if process == self._root:
            return "driver"
        if "pyspark.daemon" in " ".join(process.cmdline()):
            return "workers"
        return "jvm" if "java" in process.name() else "driver"

    def _listen(self, log: IO[str]) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(PHASE):
                name = line[len(PHASE) :].strip()
                self.phase, self.since = ("between runs" if name == "-" else name), time.monotonic()
            else:
                log.write(line)
                log.flush()
