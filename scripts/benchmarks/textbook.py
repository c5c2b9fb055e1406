"""`textbook`: Mondrian as the paper writes it, in pandas, one group after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.bench import Bench
from benchmarks.coded import Coded, quality
from benchmarks.ours import run_ours
from benchmarks.scenario import Options, Parameters, Scenario


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


def variants(options: Options) -> list[Parameters]:
    return [{"k": k, **options.session()} for k in options.k[:1]]


def measure(bench: Bench) -> None:
    k = bench.parameters["k"]
    coded = Coded.read(bench.table("census", bench.rows))
    run_ours(bench, coded)
    table = coded.frame()

    def recursion(rows: int, target: Path) -> list[pd.Index]:
        return textbook(table, k)

    groups = bench.run("textbook", recursion, bench.rows)
    bench.note(theirs=quality(coded, numbered(groups, bench.rows)))


SCENARIO = Scenario(
    name="textbook",
    about="a literal sequential Mondrian in pandas on the same codes, and how good its groups are",
    rows=(100_000, 1_000_000),
    variants=variants,
    measure=measure,
    ratio=("textbook", "anonymize"),
    tables=("census",),
    largest=1_000_000,
    facts={
        "people a group, ours": "ours.mean_size",
        "theirs": "theirs.mean_size",
        "NCP, ours": "ours.ncp",
        "theirs ": "theirs.ncp",
    },
)
