"""Mistakes in the arguments of `ppdp discover` are told before Spark starts, with the usual exit codes."""

from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

from ppdp_spark.cli.app import app


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["people.csv", "--share", "1.5"], 2, "`share` (1.5) must be at most 1"),
        (["people.csv", "--share", "0"], 2, "`share` (0.0) must be greater than 0"),
        (["people.csv", "--most", "5"], 2, "`most` (5) must be at most 4"),
        (["people.csv", "--output", "spec.yaml"], 2, "use --overwrite"),
        (["people.csv", "--output", "nowhere/spec.yaml"], 2, "make it first"),
        (["people.dat"], 2, "add parquet, csv, orc or json"),
        (["people.csv", "--option", "header"], 2, "KEY=VALUE"),
        (["people.csv", "--separator", ";", "--option", "sep=;"], 2, "say the same"),
        (["people.csv", "--table", "--format", "csv"], 2, "does not go with `table`"),
        (["people.parquet", "--separator", ";"], 2, "is about CSV files"),
        (["nowhere.csv"], 3, "does not exist"),
    ],
)
def test_mistakes(tmp_path, monkeypatch, args, code, message):
    for name in ("people.csv", "people.parquet", "people.dat", "spec.yaml"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["ppdp_spark.cli.app"], "session", lambda _: sys.exit("Spark was started"))
    done = CliRunner().invoke(app, ["discover", *args])
    assert done.exit_code == code and message in done.stderr.replace("\n", " "), done.stderr
    assert "Traceback" not in done.stderr and not done.stdout
