"""The mistakes of docs/reference/mistakes.md that need no Spark: still told as the page says.

They run in this process; `scripts/documentation/mistakes.py` tries all of them as processes, and times them.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from ppdp_spark.cli.app import app
from support.places import ROOT


def script() -> ModuleType:
    place = ROOT / "scripts/documentation/mistakes.py"
    found = importlib.util.spec_from_file_location("mistakes", place)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["mistakes"] = module
    found.loader.exec_module(module)
    return module


MISTAKES = script()
CHEAP = [each for each in MISTAKES.MISTAKES if not (each.spark or each.release)]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("mistakes")
    MISTAKES.home_of_mistakes(folder)
    return folder


def test_forty_are_on_the_page_and_none_has_a_traceback():
    page = MISTAKES.PAGE.read_text()
    assert len(CHEAP) >= 40
    assert all(
        f"| {MISTAKES.row(each, MISTAKES.Told(0, '', 0)).split('|')[1].strip()} |" in page for each in CHEAP
    )
    assert "Traceback" not in page and page.count("\n| ") > len(CHEAP)


@pytest.mark.parametrize("mistake", CHEAP, ids=[each.what for each in CHEAP])
def test_the_message_is_that_of_the_page(mistake, home, monkeypatch):
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", "80")
    for key, value in mistake.environment:
        monkeypatch.setenv(key, value)
    done = CliRunner().invoke(app, list(mistake.command), prog_name="ppdp")
    if mistake.environment:  # what to install depends on the machine
        assert done.exit_code == 1 and done.stderr.startswith("ppdp: Spark needs Java 17 or newer")
        return
    told = MISTAKES.Told(done.exit_code, MISTAKES.message_of(done.stderr), 0.0)
    assert MISTAKES.untimed(MISTAKES.row(mistake, told)) in MISTAKES.untimed(MISTAKES.PAGE.read_text())
    assert not (home / "new").exists()


@pytest.mark.nightly
def test_all_of_them_as_processes():
    place = ROOT / "scripts/documentation/mistakes.py"
    done = subprocess.run(
        [sys.executable, str(place), "--check"], capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
