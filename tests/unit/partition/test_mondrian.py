"""The level-synchronous partitioner against a textbook recursion that shares no code with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria import DistinctDiversity, KAnonymity, RecursiveDiversity
from ppdp_spark.core.data.coded_people import Axis, Partition, Sensitive
from ppdp_spark.core.partition.mondrian import partition


def groups_of(result: Partition) -> list[list[int]]:
    return [
        sorted(result.order[a:b].tolist()) for a, b in zip(result.starts[:-1], result.starts[1:], strict=True)
    ]


def axes_for(cards: list[int]) -> list[Axis]:
    return [Axis(1 / max(1, card - 1), -1 / card) for card in cards]


def textbook(codes, values, cards, ok, weights=None):
    """Recursive strict Mondrian: the widest attribute first, the more even cut around the median."""
    done = []

    def position(code, j):
        return -1 / cards[j] if code == 0 else (code - 1) / max(1, cards[j] - 1)

    def visit(people):
        spans = []
        for j in range(codes.shape[1]):
            column = [codes[p][j] for p in people]
            if min(column) < max(column):
                spans.append((-(position(max(column), j) - position(min(column), j)), j))
        for _, j in sorted(spans):
            ordered = sorted(codes[p][j] for p in people)
            median = ordered[(len(ordered) - 1) // 2]
            below = sum(c < median for c in ordered)
            upto = sum(c <= median for c in ordered)
            n = len(ordered)
            cuts = [(min(size, n - size), which) for size, which in ((upto, 1), (below, 0)) if 0 < size < n]
            which = max(cuts)[1]
            left = [p for p in people if codes[p][j] < median or (which and codes[p][j] == median)]
            right = [p for p in people if p not in set(left)]
            if ok([values[p] for p in left]) and ok([values[p] for p in right]):
                visit(left)
                visit(right)
                return
        done.append(sorted(people))

    visit(list(range(len(codes))))
    return done


@st.composite
def tables(draw, largest=60):
    people = draw(st.integers(1, largest))
    # One more than a power of two: widths are exact, and two that are equal are so in every calculation.
    cards = draw(st.lists(st.sampled_from([1, 2, 3, 5, 9]), min_size=1, max_size=4))
    rows = [[draw(st.integers(0, card)) for card in cards] for _ in range(people)]
    values = draw(st.lists(st.integers(0, 3), min_size=people, max_size=people))
    return np.array(rows, np.int32), np.array(values, np.int32), cards


CRITERIA = {
    "k": ([KAnonymity(3)], lambda v: len(v) >= 3),
    "k and distinct": ([KAnonymity(2), DistinctDiversity(2)], lambda v: len(v) >= 2 and len(set(v)) >= 2),
    "recursive": (
        [RecursiveDiversity(2, 2)],
        lambda v: (lambda r: r[0] < 2 * sum(r[1:]))(sorted((v.count(x) for x in set(v)), reverse=True)),
    ),
}


@pytest.mark.parametrize("name", CRITERIA)
@settings(max_examples=80, deadline=None)
@given(table=tables())
def test_same_groups_as_the_textbook(name, table):
    codes, values, cards = table
    criteria, ok = CRITERIA[name]
    result = partition(codes, Sensitive.single(values, 4), axes_for(cards), criteria)
    assert sorted(groups_of(result)) == sorted(textbook(codes, values.tolist(), cards, ok))


@settings(max_examples=60, deadline=None)
@given(table=tables(), seed=st.integers(0, 99))
def test_order_of_rows_does_not_matter(table, seed):
    codes, values, cards = table
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    criteria = [KAnonymity(2), DistinctDiversity(2)]
    one = partition(codes, Sensitive.single(values, 4), axes_for(cards), criteria)
    two = partition(codes[shuffled], Sensitive.single(values[shuffled], 4), axes_for(cards), criteria)
    back = [sorted(shuffled[g].tolist()) for g in groups_of(two)]
    assert groups_of(one) == back
    np.testing.assert_array_equal(one.lowest, two.lowest)


@settings(max_examples=60, deadline=None)
@given(table=tables())
def test_ranges_and_conservation(table):
    codes, values, cards = table
    result = partition(codes, Sensitive.single(values, 4), axes_for(cards), [KAnonymity(2)])
    assert sorted(result.order.tolist()) == list(range(len(codes)))
    for g, people in enumerate(groups_of(result)):
        np.testing.assert_array_equal(result.lowest[g], codes[people].min(axis=0))
        np.testing.assert_array_equal(result.highest[g], codes[people].max(axis=0))


def test_no_people():
    result = partition(np.empty((0, 2), np.int32), Sensitive.single(np.empty(0), 1), axes_for([3, 3]), [])
    assert groups_of(result) == []


def test_identical_people_stay_together():
    result = partition(
        np.ones((50, 3), np.int32), Sensitive.single(np.zeros(50), 1), axes_for([5] * 3), [KAnonymity(2)]
    )
    assert len(groups_of(result)) == 1


def test_wide_codes_use_selection_not_a_histogram():
    rng = np.random.default_rng(3)
    codes = rng.integers(1, 2**31 - 2, (3000, 1)).astype(np.int32)
    result = partition(codes, Sensitive.single(np.zeros(3000), 1), [Axis(1.0, -1.0)], [KAnonymity(5)])
    sizes = np.diff(result.starts)
    assert sizes.min() >= 5 and sizes.max() < 10


def test_sets_are_counted_by_occurrence():
    codes = np.array([[1], [1], [2], [2]], np.int32)
    values, offsets = np.array([0, 1, 0, 1, 0], np.int32), np.array([0, 2, 2, 4, 5], np.int64)
    parts = partition(codes, Sensitive(2, values, offsets), axes_for([2]), [DistinctDiversity(2)])
    assert groups_of(parts) == [[0, 1], [2, 3]]
    emptied = Sensitive(2, values[:1], np.array([0, 1, 1, 1, 1], np.int64))
    assert len(groups_of(partition(codes, emptied, axes_for([2]), [DistinctDiversity(2)]))) == 1


def test_counts_are_taken_in_chunks():
    rng = np.random.default_rng(5)
    codes, values = rng.integers(1, 30, (500, 3)).astype(np.int32), rng.integers(0, 7, 500)
    criteria = [DistinctDiversity(3)]
    whole = partition(codes, Sensitive.single(values, 7), axes_for([29] * 3), criteria)
    chunked = partition(codes, Sensitive.single(values, 7), axes_for([29] * 3), criteria, cells=20)
    assert groups_of(whole) == groups_of(chunked)


def test_weight_decides_which_attribute_is_cut_first():
    codes = np.array([[a, b] for a in (1, 2) for b in (1, 2) for _ in range(2)], np.int32)
    values = Sensitive.single(np.zeros(8), 1)
    plain, weighted = Axis(1.0, -1.0), Axis(2.0, -1.0)
    first = partition(codes, values, [weighted, plain], [KAnonymity(3)])
    second = partition(codes, values, [plain, weighted], [KAnonymity(3)])
    assert first.highest[0].tolist() == [1, 2]
    assert second.highest[0].tolist() == [2, 1]
