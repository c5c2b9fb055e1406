"""What commands return: verdicts and runs, as frozen values with `.ok` and `.to_dict()`."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ppdp_spark.core.criteria.base import VerdictRow

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Verdict:
    """Whether every criterion holds, one row a criterion.

    `publishable` is False also for a run that passes but must not leave the house, such as one with
    a fixed seed; `reason` says why.
    """

    rows: tuple[VerdictRow, ...]
    publishable: bool = True
    reason: str | None = None

    @property
    def ok(self) -> bool:
        return all(row.ok for row in self.rows)

    @property
    def failures(self) -> tuple[VerdictRow, ...]:
        return tuple(row for row in self.rows if not row.ok)

    def to_dict(self) -> dict[str, Any]:
        return {
            "status": "pass" if self.ok else "fail",
            "publishable": self.ok and self.publishable,
            "reason": self.reason,
            "criteria": [finite(row.to_dict()) for row in self.rows],
        }


@dataclass(frozen=True)
class Run:
    """The outcome of a command: its verdict, the aggregates of the summary, and where files are."""

    verdict: Verdict
    summary: Mapping[str, Any]
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.verdict.ok

    def to_dict(self) -> dict[str, Any]:
        return {"verdict": self.verdict.to_dict(), "summary": dict(self.summary), "paths": dict(self.paths)}

    def __rich__(self) -> Any:
        from ppdp_spark.terminal import run_table

        return run_table(self)

    def _repr_html_(self) -> str:
        from ppdp_spark.report import render

        return render(dict(self.summary), self.verdict.to_dict())


class Stages:
    """Names and times of the stages of a run."""

    def __init__(self) -> None:
        self.done: list[dict[str, Any]] = []
        self.started = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        seconds = time.perf_counter() - begun
        self.done.append({"name": name, "seconds": round(seconds, 3)})
        log.info("%s: %.1f s", name, seconds)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started


def finite(content: Any) -> Any:
    """The same content with infinities and NaN as text: JSON has no such numbers."""
    if isinstance(content, float) and content != content:
        return "nan"
    if isinstance(content, float) and content in (float("inf"), float("-inf")):
        return "inf" if content > 0 else "-inf"
    if isinstance(content, Mapping):
        return {str(key): finite(value) for key, value in content.items()}
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        return [finite(value) for value in content]
    return content
