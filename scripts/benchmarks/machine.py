"""Where and with what a measurement was taken: absolute times mean nothing without it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import time
from functools import cache
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


def pace() -> float:
    """Seconds of a fixed piece of plain Python, the best of three: how fast the machine is now."""

    def once() -> float:
        begun = time.perf_counter()
        sum(i * i for i in range(2_000_000))
        return time.perf_counter() - begun

    return round(min(once() for _ in range(3)), 3)


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_model() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else platform.processor() or platform.machine()


@cache
def versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "java": _first_line("java", "-version")}
    return found | {name: number for name in PACKAGES if (number := _version(name))}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


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
