"""Tables that a command reads several times and has no folder for: Spark keeps them while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from pyspark.sql import DataFrame

Save: TypeAlias = Callable[[DataFrame], DataFrame]
"""Keeps a table and gives it back, so that nothing is computed twice."""


@contextmanager
def held_tables() -> Iterator[Save]:
    """A function that has Spark keep a table, in memory or else on its disks, until the block ends."""
    held: list[DataFrame] = []

    def hold(table: DataFrame) -> DataFrame:
        held.append(table.persist())
        return held[-1]

    try:
        yield hold
    finally:
        for table in held:
            table.unpersist()
