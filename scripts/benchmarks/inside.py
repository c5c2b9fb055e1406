"""Where the time inside a task goes: Mondrian on one core, looked at by py-spy a few hundred times a second.

`python -m benchmarks.inside TABLE` is the process that is looked at.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.coded import Coded

RATE = 250
K = 10
_FRAME = re.compile(r"^(?P<function>.+) \((?P<file>.*ppdp_spark/[^:]+)(:\d+)?\)$")


def observed(path: str) -> None:
    """The runs that count: after those that compile and read."""
    coded = Coded.read(path)
    coded.partition(K)
    begun, rows = time.perf_counter(), 0
    while time.perf_counter() - begun < 10:
        _partitioned(coded)
        rows += len(coded.codes)
    print(rows / (time.perf_counter() - begun))


def _partitioned(coded: Coded) -> None:
    """A frame of its own: stacks without it are not looked at."""
    coded.partition(K)


def page(path: Path) -> str:
    """Shares of our functions, each without those it calls, as Markdown."""
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "stacks"
        program = str(Path(sys.executable).with_name("py-spy"))
        looking = [program, *f"record --format raw --rate {RATE} --output".split(), str(raw), "--"]
        command = [sys.executable, "-m", "benchmarks.inside", str(path.absolute())]
        folder = Path(__file__).resolve().parents[1]
        done = subprocess.run(looking + command, cwd=folder, capture_output=True, text=True, check=True)
        stacks = raw.read_text().splitlines()
    speed = float(next(line for line in done.stdout.splitlines() if re.fullmatch(r"[\d.]+", line)))
    found = shares(stacks)
    lines = ["", f"## Inside a task: Mondrian on one core, {speed / 1e6:.2f} M rows/s under py-spy", ""]
    lines += ["| function | % of the time |", "|---|---:|"]
    lines += [f"| {name} | {100 * share:.0f} |" for name, share in found.items() if share >= 0.01]
    return "\n".join(lines) + "\n"


def shares(stacks: list[str]) -> dict[str, float]:
    """The share of every function of ours that was the innermost of ours, the largest first."""
    counts: Counter[str] = Counter()
    for line in stacks:
        stack, _, number = line.rpartition(" ")
        if "_partitioned" not in stack:
            continue
        ours = [frame for frame in map(_FRAME.match, stack.split(";")) if frame is not None]
        if ours:
            file = ours[-1]["file"].rpartition("ppdp_spark/")[2]
            counts[f"`{ours[-1]['function']}` in `{file}`"] += int(number)
    return {name: number / counts.total() for name, number in counts.most_common()}


if __name__ == "__main__":
    observed(sys.argv[1])
