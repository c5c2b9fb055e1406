"""What a scenario is: a module that measures, the variants it measures, and how to show the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Parameters = dict[str, Any]
"""What tells a measurement from others of its scenario; plain JSON."""

MANY_ROWS = 5_000_000
WARM_UP_ROWS = 500_000
"""Enough for the table to be cut into fragments, so that every stage of a run gets compiled."""


@dataclass(frozen=True)
class Options:
    """What the command line asks for.

    where
        rows           sizes in place of a scenario's own
        repeats        timed runs of each kind; three, or one above `MANY_ROWS`, if None
        time_limit     seconds that a single run may take
        driver_memory  heap of the JVM as Spark writes it; the package's default if None
        cold           the first run of a fresh session alone, without warm-up and baseline
    """

    rows: tuple[int, ...] | None
    k: tuple[int, ...]
    forms: tuple[str, ...]
    cores: int
    driver_memory: str | None
    repeats: int | None
    time_limit: float
    cold: bool

    def repeats_at(self, rows: int) -> int:
        if self.cold:
            return 1
        return self.repeats or (1 if rows > MANY_ROWS else 3)

    def session(self) -> Parameters:
        """Settings of the session that tell one measurement on Spark from another."""
        return {"cores": self.cores, "driver_memory": self.driver_memory or "default"}

    def temperature(self) -> Parameters:
        return {"cold": True} if self.cold else {}

    def spark(self) -> Parameters:
        return {**self.session(), **self.temperature()}


@dataclass(frozen=True)
class Scenario:
    """One thing to measure, in several variants.

    where
        about       one line for `--list` and the report
        rows        sizes unless others are asked for
        variants    parameters of the measurements at one size
        module      where `measure(bench)` takes one measurement, loaded in a process of its own
        ratio       the two runs whose times are divided, (over, under)
        tables      kinds of tables it reads, at the size measured and at that of the warm-up
        largest     sizes beyond it are left out (what runs on one core or in pandas)
        fixed_rows  whether the sizes stay as they are whatever is asked for
        facts       further columns of the report: heading -> key of the noted fact
    """

    name: str
    about: str
    rows: tuple[int, ...]
    variants: Callable[[Options], list[Parameters]]
    module: str
    ratio: tuple[str, str]
    tables: tuple[str, ...] = ()
    fixed_rows: bool = False
    largest: int | None = None
    facts: Mapping[str, str] | None = None

    def repeats(self, options: Options, rows: int) -> int:
        return options.repeats_at(0 if self.fixed_rows else rows)

    def plan(self, options: Options) -> tuple[list[Parameters], list[int]]:
        """Parameters of every measurement asked for, and the sizes left out."""
        sizes = self.rows if self.fixed_rows else options.rows or self.rows
        taken = [rows for rows in sizes if self.largest is None or rows <= self.largest]
        left_out = [rows for rows in sizes if rows not in taken]
        return [{"rows": rows, **variant} for rows in taken for variant in self.variants(options)], left_out
