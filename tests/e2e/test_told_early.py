"""What can be known before Spark starts is told before: in a line, with the fix."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

PPDP = [sys.executable, "-m", "ppdp_spark"]
SPEC = """\
version: 1
dataset: people
input: {path: people.csv}
columns: {quasi_identifiers: {age: numeric, city: {hierarchy: city.csv}}, sensitive: job}
privacy: {k_anonymity: 5}
output: {path: out}
"""


def ppdp(*args: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PPDP, *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=900,
    )


@pytest.fixture
def home(tmp_path) -> Path:
    people = pd.DataFrame({"age": range(40), "city": ["a", "b"] * 20, "job": list("wxyz") * 10})
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "city.csv").write_text("a,*\nb,*\n")
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "held/release").mkdir(parents=True)
    java = tmp_path / "broken/bin/java"
    java.parent.mkdir(parents=True)
    java.write_text('#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "17.0.1"\' >&2 || exit 1\n')
    java.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["--set", "input.path=gone.csv"], 3, ["`input` (gone.csv) does not exist"]),
        (
            ["--set", "input.path=gone.csv", "--set", "columns.quasi_identifiers.city.hierarchy=tree.csv"],
            3,
            ["2 problems", "`input` (gone.csv)", "`columns.quasi_identifiers.city.hierarchy`", "tree.csv"],
        ),
        (["--set", "output.path=held"], 2, ["already holds a release", "--overwrite"]),
        (["--master", "locl[2]"], 1, ["`--master` (locl[2]) is none", "local[*]"]),
        (["--master", "local[0]"], 1, ["`--master` (local[0]) is none"]),
        (["--master", "spark://localhost:9"], 1, ["`--master` (spark://localhost:9) does not answer"]),
    ],
)
def test_mistakes_that_need_no_spark(home, args, code, told):
    done = ppdp("anonymize", "spec.yaml", *args, cwd=home, JAVA_HOME="broken")
    assert done.returncode == code, done.stderr
    assert all(part in done.stderr for part in told), done.stderr
    assert "Traceback" not in done.stderr and "Spark could not start" not in done.stderr
    assert not (home / "out").exists()


def test_no_java_is_told_with_the_fix(home):
    done = ppdp("anonymize", "spec.yaml", cwd=home, JAVA_HOME="/nowhere")
    assert done.returncode == 1 and "Spark needs Java 17" in done.stderr and "JAVA_HOME" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_java_that_does_not_start_is_one_line(home):
    done = ppdp("anonymize", "spec.yaml", cwd=home, JAVA_HOME="broken")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "Spark could not start (JAVA_GATEWAY_EXITED): `ppdp doctor`" in done.stderr


def test_outputs_that_are_not_there(home):
    """With a Java that does not start: Spark would be missed."""
    for command in ("verify", "report"):
        done = ppdp(command, "nowhere", cwd=home, JAVA_HOME="broken")
        assert done.returncode == 3 and "nowhere" in done.stderr and "Traceback" not in done.stderr
        assert "Spark could not start" not in done.stderr


@pytest.mark.slow
def test_workers_without_the_package_are_told(home):
    """A session of the user's own, whose workers run a Python of their own."""
    bare = home / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    program = (
        "from pyspark.sql import SparkSession; import ppdp_spark\n"
        "SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()\n"
        "try: ppdp_spark.anonymize('spec.yaml')\n"
        "except ppdp_spark.PpdpError as error: print('TOLD', error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=home,
        env={
            **os.environ,
            "PYSPARK_PYTHON": str(bare / "bin/python"),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        },
        timeout=900,
    )
    assert "TOLD the Python of Spark's workers has no package `" in done.stdout, (
        done.stdout + done.stderr[-2000:]
    )


def test_version_help_and_completion(home):
    from ppdp_spark import __version__

    assert ppdp("--version", cwd=home).stdout == f"ppdp-spark {__version__}\n"
    told = ppdp("--help", cwd=home, COLUMNS="100").stdout
    assert "--version" in told and "--install-completion" in told and "anonymize" in told
