"""Prior extrema of published groups: what the owner keeps so that robustness can be verified again.

A release says how often each value occurs in a group, not how likely its people were to have it. The
owner's table has one row per group and value: its count, and the extrema of its prior in every attribute
set. Its counts must be those of the release, by a digest of both, before anything is decided from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.data.groups import COUNT_CELLS, GroupSummaries, IntArray, PriorExtrema
from ppdp_spark.spark.data.encode import decode, dictionary
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row


def extrema_rows(numbered: DataFrame, values: Sequence[str | None], sets: int) -> DataFrame:
    """One row per group and value, from numbered groups with their prior columns."""
    each = F.posexplode(C.COUNTED_VALUES).alias("place", C.VALUE)
    rows = numbered.select(C.GROUP_ID, C.COUNTS, C.LOWS, C.HIGHS, each)
    wanted = [F.col(C.GROUP_ID), F.col(C.VALUE), F.get(C.COUNTS, F.col("place")).alias(C.COUNT)]
    for s in range(sets):
        at = F.col("place") * sets + s
        wanted += [F.get(C.LOWS, at).alias(f"low_{s}"), F.get(C.HIGHS, at).alias(f"high_{s}")]
    return decode(rows.select(*wanted), C.VALUE, values, first_code=0)


def digest(counts: DataFrame) -> tuple[int, int]:
    """Rows and an order-independent hash of a table of groups, values and counts.

    It notices accidents. Who could replace a release and its manifest could also forge this sum.
    """
    content = F.xxhash64(
        F.col(C.GROUP_ID).cast("bigint"), F.col(C.VALUE).isNull(), C.VALUE, F.col(C.COUNT).cast("bigint")
    )
    found = only_row(counts.agg(F.count(F.lit(1)), F.sum(content.cast("decimal(38,0)"))))
    return int(found[0]), int(found[1] or 0)


@dataclass(frozen=True)
class ReadExtrema:
    """Rows of one partition, all rows of a group among them, to summaries with prior extrema."""

    width: int
    sets: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[GroupSummaries, IntArray]]:
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        rows = pa.Table.from_batches(parts).sort_by(C.GROUP_ID)
        names = [C.GROUP_ID, "code", C.COUNT, *bound_names(self.sets)]
        ids, codes, counts, *extrema = (rows.column(name).to_numpy() for name in names)
        starts = np.concatenate([[0], np.flatnonzero(np.diff(ids)) + 1])
        bounds = np.append(starts, len(ids))
        step = max(1, COUNT_CELLS // (self.width * (1 + 2 * self.sets)))
        for low in range(0, len(starts), step):
            high = min(low + step, len(starts))
            part = slice(bounds[low], bounds[high])
            group = np.repeat(np.arange(high - low), np.diff(bounds[low : high + 1]))
            tables = [self._dense(group, codes[part], x[part], high - low) for x in (counts, *extrema)]
            whole = tables[0].astype(np.int64)
            pairs = zip(tables[1::2], tables[2::2], strict=True)
            priors = tuple(PriorExtrema(lows, highs) for lows, highs in pairs)
            yield GroupSummaries(whole.sum(axis=1), whole, priors), ids[starts[low:high]]

    def _dense(self, group: IntArray, codes: IntArray, cells: NDArray[Any], groups: int) -> NDArray[Any]:
        table = np.zeros((groups, self.width), cells.dtype)
        table[group, codes] = cells
        return table


def bound_names(sets: int) -> list[str]:
    """Columns of the lowest and the highest prior, attribute set by attribute set."""
    return [f"{side}_{s}" for s in range(sets) for side in ("low", "high")]


def coded_extrema(rows: DataFrame, values: Sequence[str | None], sets: int) -> DataFrame:
    """The owner's table with codes for values, rows of a group together."""
    known = F.broadcast(dictionary(rows.sparkSession, values))
    joined = rows.join(known, F.col(C.VALUE).eqNullSafe(F.col("text")), "inner")
    return joined.select(C.GROUP_ID, "code", C.COUNT, *bound_names(sets)).repartition(C.GROUP_ID)
