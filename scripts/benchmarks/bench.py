"""Inside the process of one measurement: phases, timed runs, facts; everything noted is kept at once."""

from __future__ import annotations

import json
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from benchmarks.scenario import WARM_UP_ROWS, Parameters
from benchmarks.tables import table_path

PHASE = "@phase "
"""Begins a line of standard output that names what is being done; the parent process listens."""

Action = Callable[[int, Path], Any]
"""Does the work on so many rows; may write to the folder given, which does not exist yet."""

Counting = Callable[[dict[str, Any]], AbstractContextManager[None]]
"""Adds to a run's record what Spark did in it."""


class Bench:
    """One measurement as it is being taken."""

    def __init__(
        self, parameters: Parameters, repeats: int, *, data: Path, scratch: Path, result: Path
    ) -> None:
        self.parameters = parameters
        self.rows = int(parameters["rows"])
        self.cold = bool(parameters.get("cold"))
        self.repeats = repeats
        self.data = data
        self.scratch = scratch
        self._result = result
        self._noted: dict[str, Any] = {"runs": {}, "facts": {}}
        self._folders = 0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """What is being done until the block ends: shown, limited in time, its memory sampled."""
        print(f"{PHASE}{name}", flush=True)
        try:
            yield
        finally:
            print(f"{PHASE}-", flush=True)

    def table(self, kind: str, rows: int) -> str:
        """Path of a table that the parent process had made before."""
        return str(table_path(self.data, kind, rows))

    def note(self, **facts: Any) -> None:
        """Keep facts; they survive a run that does not finish."""
        self._noted["facts"] |= facts
        self._save()

    def run(self, name: str, action: Action, rows: int, counting: Counting | None = None) -> Any:
        """Time one run; of several by the same name the median counts."""
        self._folders += 1
        target = self.scratch / f"run{self._folders}"
        record = self._noted["runs"].setdefault(name, {"all_seconds": []})
        counted = nullcontext() if counting is None else counting(record)
        with self.phase(name), counted:
            cpu, begun = time.process_time(), time.perf_counter()
            outcome = action(rows, target)
            seconds = time.perf_counter() - begun
            record["driver_cpu_seconds"] = round(time.process_time() - cpu, 4)
        shutil.rmtree(target, ignore_errors=True)
        record["rows"] = rows
        record["all_seconds"].append(round(seconds, 4))
        record["seconds"] = statistics.median(record["all_seconds"])
        record["rows_per_second"] = round(rows / max(1e-9, record["seconds"]))
        self._save()
        return outcome

    def compare(self, runs: dict[str, Action], counting: Counting | None = None) -> dict[str, Any]:
        """Warm up on little data, then time all runs in turn; the outcome of the last run of each.

        The last of `runs` is what is measured, the others are its baselines. A cold measurement is the
        first run of the process: no warm-up, no baseline.
        """
        if self.cold:
            name, action = list(runs.items())[-1]
            return {name: self.run(name, action, self.rows, counting)}
        self.warm_up(*runs.values())
        outcomes: dict[str, Any] = {}
        for _ in range(self.repeats):
            outcomes |= {name: self.run(name, action, self.rows, counting) for name, action in runs.items()}
        return outcomes

    def warm_up(self, *actions: Action) -> None:
        """Every action once on little data; the first ones of a process pay for compilation."""
        begun = time.perf_counter()
        with self.phase("warm-up"):
            for i, action in enumerate(actions):
                target = self.scratch / f"warm-up{i}"
                action(min(self.rows, WARM_UP_ROWS), target)
                shutil.rmtree(target, ignore_errors=True)
        self.note(warm_up_seconds=round(time.perf_counter() - begun, 3))

    def _save(self) -> None:
        part = self._result.with_suffix(".part")
        part.write_text(json.dumps(self._noted))
        part.replace(self._result)
