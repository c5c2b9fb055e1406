"""The page and the figures of the Privacy-MaxEnt reproduction, from its records alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from pathlib import Path
from typing import Any

from adult_buckets import BUCKET_SIZE, QUASI_IDENTIFIERS, SENSITIVE, SUPPORT
from reproduction import Record, pyplot, save, table

Records = Sequence[Record]


def page(results: Record) -> str:
    """What was measured, what comes out, and where that differs from the paper."""
    parts = ["# Privacy-MaxEnt: the published experiments, measured again\n", _setting(results)]
    for name, (title, told) in _SECTIONS.items():
        records = results.get(name)
        if records:
            parts += [f"## {title}\n", told(records), table(records)]
            parts += [f"![{name}]({name}.png)\n"]
    return "\n".join([*parts, _machine(results)])


def _setting(results: Record) -> str:
    quick = " **Quick run: an eighth of the buckets.**" if results.get("quick") else ""
    return (
        f"Adult, {SENSITIVE} sensitive, quasi-identifiers {', '.join(QUASI_IDENTIFIERS)} (age in bands of "
        f"ten years), in buckets of {BUCKET_SIZE} in which every value but the most frequent comes once at "
        f"most. Rules rest on at least {SUPPORT} people. The distance is the paper's estimation accuracy, in "
        "nats: 0 means that the adversary knows everything. The paper names neither its quasi-identifiers "
        f"nor the rows it took, so that shapes can be compared and values cannot.{quick}\n"
    )


def _machine(results: Record) -> str:
    here = results.get("machine")
    if not here:
        return ""
    return (
        f"Times are of {here['cpu']}, {here['cores']} cores, {here['memory_gb']} GB, {here['system']}; load "
        f"before: {results['load_before']:g}.\n"
    )


def fall_rates(records: Records, kind: str) -> tuple[float, float]:
    """Fall of the distance a rule, over the smallest numbers of rules and over the largest."""
    first, early, late, last = records[0], records[1], records[-2], records[-1]
    return (
        (first[kind] - early[kind]) / (early["K"] - first["K"]),
        (late[kind] - last[kind]) / (last["K"] - late["K"]),
    )


def weakest_size(records: Records, column: str) -> int:
    """The T at which rules help the adversary least."""
    return int(max(records, key=lambda record: record[column])["T"])


def growth(records: Records, over: str) -> float:
    """The exponent of seconds ~ size^exponent between the first record and the last."""
    first, last = records[0], records[-1]
    return log(last["seconds"] / first["seconds"]) / log(last[over] / first[over])


def _accuracy(records: Records) -> str:
    ahead = [r["K"] for r in records[1:] if r["mixed"] < min(r["positive"], r["negative"])]
    early, late = fall_rates(records, "mixed")
    return (
        "Published: the mix of both kinds falls fastest; all curves fall fast at first, slower later. Here "
        f"the mix is nearest the truth at {len(ahead)} of {len(records) - 1} numbers of rules. A rule of the "
        f"mix takes {early:.2g} nats off among the first {records[1]['K']}, {late:.2g} among the last.\n"
    )


def _attributes(records: Records) -> str:
    columns = [name for name in records[0] if name.startswith("K = ")]
    turns = [f"{weakest_size(records, column)} at {column}" for column in columns]
    return (
        "Published: rules of more attributes help less from T = 1 to 4, then more again towards 8. Here the "
        f"T that helps least is {', '.join(turns)}. More attributes mean fewer people a rule, until rules "
        "speak of the very combinations whose posteriors are measured; where that turns depends on how many "
        "people share a combination, hence on the quasi-identifiers. `rules` are those there are at the "
        "largest K.\n"
    )


def _time_by_rules(records: Records) -> str:
    first, last = records[0], records[-1]
    return (
        "Published: time and iterations grow slowly, log-linear in K, with L-BFGS. Here Newton takes "
        f"{first['newton_steps']} steps for {first['statements']:,} statements and {last['newton_steps']} "
        f"for {last['statements']:,}, but a step costs more: it fills and factors a K × K matrix. Time grows "
        f"like K^{growth(records, 'statements'):.2f} between these two, K^"
        f"{growth(records[-2:], 'statements'):.2f} between the last two. CPU seconds of all threads.\n"
    )


def _time_by_buckets(records: Records) -> str:
    told = []
    for number in dict.fromkeys(record["statements"] for record in records):
        same = [record for record in records if record["statements"] == number]
        steps = ", ".join(str(record["newton_steps"]) for record in same)
        told.append(f"buckets^{growth(same, 'buckets'):.2f} with {number:,} statements (steps {steps})")
    return (
        "Published: almost linear in buckets, iterations almost constant. Here time grows like "
        f"{'; '.join(told)}. The same rules at every size, each with its share in those rows.\n"
    )


def _solvers(records: Records) -> str:
    return (
        "The same statements (rules of one and two attributes, at random) on the same machine, CPU seconds. "
        "Ours runs until statements and counts hold to 1e-8; flat L-BFGS over all multipliers, from the "
        "same start and with scaled multipliers, until nothing misses by 1e-4 of a record or time is up: "
        "`ratio` is then a lower bound. `largest_difference` is between the two solutions, in records.\n"
    )


_SECTIONS: dict[str, tuple[str, Callable[[Records], str]]] = {
    "accuracy": ("Distance from the truth by number of rules (Figure 5)", _accuracy),
    "attributes": ("Distance from the truth by attributes in a rule (Figure 6)", _attributes),
    "time_by_rules": ("Time by number of statements (Figure 7a)", _time_by_rules),
    "time_by_buckets": ("Time by number of buckets (Figures 7b and 7c)", _time_by_buckets),
    "solvers": ("Against one flat L-BFGS on the whole dual", _solvers),
}


def draw(results: Record, folder: Path) -> bool:
    """A figure a section, as PNG, where matplotlib is installed."""
    plt = pyplot()
    if plt is None:
        return False
    for name in _SECTIONS:
        if results.get(name):
            figure, axes = plt.subplots(figsize=(6, 3.6))
            _DRAWN[name](axes, results[name])
            axes.grid(alpha=0.3)
            axes.legend()
            save(figure, folder / f"{name}.png")
    return True


def _draw_accuracy(axes: Any, records: Records) -> None:
    for kind in ("positive", "negative", "mixed"):
        axes.plot([r["K"] for r in records], [r[kind] for r in records], marker="o", label=kind)
    axes.set(xlabel="K", ylabel="distance from the truth (nats)")


def _draw_attributes(axes: Any, records: Records) -> None:
    for column in (name for name in records[0] if name.startswith("K = ")):
        axes.plot([r["T"] for r in records], [r[column] for r in records], marker="o", label=column)
    axes.set(xlabel="T", ylabel="distance from the truth (nats)")


def _draw_rules(axes: Any, records: Records) -> None:
    axes.plot(
        [r["statements"] for r in records], [r["seconds"] for r in records], marker="o", label="seconds"
    )
    steps = [r["newton_steps"] for r in records]
    axes.plot([r["statements"] for r in records], steps, marker="s", label="Newton steps")
    axes.set(xlabel="statements", xscale="log", yscale="log")


def _draw_buckets(axes: Any, records: Records) -> None:
    for number in dict.fromkeys(record["statements"] for record in records):
        same = [record for record in records if record["statements"] == number]
        seconds = [r["seconds"] for r in same]
        axes.plot([r["buckets"] for r in same], seconds, marker="o", label=f"{number:,} statements")
    axes.set(xlabel="buckets", ylabel="seconds", xlim=(0, None), ylim=(0, None))


def _draw_solvers(axes: Any, records: Records) -> None:
    places = range(len(records))
    axes.bar([p - 0.2 for p in places], [r["ours_seconds"] for r in records], width=0.4, label="ours")
    flat = [r["flat_seconds"] for r in records]
    axes.bar([p + 0.2 for p in places], flat, width=0.4, label="flat L-BFGS (at least, where it failed)")
    axes.set(ylabel="seconds", yscale="log", xticks=list(places))
    axes.set_xticklabels([f"{r['statements']:,} statements" for r in records])


_DRAWN: dict[str, Callable[[Any, Records], None]] = {
    "accuracy": _draw_accuracy,
    "attributes": _draw_attributes,
    "time_by_rules": _draw_rules,
    "time_by_buckets": _draw_buckets,
    "solvers": _draw_solvers,
}
