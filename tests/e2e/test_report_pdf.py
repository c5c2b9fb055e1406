"""`ppdp report --pdf`: the page on paper, where Chromium is installed, and what is said where it is not."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ppdp_spark.cli.app import app
from support.report import examples


@pytest.fixture
def output(tmp_path):
    private = tmp_path / "private"
    private.mkdir()
    (private / "summary.json").write_text(json.dumps(examples.passing_summary()))
    (private / "verdict.json").write_text(json.dumps({**examples.passing_verdict(), "manifest": "ab" * 32}))
    return tmp_path


def test_without_chromium_the_page_is_there_and_the_fix_is_told(output, monkeypatch):
    monkeypatch.setenv("PATH", str(output))
    done = CliRunner().invoke(app, ["report", str(output), "--pdf"], prog_name="ppdp")
    assert done.exit_code == 1 and "no Chromium is installed" in done.stderr
    assert "apt-get install chromium" in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert (output / "private/report.html").exists() and not (output / "private/report.pdf").exists()


@pytest.mark.browser
def test_the_pdf_is_for_the_owner_alone(output):
    done = CliRunner().invoke(app, ["report", str(output), "--pdf"], prog_name="ppdp")
    assert done.exit_code == 0, done.output
    printed = output / "private/report.pdf"
    assert printed.read_bytes().startswith(b"%PDF") and printed.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in printed.parent.iterdir()) == [
        "report.html",
        "report.pdf",
        "summary.json",
        "verdict.json",
    ]
