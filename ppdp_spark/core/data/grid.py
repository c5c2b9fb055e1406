"""Where published ranges may end: at round numbers and whole units of time, and at nobody's own value.

The least and the greatest value of a group are two people's exact values. Snapped outwards to a grid they
say in which cells those values lie, and no more. The grid is a function of the column's type, of how many
rows there are, and of the range of the column so far as it decides between steps of 1, 2 or 5 times a power
of ten (or between days, months and years). Lines that are the value of exactly one person are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from ppdp_spark.core.data.groups import FloatArray, IntArray

Numbers = FloatArray | IntArray
"""Values of an ordered column in physical form."""

FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""The first and the last day of the years 1 to 9999, counted from 1970: the range of Spark's types."""

DAY = 86_400_000_000
"""Microseconds of a day."""

_CLOCK = {"microseconds": 1, "seconds": 1_000_000, "minutes": 60_000_000, "hours": 3_600_000_000}
_CALENDAR = {"days": 1, "months": 28, "years": 365}
_OF_A_MINUTE, _OF_A_DAY = (1, 2, 5, 10, 15, 30), (1, 2, 3, 6, 12)
_MONDAY = 4
_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


@dataclass(frozen=True)
class Step:
    """The distance of neighbouring lines: a number, or so many units of time.

    where
        unit  empty for numbers; else microseconds, seconds, minutes, hours, days, months or years
    """

    number: Decimal
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.number:f} {self.unit}".rstrip()

    @classmethod
    def read(cls, text: str, scale: Scale) -> Step:
        """The step that a manifest names; a `ValueError` if a column of that scale cannot have it."""
        number, _, unit = text.partition(" ")
        step = cls(_decimal(number), unit)
        units = [""] if scale.kind in ("integer", "float", "decimal") else list(_CALENDAR)
        if scale.kind.startswith("timestamp"):
            units += _CLOCK
        whole = scale.kind == "float" or step.length(scale) == step.length(scale).to_integral_value()
        if not (step.number.is_finite() and step.number > 0 and unit in units and whole):
            raise ValueError(text)
        return step

    def length(self, scale: Scale) -> Decimal:
        """At least so many physical units."""
        if self.unit in _CALENDAR:
            return self.number * _CALENDAR[self.unit] * (1 if scale.kind == "date" else DAY)
        return self.number * Decimal(_CLOCK.get(self.unit, 10**scale.places))


@dataclass(frozen=True)
class Scale:
    """How the values of an ordered column are written as physical numbers.

    where
        kind    `integer`, `float`, `decimal`, `date`, `timestamp` or `timestamp_ntz`
        type    the column's Spark type
        places  decimal places, for decimals
    """

    kind: str
    type: str
    places: int = 0

    @property
    def unit(self) -> int:
        """1 where a cell ends one place before the next line, as 20 to 29 does; 0 where it ends on it."""
        return 1 if self.kind in ("integer", "date") else 0

    @property
    def limits(self) -> tuple[int | float, int | float]:
        """The smallest and the largest physical number that the type can hold."""
        if self.kind == "float":
            most = float(np.finfo(np.float32 if self.type == "float" else np.float64).max)
            return -most, most
        if self.kind == "decimal":
            digits = int(self.type.partition("(")[2].partition(",")[0])
            return 1 - 10**digits, 10**digits - 1
        if self.kind == "date":
            return FIRST_DAY, LAST_DAY
        if self.kind != "integer":
            return FIRST_DAY * DAY, (LAST_DAY + 1) * DAY - 1
        bits = _BITS[self.type]
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


@dataclass(frozen=True, eq=False)
class Grid:
    """Bounds that may be published, ascending and in physical form.

    where
        step         distance of the lines
        lows, highs  where ranges may begin and end
    """

    step: Step
    lows: Numbers
    highs: Numbers

    @classmethod
    def over(cls, scale: Scale, step: Step, low: float | int, high: float | int) -> Grid:
        """The lines of a step over a range, and beyond it those of a tenfold step, as far as the type goes.

        A range that must end beyond its column's last cell so ends at a rounder place, which does not say
        where the last value is.
        """
        outer = Step(step.number * 10, step.unit)
        (lows, highs), (far_lows, far_highs) = (_ends(scale, each, low, high) for each in (step, outer))
        lows, highs = lows[lows.searchsorted(low, "right") - 1 :], highs[: highs.searchsorted(high) + 1]
        beneath, above = far_lows[far_lows < lows[0]], far_highs[far_highs > highs[-1]]
        return cls(step, np.append(beneath, lows), np.append(highs, above))

    def outwards(self, low: Any, high: Any) -> tuple[Any, Any]:
        """The narrowest ranges of the grid that cover the given ones."""
        below = np.searchsorted(self.lows, low, side="right") - 1
        return self.lows[below], self.highs[np.searchsorted(self.highs, high, side="left")]

    def lines_within(self, low: float | int, high: float | int) -> Numbers:
        """Lines that somebody's value may lie on."""
        lines = np.union1d(self.lows, self.highs)
        return lines[(lines >= low) & (lines <= high)]

    def without(self, values: Numbers) -> Grid:
        """The same grid without lines at these values."""
        return replace(self, lows=np.setdiff1d(self.lows, values), highs=np.setdiff1d(self.highs, values))

    def covers(self, low: float | int, high: float | int) -> bool:
        """Whether there are bounds on both sides of a range."""
        return bool(self.lows.size and self.highs.size and self.lows[0] <= low and self.highs[-1] >= high)


def public_step(scale: Scale, low: float | int, high: float | int, rows: int) -> Step:
    """The finest round step that makes at most 4 √rows cells of a range.

    So a cell has √rows / 4 people in the mean, and the loss at both ends of a box is one cell, which is small
    beside the boxes of several attributes.
    """
    cells = 4 * max(1, math.isqrt(rows))
    if scale.kind == "float":
        width, largest = (high - low) or abs(high) or 1.0, max(abs(low), abs(high))
        apart = np.spacing(np.float32(largest) if scale.type == "float" else np.float64(largest))
        return Step(_round_step(max(Decimal(width) / cells, Decimal(float(apart)))))
    if scale.kind in ("integer", "decimal"):
        least = _round_step(max(Decimal(int(high) - int(low)) / cells, Decimal(1)))
        return Step(least.scaleb(-scale.places))
    steps = _moments(clock=scale.kind != "date")
    return next(step for step in steps if step.length(scale) * cells >= int(high) - int(low))


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None


def _round_step(least: Decimal) -> Decimal:
    """The smallest of 1, 2 and 5 times a power of ten that is at least so much."""
    unit = Decimal(1).scaleb(least.adjusted())
    return next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= least)


def _moments(*, clock: bool) -> Iterator[Step]:
    """Steps in time, ascending."""
    if clock:
        yield from (Step(Decimal(m * 10**e), "microseconds") for e in range(6) for m in (1, 2, 5))
        for unit, numbers in (("seconds", _OF_A_MINUTE), ("minutes", _OF_A_MINUTE), ("hours", _OF_A_DAY)):
            yield from (Step(Decimal(number), unit) for number in numbers)
    yield from (Step(Decimal(number), "days") for number in (1, 7))
    yield from (Step(Decimal(number), "months") for number in (1, 3, 6))
    yield from (Step(Decimal(m * 10**e), "years") for e in range(5) for m in (1, 2, 5))


def _lines(scale: Scale, step: Step, low: float | int, high: float | int) -> Iterator[float | int]:
    """Multiples of a step from the second below `low` to the second above `high`."""
    if scale.kind == "float":
        first, last = int(Decimal(low) // step.number) - 2, int(Decimal(high) // step.number) + 3
        narrow = scale.type == "float"
        for k in range(first, last + 1):
            line = max(min(float(k * step.number), scale.limits[1]), scale.limits[0])
            yield float(np.float32(line)) if narrow else line
    elif scale.kind in ("integer", "decimal") or step.unit in _CLOCK:
        yield from _multiples(int(step.length(scale)), int(low), int(high))
    else:
        size = 1 if scale.kind == "date" else DAY
        yield from (day * size for day in _days(step, int(low) // size, int(high) // size + 1))


def _multiples(step: int, low: int, high: int, origin: int = 0) -> Iterator[int]:
    first, last = (low - origin) // step - 1, -((origin - high) // step) + 1
    return (origin + k * step for k in range(first, last + 1))


def _days(step: Step, low: int, high: int) -> Iterator[int]:
    """First days of weeks, months or years, around a range of days."""
    number = int(step.number)
    if step.unit == "days":
        return _multiples(number, low, high, _MONDAY)
    months = number * (12 if step.unit == "years" else 1)
    first, last = (int(np.datetime64(day, "D").astype("datetime64[M]").astype(int)) for day in (low, high))
    # Month 0 is that of year 0: years are whole multiples from there.
    found = _multiples(months, first, last + 1, -1970 * 12)
    return (int(np.datetime64(month, "M").astype("datetime64[D]").astype(int)) for month in found)


def _ends(scale: Scale, step: Step, low: float | int, high: float | int) -> tuple[Numbers, Numbers]:
    """Where ranges may begin and end by one step, with more than one place on either side of a range."""
    least, most = scale.limits
    found = list(_lines(scale, step, low, high + scale.unit))
    lows, highs = ({min(max(line - unit, least), most) for line in found} for unit in (0, scale.unit))
    return _sorted(scale, lows), _sorted(scale, highs)


def _sorted(scale: Scale, lines: set[int | float]) -> Numbers:
    if scale.kind == "float":
        return np.array(sorted(lines), np.float64)
    return np.array(sorted(lines), np.int64)
