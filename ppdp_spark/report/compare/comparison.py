"""Several runs side by side: the same lines for the terminal, the page and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppdp_spark.report.format.numbers import as_number, listing, mapping, number, percent, room
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.report.sentences.criteria import BOOKKEEPING, demanded, passed
from ppdp_spark.report.sentences.forms import form_words, what_is_lost
from ppdp_spark.report.sentences.guarantee import Row, holds

_RELATIONS = {">=": "≥", "<=": "≤"}
_NEAREST = "What was found for each criterion, where it is nearest to its limit."
_PENALTY = "Normalized certainty penalty of the groups: 0 as precise as the input, 1 nothing left."
_EXACT = "exact"
_ERRORS = (
    "Relative error of COUNT queries that have answers; the lines below those of all are medians, by how "
    "many quasi-identifiers were asked for and the share of their space. A difference within the intervals "
    "may be one of the queries that happened to be drawn."
)


@dataclass(frozen=True)
class Compared:
    """A run with the name it goes by; summary and verdict as they were written."""

    name: str
    summary: Mapping[str, Any]
    verdict: Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """What one run has in one line: text for people and, if there is one, the number behind it."""

    text: str = "—"
    value: int | float | None = None


@dataclass(frozen=True)
class Line:
    """One thing in all runs; `less_is_better` where that can be said."""

    name: str
    entries: tuple[Entry, ...]
    less_is_better: bool = False

    @property
    def best(self) -> int | float | None:
        """The smallest number, if it distinguishes any run."""
        values = [entry.value for entry in self.entries if entry.value is not None]
        return min(values) if self.less_is_better and len(set(values)) > 1 else None


@dataclass(frozen=True)
class ComparisonPart:
    """Lines that belong together; `note` says how to read them."""

    title: str
    lines: tuple[Line, ...]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        plain = {
            line.name: [entry.text if entry.value is None else entry.value for entry in line.entries]
            for line in self.lines
        }
        return {"title": self.title, "lines": plain}


def side_by_side(runs: Sequence[Compared]) -> tuple[ComparisonPart, ...]:
    """All parts of a comparison; lines that no run has are left out."""
    parts = [
        ComparisonPart("Guarantees", tuple(_guarantees(runs)), _NEAREST),
        ComparisonPart("Release", tuple(_release(runs)), "What is published; group sizes in people."),
        ComparisonPart("Precision", tuple(_precision(runs)), _penalty(runs)),
        ComparisonPart("Query error", tuple(_errors(runs)), _ERRORS),
        ComparisonPart("Cost", tuple(_cost(runs)), "Time of the whole run."),
    ]
    kept = (
        ComparisonPart(part.title, tuple(line for line in part.lines if _told(line)), part.note)
        for part in parts
    )
    return tuple(part for part in kept if part.lines)


def _penalty(runs: Sequence[Compared]) -> str:
    """How to read the certainty penalty of releases of these forms."""
    notes = {form_words(mapping(run.summary, "release").get("form")).penalty for run in runs}
    return _PENALTY + "".join(sorted(notes))


def _told(line: Line) -> bool:
    return any(entry != Entry() for entry in line.entries)


def _line(
    name: str,
    runs: Sequence[Compared],
    place: Callable[[Compared], Any],
    form: Callable[[Any], str] = number,
    *,
    less_is_better: bool = False,
) -> Line:
    entries = []
    for run in runs:
        found = place(run)
        if as_number(found) is not None:
            entries.append(Entry(form(found), as_number(found)))
        else:
            entries.append(Entry() if found in (None, "") else Entry(printable(found)))
    return Line(name, tuple(entries), less_is_better)


def _guarantees(runs: Sequence[Compared]) -> list[Line]:
    verdicts = tuple(Entry("✓ PASS" if passed(run.verdict) else "✗ FAIL") for run in runs)
    by_run = [_by_criterion(run) for run in runs]
    names = list(dict.fromkeys(name for found in by_run for name in found))
    return [
        Line("verdict", verdicts),
        *(Line(name, tuple(_criterion(found.get(name, [])) for found in by_run)) for name in names),
    ]


def _by_criterion(run: Compared) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in demanded(run.verdict):
        if not (row.get("criterion") in BOOKKEEPING and holds(row)):
            found.setdefault(printable(row.get("criterion")).replace("_", " "), []).append(row)
    return found


def _criterion(rows: Sequence[Row]) -> Entry:
    """The row that fails or is nearest to its limit, with its parameters, and how many there are."""
    if not rows:
        return Entry()
    worst = min(rows, key=_urgency)
    found, limit = number(worst.get("value")), number(worst.get("threshold"))
    relation = str(worst.get("relation"))
    sign = "✓" if holds(worst) else "✗"
    level = printable(worst.get("level", ""))
    others = f"; nearest of {len(rows):,}" if len(rows) > 1 else ""
    return Entry(f"{sign} {found}, needs {_RELATIONS.get(relation, relation)} {limit} ({level}{others})")


def _urgency(row: Row) -> tuple[bool, float]:
    distance = room(row.get("value"), row.get("threshold"), str(row.get("relation")))
    return holds(row), abs(distance) if distance is not None else float("inf")


def _release(runs: Sequence[Compared]) -> list[Line]:
    def release(key: str) -> Callable[[Compared], Any]:
        return lambda run: mapping(run.summary, "release").get(key)

    def sizes(key: str) -> Callable[[Compared], Any]:
        return lambda run: mapping(run.summary, "metrics", "sizes").get(key)

    return [
        _line("dataset", runs, lambda run: run.summary.get("dataset")),
        _line("form", runs, release("form")),
        _line("rows", runs, release("rows")),
        _line("groups", runs, release("groups")),
        _line("smallest group", runs, sizes("smallest")),
        _line("mean group", runs, sizes("mean")),
        _line("largest group", runs, sizes("largest")),
        _line(
            "suppression rate",
            runs,
            lambda run: mapping(run.summary, "release", "suppressed").get("rate"),
            percent,
            less_is_better=True,
        ),
    ]


def _precision(runs: Sequence[Compared]) -> list[Line]:
    def penalty(attribute: str) -> Callable[[Compared], Any]:
        return lambda run: _lost(run, mapping(run.summary, "metrics", "ncp").get(attribute))

    named = (mapping(run.summary, "metrics", "ncp") for run in runs)
    attributes = list(dict.fromkeys(attribute for ncp in named for attribute in ncp))
    mean = _line(
        "all (GCP)",
        runs,
        lambda run: _lost(run, mapping(run.summary, "metrics").get("gcp")),
        less_is_better=True,
    )
    weighted = _line(
        "all (GCP), weighted",
        runs,
        lambda run: _lost(run, mapping(run.summary, "metrics", "weighted").get("gcp")),
        less_is_better=True,
    )
    return [
        Line("what is lost", tuple(Entry(_loss(run)) if _measured(run) else Entry() for run in runs)),
        mean,
        weighted,
        *(_line(printable(name), runs, penalty(name), less_is_better=True) for name in attributes),
    ]


def _measured(run: Compared) -> bool:
    return "gcp" in mapping(run.summary, "metrics")


def _loss(run: Compared) -> str:
    return what_is_lost(_form(run), mapping(run.summary, "metrics", "sizes").get("mean"))


def _form(run: Compared) -> Any:
    return mapping(run.summary, "release").get("form")


def _lost(run: Compared, penalty: Any) -> Any:
    """The penalty of what is published: that of the groups says nothing where their people are told apart."""
    return _EXACT if penalty is not None and form_words(_form(run)).exact else penalty


def _errors(runs: Sequence[Compared]) -> list[Line]:
    def overall(key: str) -> Callable[[Compared], Any]:
        return lambda run: mapping(run.summary, "metrics", "queries").get(key)

    def weighted(key: str) -> Callable[[Compared], Any]:
        return lambda run: mapping(run.summary, "metrics", "weighted", "queries").get(key)

    tables = [_error_cells(run) for run in runs]
    cells = sorted({cell for found in tables for cell in found})

    def line(cell: tuple[float, float]) -> Line:
        name = f"{number(cell[0])} asked, {percent(cell[1])}"
        medians = tuple(Entry() if cell not in t else Entry(percent(t[cell]), t[cell]) for t in tables)
        return Line(name, medians, True)

    def interval(key: str) -> Line:
        found = (listing(mapping(run.summary, "metrics", "queries"), f"{key}_interval") for run in runs)
        told = (Entry(" to ".join(map(percent, ends))) if ends else Entry() for ends in found)
        return Line(f"all, interval of the {key}", tuple(told))

    return [
        _line("all, median", runs, overall("median"), percent, less_is_better=True),
        interval("median"),
        _line("all, mean", runs, overall("mean"), percent, less_is_better=True),
        interval("mean"),
        _line("all, weighted median", runs, weighted("median"), percent, less_is_better=True),
        _line("all, weighted mean", runs, weighted("mean"), percent, less_is_better=True),
        *map(line, cells),
    ]


def _error_cells(run: Compared) -> dict[tuple[float, float], float]:
    """Median error by dimension and selectivity."""
    cells = map(mapping, listing(mapping(run.summary, "metrics", "queries"), "table"))
    read = ([as_number(cell.get(key)) for key in ("dimension", "selectivity", "median")] for cell in cells)
    return {(d, s): median for d, s, median in read if d is not None and s is not None and median is not None}


def _cost(runs: Sequence[Compared]) -> list[Line]:
    return [
        _line("seconds", runs, lambda run: run.summary.get("seconds"), less_is_better=True),
        _line("rows per second", runs, lambda run: run.summary.get("rows_per_second")),
        _line("made", runs, lambda run: str(run.summary.get("created") or "")[:16].replace("T", " ")),
    ]
