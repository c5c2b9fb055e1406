"""The Python that README and the how-to page show, run as it stands there on a small census."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ppdp_spark.spark.synthetic.census import census

ROOT = Path(__file__).parents[2]


@pytest.fixture
def shown(spark, tmp_path, monkeypatch) -> dict[str, Any]:
    """What a reader has before the first snippet: a table, and the specs of the repository."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf").symlink_to(ROOT / "conf")
    return {"people": census(spark, 120).cache()}


def run_snippets(page: str, names: dict[str, Any]) -> dict[str, Any]:
    snippets = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, page, "exec"), names)
    return names


def test_the_snippets_of_the_readme(shown):
    run = run_snippets("README.md", shown)["run"]
    assert run.ok and run.release.count() == 120


def test_the_snippets_of_the_page_on_python(shown, capsys):
    names = run_snippets("docs/how-to/python.md", shown)
    assert names["run"].qi_table.count() == 120 and names["found"].ok
    assert names["looser"].privacy.k_anonymity == 5
    assert "SpecError `output.path` (out/census) already holds a release" in capsys.readouterr().out
