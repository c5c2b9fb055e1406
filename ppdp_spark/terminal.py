"""What a person sees on the terminal: outcomes as rich tables, and what is being done right now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from ppdp_spark.report import guarantees
from ppdp_spark.report.comparing import side_by_side
from ppdp_spark.report.frontier import QUERY_ERROR, Frontier, last_part
from ppdp_spark.report.numbers import as_number, mapping, number, percent
from ppdp_spark.report.wording import printable

if TYPE_CHECKING:
    from ppdp_spark.results import Comparison, Run, Sweep

_SIGNS = {"pass": "✓", "fail": "✗"}
_SHOWN = 20


def run_table(run: Run) -> Group:
    """Verdict, criteria, utility and paths of a run."""
    parts: list[Any] = [_headline(run), *_promises(run), _criteria(run)]
    parts += _knowledge(run) + _attack(run)
    facts = _facts(run)
    if facts.row_count:
        parts.append(facts)
    if run.paths:
        paths = Table.grid(padding=(0, 2))
        for name, path in run.paths.items():
            paths.add_row(Text(name, style="bold"), Text(path))
        parts.append(paths)
    return Group(*parts)


def _headline(run: Run) -> Panel:
    word, style = ("PASS", "green") if run.ok else ("FAIL", "red")
    about = f"{word} · {run.summary['command']} · {run.summary['dataset']}"
    reason = f"\n{run.verdict.reason}" if run.verdict.reason else ""
    return Panel(Text(about + reason, style=f"bold {style}"), expand=False)


def _promises(run: Run) -> list[Text]:
    """What is guaranteed, in plain sentences."""
    told = guarantees(run.summary, run.verdict.to_dict())
    lines = [Text(f"{_SIGNS.get(g.status, '•')} {g.claim}") for g in told[:_SHOWN]]
    return [*lines, Text("")] if lines else []


def _criteria(run: Run) -> Table:
    table = Table(title="Criteria", title_justify="left", header_style="bold")
    for name in ("criterion", "level", "worst", "needed", "violations", "status"):
        table.add_column(name, overflow="fold")
    ranked = sorted(run.verdict.rows, key=lambda row: ("fail", "pass", "measured").index(row.status))
    for row in ranked[:_SHOWN]:
        needed = "" if row.threshold is None else f"{row.relation} {row.threshold:.6g}"
        value = "none" if row.value is None else f"{row.value:.6g}"
        table.add_row(row.criterion, row.level, value, needed, f"{row.violations:,}", row.status)
    if len(ranked) > _SHOWN:
        table.caption = f"and {len(ranked) - _SHOWN} more in the verdict"
    return table


def _knowledge(run: Run) -> list[Table]:
    """Maximal knowledge for each explored value and confidence."""
    tables = []
    for skyline in run.summary.get("knowledge", [])[:_SHOWN]:
        title = f"{skyline['value']}: safe at {skyline['c']:.0%} against every one of these"
        table = Table("ℓ values", "k people", "m relatives", title=title, title_justify="left")
        for point in skyline["points"][:_SHOWN]:
            table.add_row(*(f"{point[axis]:,}" for axis in "lkm"))
        if not skyline["points"]:
            table.add_row("none", "none", "none")
        tables.append(table)
    return tables


def _attack(run: Run) -> list[Table]:
    """What the adversary infers, step by step, and the most probable linkages."""
    found = mapping(run.summary, "attack")
    if not found:
        return []
    heads = ("positive", "negative", "± ε", "statements", "max", "mean", "certain people", "nats from truth")
    steps = Table(*heads, title="Posteriors as knowledge grows", title_justify="left", header_style="bold")
    for step in found["steps"]:
        figures = [step[key] for key in ("positive", "negative", "within", "statements", "max_posterior")]
        figures += [step["mean_posterior"], step["certain_people"], step["accuracy"]]
        steps.add_row(*("" if f is None else f"{f:,}" if isinstance(f, int) else f"{f:.4g}" for f in figures))
    worst = Table("group", "value", "posterior", "before", "people", title="Most probable linkages")
    worst.title_justify = "left"
    for link in found["worst"][:5]:
        shares = (f"{link[key]:.4g}" for key in ("posterior", "prior"))
        worst.add_row(str(link["group"]), Text(printable(link["value"])), *shares, f"{link['people']:g}")
    return [steps, worst] if found["worst"] else [steps]


def _facts(run: Run) -> Table:
    table = Table.grid(padding=(0, 2))
    release, metrics = run.summary.get("release", {}), run.summary.get("metrics", {})
    if "rows" in release and "form" in release:
        table.add_row(
            "published", f"{release['rows']:,} rows in {release['groups']:,} groups ({release['form']})"
        )
    if "suppressed" in release:
        gone = release["suppressed"]
        table.add_row("suppressed", f"{gone['total']:,} rows ({gone['rate']:.2%})")
    if "sizes" in metrics:
        sizes = metrics["sizes"]
        table.add_row(
            "group sizes", f"{sizes['smallest']:,} to {sizes['largest']:,}, mean {sizes['mean']:.1f}"
        )
        table.add_row("information lost", f"{metrics['gcp']:.1%} (mean certainty penalty)")
    if "queries" in metrics:
        asked = metrics["queries"]
        table.add_row(
            "query error",
            f"{asked['median']:.1%} in the median of {asked['number']:,}, {asked['mean']:.1%} in the mean",
        )
    if "rows_per_second" in run.summary:
        speed = run.summary["rows_per_second"]
        table.add_row("time", f"{run.summary['seconds']:.1f} s, {speed:,} rows/s")
    return table


def comparison_table(comparison: Comparison) -> Group:
    """Runs side by side, one table a part; the best of a line is bold."""
    tables = []
    for part in side_by_side(comparison.runs):
        table = Table(title=part.title, title_justify="left", header_style="bold", caption=part.note or None)
        table.add_column("")
        for run in comparison.runs:
            table.add_column(Text(printable(run.name)), justify="right", overflow="fold")
        for line in part.lines:
            best = line.best
            cells = [
                Text(e.text, style="bold" if e.value is not None and e.value == best else "")
                for e in line.entries
            ]
            table.add_row(Text(line.name), *cells)
        tables.append(table)
    return Group(*tables)


def sweep_table(sweep: Sweep) -> Group:
    """One line a variant: what it changes, whether it can be published, what it loses."""
    frontier = Frontier(sweep.choices)
    form = percent if frontier.measure == QUERY_ERROR else number
    table = Table(title=f"Sweep of {printable(sweep.dataset)}", title_justify="left", header_style="bold")
    varied = [last_part(key) for key in sweep.choices[0].changes]
    for name in (*varied, "result", "frontier", frontier.measure, "smallest group", "groups", "seconds"):
        table.add_column(Text(printable(name)), overflow="fold")
    for choice in sweep.choices:
        summary = choice.run.summary if choice.run is not None else {}
        figures = (
            mapping(summary, "metrics", "sizes").get("smallest"),
            mapping(summary, "release").get("groups"),
            summary.get("seconds"),
        )
        table.add_row(
            *(Text(printable(value)) for value in choice.changes.values()),
            Text("pass", style="green") if choice.ok else Text("fail", style="red"),
            "●" if frontier.holds(choice) else "",
            form(frontier.loss(choice)),
            *(number(figure) if as_number(figure) is not None else "" for figure in figures),
        )
    reasons = [Text(f"✗ {c.label}: {printable(c.reason)}") for c in sweep.choices if not c.ok and c.reason]
    places = [Text(f"{name}  {path}") for name, path in sweep.paths.items()]
    return Group(table, *reasons, *places)


class Progress:
    """A live line: the stage, how long it has run, Spark's tasks, and when they may be done.

    where
        tasks  how many of its tasks Spark has done, of how many; None where it does not tell
    """

    def __init__(self, console: Console, tasks: Callable[[], tuple[int, int] | None]) -> None:
        self.console, self.tasks = console, tasks
        self.stage: str | None = None
        self.begun = self.moved = time.monotonic()
        self.done = self.total = 0
        self.spinner = Spinner("dots")

    def begin(self, stage: str) -> None:
        self.stage, self.begun, self.total = stage, time.monotonic(), 0

    def end(self, stage: str, told: str) -> None:
        self.stage = None
        self.console.print(Text(f"· {stage}: {told}"))

    def __rich__(self) -> RenderableType:
        if self.stage is None:
            return Text("")
        now = time.monotonic()
        line = Table.grid(padding=(0, 1))
        cells: list[RenderableType] = [
            self.spinner,
            Text(self.stage, style="bold"),
            f"{now - self.begun:.0f} s",
        ]
        cells += self._spark(now)
        line.add_row(*cells)
        return line

    def _spark(self, now: float) -> list[RenderableType]:
        counted = self.tasks()
        if counted is None or not counted[1]:
            self.total = 0
            return []
        done, total = counted
        if total != self.total or done < self.done:
            self.moved = now
        self.done, self.total = done, total
        cells: list[RenderableType] = [ProgressBar(total, done, width=24), f"{done:,} of {total:,} tasks"]
        left = remaining(now - self.moved, done, total)
        return cells if left is None or left < 1 else [*cells, f"about {left:.0f} s left of them"]


def remaining(elapsed: float, done: int, total: int) -> float | None:
    """Seconds that the tasks left will take if they are like those done; None before the first."""
    return elapsed * (total - done) / done if done and elapsed > 0 else None


@contextmanager
def live(console: Console, tasks: Callable[[], tuple[int, int] | None]) -> Iterator[Progress]:
    """Shows progress while the work inside runs, and leaves one line a stage."""
    progress = Progress(console, tasks)
    with Live(progress, console=console, transient=True, refresh_per_second=5, redirect_stdout=False):
        yield progress
