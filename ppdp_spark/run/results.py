"""What commands return: verdicts and runs, as frozen values with `.ok` and `.to_dict()`."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.report.compare.comparison import Compared, side_by_side
from ppdp_spark.report.compare.frontier_chart import Choice, Frontier

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
        from ppdp_spark.report.terminal import run_table

        return run_table(self.summary, self.verdict.to_dict(), self.paths)

    def _repr_html_(self) -> str:
        from ppdp_spark.report import render

        return render(dict(self.summary), self.verdict.to_dict())


@dataclass(frozen=True)
class Comparison:
    """Several runs side by side, read from their summaries and verdicts."""

    runs: tuple[Compared, ...]

    def to_dict(self) -> dict[str, Any]:
        parts = [part.to_dict() for part in side_by_side(self.runs)]
        return {"runs": [run.name for run in self.runs], "parts": finite(parts)}

    def __rich__(self) -> Any:
        from ppdp_spark.report.terminal import comparison_table

        return comparison_table(self.runs)

    def _repr_html_(self) -> str:
        from ppdp_spark.report import render_comparison

        return render_comparison(self.runs)


@dataclass(frozen=True)
class Sweep:
    """Variants of a release, those that cannot be published included."""

    dataset: str
    choices: tuple[Choice, ...]
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether anything can be published."""
        return any(choice.ok for choice in self.choices)

    def to_dict(self) -> dict[str, Any]:
        frontier = Frontier(self.choices)
        variants = [
            {
                "name": choice.name,
                "changes": dict(choice.changes),
                "status": "pass" if choice.ok else "fail",
                "reason": choice.reason,
                "loss": frontier.loss(choice),
                "frontier": frontier.holds(choice),
            }
            for choice in self.choices
        ]
        plain = {"dataset": self.dataset, "measure": frontier.measure, "variants": variants}
        return {**finite(plain), "paths": dict(self.paths)}

    def __rich__(self) -> Any:
        from ppdp_spark.report.terminal import sweep_table

        return sweep_table(self.dataset, self.choices, self.paths)

    def _repr_html_(self) -> str:
        from ppdp_spark.report import render_sweep

        return render_sweep(self.dataset, self.choices)


class Watcher(Protocol):
    """Hears of stages as they begin and end; a display, say."""

    def begin(self, stage: str) -> None: ...

    def end(self, stage: str, told: str) -> None: ...


_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Stages that run inside tell the watcher."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


class Stages:
    """Names, times and counts of the stages of a run."""

    def __init__(self) -> None:
        self.done: list[dict[str, Any]] = []
        self.started = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, int]]:
        """Times what runs inside; counts put into the mapping, `rows` or `groups`, are kept with it."""
        begun, counts, watcher = time.perf_counter(), dict[str, int](), _WATCHER.get()
        if watcher is not None:
            watcher.begin(name)
        failed = {"failed": True}
        try:
            yield counts
            failed = {}
        finally:
            seconds = time.perf_counter() - begun
            self.done.append({"name": name, "seconds": round(seconds, 3), **counts, **failed})
            told = "".join(f", {number:,} {what}" for what, number in counts.items())
            told += ", failed" if failed else ""
            if watcher is not None:
                watcher.end(name, f"{seconds:.1f} s{told}")
            log.info("%s: %.1f s%s", name, seconds, told)

    def count(self, name: str, **counts: int) -> None:
        """Add counts that become known only after the stage of that name."""
        for stage in self.done:
            if stage["name"] == name:
                stage.update(counts)

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
