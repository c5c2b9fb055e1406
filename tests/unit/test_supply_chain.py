"""What is published can be built again byte by byte, and recipes ask for what pyproject.toml asks for."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml
from packaging.requirements import Requirement

from support.places import ROOT

PROJECT = (ROOT / "pyproject.toml").read_text()
VERSION = re.findall(r'^version = "(.*)"$', PROJECT, re.M)[0]


def declared(name: str) -> set[Requirement]:
    """What a list of pyproject.toml asks for; read as text, since Python 3.10 has no TOML."""
    (entries,) = re.findall(rf"^{name} = \[(.*?)\]$", PROJECT, re.M | re.S)
    return {Requirement(entry) for entry in re.findall(r'"([^"]+)"', entries)}


def test_the_recipe_of_conda_asks_for_what_the_package_asks_for() -> None:
    text = (ROOT / "conda/meta.yaml").read_text()
    assert f'{{% set version = "{VERSION}" %}}' in text
    recipe = yaml.safe_load(
        re.sub(r"\{%.*%\}", "", text).replace("{{ version }}", VERSION).replace("{{ PYTHON }}", "python")
    )
    python = re.findall(r'^requires-python = "(.*)"$', PROJECT, re.M)[0]
    wanted = {Requirement(entry) for entry in recipe["requirements"]["run"]}
    assert wanted == declared("dependencies") | {Requirement(f"python{python}")}
    assert {Requirement(entry) for entry in recipe["requirements"]["run_constrained"]} == declared("spark")
    command, _, target = re.findall(r'^(ppdp)( = )"(.*)"$', PROJECT, re.M)[0]
    assert recipe["build"]["entry_points"] == [f"{command} = {target}"]


def test_what_is_published_is_the_tagged_version() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/publish.yml").read_text())
    assert workflow["permissions"] == {} and set(workflow["jobs"]) == {"build", "publish"}
    steps = workflow["jobs"]["build"]["steps"]
    (check,) = (step["run"] for step in steps if step.get("name") == "The tag is the version")
    for tag, code in ((f"v{VERSION}", 0), ("v0.1.9", 1), ("v", 1)):
        done = subprocess.run(["sh", "-ec", check], cwd=ROOT, env={**os.environ, "GITHUB_REF_NAME": tag})
        assert done.returncode == code, tag


def test_the_same_sources_make_the_same_wheel(tmp_path: Path) -> None:
    """On machines with other clocks and other habits of who may read what."""
    digests = set()
    for folder, umask, zone in (("first", 0o022, "UTC"), ("second", 0o077, "Asia/Tokyo")):
        command = [sys.executable, "scripts/package", "--no-environment", "--out", str(tmp_path / folder)]
        environment = {**os.environ, "TZ": zone}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, umask=umask, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        (wheel,) = (tmp_path / folder).glob("*.whl")
        digests.add(hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert len(digests) == 1
