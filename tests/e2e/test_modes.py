"""What a run leaves on the disk for others to read: its release, and nothing when it is stopped."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PPDP = "import os; os.umask(0o022); from ppdp_spark.cli.app import main; main()"
SEVERAL = (
    "import json, os, sys; os.umask(0o022); from ppdp_spark.cli.app import app\n"
    "for arguments in json.loads(sys.argv[1]): app(arguments, standalone_mode=False)"
)
"""Runs several commands in one process; one that fails ends it."""
SPEC = """
version: 1
dataset: people
input: {path: people.parquet}
columns:
  identifiers: [id]
  quasi_identifiers: {age: numeric, city: categorical}
  sensitive: job
privacy: {k_anonymity: 5}
suppression: {method: r, l: 3, budget: 0.9}
output: {path: out}
"""


def start(*arguments: str, cwd: Path, program: str = PPDP) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "120"},
    )


def write_people(folder: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    columns = {
        "id": np.arange(rows),
        "age": rng.integers(0, 90, rows),
        "city": rng.choice(list("abcd"), rows),
        "job": rng.choice(["cook", "nurse", "smith", "clerk"], rows, p=[0.5, 0.2, 0.2, 0.1]),
    }
    pd.DataFrame(columns).to_parquet(folder / "people.parquet")
    (folder / "spec.yaml").write_text(SPEC)


def modes(folder: Path) -> dict[str, int]:
    found = [folder, *folder.rglob("*")]
    return {str(path.relative_to(folder.parent)): stat.S_IMODE(path.stat().st_mode) for path in found}


@pytest.mark.slow
def test_private_is_for_the_owner_and_the_release_is_not(tmp_path):
    write_people(tmp_path, 2_000)
    robust = "privacy.robustness={r: 1.5, priors: [{attributes: [city]}]}"
    commands = [
        ["anonymize", "spec.yaml", "--set", robust],
        ["suppress", "spec.yaml", "--set", "output.path=kept"],
    ]
    done = start(json.dumps(commands), cwd=tmp_path, program=SEVERAL)
    _, errors = done.communicate(timeout=900)
    assert done.returncode == 0, errors
    for out in ("out", "kept"):
        private = modes(tmp_path / out / "private")
        assert any(name.endswith(".parquet") for name in private), "Spark wrote some of it"
        assert {name: oct(mode) for name, mode in private.items() if mode & 0o077} == {}
    release = modes(tmp_path / "out/release")
    assert all(mode & 0o044 == 0o044 for mode in release.values()), release


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_stopped_takes_its_scratch_along(tmp_path, number):
    write_people(tmp_path, 400_000)
    running = start("anonymize", "spec.yaml", "--quiet", cwd=tmp_path)
    try:
        for _ in range(30_000):
            if list(tmp_path.glob("out/.staging-*/scratch/*/_temporary/**/*.parquet")):
                break
            assert running.poll() is None, running.communicate()
            time.sleep(0.02)
        running.send_signal(number)
        _, errors = running.communicate(timeout=900)
    finally:
        if running.poll() is None:
            running.kill()
    assert running.returncode == 128 + number
    assert "Traceback" not in errors
    left = [str(path.relative_to(tmp_path)) for path in (tmp_path / "out").rglob("*")]
    assert left == []
