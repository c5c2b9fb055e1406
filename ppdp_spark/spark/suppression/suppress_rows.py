"""Exactly so many rows of each sensitive value, uniformly at random, without gathering a value's rows.

Every row gets a number that a secret key makes of its content; the rows of a value with the smallest
numbers go. The number where they end is found by one aggregation that looks closely only at the
narrow window in which it must lie. Rows that share a number without being equal go or stay together; how many
of a value go is exact all the same. Nothing depends on partitioning or on a retried task, and the key
travels as data, never as a literal: plans, event logs and the Spark UI do not show it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ppdp_spark.errors import InternalError
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.versions import from_arrow, to_arrow

_TEXT, _KEY_A, _KEY_B, _NUMBER = "suppress_text", "suppress_key_a", "suppress_key_b", "suppress_number"
_LOW, _HIGH, _LAST = "suppress_low", "suppress_high", "suppress_last"
_LEAST, _MOST = -(2**63), 2**63 - 1
_DEVIATIONS = 8
"""Half-width of the first window, in standard deviations of the place searched for."""


@dataclass(frozen=True)
class Loss:
    """A value, how many rows have it, and how many of them go."""

    text: str | None
    rows: int
    removed: int


@dataclass(frozen=True)
class _Place:
    """Where the rows of a value that go end.

    Rows numbered below `last` go, rows above stay; of those numbered exactly `last`, which are equal
    in content, `spared` stay.
    """

    last: int
    spared: int


def suppress_rows(table: DataFrame, value: Column, losses: Sequence[Loss], rng: random.Random) -> DataFrame:
    """The table without the rows that go; `value` is the sensitive value as text.

    `rng` is drawn from once, here. The result may be computed again and again: it stays the same.
    """
    losing = [loss for loss in losses if loss.removed]
    if not losing:
        return table
    keys = (rng.getrandbits(64) - 2**63, rng.getrandbits(64) - 2**63)
    places = _find_places(table, value, losing, keys)
    last = {_LAST: pa.array([place.last for place in places], pa.int64())}
    numbered = _numbered(table, value, losing, keys, last, how="left")
    names = [C.quoted(name) for name in table.columns]
    kept = numbered.where(F.col(_KEY_A).isNull() | (F.col(_NUMBER) > F.col(_LAST))).select(*names)
    if any(place.spared for place in places):
        kept = kept.unionByName(_spared(table, value, losing, keys, places))
    return kept


def _numbered(
    table: DataFrame,
    value: Column,
    losing: Sequence[Loss],
    keys: tuple[int, int],
    more: dict[str, pa.Array],
    *,
    how: str = "inner",
) -> DataFrame:
    """Rows of the values that lose some, with their secret number and whatever else is known of the value.

    With a left join also all other rows, with nulls.
    """
    size = len(losing)
    columns = {
        _TEXT: pa.array([loss.text for loss in losing], pa.string()),
        _KEY_A: pa.array([keys[0]] * size, pa.int64()),
        _KEY_B: pa.array([keys[1]] * size, pa.int64()),
        **more,
    }
    known = F.broadcast(from_arrow(table.sparkSession, pa.table(columns)))
    joined = table.join(known, value.eqNullSafe(F.col(_TEXT)), how)
    content = F.xxhash64(*(C.column(name) for name in table.columns))
    number = F.xxhash64(content, F.col(_KEY_A), F.col(_KEY_B))
    return joined.withColumn(_NUMBER, F.when(F.col(_KEY_A).isNotNull(), number))


def _find_places(
    table: DataFrame, value: Column, losing: Sequence[Loss], keys: tuple[int, int]
) -> list[_Place]:
    """The place of every value: one pass, or more where many rows are equal in content."""
    places: list[_Place | None] = [_Place(_MOST, 0) if loss.removed == loss.rows else None for loss in losing]
    width = float(_DEVIATIONS)
    while (open_ones := [i for i, place in enumerate(places) if place is None]) and width < 1e12:
        searched = [losing[i] for i in open_ones]
        windows = [_window(loss, width) for loss in searched]
        for i, place in zip(open_ones, _look(table, value, searched, keys, windows), strict=True):
            places[i] = place
        width *= 8
    found = [place for place in places if place is not None]
    if len(found) != len(places):
        raise InternalError("the rows to suppress could not be told apart: nothing was published")
    return found


def _window(loss: Loss, width: float) -> tuple[int, int]:
    """Numbers between which the last row that goes must lie, with overwhelming probability."""
    share = loss.removed / loss.rows
    half = width * (math.sqrt(share * (1 - share) / loss.rows) + 1 / loss.rows)
    low, high = max(0.0, share - half), min(1.0, share + half)
    return (
        _LEAST if low == 0 else _LEAST + int(low * 2**64),
        _MOST if high == 1 else min(_MOST, _LEAST + int(high * 2**64)),
    )


def _look(
    table: DataFrame,
    value: Column,
    searched: Sequence[Loss],
    keys: tuple[int, int],
    windows: Sequence[tuple[int, int]],
) -> list[_Place | None]:
    """Count rows below each window, and rows by number inside it."""
    edges = {
        _LOW: pa.array([low for low, _ in windows], pa.int64()),
        _HIGH: pa.array([high for _, high in windows], pa.int64()),
        "suppress_place": pa.array(range(len(searched)), pa.int32()),
    }
    near = _numbered(table, value, searched, keys, edges).where(F.col(_NUMBER) <= F.col(_HIGH))
    inside = F.when(F.col(_NUMBER) >= F.col(_LOW), F.col(_NUMBER)).alias("suppress_number")
    found = to_arrow(near.groupBy("suppress_place", inside).count())
    place, number, count = (found.column(i) for i in range(3))
    below = ~number.is_valid().to_numpy()
    numbers = number.fill_null(_LEAST).to_numpy()
    order = np.lexsort((numbers, ~below, place.to_numpy()))
    where, numbers, counts = place.to_numpy()[order], numbers[order], count.to_numpy()[order]
    starts = np.searchsorted(where, np.arange(len(searched) + 1))
    firsts = starts[:-1] + np.bincount(where[below[order]], minlength=len(searched))
    return [
        _settled(loss, numbers[first:end], counts[first:end], int(counts[start:first].sum()))
        for loss, start, first, end in zip(searched, starts[:-1], firsts, starts[1:], strict=True)
    ]


def _settled(loss: Loss, numbers: NDArray[np.int64], counts: NDArray[np.int64], below: int) -> _Place | None:
    """The place, if the window holds it; `numbers` ascend."""
    reached = below + np.cumsum(counts)
    if below >= loss.removed or not len(reached) or reached[-1] < loss.removed:
        return None
    at = int(np.searchsorted(reached, loss.removed))
    return _Place(int(numbers[at]), int(reached[at]) - loss.removed)


def _spared(
    table: DataFrame, value: Column, losing: Sequence[Loss], keys: tuple[int, int], places: Sequence[_Place]
) -> DataFrame:
    """Rows at a value's last number that stay: equal rows are counted, then written out so often."""
    more = {
        _LAST: pa.array([place.last for place in places], pa.int64()),
        "suppress_spared": pa.array([place.spared for place in places], pa.int64()),
    }
    names = [C.quoted(name) for name in table.columns]
    at_last = _numbered(table, value, losing, keys, more).where(F.col(_NUMBER) == F.col(_LAST))
    equal = at_last.groupBy(*names, _TEXT, "suppress_spared").agg(F.count(F.lit(1)).alias("suppress_copies"))
    by_value = Window.partitionBy(_TEXT).orderBy(*names)
    before = F.sum("suppress_copies").over(by_value.rowsBetween(Window.unboundedPreceding, -1))
    left = F.greatest(F.lit(0), F.col("suppress_spared") - F.coalesce(before, F.lit(0)))
    stay = equal.withColumn("suppress_stay", F.least(F.col("suppress_copies"), left).cast("int"))
    copied = stay.select(*names, F.explode(F.array_repeat(F.lit(True), F.col("suppress_stay"))))
    return copied.select(*names)
