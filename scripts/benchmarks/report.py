"""`README.md` of the results, made again from all JSON files whenever something was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.catalog import SCENARIOS
from benchmarks.figures import draw
from benchmarks.scenario import Scenario
from benchmarks.store import OK, Record, Results, ratio

_MEMORY = {"jvm": "JVM GB", "workers": "workers GB", "total": "all GB"}
_SESSION = {"cores": "cores", "driver_memory": "driver memory"}

_HEAD = """# Benchmarks

Made by `scripts/bench` from the JSON files beside this page; do not edit. Every ratio divides times that
were taken in one process, warm: after a run on little data, with the input in the machine's file cache.
Seconds are medians where a run was repeated. Memory is the peak resident size in GB of the JVM and of all
Python workers together during the run; pages shared by workers count more than once. The load is
the machine's load average just before: above the number of cores something else was running, and
absolute times are too long. The pace is the time that a fixed loop of Python took just before, in seconds:
machines of one name differ, and absolute times compare only at the same pace.
"""


def write_report(folder: Path) -> Path:
    """Figures and the page; scenarios without results are left out."""
    results = {name: Results(folder, name).records for name in SCENARIOS}
    results = {name: records for name, records in results.items() if records}
    figures = draw(results, folder)
    parts = [_HEAD]
    for name, records in results.items():
        parts += [
            f"## {name}\n",
            f"{_sentence(SCENARIOS[name].about)}\n",
            _main_table(SCENARIOS[name], records),
        ]
        parts += [_session(records)]
        parts += [f"![{file.stem}]({file.name})\n" for file in figures.get(name, ())]
        stages = _stage_table(records)
        parts += [f"Seconds by stage, last run:\n\n{stages}"] if stages else []
    parts += [_machines(results), _elsewhere(folder)]
    page = folder / "README.md"
    page.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    return page


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


@dataclass(frozen=True)
class _Columns:
    """Which columns the table of a scenario has."""

    settings: Sequence[str]
    runs: Sequence[str]
    memory: Sequence[str]
    counted: bool


def _main_table(scenario: Scenario, records: Sequence[Record]) -> str:
    over, under = scenario.ratio
    settings = _settings(records)
    names = list(dict.fromkeys([under, *(name for record in records for name in record["runs"]), over]))
    names = [name for name in names if name != over] + [over]
    runs = [run for record in records for run in record["runs"].values()]
    counted = ["jobs", "stages", "shuffled MB"] if any("jobs" in run for run in runs) else []
    memory = list(_MEMORY) if any(run.get("memory", {}).get("jvm") for run in runs) else ["total"]
    heads = [*settings, *(f"{name} s" for name in names), f"{over} / {under}", f"{_subject(scenario)} rows/s"]
    heads += [*(_MEMORY[kind] for kind in memory), *counted, *(scenario.facts or {}), "load", "pace", "note"]
    columns = _Columns(settings, names, memory, bool(counted))
    rows = [_main_row(scenario, record, columns) for record in records]
    return _table([head.strip() for head in heads], rows)


def _main_row(scenario: Scenario, record: Record, columns: _Columns) -> list[str]:
    runs, subject = record["runs"], record["runs"].get(_subject(scenario), {})
    value, at_least = ratio(record, *scenario.ratio)
    cells = [_shown(record["parameters"].get(key)) for key in columns.settings]
    cells += [_shown(runs.get(name, {}).get("seconds")) for name in columns.runs]
    cells += [f"**{'> ' * at_least}{value:.2f}**" if value is not None else "–"]
    cells += [_shown(subject.get("rows_per_second"))]
    cells += [_gigabytes(subject.get("memory", {}).get(kind)) for kind in columns.memory]
    if columns.counted:
        shuffled = subject.get("shuffle_bytes")
        cells += [_shown(subject.get("jobs")), _shown(subject.get("stages"))]
        cells += ["–" if shuffled is None else f"{shuffled / 1e6:,.1f}"]
    cells += [_shown(_fact(record["facts"], key)) for key in (scenario.facts or {}).values()]
    return [*cells, _shown(record["load_before"]), _shown(record.get("pace_before")), _note(record)]


def _subject(scenario: Scenario) -> str:
    """The run that is ours: the one whose speed and memory the table shows."""
    over, under = scenario.ratio
    return under if under == "anonymize" else over


def _note(record: Record) -> str:
    if record["status"] == OK:
        return ""
    limit = f" (limit {record['time_limit']:,.0f} s)" if record["status"] != "failed" else ""
    return f"{record['status']}: {record['reason']}{limit}".replace("|", "\\|")


def _settings(records: Sequence[Record]) -> list[str]:
    """Parameters worth a column: all but settings of the session that are the same everywhere."""
    keys = list(dict.fromkeys(key for record in records for key in record["parameters"]))
    return [key for key in keys if key not in _SESSION or len(_values(records, key)) > 1]


def _values(records: Sequence[Record], key: str) -> set[Any]:
    return {record["parameters"].get(key) for record in records}


def _session(records: Sequence[Record]) -> str:
    """The settings that got no column, in words."""
    same = {key: _values(records, key) for key in _SESSION}
    said = [f"{words} {_shown(same[key].pop())}" for key, words in _SESSION.items() if len(same[key]) == 1]
    return f"Of the session: {', '.join(said)}.\n" if "cores" in records[0]["parameters"] and said else ""


def _stage_table(records: Sequence[Record]) -> str:
    staged = [record for record in records if record["facts"].get("stages")]
    names = list(dict.fromkeys(name for record in staged for name in record["facts"]["stages"]))
    settings = _settings(staged)
    rows = [
        [_shown(record["parameters"].get(key)) for key in settings]
        + [_shown(record["facts"]["stages"].get(name)) for name in names]
        for record in staged
    ]
    return _table([*settings, *names], rows) if rows else ""


def _machines(results: Mapping[str, Sequence[Record]]) -> str:
    """Every machine that results come from, with the versions of what ran there."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, records in results.items():
        for record in records:
            here, versions = record["machine"], record["versions"]
            machine = (
                f"{here['cpu']}, {here['cores']} cores, {here['memory_gb']} GB, {here['system']}; "
                f"Python {versions['python']}, Spark {versions.get('pyspark')}, {versions.get('java')}"
            )
            when = f"{record['measured'][:10]}, revision {record['commit'] or 'unknown'}"
            found.setdefault(machine, {}).setdefault(when, []).append(name)
    lines = ["## Machines\n"]
    for machine, times in found.items():
        lines.append(f"- {machine}")
        lines += [f"  - {when}: {', '.join(dict.fromkeys(names))}" for when, names in times.items()]
    return "\n".join([*lines, ""]) if found else ""


def _elsewhere(folder: Path) -> str:
    """Reports of other commands in folders below."""
    pages = sorted(folder.glob("*/README.md"))
    links = [f"- [{page.parent.name}]({page.parent.name}/README.md)" for page in pages]
    return "\n".join(["## More\n", *links, ""]) if links else ""


def _fact(facts: Mapping[str, Any], path: str) -> Any:
    found: Any = facts
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return str(value)


def _gigabytes(size: int | None) -> str:
    return "–" if size is None else f"{size / 2**30:.2f}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---:|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), ""])
