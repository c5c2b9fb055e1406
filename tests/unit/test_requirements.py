"""The files of locked versions hold what pyproject.toml asks for, and name no index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "requirements"
SPARKS = sorted(file.name for file in FOLDER.glob("spark-*.txt"))


def locked(name: str) -> dict[str, list[str]]:
    """The versions of each package, one for each range of Pythons that differ."""
    found: dict[str, list[str]] = {}
    entry = re.compile(r"^([a-z0-9.-]+)(?:\[\w+\])?==([^\s;]+)", re.M)
    for package, version in entry.findall((FOLDER / name).read_text()):
        found.setdefault(package, []).append(version)
    return found


def declared() -> dict[str, list[Requirement]]:
    """What pyproject.toml asks for, by the name of the list; read as text, since Python 3.10 has no TOML."""
    text = (ROOT / "pyproject.toml").read_text()
    lists = re.findall(r"^(\w+) = \[(.*?)\]$", text.split("[project.scripts]")[0], re.M | re.S)
    return {
        name: [Requirement(entry) for entry in re.findall(r'"([^"]+)"', entries)]
        for name, entries in lists
        if name in ("dependencies", "dev", "spark", "connect", "docs", "bench")
    }


@pytest.mark.parametrize(
    ("name", "lists"),
    [
        ("run.txt", ["dependencies", "spark"]),
        ("dev.txt", ["dependencies", "dev", "spark", "connect"]),
        ("docs.txt", ["dependencies", "dev", "connect", "docs"]),
        ("bench.txt", ["dependencies", "dev", "connect", "bench"]),
        ("lowest.txt", ["dependencies", "dev", "spark"]),
        *((name, ["dependencies", "spark"]) for name in SPARKS),
    ],
)
def test_every_dependency_is_locked_to_versions_that_are_allowed(name: str, lists: list[str]) -> None:
    versions, wanted = locked(name), declared()
    for need in (need for each in lists for need in wanted[each]):
        found = versions.get(need.name.lower(), [])
        assert found, f"{need} is not in requirements/{name}: run scripts/lock"
        assert all(need.specifier.contains(version) for version in found), f"{need}, {name}: run scripts/lock"


def test_what_is_tested_is_what_a_user_gets() -> None:
    run = locked("run.txt")
    for name in ("dev.txt", "docs.txt", "bench.txt"):
        assert {package: locked(name)[package] for package in run} == run


def test_the_lowest_versions_are_the_bounds() -> None:
    lowest = locked("lowest.txt")
    for need in declared()["dependencies"] + declared()["spark"]:
        (bound,) = (Version(each.version) for each in need.specifier if each.operator == ">=")
        assert {Version(found) for found in lowest[need.name]} == {bound}, need


def test_each_series_of_spark_before_the_newest_has_a_file_of_its_name() -> None:
    newest = max(map(Version, locked("run.txt")["pyspark"]))
    assert SPARKS == ["spark-3.5.txt", "spark-4.0.txt", "spark-4.1.txt"]
    for name in SPARKS:
        (found,) = locked(name)["pyspark"]
        assert f"spark-{found.rpartition('.')[0]}.txt" == name and Version(found) < newest


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.name)
def test_every_version_has_hashes_and_no_index_is_named(file: Path) -> None:
    text = file.read_text()
    assert "://" not in text and "--index" not in text and "--find-links" not in text
    entries = re.split(r"^(?=[a-z0-9])", re.sub(r"^\s*#.*\n", "", text, flags=re.M), flags=re.M)[1:]
    assert entries and all("==" in entry and "--hash=sha256:" in entry for entry in entries)
