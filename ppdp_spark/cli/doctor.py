"""`ppdp doctor`: is this machine fit to run?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from ppdp_spark.run.installed_spark import OLDEST, spark_version, version_numbers

GIB = 2**30


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what was found and, if it will not do, the fix."""

    name: str
    ok: bool
    found: str
    fix: str = ""


def examine() -> list[Finding]:
    """Java, Python, packages, memory, scratch space."""
    return [java(), _python(), *_packages(), _memory(), _scratch()]


def java_major(text: str) -> int | None:
    """The major version in the output of `java -version`; 1.8 is 8."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def java() -> Finding:
    """The Java that Spark would run on."""
    fix = "install Java 17 or newer, e.g. apt-get install openjdk-17-jre-headless, or set JAVA_HOME"
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    if java is None:
        return Finding("Java", False, "not found", fix)
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30)
    except OSError:
        return Finding("Java", False, "JAVA_HOME has no bin/java", fix)
    major = java_major(said.stderr + said.stdout)
    return Finding("Java", major is not None and major >= 17, f"version {major}", fix)


def _python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    return Finding("Python", sys.version_info >= (3, 10), found, "use Python 3.10 or newer")


_FITS: dict[str, Callable[[tuple[int, ...]], bool]] = {
    "pandas": lambda v: v < (3,),
    "pyarrow": lambda v: v >= (18,),
}


def _packages() -> list[Finding]:
    findings = [_spark()]
    for name, fits in _FITS.items():
        try:
            found = version(name)
        except PackageNotFoundError:
            findings.append(Finding(name, False, "not installed", f"pip install {name}"))
            continue
        findings.append(
            Finding(name, fits(version_numbers(found)), found, "pip install --upgrade ppdp-spark")
        )
    return findings


def _spark() -> Finding:
    """The pyspark there is, which may be a platform's and have no metadata."""
    found = spark_version()
    fits = found is not None and version_numbers(found) >= OLDEST
    fix = "pip install --upgrade 'ppdp-spark[spark]', or run where Spark brings it along"
    return Finding("pyspark", fits, found or "not installed", fix)


def _memory() -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    fix = "local Spark wants 2 GB or more: use a larger machine or a cluster"
    return Finding("Memory", total >= 2 * GIB, f"{total / GIB:.1f} GB", fix)


def _scratch() -> Finding:
    folder = os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(",")[0]
    fix = "set SPARK_LOCAL_DIRS to a writable folder with at least 1 GB free"
    try:
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except OSError:
        return Finding("Scratch space", False, "not writable", fix)
    return Finding("Scratch space", free >= GIB, f"{free / GIB:.1f} GB free", fix)
