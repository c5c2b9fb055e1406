"""Spark as it is installed here: platforms bring their own, so that it may be missing or too old."""

from __future__ import annotations

import re

from ppdp_spark.errors import MachineError

OLDEST = (3, 5)

MISSING = "pyspark is missing: `pip install 'ppdp-spark[spark]'`, or run where Spark brings it along"


def version_numbers(version: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def require_spark() -> None:
    """`MachineError` without a pyspark that will do, before anything else is imported from it."""
    found = spark_version()
    if found is None:
        raise MachineError(MISSING)
    if version_numbers(found) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise MachineError(
            f"pyspark {found} is too old: {oldest} or newer is needed. Use a cluster with Spark {oldest} or "
            "newer, or, where Spark is your own, `pip install --upgrade 'ppdp-spark[spark]'`"
        )


def spark_version() -> str | None:
    """The version of pyspark, also where it is only on the path; None if there is none."""
    try:
        from pyspark import __version__
    except ImportError:
        return None
    return str(__version__)
