"""What a person sees on the terminal: the outcome of a run as rich tables, progress as plain lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ppdp_spark.report import guarantees

if TYPE_CHECKING:
    from ppdp_spark.results import Run

_SHOWN = 20


def run_table(run: Run) -> Group:
    """Verdict, criteria, utility and paths of a run."""
    parts: list[Any] = [_headline(run), *_promises(run), _criteria(run)]
    parts += _knowledge(run)
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
    lines = [Text(f"{'✓' if g.status != 'fail' else '✗'} {g.claim}") for g in told[:_SHOWN]]
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
    if "rows_per_second" in run.summary:
        speed = run.summary["rows_per_second"]
        table.add_row("time", f"{run.summary['seconds']:.1f} s, {speed:,} rows/s")
    return table
