"""`kernel`: Mondrian inside a task, alone, on one core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.coded import Coded, group_numbers, quality
from benchmarks.scenario import WARM_UP_ROWS
from benchmarks.tables import QUASI_IDENTIFIERS

SORTED_BY = QUASI_IDENTIFIERS.index("income")


def measure(bench: Bench) -> None:
    with bench.phase("reading the codes"):
        sizes = {bench.rows, min(bench.rows, WARM_UP_ROWS)}
        tables = {rows: Coded.read(bench.table("census", rows)) for rows in sizes}

    def sort(rows: int, target: Path) -> Any:
        codes = tables[rows].codes
        return codes[np.argsort(codes[:, SORTED_BY], kind="stable")]

    def kernel(rows: int, target: Path) -> Any:
        return tables[rows].partition(bench.parameters["k"])

    found = bench.compare({"sort": sort, "kernel": kernel})["kernel"]
    with bench.phase("quality"):
        bench.note(**quality(tables[bench.rows], group_numbers(found.order, found.starts)))
