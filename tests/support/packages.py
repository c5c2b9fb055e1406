"""Packages that add criteria, installed by pip from a wheel, without network and without a build backend."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "pyproject.toml").exists())
KE_ANONYMITY = Path(__file__).parents[1] / "plugins" / "ke_anonymity"


def wheel(source: Path, folder: Path) -> Path:
    """A wheel of the single modules that a `pyproject.toml` lists, with its entry points."""
    project: Mapping[str, Any] = tomllib.loads((source / "pyproject.toml").read_text())
    about = project["project"]
    stem = f"{about['name'].replace('-', '_')}-{about['version']}"
    info, path = f"{stem}.dist-info", folder / f"{stem}-py3-none-any.whl"
    points = [f"{name} = {value}" for name, value in about["entry-points"]["ppdp_spark.criteria"].items()]
    modules = [f"{name}.py" for name in project["tool"]["setuptools"]["py-modules"]]
    files = {name: (source / name).read_text() for name in modules}
    files |= {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "\n".join(["[ppdp_spark.criteria]", *points, ""]),
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return path


def install(source: Path, target: Path, scratch: Path) -> None:
    """Install a package into a folder, as a user does; without network, and without what it depends on."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(wheel(source, scratch))], check=True)


def unpack(source: Path, target: Path, scratch: Path) -> None:
    """The content of a package's wheel in a folder, which is what pip makes of it."""
    with zipfile.ZipFile(wheel(source, scratch)) as archive:
        archive.extractall(target)


def python(arguments: Sequence[str], site: Path | None, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A fresh process that finds this package and those installed in `site`."""
    places = [str(ROOT)] if site is None else [str(site), str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)
