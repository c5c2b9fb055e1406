"""Specs as files: what cannot be read, what YAML makes of it, and relative paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdp_spark.errors import SpecError
from ppdp_spark.spec import (
    ReleaseSpec,
)


def written(folder: Path, text: str) -> Path:
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return path


# Files


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    cases = {
        tmp_path / "none.yaml": "does not exist",
        tmp_path: "is a folder",
        Path("a\0b"): "cannot be read",
        tmp_path / ("x" * 300): "cannot be read",
        written(tmp_path, "# nothing\n"): "is empty: start it with `version: 1`",
    }
    for path, message in cases.items():
        with pytest.raises(SpecError, match=message):
            ReleaseSpec.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version: 1\nprivacy: {k_anonymity: 2\n", "is not valid YAML: line 3, column 1"),
        ("version: 1\n  dataset: x\n", "is not valid YAML: line 2, column 10"),
        ("version: 1\nversion: 1\n", "line 2, column 1: the key `version` is there twice"),
        ("privacy:\n  k_anonymity: 2\n  k_anonymity: 5\n", "line 3, column 3: the key `k_anonymity`"),
        ("a: &x [1]\nb: *x\n", "line 2, column 4: aliases are not supported"),
        ("? [a, b]\n: 1\n", "line 1, column 3: a key must be text"),
        ("a: !!python/object/apply:os.getcwd []\n", "line 1, column 4: could not determine a constructor"),
        ("a: \x07\n", "line 1, column 4: special characters"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1: expected a single document"),
        ("- " * 2_000, "nested too deeply"),
        ("a: " + "9" * 5000, "a number or a tag that cannot be read"),
        ("a: !!int x", "a number or a tag that cannot be read"),
        ("- version: 1\n", r"the spec \(list\) must be a mapping"),
        ("version", r"the spec \(text\) must be a mapping"),
        ("# " + "x" * 1_000_000, "larger than 1 MB"),
    ],
)
def test_yaml_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        ReleaseSpec.load(written(tmp_path, text))


def test_files_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_bytes("version: 1\ndataset: caf\u00e9".encode("latin-1"))
    with pytest.raises(SpecError, match=r"not UTF-8 text \(byte 24\)"):
        ReleaseSpec.load(path)


MINIMAL = """\
version: 1
dataset: "d"
input: {path: people.csv}
columns:
  quasi_identifiers: {%s}
  sensitive: job
privacy:
  skyline:
    default: [{l: 0, k: 1, m: 0, c: 1}]
    values: {%s}
"""


def test_keys_stay_as_they_are_written(tmp_path: Path) -> None:
    values = "NO: [{l: 1, k: 1, m: 0, c: 1e-1}], 010: [{l: 1, k: 1, m: 0, c: .5}]"
    spec = ReleaseSpec.load(written(tmp_path, MINIMAL % ("yes: , 1.10: numeric, 2020-01-01: date", values)))
    assert list(spec.columns.quasi_identifiers) == ["yes", "1.10", "2020-01-01"]
    assert spec.privacy.skyline is not None and list(spec.privacy.skyline.values) == ["NO", "010"]
    assert spec.privacy.skyline.values["NO"][0].c == 0.1


@pytest.mark.parametrize("number", ["010", "1:30", "0x10", "1e1"])
def test_numbers_mean_what_they_look_like(tmp_path: Path, number: str) -> None:
    path = written(tmp_path, MINIMAL % ("age: ", ""))
    with pytest.raises(SpecError, match=r"`privacy.k_anonymity` \((text|decimal number)\) must be a whole"):
        ReleaseSpec.load(path, [f"privacy.k_anonymity={number}"])


def test_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, work = tmp_path / "conf", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    monkeypatch.chdir(work)
    for file in (folder / "people.csv", folder / "tree.csv", work / "priors.csv"):
        file.touch()
    text = MINIMAL % ("age: , sex: {hierarchy: tree.csv}, city: {hierarchy: /abs/c.csv}", "")
    path = written(folder, text + "  robustness: {r: 2, priors: [{attributes: [sex], path: priors.csv}]}\n")
    spec = ReleaseSpec.load(path, ["output.path=people.csv"])
    assert spec.input.path == str(folder / "people.csv")
    assert spec.columns.quasi_identifiers["sex"].hierarchy == str(folder / "tree.csv")
    assert spec.columns.quasi_identifiers["city"].hierarchy == "/abs/c.csv"
    assert spec.privacy.robustness is not None and spec.privacy.robustness.priors[0].path == "priors.csv"
    assert spec.output.path == "people.csv"
    assert ReleaseSpec.load(path, ["input.path=s3a://b/people.csv"]).input.path == "s3a://b/people.csv"
    assert ReleaseSpec.load(path, ["input.path='*.csv'"]).input.path == str(folder / "*.csv")
