"""Rows out of the order of their values, however the rows of a table reach the tasks."""

from __future__ import annotations

import itertools
import pickle
import random

import pyarrow as pa
import pytest

from ppdp_spark.spark.judge.value_order import FindDisorder, _between

ILLS, JOBS = pa.array(["a", "b", "c", None]), pa.array([10, 20, 30])
SORTED = [(1, 0, 0), (1, 0, 1), (1, 3, 2), (2, 0, 0), (2, 2, 1), (2, 3, 1), (5, 1, 0), (5, 1, 2)]
"""Group, code of the ill, code of the job."""


def batch(rows, file, first):
    columns = {
        "file": [file] * len(rows),
        "row": list(range(first, first + len(rows))),
        "group_id": [row[0] for row in rows],
        "ill": pa.array([row[1] for row in rows], pa.int32()),
        "job": pa.array([row[2] for row in rows], pa.int32()),
    }
    taken = {"ill": ILLS.take(columns["ill"]), "job": JOBS.take(columns["job"])}
    return pa.RecordBatch.from_pydict({**columns, **taken})


def wrong(rows, rng):
    """Disorder found when a table of two files is cut into tasks and batches at random."""
    half = rng.randrange(len(rows) + 1)
    pieces = []
    for file, part in enumerate([rows[:half], rows[half:]]):
        borders = [0, *sorted(rng.sample(range(len(part) + 1), min(3, len(part)))), len(part)]
        pieces += [batch(part[a:b], file, a) for a, b in itertools.pairwise(borders)]
    rng.shuffle(pieces)
    task = FindDisorder((ILLS, JOBS))
    found = []
    for tasks in (pieces[::2], pieces[1::2]):
        (said,) = task(tasks)
        found.append(pickle.loads(said.column(0)[0].as_py()))
    stretches = sorted((one for _, more in found for one in more), key=lambda one: (one.file, one.row))
    return sum(number for number, _ in found) + _between(stretches)


@pytest.mark.parametrize("seed", range(30))
def test_a_sorted_table_is_in_order_however_it_is_cut(seed):
    assert wrong(SORTED, random.Random(seed)) == 0


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("column", [0, 1, 2])
def test_one_exchange_is_found_however_the_table_is_cut(seed, column):
    """Two different values of one column exchanged within a group; or a group that comes back."""
    rng = random.Random(seed)
    pairs = [
        (i, j)
        for i, one in enumerate(SORTED)
        for j, other in enumerate(SORTED[:i])
        if one[column] != other[column] and (column == 0 or one[0] == other[0])
    ]
    i, j = rng.choice(pairs)
    rows = [list(row) for row in SORTED]
    rows[i][column], rows[j][column] = rows[j][column], rows[i][column]
    assert wrong([tuple(row) for row in rows], rng) > 0
