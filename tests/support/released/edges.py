"""What the edges of boxes give away: people whose value nobody else has, and who find it printed.

Plain Python over the published files and the original table; nothing of the program is used.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def read_in_print(out: Path, table: pa.Table) -> Mapping[str, tuple[int, int]]:
    """For each range: people whose unique value is the end of any published range, and people with one."""
    data = pq.ParquetDataset(out / "release" / "data").read()
    found = {}
    for name in table.column_names:
        if f"{name}_min" not in data.column_names:
            continue
        ends = {value for end in ("min", "max") for value in data.column(f"{name}_{end}").to_pylist()}
        single = {
            value for value, people in Counter(_known(table.column(name).to_pylist())).items() if people == 1
        }
        found[name] = (len(single & ends), len(single))
    return found


def outside(out: Path, table: pa.Table, numbers: Mapping[str, str]) -> int:
    """Groups that do not have, for each range, at least as many people of the table as they have rows.

    where
        numbers  for each range, the published column of its ends without `_min` and `_max`
    """
    groups: dict[int, list[Mapping[str, Any]]] = {}
    for row in pq.ParquetDataset(out / "release" / "data").read().to_pylist():
        groups.setdefault(row["group_id"], []).append(row)
    columns = {name: table.column(name).to_pylist() for name in numbers}
    short = 0
    for rows in groups.values():
        fits = [True] * table.num_rows
        for name, published in numbers.items():
            low, high, label = (rows[0][key] for key in (f"{published}_min", f"{published}_max", published))
            null = label is None or label.endswith(" or null")
            fits = [
                fit and (null if _missing(value) else low is not None and low <= value <= high)
                for fit, value in zip(fits, columns[name], strict=True)
            ]
        short += sum(fits) < len(rows)
    return short


def _known(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if not _missing(value)]


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
