"""Knowledge skylines for the page's script: surfaces k_max(ℓ, m) by value and confidence.

A cell of a surface is the largest k at which the value is still safe; a missing or negative one means that
it is not safe even with k = 0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ppdp_spark.report.format.markup import text
from ppdp_spark.report.format.numbers import as_number, listing, mapping, percent
from ppdp_spark.report.format.quoted_names import joined, printable
from ppdp_spark.report.sentences.guarantee import Setting, column_name
from ppdp_spark.report.sentences.several_attributes import setting_of
from ppdp_spark.report.sentences.skyline import UNLIMITED, breach, safe_knowledge

LARGEST_PAYLOAD = 500_000
"""Characters of surfaces in a page."""


def script_json(content: Any) -> str:
    """JSON that may stand inside a script element, whatever text is in it."""
    plain = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return plain.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def surfaces(summary: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """What the script draws, and how many surfaces are left out: the safest, if all are too many."""
    (setting, _), skyline = _explored(summary), _skyline(summary)
    drawn = [_surface(mapping(entry), setting, skyline) for entry in listing(summary, "knowledge")]
    kept: set[int] = set()
    room = LARGEST_PAYLOAD
    for place in sorted(range(len(drawn)), key=lambda i: _safety(drawn[i]["surface"])):
        room -= len(script_json(drawn[place]))
        if room < 0 and kept:
            break
        kept.add(place)
    return [drawn[place] for place in sorted(kept)], len(drawn) - len(kept)


def controls(summary: Mapping[str, Any]) -> str:
    """Where the script puts choices, sentence, plot and tables; nothing without knowledge skylines."""
    drawn, left_out = surfaces(summary)
    if not drawn:
        return ""
    more = f"<p>{left_out:,} safer knowledge skylines are in summary.json.</p>" if left_out else ""
    setting, known = _explored(summary)
    cells = (
        f" This is about {setting.sensitive}, for somebody who also knows the person's {joined(known)}: a "
        "group is here what is alike in these as well."
        if known
        else ""
    )
    return f"""<p>At each number ℓ and m, the largest k with which an adversary still stays below the chosen
confidence. {_symbols(setting)}{text(cells)}</p>
<noscript><p>This part needs JavaScript; its numbers are in summary.json.</p></noscript>
<div class="controls"><label>Sensitive value <select id="knowledge-value"></select></label>
<label>Confidence <select id="knowledge-confidence"></select></label></div>
<p id="knowledge-sentence" aria-live="polite"></p>
<div id="knowledge-tables"></div>{more}"""


def _explored(summary: Mapping[str, Any]) -> tuple[Setting, list[str]]:
    """The setting of what was explored, and which other sensitive attributes are known, if there are any."""
    told = next(iter(map(mapping, listing(summary, "knowledge"))), {})
    setting = setting_of(Setting.of(summary), told.get("attribute"))
    return setting, [column_name(name) for name in listing(told, "known")]


def _skyline(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """The points that the spec demands of what was explored."""
    privacy = mapping(summary, "spec", "privacy")
    told = next(iter(map(mapping, listing(summary, "knowledge"))), {})
    own = mapping(privacy, "per_attribute", str(told.get("attribute")), "skyline")
    return own or mapping(privacy, "skyline")


def _symbols(setting: Setting) -> str:
    if setting.case == "svpi":
        first = "ℓ: values the person is known not to have; k: other people whose value is known; "
    else:
        first = "ℓ: values known to come only with the chosen one; k: people known not to have it; "
    return first + "m: people of whom is known that if they have the value, so has the person."


def _surface(entry: Mapping[str, Any], setting: Setting, skyline: Mapping[str, Any]) -> dict[str, Any]:
    grid = [[_cell(k) for k in line] for line in listing(entry, "surface") if isinstance(line, list | tuple)]
    value = entry.get("value")
    return {
        "value": printable(value),
        "confidence": percent(entry.get("c")),
        "sentence": safe_knowledge(value, entry.get("c"), _most(grid), setting),
        "surface": grid,
        "points": [_point(mapping(point), setting) for point in listing(entry, "points")],
        "demanded": _demanded(value, as_number(entry.get("c")), skyline),
    }


def _most(grid: Sequence[Sequence[Any]]) -> Any:
    """The largest safe k of somebody who knows nothing else; None if even k = 0 is not safe."""
    return grid[0][0] if grid and grid[0] else None


def _cell(k: Any) -> int | float | str | None:
    found = as_number(k)
    if found is None or found < 0:
        return None
    return "∞" if found >= UNLIMITED else found


def _point(point: Mapping[str, Any], setting: Setting) -> dict[str, Any]:
    """A maximal point, and for each step beyond it that breaches what somebody then concludes, and where."""
    breaches = [mapping(each) for each in listing(point, "breaches")]
    counts = {symbol: _cell(point.get(symbol)) for symbol in ("l", "k", "m")}
    return {**counts, "breaches": [printable(breach(each, setting)) for each in breaches]}


def _demanded(value: Any, c: int | float | None, skyline: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The spec's own points for this value and confidence."""
    own = mapping(skyline, "values")
    points = listing(own, str(value)) if str(value) in own else listing(skyline, "default")
    chosen = [mapping(point) for point in points]
    return [
        {symbol: _cell(point.get(symbol)) for symbol in ("l", "k", "m")}
        for point in chosen
        if c is not None and as_number(point.get("c")) == c
    ]


def _safety(grid: Sequence[Sequence[Any]]) -> float:
    """The sum of a surface: the smaller, the less an adversary needs to know."""
    return sum(math.inf if k == "∞" else k or 0 for line in grid for k in line)
