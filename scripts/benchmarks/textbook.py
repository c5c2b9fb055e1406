"""`textbook`: Mondrian as the paper writes it, in pandas, one group after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.bench import Bench
from benchmarks.coded import Coded, quality
from benchmarks.ours import run_ours


def textbook(table: pd.DataFrame, k: int) -> list[pd.Index]:
    """Strict Mondrian, transcribed [LeFevre, DeWitt, Ramakrishnan 2006, Fig. 3].

    The widest normalized range first, rows up to the median left, the next attribute if a side has
    fewer than k rows.
    """
    domain = table.max() - table.min()

    def anonymize(part: pd.DataFrame) -> list[pd.Index]:
        ranges = ((part.max() - part.min()) / domain).fillna(0.0)
        for dimension in ranges.sort_values(ascending=False, kind="stable").index:
            median = part[dimension].median()
            left, right = part[part[dimension] <= median], part[part[dimension] > median]
            if len(left) >= k and len(right) >= k:
                return anonymize(left) + anonymize(right)
        return [part.index]

    return anonymize(table)


def numbered(groups: list[pd.Index], rows: int) -> NDArray[np.int64]:
    """The group of every row."""
    numbers = np.empty(rows, np.int64)
    numbers[np.concatenate(groups)] = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return numbers


def measure(bench: Bench) -> None:
    k = bench.parameters["k"]
    coded = Coded.read(bench.table("census", bench.rows))
    run_ours(bench, coded)
    table = coded.frame()

    def recursion(rows: int, target: Path) -> list[pd.Index]:
        return textbook(table, k)

    groups = bench.run("textbook", recursion, bench.rows)
    bench.note(theirs=quality(coded, numbered(groups, bench.rows)))
