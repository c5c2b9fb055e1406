"""`ppdp sweep`: clean JSON of a process, exit codes, mistakes before Spark starts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.slow

PPDP = [sys.executable, "-c", "from ppdp_spark.cli.app import main; main()"]


def sweep(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [*PPDP, "sweep", "spec.yaml", *args]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=900)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    rows = [{"age": i % 60, "job": f"job{i % 4}"} for i in range(400)]
    pd.DataFrame(rows).to_csv(folder / "people.csv", index=False)
    (folder / "spec.yaml").write_text(
        "version: 1\ndataset: people\ninput: {path: people.csv}\n"
        "columns: {quasi_identifiers: {age: numeric}, sensitive: job}\n"
        "privacy: {k_anonymity: 5}\noutput: {path: out}\n"
    )
    return folder


def test_one_variant_that_passes_is_enough(home):
    done = sweep("--over", "privacy.k_anonymity=20,500", "--json", "--queries", "30", cwd=home)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [variant["status"] for variant in found["variants"]] == ["pass", "fail"]
    assert "median query error" in found["measures"] and Path(found["paths"]["page"]).exists()
    assert not (home / "out/release").exists()


def test_none_that_passes_is_a_failure_and_lines_go_to_the_error_stream(home, called):
    source = ("--set", f"input.path={home / 'people.csv'}")
    done = called("sweep", "spec.yaml", "--over", "privacy.k_anonymity=500", *source, cwd=home)
    assert done.exit_code == 4 and isinstance(done.exception, SystemExit)
    assert "variant 1 of 1, k_anonymity-500" in done.stderr and "read: " in done.stderr
    told = re.sub(r"[\s│]+", " ", done.stdout)
    assert "needed >= 500" in told, done.stdout


def test_mistakes_are_named(home):
    done = sweep("--over", "privacy.k_anonymity=1", cwd=home)
    assert done.returncode == 2 and "must be at least 2" in done.stderr
