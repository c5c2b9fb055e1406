"""A small chart of points and lines as inline SVG: no script, colours and shapes by series."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ppdp_spark.report.format.markup import text

_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 620, 36, 270
_WIDTH, _HEIGHT = 640, 325
_LOG_FROM = 20
"""Axes whose largest value is so many times the smallest are logarithmic."""

_SHAPES = (
    "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z",
    "M-5,-5H5V5H-5Z",
    "M0,-6L6,5H-6Z",
    "M0,-7L6,0L0,7L-6,0Z",
    "M0,6L6,-5H-6Z",
    "M-6,-2H-2V-6H2V-2H6V2H2V6H-2V2H-6Z",
)
DASHES = ("none", "7 3", "2 3", "9 3 2 3", "12 4", "4 2")


@dataclass(frozen=True)
class ChartPoint:
    """A point of a series; without `y` nothing came of it, and a cross at the top says so."""

    x: float
    y: float | None
    label: str
    filled: bool = True


@dataclass(frozen=True)
class Series:
    """Points of one line of a chart, with the name that the legend gives it."""

    name: str
    points: tuple[ChartPoint, ...]


@dataclass(frozen=True)
class ChartAxis:
    """An axis: its name, and the values marked on it with their texts."""

    name: str
    marks: tuple[tuple[float, str], ...]


def ticks(highest: float) -> list[float]:
    """Round values from 0 to at least `highest`, a handful of them."""
    if not 0 < highest < math.inf:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(highest))
    step = next(each * power for each in (0.25, 0.5, 1.0, 2.0, 2.5) if highest <= 5 * each * power)
    return [round(step * i, 12) for i in range(math.ceil(round(highest / step, 9)) + 1)]


def chart(
    series: Sequence[Series],
    x: ChartAxis,
    y: ChartAxis,
    described: str,
    *,
    limit: tuple[float, str] | None = None,
) -> str:
    """Series over `x`, a limit across them; the table beside it has the same numbers."""
    across = _scale([value for value, _ in x.marks], _LEFT + 20, _RIGHT - 10, log=True)
    upward = _scale([0.0, *(value for value, _ in y.marks)], _BOTTOM, _TOP, log=False)
    drawn = [_axes(x, y, across, upward)]
    drawn += [_drawn(place, each, across, upward) for place, each in enumerate(series)]
    drawn += [_across(upward(limit[0]), limit[1])] if limit else []
    legend = "".join(_entry(place, each) for place, each in enumerate(series)) if len(series) > 1 else ""
    told = text(described)
    return (
        f'<figure class="chart"><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{told}">'
        f"{''.join(drawn)}</svg>{f'<ul class=legend>{legend}</ul>' if legend else ''}"
        f"<figcaption>{told}</figcaption></figure>"
    )


def _scale(values: Sequence[float], start: float, end: float, *, log: bool) -> Callable[[float], float]:
    low, high = min(values), max(values)
    if log and low > 0 and high / low >= _LOG_FROM:
        inner = _scale([math.log(low), math.log(high)], start, end, log=False)
        return lambda value: inner(math.log(value))
    if high == low:
        return lambda value: (start + end) / 2 if log else start
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _axes(
    x: ChartAxis, y: ChartAxis, across: Callable[[float], float], upward: Callable[[float], float]
) -> str:
    parts = [f'<path class="axis" d="M{_LEFT},{_TOP}V{_BOTTOM}H{_RIGHT}"/>']
    for value, shown in _apart(x.marks, across, 34):
        parts.append(
            f'<text x="{across(value):.1f}" y="{_BOTTOM + 18}" text-anchor="middle">{text(shown)}</text>'
        )
    for value, shown in _apart(y.marks, upward, 16):
        at = upward(value)
        parts.append(f'<path class="grid" d="M{_LEFT},{at:.1f}H{_RIGHT}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{text(shown)}</text>')
    parts.append(f'<text class="name" x="{_RIGHT}" y="{_HEIGHT - 8}" text-anchor="end">{text(x.name)}</text>')
    parts.append(f'<text class="name" x="4" y="{_TOP - 20}">{text(y.name)}</text>')
    return "".join(parts)


def _apart(
    marks: Sequence[tuple[float, str]], scale: Callable[[float], float], gap: float
) -> list[tuple[float, str]]:
    """Marks far enough from each other to be read."""
    kept: list[tuple[float, str]] = []
    for mark in sorted(set(marks)):
        if not kept or abs(scale(mark[0]) - scale(kept[-1][0])) >= gap:
            kept.append(mark)
    return kept


def _drawn(
    place: int, series: Series, across: Callable[[float], float], upward: Callable[[float], float]
) -> str:
    look, shape = place % len(_SHAPES), _SHAPES[place % len(_SHAPES)]
    placed = [(across(p.x), upward(p.y), p) for p in series.points if p.y is not None]
    line = "L".join(f"{x:.1f},{y:.1f}" for x, y, _ in placed)
    parts = [f'<path class="line" stroke-dasharray="{DASHES[look]}" d="M{line}"/>'] if len(placed) > 1 else []
    for x, y, point in placed:
        kind = "point" if point.filled else "point hollow"
        hint = f"<title>{text(point.label)}</title>"
        parts.append(f'<path class="{kind}" transform="translate({x:.1f},{y:.1f})" d="{shape}">{hint}</path>')
    for point in (p for p in series.points if p.y is None):
        at = f'transform="translate({across(point.x):.1f},{_TOP + 10 + 14 * place})"'
        hint = f"<title>{text(point.label)}</title>"
        parts.append(f'<path class="cross" {at} d="M-5,-5L5,5M5,-5L-5,5">{hint}</path>')
    return f'<g class="s{look}">{"".join(parts)}</g>'


def _across(y: float, told: str) -> str:
    """A line for a limit, with its text above the right end, or below it at the top of the chart."""
    base = y - 6 if y > _TOP + 20 else y + 16
    return (
        f'<path class="limit" d="M{_LEFT},{y:.1f}H{_RIGHT}"/>'
        f'<text class="limit" x="{_RIGHT}" y="{base:.1f}" text-anchor="end">{text(told)}</text>'
    )


def _entry(place: int, series: Series) -> str:
    look = place % len(_SHAPES)
    return (
        f'<li><svg viewBox="-20 -8 40 16" aria-hidden="true" focusable="false"><g class="s{look}">'
        f'<path class="line" stroke-dasharray="{DASHES[look]}" d="M-19,0L19,0"/>'
        f'<path class="point" d="{_SHAPES[look]}"/></g></svg>{text(series.name)}</li>'
    )
