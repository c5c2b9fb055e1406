"""Figures of the results as PNG, where matplotlib is installed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.store import OK, UNFINISHED, Record

Files = dict[str, list[Path]]


def draw(results: Mapping[str, Sequence[Record]], folder: Path) -> Files:
    """All figures that the results allow, by scenario."""
    try:
        import matplotlib

        matplotlib.use("Agg")
    except ImportError:
        return {}
    warm = [r for r in results.get("anonymize", ()) if r["status"] == OK and not r["parameters"].get("cold")]
    found: Files = {}
    if warm:
        found["anonymize"] = [_scaling(warm, folder), _stages(warm, folder)]
    others = [*results.get("textbook", ()), *results.get("peers", ())]
    if any(_others_time(record) for record in others):
        found["peers" if results.get("peers") else "textbook"] = [_others(others, folder)]
    return found


def _saved(figure: Any, path: Path) -> Path:
    from matplotlib import pyplot as plt

    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
    return path


def _scaling(records: Sequence[Record], folder: Path) -> Path:
    """Seconds by rows, both logarithmic: parallel lines are equal ratios."""
    from matplotlib import pyplot as plt

    lines: dict[str, dict[int, float]] = defaultdict(dict)
    for record in records:
        settings, runs = record["parameters"], record["runs"]
        lines[f"{settings['form']}, k = {settings['k']}"][settings["rows"]] = runs["anonymize"]["seconds"]
        lines["floor"][settings["rows"]] = runs["floor"]["seconds"]
    figure, axes = plt.subplots(figsize=(7, 4))
    for label, points in sorted(lines.items()):
        style = "--" if label == "floor" else "-"
        axes.plot(*zip(*sorted(points.items()), strict=True), style, marker="o", label=label)
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds", title="anonymize and the floor")
    axes.grid(alpha=0.3)
    axes.legend()
    return _saved(figure, folder / "anonymize.png")


def _stages(records: Sequence[Record], folder: Path) -> Path:
    """Where the time of a run goes."""
    from matplotlib import pyplot as plt

    labels = [
        f"{r['parameters']['rows']:,}, k = {r['parameters']['k']}, {r['parameters']['form']}" for r in records
    ]
    totals = [sum(record["facts"]["stages"].values()) for record in records]
    figure, axes = plt.subplots(figsize=(7, 1 + 0.4 * len(records)))
    left = [0.0] * len(records)
    for name in dict.fromkeys(name for record in records for name in record["facts"]["stages"]):
        shares = [
            100 * r["facts"]["stages"].get(name, 0) / total for r, total in zip(records, totals, strict=True)
        ]
        axes.barh(labels, shares, left=left, label=name)
        left = [a + b for a, b in zip(left, shares, strict=True)]
    axes.invert_yaxis()
    axes.set(xlabel="% of the run", title="anonymize by stage", xlim=(0, 100))
    axes.legend(bbox_to_anchor=(1.01, 1), loc="upper left")
    return _saved(figure, folder / "anonymize-stages.png")


def _others_time(record: Record) -> tuple[float, bool] | None:
    """Seconds of the other implementation, and whether it was stopped there."""
    name = "peer" if "peer" in record["parameters"] else "textbook"
    if "seconds" in record["runs"].get(name, {}):
        return record["runs"][name]["seconds"], False
    unfinished = record["status"] == UNFINISHED and record["phase"] == name
    return (record["time_limit"], True) if unfinished else None


def _others(records: Sequence[Record], folder: Path) -> Path:
    """Others beside ours on the same rows, quickest first; hatched where they were stopped."""
    from matplotlib import pyplot as plt

    ours: dict[str, list[float]] = defaultdict(list)
    bars: list[tuple[float, str, str, str]] = []
    for record in records:
        other, settings = _others_time(record), record["parameters"]
        if other is None:
            continue
        people = f"{settings['rows']:,} rows, k = {settings['k']}"
        name = settings.get("peer") or f"pandas recursion ({settings['cut']} cut)"
        bars.append((other[0], f"{name}, {people}", "tab:orange", "//" if other[1] else ""))
        ours[people].append(record["runs"]["anonymize"]["seconds"])
    bars += [(median(found), f"ppdp anonymize, {people}", "tab:blue", "") for people, found in ours.items()]
    figure, axes = plt.subplots(figsize=(7, 1 + 0.35 * len(bars)))
    for seconds, label, color, hatch in sorted(bars):
        axes.barh(label, seconds, color=color, hatch=hatch)
    axes.invert_yaxis()
    axes.set(xlabel="seconds (hatched: stopped there)", title="other implementations on the same people")
    axes.set(xscale="log", xlim=(0.1, None))
    return _saved(figure, folder / "peers.png")
