"""Results on disk: one JSON file a scenario, one record a measurement, written as soon as it is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.scenario import Parameters

OK, UNFINISHED, FAILED = "ok", "did not finish", "failed"

Record = dict[str, Any]


class Results:
    """The records of one scenario, in the order of their parameters."""

    def __init__(self, folder: Path, scenario: str) -> None:
        self.path = folder / f"{scenario}.json"
        self.scenario = scenario
        self.records: list[Record] = []
        if self.path.exists():
            self.records = json.loads(self.path.read_text())["measurements"]

    def find(self, parameters: Parameters) -> Record | None:
        return next((record for record in self.records if record["parameters"] == parameters), None)

    def finished(self, parameters: Parameters, machine: dict[str, Any], time_limit: float) -> bool:
        """Whether measuring again would tell nothing new: done here, or too slow for this limit."""
        record = self.find(parameters)
        if record is None or record["machine"] != machine or record["status"] == FAILED:
            return False
        return bool(record["status"] == OK or record["time_limit"] >= time_limit)

    def put(self, record: Record) -> None:
        """Take the place of a record with the same parameters."""
        kept = [one for one in self.records if one["parameters"] != record["parameters"]]
        self.records = sorted([*kept, record], key=lambda one: _order(one["parameters"]))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        content = {"scenario": self.scenario, "measurements": self.records}
        part.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(self.path)


def _order(parameters: Parameters) -> list[tuple[str, float, str]]:
    """Numbers by size, the rest by text."""
    return [
        (key, float(value), "") if isinstance(value, int) else (key, 0.0, str(value))
        for key, value in sorted(parameters.items(), key=lambda pair: (pair[0] != "rows", pair[0]))
    ]


def ratio(record: Record, over: str, under: str) -> tuple[float | None, bool]:
    """Time of one run divided by that of another, and whether it is only a lower bound."""
    runs = record["runs"]
    if under not in runs or "seconds" not in runs[under]:
        return None, False
    if "seconds" in runs.get(over, {}):
        return runs[over]["seconds"] / runs[under]["seconds"], False
    if record["status"] == UNFINISHED and record["phase"] == over:
        return record["time_limit"] / runs[under]["seconds"], True
    return None, False
