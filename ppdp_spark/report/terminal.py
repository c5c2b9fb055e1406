"""Outcomes of commands as rich tables: what a person sees on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ppdp_spark.report.compare.comparison import Compared, side_by_side
from ppdp_spark.report.compare.frontier_chart import Choice, Frontier, last_part, loss_text
from ppdp_spark.report.format.numbers import as_number, mapping, number, percent
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.report.sentences.criteria import guarantees, state
from ppdp_spark.report.sentences.forms import form_words, what_is_lost
from ppdp_spark.report.sentences.guarantee import Setting
from ppdp_spark.report.sentences.skyline import UNLIMITED, place_of, safe_knowledge

Summary: TypeAlias = Mapping[str, Any]

_SIGNS = {"pass": "✓", "fail": "✗"}
_SHOWN, _MOST_POINTS = 20, 60


def run_table(summary: Summary, verdict: Mapping[str, Any], paths: Mapping[str, str]) -> Group:
    """Verdict, criteria, utility and paths of a run."""
    parts: list[Any] = [_headline(summary, verdict), *_promises(summary, verdict)]
    parts += [_criteria(verdict)] if verdict["criteria"] else []
    parts += _knowledge(summary) + _attack(summary)
    facts = _facts(summary)
    if facts.row_count:
        parts.append(facts)
    if paths:
        places = Table.grid(padding=(0, 2))
        for name, path in paths.items():
            places.add_row(Text(name, style="bold"), Text(path))
        parts.append(places)
    return Group(*parts)


def _headline(summary: Summary, verdict: Mapping[str, Any]) -> Panel:
    word = "FAIL" if verdict["status"] != "pass" else state(summary, {**verdict, "publishable": True})
    style = {"PASS": "green", "FAIL": "red"}.get(word, "cyan")
    about = f"{word} · {summary['command']} · {summary['dataset']}"
    reason = f"\n{verdict['reason']}" if verdict["reason"] else ""
    if not any(row["status"] in ("pass", "fail") for row in verdict["criteria"]):
        reason += "\nNo criterion was demanded: this promises nothing."
    return Panel(Text(about + reason, style=f"bold {style}"), expand=False)


def _promises(summary: Summary, verdict: Mapping[str, Any]) -> list[Text]:
    """What is guaranteed, in plain sentences."""
    told = guarantees(summary, verdict)
    lines = [Text(f"{_SIGNS.get(g.status, '•')} {g.claim}") for g in told[:_SHOWN]]
    return [*lines, Text("")] if lines else []


def _criteria(verdict: Mapping[str, Any]) -> Table:
    table = Table(title="Criteria", title_justify="left", header_style="bold")
    widest = max(
        (len(word) for row in verdict["criteria"] for word in row["criterion"].split("_")), default=0
    )
    table.add_column("criterion", min_width=widest)
    table.add_column("level", overflow="fold")
    for name in ("worst", "needed", "violations", "status"):
        table.add_column(name, no_wrap=True)
    ranked = sorted(verdict["criteria"], key=lambda row: ("fail", "pass", "measured").index(row["status"]))
    for row in ranked[:_SHOWN]:
        needed = "" if row["threshold"] is None else f"{row['relation']} {_short(row['threshold'])}"
        value = "none" if row["value"] is None else _short(row["value"])
        told = row["criterion"].replace("_", " ")
        table.add_row(told, row["level"], value, needed, f"{row['violations']:,}", row["status"])
    if len(ranked) > _SHOWN:
        table.caption = f"and {len(ranked) - _SHOWN} more in the verdict"
    return table


def _short(figure: float | str) -> str:
    """A number of a verdict; infinities are texts there already."""
    return figure if isinstance(figure, str) else f"{figure:.6g}"


def _knowledge(summary: Summary) -> list[Any]:
    """Values that are known already, and for the others all maximal knowledge at each confidence."""
    known: list[Any] = []
    title = "A value stays below the confidence for somebody who knows no more than one line"
    lines: list[tuple[str | Text, ...]] = []
    for skyline in summary.get("knowledge", []):
        if not skyline["points"]:
            told = safe_knowledge(skyline["value"], skyline["c"], None, Setting.of(summary))
            start = mapping(skyline, "start")
            where = f" {place_of(start)}" if start else ""
            known.append(Text(f"✗ {told}{where}", style="bold"))
        for point in skyline["points"]:
            amounts = (_amount(point[axis]) for axis in "lkm")
            lines.append((Text(printable(skyline["value"])), percent(skyline["c"]), *amounts))
    heads = ("value", "confidence", "ℓ values", "k people", "m relatives")
    table = Table(*heads, title=title, title_justify="left", header_style="bold")
    for line in lines[:_MOST_POINTS]:
        table.add_row(*line)
    if len(lines) > _MOST_POINTS:
        table.caption = f"and {len(lines) - _MOST_POINTS:,} more in the report"
    left = [Text(f"and {len(known) - _SHOWN:,} more in the report")] if len(known) > _SHOWN else []
    return [*known[:_SHOWN], *left, *([table] if table.row_count else [])]


def _amount(number_of: int) -> str:
    return "any" if number_of >= UNLIMITED else f"{number_of:,}"


def _attack(summary: Summary) -> list[Table]:
    """What the adversary infers, step by step, and the most probable linkages."""
    found = mapping(summary, "attack")
    if not found:
        return []
    heads = ("has it", "has not", "±", "facts", "largest", "mean", "certain people", "from truth")
    told = "How sure somebody becomes, by the number of rules on who has a value and who has not"
    steps = Table(*heads, title=told, title_justify="left", header_style="bold")
    for step in found["steps"]:
        figures = [step[key] for key in ("positive", "negative", "within", "statements", "max_posterior")]
        figures += [step["mean_posterior"], step["certain_people"], step["accuracy"]]
        steps.add_row(*("" if f is None else f"{f:,}" if isinstance(f, int) else f"{f:.4g}" for f in figures))
    worst = Table("group", "value", "with it", "without", "people", title="Who is known best")
    worst.title_justify = "left"
    for link in found["worst"][:5]:
        shares = (f"{link[key]:.4g}" for key in ("posterior", "prior"))
        worst.add_row(str(link["group"]), Text(printable(link["value"])), *shares, f"{link['people']:g}")
    return [steps, worst] if found["worst"] else [steps]


def _facts(summary: Summary) -> Table:
    table = Table.grid(padding=(0, 2))
    release, metrics = summary.get("release", {}), summary.get("metrics", {})
    if "rows" in release and "form" in release:
        told = f"{release['rows']:,} rows"
        if "written" in release:
            told = f"{release['written']:,} rows of {release['rows']:,} people"
        table.add_row("published", f"{told} in {release['groups']:,} groups ({release['form']})")
    if "suppressed" in release:
        gone = release["suppressed"]
        table.add_row("suppressed", f"{gone['total']:,} rows ({gone['rate']:.2%})")
    as_is = mapping(release, "as_is")
    if as_is.get("columns"):
        names = Text(", ".join(map(printable, as_is["columns"])))
        table.add_row("as they are", names, style="bold" if as_is["singled_out"] else None)
    for each in release.get("beside_sensitive", ()):
        if each["singled_out"]:
            columns = ", ".join(map(printable, each["columns"]))
            told = f"{each['singled_out']:,} people are alone with their values in {columns}"
            table.add_row("found by values", Text(told, style="bold"))
    for name, told in _utility(metrics, release):
        table.add_row(name, told)
    if "rows_per_second" in summary:
        speed = summary["rows_per_second"]
        table.add_row("time", f"{summary['seconds']:.1f} s, {speed:,} rows/s")
    return table


def _utility(metrics: Mapping[str, Any], release: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a release keeps and loses: names with figures."""
    weighted = mapping(metrics, "weighted")
    if "sizes" in metrics:
        sizes, form = metrics["sizes"], release.get("form")
        yield "group sizes", f"{sizes['smallest']:,} to {sizes['largest']:,}, mean {sizes['mean']:.1f}"
        also = f", {weighted['gcp']:.1%} weighted" if weighted else ""
        if form_words(form).exact:
            yield "lost", what_is_lost(form, sizes["mean"])
        else:
            yield "information lost", f"{metrics['gcp']:.1%} (mean certainty penalty){also}"
        if weighted:
            yield "population", f"{weighted['population']:,.0f} people, estimated by weights"
    for name, found in (("query error", metrics), ("weighted query error", weighted)):
        if asked := mapping(found, "queries"):
            yield name, _query_error(asked)


def _query_error(asked: Mapping[str, Any]) -> str:
    """Median and mean error with their intervals, and what was asked."""
    of = f"{number(asked['number'])} queries with an answer of at least {number(asked['floor'])}"
    return f"{_error(asked, 'median')} in the median, {_error(asked, 'mean')} in the mean of {of}"


def _error(asked: Mapping[str, Any], key: str) -> str:
    ends = " to ".join(f"{end:.1%}" for end in asked.get(f"{key}_interval", ()))
    return f"{asked[key]:.1%}" + (f" ({ends})" if ends else "")


def rows_table(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """A few rows of a release, as they are published; long labels are folded."""
    table = Table(title=title, title_justify="left", header_style="bold")
    for name in rows[0] if rows else ():
        table.add_column(Text(printable(name)), overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if value is None else printable(value)) for value in row.values()))
    return table


def comparison_table(runs: Sequence[Compared]) -> Group:
    """Runs side by side, one table a part; the best of a line is bold."""
    tables = []
    for part in side_by_side(runs):
        table = Table(title=part.title, title_justify="left", header_style="bold", caption=part.note or None)
        table.add_column("")
        for run in runs:
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


def sweep_table(dataset: str, choices: Sequence[Choice], paths: Mapping[str, str]) -> Group:
    """One line a variant: what it changes, whether it can be published, what it loses."""
    frontier = Frontier(tuple(choices))
    measures = frontier.measures
    table = Table(title=f"Sweep of {printable(dataset)}", title_justify="left", header_style="bold")
    varied = [last_part(key) for key in choices[0].changes]
    for name in (*varied, "result", "frontier", *measures, "smallest group", "groups", "seconds"):
        table.add_column(Text(printable(name)), overflow="fold")
    for choice in choices:
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
            *(loss_text(measure, frontier.losses(choice).get(measure)) for measure in measures),
            *(number(figure) if as_number(figure) is not None else "" for figure in figures),
        )
    reasons = [Text(f"✗ {c.label}: {printable(c.reason)}") for c in choices if not c.ok and c.reason]
    places = [Text(f"{name}  {path}") for name, path in paths.items()]
    return Group(table, *reasons, *places)
