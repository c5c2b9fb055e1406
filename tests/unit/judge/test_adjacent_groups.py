"""Groups that lie together, judged run by run: the same as judging them whole, however rows are split."""

from __future__ import annotations

import itertools
import pickle
from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria import DistinctDiversity, KAnonymity
from ppdp_spark.core.criteria.release.bookkeeping import Conservation
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.errors import DataError
from ppdp_spark.spark.data.group_scan import merged
from ppdp_spark.spark.judge.adjacent_groups import ReduceRuns, Runs, _once_each

WIDTH = 4


def batches(numbers, codes, cuts, marks=None):
    marks = numbers * 7 if marks is None else marks
    whole = pa.RecordBatch.from_pydict({"group_id": numbers, "description": marks, "sensitive": codes})
    edges = [0, *sorted(cuts), len(numbers)]
    return [whole.slice(a, b - a) for a, b in itertools.pairwise(edges) if b > a]


def judged(shares, criteria):
    """What the driver makes of the shares of several tasks."""
    parts = [pickle.loads(batch.column(0)[0].as_py()) for share in shares for batch in share]
    edges = reduce(Runs.__add__, [edge for _, found, _ in parts for edge in found]).joined()
    spans = [span for *_, found in parts for span in found] + [(int(n), int(n)) for n in edges.numbers]
    reduced = [found for found, *_ in parts if found is not None]
    reduced.append([c.summarise(GroupSummaries(edges.sizes, edges.counts), edges.numbers) for c in criteria])
    return spans, reduce(lambda a, b: merged(criteria, a, b), reduced)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.data())
def test_same_as_whole_groups(sizes, data):
    numbers = np.repeat(np.arange(1, len(sizes) + 1), sizes)
    codes = np.array(
        data.draw(st.lists(st.integers(0, WIDTH - 1), min_size=len(numbers), max_size=len(numbers)))
    )
    places = st.lists(st.integers(1, max(1, len(numbers) - 1)), max_size=5, unique=True)
    share_edges = [0, *sorted(data.draw(places)), len(numbers)]
    criteria = (KAnonymity(3), DistinctDiversity(2), Conservation(len(numbers), len(sizes)))
    shares = []
    for a, b in itertools.pairwise(share_edges):
        if b > a:
            cuts = [c for c in data.draw(places) if c < b - a]
            shares.append(list(ReduceRuns(criteria, WIDTH)(batches(numbers[a:b], codes[a:b], cuts))))
    spans, found = judged(shares, criteria)
    counts = np.zeros((len(sizes), WIDTH), np.int64)
    np.add.at(counts, (numbers - 1, codes), 1)
    whole = GroupSummaries(np.array(sizes), counts)
    ids = np.arange(1, len(sizes) + 1)
    assert found == [c.summarise(whole, ids) for c in criteria]
    assert _once_each(spans)


def test_scattered_groups_are_noticed():
    numbers = np.array([1, 1, 2, 2, 1, 3, 3, 4])
    shares = [list(ReduceRuns((KAnonymity(2),), WIDTH)(batches(numbers, numbers % WIDTH, [])))]
    spans, _ = judged(shares, (KAnonymity(2),))
    assert not _once_each(spans)
    assert not _once_each([(1, 3), (5, 6)]) and not _once_each([(2, 3)]) and _once_each([(4, 5), (1, 3)])


def test_a_group_described_in_two_ways_stops_the_check():
    numbers, marks = np.array([1, 1, 2]), np.array([5, 6, 5])
    with pytest.raises(DataError, match="two ways"):
        list(ReduceRuns((KAnonymity(2),), WIDTH)(batches(numbers, numbers % WIDTH, [], marks)))
    with pytest.raises(DataError, match="two ways"):
        one = np.ones(1, np.int64)
        (Runs(one, one, one, np.ones((1, 2))) + Runs(one, one * 2, one, np.ones((1, 2)))).joined()
