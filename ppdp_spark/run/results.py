"""What commands return: verdicts and runs, as frozen values with `.ok` and `.to_dict()`."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.utility.metrics import Metrics
from ppdp_spark.errors import DataError
from ppdp_spark.report.compare.comparison import Compared, side_by_side
from ppdp_spark.report.compare.frontier_chart import Choice, Frontier
from ppdp_spark.report.format.quoted_names import printable

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

log = logging.getLogger(__name__)


@dataclass(frozen=True, repr=False)
class Verdict:
    """Whether every criterion holds, with one row per criterion.

    `publishable` is False also for a run that passes but must not leave the house, such as one with
    a fixed seed; `reason` says why.
    """

    rows: tuple[VerdictRow, ...]
    publishable: bool = True
    reason: str | None = None

    def __repr__(self) -> str:
        return f"Verdict({self._told})"

    @property
    def _told(self) -> str:
        """Pass or fail in a few words."""
        if self.failures:
            return f"FAIL: {', '.join(dict.fromkeys(row.criterion for row in self.failures))}"
        demanded = sum(row.status == "pass" for row in self.rows)
        if not demanded:
            return "nothing was demanded"
        kept = "" if self.publishable else ", not for publication"
        return f"PASS, {demanded:,} {'criterion' if demanded == 1 else 'criteria'}{kept}"

    @property
    def ok(self) -> bool:
        """Whether nothing that was demanded fails."""
        return all(row.ok for row in self.rows)

    @property
    def failures(self) -> tuple[VerdictRow, ...]:
        """The rows that fail."""
        return tuple(row for row in self.rows if not row.ok)

    def to_pandas(self) -> pd.DataFrame:
        """One row per criterion; `parameters` and `witness` are dictionaries."""
        import pandas as pd

        names = [one.name for one in fields(VerdictRow)]
        return pd.DataFrame([row.to_dict() for row in self.rows], columns=names)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, as in `verdict.json`."""
        return {
            "status": "pass" if self.ok else "fail",
            "publishable": self.ok and self.publishable,
            "reason": self.reason,
            "criteria": [finite(row.to_dict()) for row in self.rows],
        }


class ReleaseTables(Protocol):
    """The tables of a release, of which a form has the first or the other two."""

    @property
    def generalized(self) -> DataFrame: ...

    @property
    def quasi_identifiers(self) -> DataFrame: ...

    @property
    def sensitive(self) -> DataFrame: ...

    @property
    def by_attribute(self) -> dict[str, DataFrame]: ...


@dataclass(frozen=True, repr=False)
class Run:
    """The outcome of a command. In a notebook it shows its report.

    After `anonymize` and `verify`, `release` is the published table as a Spark DataFrame; a bucketized
    release has two, `qi_table` and `sensitive_table`. After `anonymize`, `metrics` says how much of the
    table the release keeps.

    where
        verdict  whether every criterion holds
        summary  aggregates of the run, as in `summary.json`
        paths    where its files are, by name: release, verdict, summary, report
    """

    verdict: Verdict
    summary: Mapping[str, Any]
    paths: Mapping[str, str] = field(default_factory=dict)
    _published: ReleaseTables | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        about = f"{self._command} {printable(self.summary.get('dataset', ''))}: {self.verdict._told}"
        place = self.paths.get("release") or self.paths.get("verdict")
        return f"Run({about}{'; ' + printable(place) if place else ''})"

    @property
    def _command(self) -> str:
        return str(self.summary.get("command", "command"))

    @property
    def ok(self) -> bool:
        """Whether the verdict passes."""
        return self.verdict.ok

    @property
    def release(self) -> DataFrame:
        """The published table of a generalized or rowwise release, read when it is used.

        A `DataError` says so if the command publishes nothing, if the release does not verify, if it is
        bucketized, or if a later run replaced it.
        """
        return self._tables.generalized

    @property
    def qi_table(self) -> DataFrame:
        """The first table of a bucketized release: everybody's quasi-identifiers and `group_id`."""
        return self._tables.quasi_identifiers

    @property
    def sensitive_table(self) -> DataFrame:
        """The second table of a bucketized release: how often each group has each sensitive value."""
        return self._tables.sensitive

    @property
    def sensitive_tables(self) -> dict[str, DataFrame]:
        """Such a table for each sensitive attribute, by its column: with several there are as many."""
        return self._tables.by_attribute

    @property
    def _tables(self) -> ReleaseTables:
        if self._published is None:
            raise DataError(f"`{self._command}` publishes nothing: tables are there after `anonymize`")
        if not self.ok:
            failing = ", ".join(dict.fromkeys(row.criterion for row in self.verdict.failures))
            raise DataError(f"the release does not verify ({failing}): it must not be used")
        return self._published

    @property
    def metrics(self) -> Metrics:
        """How much of the table the release keeps: sizes of groups, information lost, query errors."""
        if not {"metrics", "release"} <= set(self.summary):
            raise DataError(f"`{self._command}` measures no release: metrics are there after `anonymize`")
        return Metrics.of(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types: verdict, summary and paths."""
        return {"verdict": self.verdict.to_dict(), "summary": dict(self.summary), "paths": dict(self.paths)}

    def __rich__(self) -> Any:
        from ppdp_spark.report.terminal import run_table

        return run_table(self.summary, self.verdict.to_dict(), self.paths)

    def _repr_html_(self) -> str:
        from ppdp_spark.report import render

        return render(dict(self.summary), self.verdict.to_dict())


@dataclass(frozen=True, repr=False)
class Comparison:
    """Several runs side by side, read from their summaries and verdicts. In a notebook it shows its page."""

    runs: tuple[Compared, ...]

    def __repr__(self) -> str:
        return f"Comparison({', '.join(printable(run.name) for run in self.runs)})"

    def to_pandas(self) -> pd.DataFrame:
        """One column per run; rows are named by part and line, such as Release and groups.

        Numbers are numbers, and what has none is text.
        """
        import pandas as pd

        parts = self.to_dict()["parts"]
        rows = {(part["title"], name): row for part in parts for name, row in part["lines"].items()}
        names = pd.MultiIndex.from_tuples(list(rows), names=["part", "line"])
        columns = [run.name for run in self.runs]
        return pd.DataFrame(list(rows.values()), index=names, columns=columns, dtype=object)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types: the names of the runs, and the lines of each part."""
        parts = [part.to_dict() for part in side_by_side(self.runs)]
        return {"runs": [run.name for run in self.runs], "parts": finite(parts)}

    def __rich__(self) -> Any:
        from ppdp_spark.report.terminal import comparison_table

        return comparison_table(self.runs)

    def _repr_html_(self) -> str:
        from ppdp_spark.report import render_comparison

        return render_comparison(self.runs)


@dataclass(frozen=True, repr=False)
class Sweep:
    """Variants of a release, those that cannot be published included. In a notebook it shows its page."""

    dataset: str
    choices: tuple[Choice, ...]
    paths: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        passing = sum(choice.ok for choice in self.choices)
        return f"Sweep({printable(self.dataset)}: {passing:,} of {len(self.choices):,} variants pass)"

    @property
    def ok(self) -> bool:
        """Whether anything can be published."""
        return any(choice.ok for choice in self.choices)

    def to_pandas(self) -> pd.DataFrame:
        """One row per variant: name, a column per varied field, status, reason, frontier, and each loss."""
        import pandas as pd

        plain = self.to_dict()
        empty = dict.fromkeys(plain["measures"])
        rows = [
            {"name": v["name"], **v["changes"], **{key: v[key] for key in _OUTCOME}, **empty, **v["losses"]}
            for v in plain["variants"]
        ]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, as in `sweep.json`; `losses` are by measure, and less is better."""
        frontier = Frontier(self.choices)
        variants = [
            {
                "name": choice.name,
                "changes": dict(choice.changes),
                "status": "pass" if choice.ok else "fail",
                "reason": choice.reason,
                "losses": frontier.losses(choice),
                "frontier": frontier.holds(choice),
            }
            for choice in self.choices
        ]
        plain = {"dataset": self.dataset, "measures": list(frontier.measures), "variants": variants}
        return {**finite(plain), "paths": dict(self.paths)}

    def __rich__(self) -> Any:
        from ppdp_spark.report.terminal import sweep_table

        return sweep_table(self.dataset, self.choices, self.paths)

    def _repr_html_(self) -> str:
        from ppdp_spark.report import render_sweep

        return render_sweep(self.dataset, self.choices)


_OUTCOME = ("status", "reason", "frontier")


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
