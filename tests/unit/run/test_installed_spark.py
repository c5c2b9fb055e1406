"""A pyspark that is missing or too old is told in one line, with the fix."""

from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

from ppdp_spark.cli.app import app
from ppdp_spark.errors import MachineError
from ppdp_spark.run.installed_spark import MISSING, OLDEST, require_spark, version_numbers
from support.places import PACKAGE

TOO_OLD = "pyspark 3.4.4 is too old: 3.5 or newer is needed."


def test_versions_that_will_do(monkeypatch):
    for version in ("3.5.0", "3.5.9", "4.0.0.dev1", "4.3.0", "10.0"):
        monkeypatch.setattr("pyspark.__version__", version)
        require_spark()
    assert version_numbers("3.5.2+databricks") == (3, 5)


def test_one_that_is_too_old(monkeypatch, tmp_path):
    monkeypatch.setattr("pyspark.__version__", "3.4.4")
    with pytest.raises(MachineError, match=TOO_OLD):
        require_spark()
    said = CliRunner().invoke(app, ["generate", str(tmp_path / "people")])
    assert said.exit_code == 1 and said.stderr.startswith(f"ppdp: {TOO_OLD}")
    assert said.stderr.count("\n") == 1 and "ppdp-spark[spark]" in said.stderr


def test_none_at_all(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    said = CliRunner().invoke(app, ["demo", str(tmp_path / "demo")])
    assert said.exit_code == 1 and said.stderr == f"ppdp: {MISSING}\n"
    found = CliRunner().invoke(app, ["doctor"])
    assert found.exit_code == 1 and "pyspark: not installed" in found.stdout
    assert "pip install --upgrade 'ppdp-spark[spark]'" in found.stdout


def test_python_is_told_the_same(monkeypatch):
    import ppdp_spark

    for name in [name for name in sys.modules if name.startswith("ppdp_spark.commands")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MachineError) as told:
        ppdp_spark.anonymize  # noqa: B018
    assert str(told.value) == MISSING


def test_the_oldest_is_the_one_that_is_declared():
    declared = (PACKAGE.parent / "pyproject.toml").read_text()
    assert f'spark = ["pyspark>={OLDEST[0]}.{OLDEST[1]}"]' in declared
