"""The command line as a new user meets it: exit codes, messages without a traceback.

The first release is made by a process of its own, and so is what ends before Spark starts; other commands run
in the session of the tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from ppdp_spark import ReleaseSpec

PPDP = [sys.executable, "-c", "from ppdp_spark.cli.app import main; main()"]


def ppdp(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "120"}
    return subprocess.run(
        [*PPDP, *args], capture_output=True, text=True, cwd=cwd, env=environment, timeout=900
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A folder with a table and a spec."""
    folder = tmp_path_factory.mktemp("home")
    rows = [{"id": f"CANARY{i}", "age": i % 60, "job": f"job{i % 4}"} for i in range(400)]
    pd.DataFrame(rows).to_csv(folder / "people.csv", index=False)
    (folder / "spec.yaml").write_text(
        "version: 1\ndataset: people\ninput: {path: people.csv}\n"
        "columns: {identifiers: [id], quasi_identifiers: {age: numeric}, sensitive: job}\n"
        "privacy: {k_anonymity: 5}\noutput: {path: out}\n"
    )
    return folder


@pytest.fixture(scope="module")
def made(home) -> subprocess.CompletedProcess[str]:
    """The process that made a release."""
    done = ppdp("anonymize", "spec.yaml", cwd=home)
    assert done.returncode == 0, done.stderr
    return done


def test_a_release_is_made_and_not_made_again(made, home):
    assert "PASS" in made.stdout and "out/release" in made.stdout.replace("\n", "")
    assert "CANARY" not in made.stdout + made.stderr
    again = ppdp("anonymize", "spec.yaml", cwd=home)
    assert again.returncode == 2 and "already holds a release" in again.stderr


def test_a_command_says_nothing_on_behalf_of_java_or_spark(made):
    said = made.stdout + made.stderr
    assert not [word for word in ("WARN", "log4j", "log level", "incubator") if word in said], said


def test_a_release_is_verified_and_told_again_and_stays_where_another_fails(made, home, called):
    judged = called("verify", "out", "--json", cwd=home)
    assert judged.exit_code == 0 and json.loads(judged.stdout)["verdict"]["status"] == "pass"
    (home / "out/private/report.html").unlink()
    assert called("report", "out", cwd=home).exit_code == 0
    assert "PASS" in (home / "out/private/report.html").read_text()
    changes = ("--set", f"input.path={home / 'people.csv'}", "--set", "privacy.k_anonymity=500")
    impossible = called("anonymize", "spec.yaml", "--overwrite", *changes, cwd=home)
    assert impossible.exit_code == 4 and "needed >= 500" in impossible.stderr
    assert isinstance(impossible.exception, SystemExit) and "Traceback" not in impossible.stderr
    assert json.loads((home / "out/private/verdict.json").read_text())["status"] == "fail"
    assert (home / "out/release/release.json").exists()


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        (["privacy.k_anonymity=1"], 2, "must be at least 2"),
        (["privacy.k_anonimity=5"], 2, "did you mean"),
        (["input.path=nowhere.csv"], 3, "does not exist"),
    ],
)
def test_mistakes_are_named_without_a_traceback(home, changes, code, message):
    sets = [part for change in changes for part in ("--set", change)]
    done = ppdp("anonymize", "spec.yaml", *sets, "--set", "output.path=elsewhere", cwd=home)
    assert done.returncode == code, done.stderr
    assert message in done.stderr and "Traceback" not in done.stderr
    assert not (home / "elsewhere/release").exists()


def test_a_damaged_file_is_told_plainly(home, called):
    (home / "bad.parquet").write_bytes(b"PAR1 this is not a table PAR1")
    done = called(
        "anonymize", "spec.yaml", "--set", f"input={{path: {home / 'bad.parquet'}}}", "--overwrite", cwd=home
    )
    assert done.exit_code == 3 and isinstance(done.exception, SystemExit)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_malformed_line_is_quoted_by_spark_alone_and_only_when_asked(home, monkeypatch):
    """What SECURITY.md says of FAILFAST: nothing of ours quotes the line; Spark's log does, if on."""
    rows = [json.dumps({"age": i % 60, "job": f"job{i % 4}"}) for i in range(200)]
    (home / "broken.json").write_text("\n".join([*rows, '{"age": 7, "job": CANARYCELL}', *rows]) + "\n")
    changes = ("input={path: broken.json, options: {mode: FAILFAST}}", "columns.identifiers=[]")
    sets = [part for change in changes for part in ("--set", change)]
    told = {}
    for level in ("OFF", "ERROR"):
        monkeypatch.setenv("PPDP_SPARK_LOG", level)
        done = ppdp("anonymize", "spec.yaml", *sets, "--set", "output.path=quoted", cwd=home)
        assert done.returncode == 3 and "cannot be read" in done.stderr and "Traceback" not in done.stdout
        assert "FAILFAST" in done.stderr and not (home / "quoted/release").exists()
        told[level] = done.stdout + done.stderr
    assert "CANARYCELL" not in told["OFF"] and "CANARYCELL" in told["ERROR"]


def test_discover_proposes_a_spec_that_is_valid_and_shows_no_value(home, called):
    args = (
        "discover",
        str(home / "people.csv"),
        "--share",
        "0.2",
        "--most",
        "2",
        "--output",
        "proposed.yaml",
    )
    done = called(*args, cwd=home)
    assert done.exit_code == 0, done.stderr
    assert "identifier" in done.stdout and "spec  proposed.yaml" in done.stdout
    proposed = ReleaseSpec.load(home / "proposed.yaml", input_needed=True)
    assert proposed.columns.identifiers == ("id",)
    assert set(proposed.columns.quasi_identifiers) == {"age", "job"}
    assert "CANARY" not in done.stdout + done.stderr + (home / "proposed.yaml").read_text()


def test_schema_doctor_and_help(home):
    schema = json.loads(ppdp("spec-schema", cwd=home).stdout)
    assert "privacy" in schema["properties"]
    assert ppdp("doctor", cwd=home).returncode == 0
    assert "anonymize" in ppdp("--help", cwd=home).stdout
