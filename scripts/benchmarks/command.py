"""From parsed arguments to measurements and the report."""

from __future__ import annotations

import argparse
import sys

from benchmarks import machine
from benchmarks.catalog import SCENARIOS
from benchmarks.progress import Progress
from benchmarks.report import write_report
from benchmarks.runner import Runner, describe
from benchmarks.scenario import Options
from benchmarks.store import Results

FORMS = ("generalized", "bucketized")


def run(given: argparse.Namespace) -> int:
    """Exit code 0; 1 if a measurement failed; 2 if a scenario is not known; 130 if interrupted."""
    unknown = [name for name in given.scenarios if name not in SCENARIOS]
    if unknown:
        print(f"no scenario {', '.join(unknown)}: there are {', '.join(SCENARIOS)}", file=sys.stderr)
        return 2
    if given.list:
        print(listing(given))
        return 0
    failed: list[str] = []
    progress = Progress()
    if not given.report:
        chosen = [SCENARIOS[name] for name in dict.fromkeys(given.scenarios or SCENARIOS)]
        data, out = given.data.absolute(), given.out.absolute()
        try:
            failed = Runner(_options(given), data, out, given.again, progress).run(chosen)
        except KeyboardInterrupt:
            progress.say("interrupted: the same command goes on from here")
            return 130
    progress.say(f"report: {write_report(given.out.absolute())}")
    if failed:
        progress.say("failed: " + "; ".join(failed))
    return 1 if failed else 0


def listing(given: argparse.Namespace) -> str:
    """Scenarios, their sizes, and what is measured already."""
    lines = []
    for scenario in SCENARIOS.values():
        sizes = ", ".join(f"{rows:,}" for rows in scenario.rows)
        lines.append(f"{scenario.name}: {scenario.about}\n    rows: {sizes}")
        records = Results(given.out, scenario.name).records
        lines += [f"    {one['status']}: {describe(scenario.name, one['parameters'])}" for one in records]
    return "\n".join(lines)


def _options(given: argparse.Namespace) -> Options:
    return Options(
        rows=given.rows,
        k=given.k,
        forms=tuple(dict.fromkeys(given.form or FORMS)),
        cores=given.cores or machine.usable_cores(),
        driver_memory=given.driver_memory,
        repeats=given.repeats,
        time_limit=given.time_limit,
        cold=given.cold,
    )
