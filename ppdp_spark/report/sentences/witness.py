"""Facts about the worst place of a release, one by one, as markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdp_spark.report.format.markup import data, text

SHORT = 3
_SYMBOLS = {"delta max": "Δ_max", "delta ceil": "Δ_ceil"}


def flat(content: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Plain facts of a nested mapping: `("known people group", 3)`."""
    if isinstance(content, Mapping):
        for key, value in content.items():
            yield from flat(value, f"{place} {key}".replace("_", " ").strip())
    else:
        yield place, content


def fact(place: str, value: Any) -> str:
    """One fact as markup; numbers of groups are names, without thousands apart."""
    place = _SYMBOLS.get(place, place)
    if isinstance(value, bool):
        return f"{text(place)}: {'yes' if value else 'no'}"
    if isinstance(value, list | tuple):
        return f"{text(place)}: {', '.join(data(x) for x in value) or 'none'}"
    shown = str(value) if place.endswith("group") and isinstance(value, int) else None
    return f"{text(place)}: {data(value, shown)}"


def fact_list(summary: str, facts: list[str]) -> str:
    """Facts behind a line that opens them; nothing if there are none."""
    items = "".join(f"<li>{markup}</li>" for markup in facts)
    return f"<details><summary>{summary}</summary><ul>{items}</ul></details>" if items else ""


def witness_markup(witness: Mapping[str, Any]) -> str:
    """A few facts in line, many behind the name of the group."""
    told = [(place, fact(place, value)) for place, value in flat(witness)]
    if len(told) <= SHORT:
        return "; ".join(markup for _, markup in told) or "—"
    first = next((markup for place, markup in told if place == "group"), "details")
    return fact_list(first, [markup for place, markup in told if place != "group"])
