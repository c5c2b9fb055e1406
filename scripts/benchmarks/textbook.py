"""`textbook`: Mondrian as the paper writes it, in pandas, one group after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.bench import Bench
from benchmarks.coded import Coded, quality
from benchmarks.ours import run_ours


def textbook(table: pd.DataFrame, k: int, cut: str) -> list[pd.Index]:
    """Strict Mondrian, transcribed [LeFevre, DeWitt, Ramakrishnan 2006, Fig. 3].

    The widest normalized range first, a cut at the median, the next attribute if a side has fewer than
    k rows. With cut `paper` the median goes left, always; with `even` it goes where it makes the sides
    more even, so that also a value that most rows have can be cut off.
    """
    domain = table.max() - table.min()

    def anonymize(part: pd.DataFrame) -> list[pd.Index]:
        ranges = ((part.max() - part.min()) / domain).fillna(0.0)
        for dimension in ranges.sort_values(ascending=False, kind="stable").index:
            values = part[dimension]
            median = values.quantile(0.5, interpolation="lower")
            goes_left = values <= median
            if cut == "even" and _evenness(values < median) > _evenness(goes_left):
                goes_left = values < median
            left, right = part[goes_left], part[~goes_left]
            if len(left) >= k and len(right) >= k:
                return anonymize(left) + anonymize(right)
        return [part.index]

    return anonymize(table)


def _evenness(goes_left: pd.Series[bool]) -> int:
    """Rows of the smaller side."""
    left = int(goes_left.sum())
    return min(left, len(goes_left) - left)


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
        return textbook(table, k, bench.parameters["cut"])

    groups = bench.run("textbook", recursion, bench.rows)
    bench.note(theirs=quality(coded, numbered(groups, bench.rows)))
