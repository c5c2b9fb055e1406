"""Counts of the original table by sets of attributes: one scan of the rows, then rollups of the counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ppdp_spark.core.mining import Rollup
from ppdp_spark.spark import columns as C


def rollups(
    counts: DataFrame,
    sets: Iterable[tuple[int, ...]],
    *,
    domains: Sequence[pa.Array],
    values: Sequence[str],
    support: int,
) -> Iterator[Rollup]:
    """Counts by each set of attributes, only where at least `support` people agree in them.

    `counts` has the columns `q0, q1, …`, `value` and `count`; it should be kept in memory, since every
    set aggregates it anew. Codes are places in `domains` and `values`.
    """
    for chosen in sets:
        keys = [C.code(j) for j in chosen]
        rolled = counts.groupBy(*keys, C.VALUE).agg(F.sum(C.COUNT).alias(C.COUNT))
        people = F.sum(C.COUNT).over(Window.partitionBy(*keys))
        table = rolled.withColumn(C.PEOPLE, people).where(F.col(C.PEOPLE) >= support).toArrow()
        codes = [_codes(table.column(C.code(j)), domains[j]) for j in chosen]
        yield Rollup(
            attributes=chosen,
            codes=np.stack(codes, axis=1),
            value=_codes(table.column(C.VALUE), pa.array(values, pa.string())),
            count=table.column(C.COUNT).to_numpy().astype(np.int64),
        )


def _codes(column: pa.ChunkedArray, domain: pa.Array) -> np.ndarray:
    """Places in the domain, −1 for what is not there."""
    found = pc.index_in(column, value_set=domain)
    return np.asarray(found.fill_null(-1).to_numpy()).astype(np.int64)
