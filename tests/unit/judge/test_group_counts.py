"""Counting groups inside a task: any order of rows, any batch size, any number of rows held."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from ppdp_spark.errors import DataError
from ppdp_spark.spark.judge import counts as counting
from ppdp_spark.spark.judge.counts import CountGroups


def batches(rows, size, *, marks=None):
    columns = [pa.array([row[i] for row in rows], pa.int64()) for i in range(2)]
    columns.append(pa.array([row[2] for row in rows], pa.int32()))
    names = ["first", "second", "sensitive"]
    if marks is not None:
        columns.append(pa.array(marks, pa.int64()))
        names.append("mark")
    table = pa.table(dict(zip(names, columns, strict=True)))
    return table.to_batches(max_chunksize=size)


def counted(rows, *, width, size=7, people=False):
    found = {}
    for groups, ids in CountGroups(width, people)(iter(batches(rows, size))):
        for g, name in enumerate(ids):
            found.setdefault(int(name), []).append((int(groups.sizes[g]), tuple(groups.counts[g].tolist())))
    return {name: sorted(lines) for name, lines in found.items()}


def expected(rows, width, people):
    groups: dict[tuple[int, int], Counter] = {}
    for first, second, code in rows:
        groups.setdefault((first, second), Counter())[code] += 1
    lines: dict[int, list] = {}
    for (first, _), counter in groups.items():
        size = counter[-1] if people else sum(counter.values())
        lines.setdefault(first, []).append((size, tuple(counter[v] for v in range(width))))
    return {first: sorted(found) for first, found in lines.items()}


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("held", [1, 50, 1 << 22])
def test_counts_do_not_depend_on_batches_or_memory(monkeypatch, people, held):
    monkeypatch.setattr(counting, "HELD_ROWS", held)
    rng = np.random.default_rng(3)
    low = -1 if people else 0
    rows = [
        (int(a), int(b), int(c))
        for a, b, c in zip(*(rng.integers(x, y, 400) for x, y in ((-4, 5), (0, 2), (low, 6))), strict=True)
    ]
    assert counted(rows, width=6, people=people) == expected(rows, 6, people)


def test_chunks_cover_every_group_once(monkeypatch):
    monkeypatch.setattr(counting, "COUNT_CELLS", 8)
    rows = [(g, 0, v) for g in range(9) for v in range(g % 4 + 1)]
    assert counted(rows, width=4) == expected(rows, 4, False)


def test_a_group_described_in_two_ways_stops():
    with pytest.raises(DataError, match="two ways"):
        list(CountGroups(2, False)(iter(batches([(1, 0, 0), (1, 0, 1)], 5, marks=[3, 4]))))


def named(names, codes):
    content = pa.array([b"".join(word.to_bytes(8, "big", signed=True) for word in name) for name in names])
    return pa.record_batch({"name": content, "sensitive": pa.array(codes, pa.int32())})


@pytest.mark.parametrize("held", [1, 1 << 22])
def test_names_of_four_words(monkeypatch, held):
    monkeypatch.setattr(counting, "HELD_ROWS", held)
    names = [(1, 2, 3, 4), (-1, 2, 3, 4), (1, -2, 5, 6), (1, 2, 3, 4)]
    batch = named(names, [0, 1, 1, 1])
    given = [batch.slice(0, 1), batch.slice(1)]
    found = [
        (int(name), tuple(row))
        for groups, ids in CountGroups(2, False)(iter(given))
        for name, row in zip(ids, groups.counts.tolist(), strict=True)
    ]
    assert sorted(found) == [(-1, (0, 1)), (1, (0, 1)), (1, (1, 1))]


@pytest.mark.parametrize("held", [1, 1 << 22])
@pytest.mark.parametrize("other", [(1, 2, 9, 4), (1, 2, 3, 9)])
def test_names_that_agree_in_the_words_sorted_by_only_stop_the_run(monkeypatch, other, held):
    monkeypatch.setattr(counting, "HELD_ROWS", held)
    batch = named([(1, 2, 3, 4), other, (1, 2, 3, 4)], [0, 0, 0])
    with pytest.raises(DataError, match="made to deceive"):
        list(CountGroups(1, False)(iter([batch, batch])))


def test_nothing_to_count():
    assert counted([], width=3) == {}
