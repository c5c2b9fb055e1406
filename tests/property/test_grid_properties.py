"""Grids for the ends of ranges: whatever the values, boxes hold their people and print nobody's own value."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from ppdp_spark.core.data.grid import DAY, FIRST_DAY, LAST_DAY, Grid, Scale, Step, public_step

SCALES = {
    "tinyint": Scale("integer", "tinyint"),
    "int": Scale("integer", "int"),
    "bigint": Scale("integer", "bigint"),
    "decimal": Scale("decimal", "decimal(6,2)", 2),
    "double": Scale("float", "double"),
    "float": Scale("float", "float"),
    "date": Scale("date", "date"),
    "timestamp": Scale("timestamp", "timestamp"),
}


def drawn(name: str, rng: random.Random) -> Any:
    """Values of a column: close together or far apart, repeated or not, up to the ends of the type."""
    scale, number = SCALES[name], rng.choice([1, 2, 3, 10, 60])
    least, most = scale.limits
    if scale.kind == "float":
        spread, at = 10.0 ** rng.randrange(-30, 30), rng.choice([0.0, 1.0, 1e6, -3e20, 7e-20])
        values = np.array([at + spread * rng.choice([rng.gauss(0, 1), 0.5, 1.0]) for _ in range(number)])
        return (values.astype(np.float32) if scale.type == "float" else values).astype(np.float64) + 0.0
    middle = rng.choice([0, 1, least + 40, most - 40, rng.randint(least, most)])
    reach = min(10 ** rng.randrange(0, 18), most - least)
    found = [middle + rng.randint(-reach, reach) for _ in range(number)]
    if rng.random() < 0.5:
        found += rng.choices(found, k=number)
    return np.array([min(max(value, least), most) for value in found], np.int64)


def grid_of(scale: Scale, values: Any) -> tuple[Grid, Any]:
    """The grid of a column as a release has it, and the values of its unique people."""
    low, high = values.min().item(), values.max().item()
    grid = Grid.over(scale, public_step(scale, low, high, len(values)), low, high)
    single = [value for value, people in Counter(values.tolist()).items() if people == 1]
    return grid.without(np.array(single, values.dtype)), single


@pytest.mark.parametrize("name", SCALES)
def test_boxes_hold_their_people_and_end_at_nobodys_own_value(name):
    rng, scale, refused = random.Random(name), SCALES[name], 0
    for _ in range(600):
        values = drawn(name, rng)
        grid, single = grid_of(scale, values)
        least, most = scale.limits
        if not grid.covers(values.min(), values.max()):
            refused += 1
            assert set(single) & {least, most}
            continue
        groups = [np.array(rng.choices(values.tolist(), k=3), values.dtype) for _ in range(5)]
        low, high = (np.array([end(group) for group in groups]) for end in (np.min, np.max))
        first, last = grid.outwards(low, high)
        assert (first <= low).all() and (high <= last).all()
        assert not set(single) & {*first.tolist(), *last.tolist()}
        assert least <= first.min() and last.max() <= most
        if name == "float":
            assert (first.astype(np.float32) == first).all() and (last.astype(np.float32) == last).all()
        for ends, lines, inner in ((first, grid.lows, low), (-last, -grid.highs, -high)):
            assert ends.tolist() == [max(x for x in lines.tolist() if x <= value) for value in inner.tolist()]
    assert refused < 300


@pytest.mark.parametrize("name", SCALES)
def test_lines_are_multiples_of_a_step_that_can_be_read_back(name):
    rng, scale = random.Random(name), SCALES[name]
    for _ in range(300):
        values = drawn(name, rng)
        low, high = values.min().item(), values.max().item()
        step = public_step(scale, low, high, len(values))
        assert Step.read(str(step), scale) == step
        ends = set(scale.limits)
        for line in set(Grid.over(scale, step, low, high).lows.tolist()) - ends:
            assert on_line(line, step, scale)


def on_line(line: float | int, step: Step, scale: Scale) -> bool:
    """Whether a lower bound is a round number, or the first moment of a span of time, by plain arithmetic."""
    if scale.kind == "float":
        exact = round(Decimal(line) / step.number) * step.number
        return line == (np.float32(float(exact)) if scale.type == "float" else float(exact))
    if not step.unit:
        return Decimal(line).scaleb(-scale.places) % step.number == 0
    micros = line * DAY if scale.kind == "date" else line
    clock = {"microseconds": 1, "seconds": 10**6, "minutes": 60 * 10**6, "hours": 3_600 * 10**6}
    number = int(step.number)
    if step.unit in clock:
        return micros % (number * clock[step.unit]) == 0
    day = dt.date.fromordinal(micros // DAY + dt.date(1970, 1, 1).toordinal())
    if micros % DAY or step.unit == "days":
        return micros % DAY == 0 and (number == 1 or day.weekday() == 0)
    return day.day == 1 and (
        (day.month - 1) % number == 0 if step.unit == "months" else day.month == 1 and day.year % number == 0
    )


@pytest.mark.parametrize(
    ("scale", "low", "high", "rows", "step"),
    [
        (SCALES["int"], 17, 90, 30_000, "1"),
        (SCALES["int"], 17, 90, 100, "2"),
        (SCALES["int"], 0, 99_999, 45_000, "200"),
        (SCALES["decimal"], 0, 999_999, 100, "500"),
        (SCALES["double"], 150.0, 210.0, 1_000, "0.5"),
        (SCALES["date"], -15_000, 10_000, 100, "2 years"),
        (SCALES["date"], 0, 20_000, 1_000_000, "7 days"),
        (SCALES["timestamp"], 0, 86_400_000_000, 100, "1 hours"),
        (SCALES["double"], 4.0, 4.0, 100, "0.1"),
        (SCALES["int"], 4, 4, 100, "1"),
    ],
)
def test_steps_are_round(scale, low, high, rows, step):
    assert str(public_step(scale, low, high, rows)) == step


def test_a_value_at_the_end_of_its_type_has_no_bound_beyond_it():
    for name, end in (("tinyint", 127), ("date", LAST_DAY), ("date", FIRST_DAY)):
        values = np.array([end, 0, 0], np.int64)
        grid, _ = grid_of(SCALES[name], values)
        assert not grid.covers(values.min(), values.max())


@pytest.mark.parametrize("text", ["0", "-1", "x", "1 week", "NaN", "Infinity", "", "1e-400", "0.5", "1 days"])
def test_steps_that_are_none(text):
    with pytest.raises(ValueError):
        Step.read(text, SCALES["int"])
