"""What was published, and a breach counted from it."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

POINT = {"l": 0, "k": 1, "m": 0, "c": 0.5}
AGES = {"quasi_identifiers": {"age": "numeric"}}


def published(out: Path):
    return pq.read_table(out / "release" / "data").to_pylist()
