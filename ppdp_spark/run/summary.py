"""Aggregates of a run as plain JSON: what the report, the terminal and the next run read."""

from __future__ import annotations

import platform
import uuid
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any, TypeVar

from ppdp_spark.run.results import Stages
from ppdp_spark.spec import ReleaseSpec

Fact = TypeVar("Fact")


def package_version() -> str:
    """The version of ppdp-spark that is installed."""
    return version("ppdp-spark")


def new_run_id() -> str:
    """A name for a run: sortable by time, unique."""
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


def run_facts(command: str, dataset: str, stages: Stages, run_id: str | None = None) -> dict[str, Any]:
    """What every summary begins with."""
    return {
        "command": command,
        "dataset": dataset,
        "version": package_version(),
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "run_id": run_id or new_run_id(),
        "stages": stages.done,
        "seconds": round(stages.seconds, 3),
        "versions": {
            "ppdp_spark": package_version(),
            "python": platform.python_version(),
            **{name: version(name) for name in ("pyspark", "numpy", "pyarrow", "numba")},
        },
    }


def one_or_all(attributes: Sequence[Fact]) -> Fact | list[Fact] | None:
    """Facts of the sensitive attribute if there is one; a list of them if there are several."""
    return list(attributes) if len(attributes) > 1 else attributes[0] if attributes else None


def spec_facts(spec: ReleaseSpec) -> dict[str, Any]:
    """What the summary of a release says of its spec."""
    return {
        "spec": spec.to_dict(),
        "spec_fingerprint": spec.fingerprint(),
        "warnings": list(spec.warnings),
    }
