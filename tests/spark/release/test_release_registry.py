"""A second release of a dataset is warned about where its owner looks; trials leave no trace."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from ppdp_spark.cli.app import app
from ppdp_spark.commands.sweep import sweep


@pytest.fixture
def spec(tmp_path) -> Path:
    table = pd.DataFrame({"age": [i % 60 for i in range(400)], "job": [f"job{i % 4}" for i in range(400)]})
    table.to_parquet(tmp_path / "people.parquet")
    (tmp_path / "spec.yaml").write_text(
        "version: 1\ndataset: people\ninput: {path: people.parquet}\n"
        "columns: {quasi_identifiers: {age: numeric}, sensitive: job}\n"
        f"privacy: {{k_anonymity: 5}}\noutput: {{path: {tmp_path / 'out'}}}\n"
    )
    return tmp_path / "spec.yaml"


def anonymize(spec: Path, *more: str):
    return CliRunner().invoke(app, ["anonymize", str(spec), "--quiet", *more])


def test_the_second_release_is_warned_about(spark, spec):
    first = anonymize(spec)
    assert first.exit_code == 0 and "warning" not in first.stderr
    assert anonymize(spec).exit_code == 2, "a refused run is no release"
    elsewhere = spec.parent / "again"
    again = anonymize(spec, "--set", f"output.path={elsewhere}", "--set", "privacy.k_anonymity=7")
    assert again.exit_code == 0
    assert again.stderr.startswith("warning: dataset “people” was released once before")
    assert str(spec.parent / "out/release/release.json") in again.stderr
    (warning,) = json.loads((elsewhere / "private/summary.json").read_text())["warnings"]
    assert f"warning: {warning}\n" == again.stderr
    assert "was released once before" in (elsewhere / "private/report.html").read_text()
    assert "warning" not in (elsewhere / "release/release.json").read_text()


def test_variants_of_a_sweep_and_failed_runs_are_not_releases(spark, spec):
    assert sweep(spec, {"privacy.k_anonymity": [5, 10]}, spark=spark, queries=0).ok
    assert anonymize(spec, "--set", "privacy.k_anonymity=500").exit_code == 4
    assert not list(spec.parent.rglob(".releases"))
    assert anonymize(spec).stderr == ""
