"""Where and with what a measurement was taken: absolute times mean nothing without it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

PACKAGES = ("ppdp-spark", "pyspark", "numpy", "numba", "pandas", "pyarrow", "anonypy", "polarfrost")


def machine() -> dict[str, Any]:
    return {
        "cpu": cpu_model(),
        "cores": usable_cores(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
    }


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_model() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "java": _first_line("java", "-version")}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def commit(root: Path) -> str:
    """The revision measured, marked if files of the package differ from it."""
    revision = _first_line("git", "-C", str(root), "rev-parse", "--short", "HEAD")
    changed = _first_line("git", "-C", str(root), "status", "--porcelain", "--", "ppdp_spark")
    return f"{revision} and changes" if revision and changed else revision


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout or done.stderr).strip().partition("\n")[0]
