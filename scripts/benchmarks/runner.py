"""Takes the measurements asked for, each in a fresh process; one that fails does not stop the others."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.progress import Progress
from benchmarks.scenario import WARM_UP_ROWS, Options, Parameters, Scenario
from benchmarks.store import FAILED, OK, UNFINISHED, Record, Results
from benchmarks.tables import table_path
from benchmarks.watching import SAMPLED_EVERY, Watched

SCRIPTS = Path(__file__).resolve().parents[1]
ROOT = SCRIPTS.parent

ENDED, TOO_LONG, SUSPENDED = "ended", "too long", "suspended"
SUSPENDED_SECONDS = 20
"""A gap between two looks at a process by which it must have been suspended: asleep, or stopped by Ctrl-Z."""


@dataclass(frozen=True)
class Runner:
    """Where data, logs and results are, and what is asked for."""

    options: Options
    data: Path
    out: Path
    again: bool
    progress: Progress

    def run(self, scenarios: Sequence[Scenario]) -> list[str]:
        """Measure all scenarios; names of measurements that failed."""
        here, failed = machine.machine(), []
        for scenario in scenarios:
            planned, left_out = scenario.plan(self.options)
            for rows in left_out:
                self.progress.say(f"{scenario.name}: {rows:,} rows left out, more than it can be used with")
            results = Results(self.out, scenario.name)
            for parameters in planned:
                title = describe(scenario.name, parameters)
                if not self.again and results.finished(parameters, here, self.options.time_limit):
                    self.progress.say(f"{title}: there already (--again measures anew)")
                    continue
                record = self._measured(scenario, parameters, title)
                results.put({**record, "machine": here})
                if record["status"] == FAILED:
                    failed.append(title)
        return failed

    def _measured(self, scenario: Scenario, parameters: Parameters, title: str) -> Record:
        """A finished record: of a measurement, or of what kept it from being taken."""
        for kind in scenario.tables:
            for rows in sorted({parameters["rows"], min(parameters["rows"], WARM_UP_ROWS)}):
                if not table_path(self.data, kind, rows).exists():
                    made = self._process(None, {"rows": rows, "table": kind}, f"{kind} table, {rows:,} rows")
                    if made["status"] != OK:
                        return {**made, "parameters": parameters}
        return self._process(scenario, parameters, title)

    def _process(self, scenario: Scenario | None, parameters: Parameters, title: str) -> Record:
        record: Record = {
            "parameters": parameters,
            "measured": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "commit": machine.commit(ROOT),
            "versions": machine.versions(),
            "load_before": round(os.getloadavg()[0], 2),
            "pace_before": machine.pace(),
            "time_limit": self.options.time_limit,
        }
        self.data.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.data))
        try:
            return {**record, **self._attempt(scenario, parameters, title, scratch)}
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _attempt(
        self, scenario: Scenario | None, parameters: Parameters, title: str, scratch: Path
    ) -> Record:
        request, result, log = scratch / "request.json", scratch / "result.json", self._log_path(title)
        wanted = {
            "scenario": scenario and scenario.name,
            "parameters": parameters,
            "repeats": scenario.repeats(self.options, parameters["rows"]) if scenario else 1,
            "data": str(self.data),
            "scratch": str(scratch),
            "result": str(result),
        }
        request.write_text(json.dumps(wanted))
        command = [sys.executable, "-m", "benchmarks.one", str(request)]
        limit = None if scenario is None else self.options.time_limit
        with log.open("w") as lines:
            watched = Watched(command, folder=scratch, env=_environment(), log=lines)
            ending = self._follow(watched, title, limit)
        noted = json.loads(result.read_text()) if result.exists() else {"runs": {}, "facts": {}}
        for name, peaks in watched.peaks.items():
            if name in noted["runs"]:
                noted["runs"][name]["memory"] = peaks
        outcome = _outcome(watched, ending, log)
        self.progress.done(title, outcome, noted["runs"])
        return {**noted, **outcome}

    def _follow(self, watched: Watched, title: str, limit: float | None) -> str:
        """Stay with the process until it ends, a phase takes too long, or the machine was away."""
        ending = ENDED
        try:
            while watched.code is None and ending == ENDED:
                begun = time.monotonic()
                watched.sample()
                self.progress.show(title, watched)
                time.sleep(SAMPLED_EVERY)
                if time.monotonic() - begun > SUSPENDED_SECONDS:
                    ending = SUSPENDED
                elif limit is not None and watched.phase_seconds > limit and watched.code is None:
                    ending = TOO_LONG
        finally:
            watched.stop()
            watched.finish()
        return ending

    def _log_path(self, title: str) -> Path:
        name = "".join(letter if letter.isalnum() else "-" for letter in title)
        (self.data / "logs").mkdir(exist_ok=True)
        return self.data / "logs" / f"{name}.log"


def _outcome(watched: Watched, ending: str, log: Path) -> dict[str, Any]:
    if ending == TOO_LONG:
        return {"status": UNFINISHED, "phase": watched.phase, "reason": f"`{watched.phase}` took too long"}
    if ending == SUSPENDED:
        return {"status": FAILED, "reason": "was suspended while it ran: its times would be wrong"}
    if watched.code == 0:
        return {"status": OK}
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Failure)\b", line)]
    last = (errors or lines or [f"exit code {watched.code}"])[-1]
    return {"status": FAILED, "reason": last.replace(str(ROOT), ".")[:300]}


def _environment() -> dict[str, str]:
    """Our package on the path, and the arithmetic of one core to a process."""
    path = os.pathsep.join(filter(None, [str(SCRIPTS), os.environ.get("PYTHONPATH")]))
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}


def describe(scenario: str, parameters: Parameters) -> str:
    """A title such as `anonymize, 1,000,000 rows, k 10, form generalized`."""
    rest = [
        f"{key} {value}" for key, value in parameters.items() if key not in ("rows", "cores", "driver_memory")
    ]
    return ", ".join([scenario, f"{parameters['rows']:,} rows", *rest])
