"""COUNT queries: answers equal those of plain Python loops, and exact groups answer exactly."""

from __future__ import annotations

import re
from math import comb

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.data.attributes import Categorical, Ordered
from ppdp_spark.core.data.boxes import Interval, Members, Range, labelled
from ppdp_spark.core.data.hierarchy import Hierarchy
from ppdp_spark.core.utility.queries import (
    SELECTIVITIES,
    Domain,
    Holders,
    Query,
    bucketized_answers,
    draw_queries,
    generalized_answers,
    true_answers,
    with_answers,
)
from ppdp_spark.core.utility.relative_error import (
    error_summary,
    error_table,
    mean_interval,
    median_interval,
    relative_errors,
    sanity_bound,
)
from ppdp_spark.spark.utility.queries import _places

WIDTH = 4


@st.composite
def tables(draw):
    """People with two attributes (0 is null), a value, a group; and queries about them."""
    size = draw(st.integers(1, 30))
    column = st.lists(st.integers(0, 9), min_size=size, max_size=size)
    first, second = draw(column), draw(column)
    values = draw(st.lists(st.integers(0, WIDTH - 1), min_size=size, max_size=size))
    group = sorted(draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)))
    _, group = np.unique(group, return_inverse=True)
    ends = st.tuples(st.integers(1, 9), st.integers(1, 9)).map(sorted)
    queries = []
    for _ in range(draw(st.integers(1, 6))):
        chosen = draw(st.sampled_from([(), (0,), (1,), (0, 1)]))
        ranges = tuple(Range(j, *draw(ends)) for j in chosen)
        queries.append(Query(draw(st.integers(0, WIDTH - 1)), 0.1, ranges))
    return np.array([first, second]), np.array(values), group, queries


def matches(person, query):
    return all(r.low <= person[r.attribute] <= r.high for r in query.ranges)


@given(tables())
@settings(max_examples=150)
def test_true_answers_are_counts(table):
    codes, values, _, queries = table
    found = true_answers(queries, codes, Holders.of(np.arange(len(values)), values, WIDTH))
    for query, answer in zip(queries, found, strict=True):
        people = zip(codes.T, values, strict=True)
        assert answer == sum(matches(p, query) and v == query.value for p, v in people)


@given(tables())
@settings(max_examples=150)
def test_bucketized_answers_share_out_values(table):
    codes, values, group, queries = table
    found = bucketized_answers(queries, codes, group, Holders.of(group, values, WIDTH))
    for query, answer in zip(queries, found, strict=True):
        expected = 0.0
        for person, own in zip(codes.T, group, strict=True):
            same = values[group == own]
            expected += matches(person, query) * np.mean(same == query.value)
        assert answer == pytest.approx(expected)


def boxes_of(codes, group):
    """The box of each group: lowest and highest value, and whether null is among them."""
    boxes = []
    for column in codes:
        low, high, mixed, null = [], [], [], []
        for g in range(group.max() + 1):
            own = column[group == g]
            real = own[own > 0]
            low.append(real.min() if len(real) else 1)
            high.append(real.max() if len(real) else 1)
            mixed.append(0 < len(real) < len(own))
            null.append(len(real) == 0)
        boxes.append(Interval(*map(np.array, (low, high, mixed, null))))
    return boxes


@given(tables())
@settings(max_examples=150)
def test_generalized_answers_spread_people_over_places(table):
    codes, values, group, queries = table
    found = generalized_answers(queries, boxes_of(codes, group), Holders.of(group, values, WIDTH))
    for query, answer in zip(queries, found, strict=True):
        expected = 0.0
        for g in range(group.max() + 1):
            chance = 1.0
            for r in query.ranges:
                own = codes[r.attribute][group == g]
                real = own[own > 0]
                places = list(range(real.min(), real.max() + 1)) if len(real) else []
                places += [0] if (own == 0).any() else []
                chance *= np.mean([r.low <= place <= r.high for place in places])
            expected += chance * np.sum(values[group == g] == query.value)
        assert answer == pytest.approx(expected)


@given(tables())
@settings(max_examples=100)
def test_groups_of_one_person_answer_exactly(table):
    codes, values, _, queries = table
    alone = np.arange(len(values))
    holders = Holders.of(alone, values, WIDTH)
    truth = true_answers(queries, codes, holders)
    assert (generalized_answers(queries, boxes_of(codes, alone), holders) == truth).all()
    assert (bucketized_answers(queries, codes, alone, holders) == truth).all()


def test_occurrences_of_a_multiset_add_up():
    holders = Holders.of(np.array([0, 0, 1, 0]), np.array([2, 2, 2, 1]), 3)
    assert [part.tolist() for part in holders.having(2)] == [[0, 1], [2, 1]]
    assert [part.tolist() for part in holders.having(0)] == [[], []]


def test_shares_in_a_continuum():
    box = Interval(
        np.array([0.0, 2.0, 5.0]),
        np.array([4.0, 2.0, 5.0]),
        np.zeros(3, bool),
        np.array([0, 0, 1], bool),
        True,
    )
    assert box.share(np.arange(3), Range(0, 1.0, 2.0)).tolist() == [0.25, 1.0, 0.0]
    assert box.share(np.arange(3), Range(0, 4.0, 9.0)).tolist() == [0.0, 0.0, 0.0]
    assert box.share(np.arange(3), Range(0, -9.0, 9.0)).tolist() == [1.0, 1.0, 0.0]


def shares(attribute, labels, low, high):
    return labelled(attribute, pa.array(labels)).share(np.arange(len(labels)), Range(0, low, high)).tolist()


def test_labels_of_a_hierarchy_are_runs_of_leaves():
    tree = Hierarchy.from_rows([("b", "X", "*"), ("a", "X", "*"), ("c", "Y", "*"), ("d", "Y", "*")])
    attribute = Categorical("q", tree.leaves, hierarchy=tree)
    assert tree.leaves == ("b", "a", "c", "d")
    labels = ["a", "X", "*", "Y or null", None, "d"]
    assert shares(attribute, labels, 2, 3) == [1.0, 0.5, 0.5, pytest.approx(1 / 3), 0.0, 0.0]


def test_labels_of_sets_are_read_as_they_were_written():
    values = ("a", "a, b", "b", "c", "x or null", "{z}")
    attribute = Categorical("q", values)
    labels = ["a", "{a, b}", r"{a, a\, b, c}", r"x\ or null", r"\{z\}", "{a, c} or null", "c or null", None]
    codes = [{1}, {1, 3}, {1, 2, 4}, {5}, {6}, {0, 1, 4}, {0, 4}, set()]
    for low, high in [(1, 1), (2, 3), (1, 4), (4, 6), (1, 6)]:
        expected = [sum(low <= c <= high for c in own) / max(1, len(own)) for own in codes]
        assert shares(attribute, labels, low, high) == pytest.approx(expected)


@given(st.sets(st.text("ab, {}\\", min_size=1, max_size=6), min_size=2, max_size=8), st.data())
@settings(max_examples=200)
def test_a_list_of_names_is_read_as_a_list_that_is_written_so(names, data):
    values = tuple(sorted(names))
    chosen = sorted(data.draw(st.sets(st.sampled_from(values), min_size=2)))
    label = "{" + ", ".join(re.sub(r"([\\,{}])", r"\\\1", name) for name in chosen) + "}"
    box = labelled(Categorical("q", values), pa.array([label]))
    assert isinstance(box, Members)
    assert [values[key % box.width - 1] for key in box.keys] == chosen


def test_queries_are_drawn_evenly_inside_the_domains_and_always_the_same():
    domains = [Domain(1, 90), None, Domain(-2.5, 7.5, continuous=True), Domain(1, 2), Domain(5, 5)]
    queries = draw_queries(domains, 7, 240)
    assert queries == draw_queries(domains, 7, 240) and len(queries) == 240
    cells = [(q.dimension, q.selectivity) for q in queries]
    assert {cells.count((d, s)) for d in (1, 2, 3, 4) for s in SELECTIVITIES} == {20}
    for query in queries:
        assert 0 <= query.value < 7
        for r in query.ranges:
            domain = domains[r.attribute]
            assert domain.low <= r.low <= r.high <= domain.high + 1e-12
    whole = [q.ranges[0] for q in queries if q.dimension == 1 and q.ranges[0].attribute == 0]
    assert {r.high - r.low + 1 for r in whole} <= {1, 4, 9}
    assert draw_queries([None], 3, 10) == () and draw_queries(domains, 0, 10) == ()


@given(
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from(SELECTIVITIES), st.integers(0, 4)), max_size=60),
    st.integers(0, 20),
    st.integers(1, 3),
)
@settings(max_examples=150, deadline=None)
def test_queries_that_are_asked_have_answers_and_are_the_first_of_their_cells(drawn, number, least):
    queries = [Query(0, s, tuple(Range(j, 1, 1) for j in range(d))) for d, s, _ in drawn]
    truths = np.array([truth for _, _, truth in drawn], float)
    chosen = with_answers(queries, truths, number, least).tolist()
    expected = []
    for cell in {(d, s) for d, s, _ in drawn}:
        turns = [(d, s) for d, s, _ in drawn[:number]].count(cell)
        fit = [i for i, (d, s, truth) in enumerate(drawn) if (d, s) == cell and truth >= least]
        expected += fit[:turns]
    assert chosen == sorted(expected)


def test_errors_are_relative_to_the_truth_or_to_the_sanity_bound():
    errors = relative_errors(np.array([5.0, 30.0, 0.0]), np.array([0.0, 20.0, 0.0]), 10.0)
    assert errors.tolist() == [0.5, 0.5, 0.0]
    assert sanity_bound(100, 60) == 1 and sanity_bound(1_000_000, 300_000) == 1000
    assert sanity_bound(1_000_000, 50) == 5


def test_errors_of_cells_have_a_table():
    queries = [Query(0, 0.1, ()), Query(0, 0.1, ()), Query(0, 0.01, (Range(0, 1, 2),))]
    errors = np.array([1.0, 3.0, 0.25])
    first, second = error_table(queries, errors)
    assert first == {"dimension": 0, "selectivity": 0.1, "queries": 2, **error_summary(errors[:2])}
    assert second == {"dimension": 1, "selectivity": 0.01, "queries": 1, **error_summary(errors[2:])}
    assert (first["median"], first["mean"]) == (2.0, 2.0) and first["median_interval"] == [1.0, 3.0]
    assert second["mean_interval"] == second["median_interval"] == [0.25, 0.25]


@pytest.mark.parametrize("number", [1, 5, 6, 9, 50, 301])
def test_the_interval_of_a_median_is_the_narrowest_pair_of_errors_with_the_confidence(number):
    """Fewer than `below` of n errors lie under the median with the chance of so few heads in n throws."""
    low, high = median_interval(np.random.default_rng(number).permutation(number).astype(float))
    assert high == number - 1 - low

    def missed(below: int) -> float:
        return 2 * sum(comb(number, heads) for heads in range(below)) / 2**number

    assert low == 0 or missed(int(low) + 1) <= 0.05
    assert low + 1 > (number - 1) / 2 or missed(int(low) + 2) > 0.05


def test_intervals_cover_what_other_queries_say():
    """Of 200 draws of 80 errors from a skewed law, about 19 in 20 intervals hold its median and its mean."""
    rng = np.random.default_rng(5)
    held = np.zeros(2)
    for _ in range(200):
        errors = rng.exponential(1.0, 80)
        ends = np.array([median_interval(errors), mean_interval(errors)])
        held += (ends[:, 0] <= [np.log(2), 1]) & (ends[:, 1] >= [np.log(2), 1])
        assert ends[1, 0] < errors.mean() < ends[1, 1]
    assert (held >= 200 * 0.88).all() and held[1] < 200


def test_the_same_errors_have_the_same_interval():
    errors = np.random.default_rng(0).exponential(1.0, 30)
    assert error_summary(errors) == error_summary(errors.copy())


def test_places_in_the_widest_column_there_is():
    """Between the least and the largest 64-bit integer no number is left to stand for null."""
    ends = [-(2**63), None, 2**63 - 1]
    widest = Ordered("x", "integer", "bigint", ends[0], ends[2])
    found = _places(pa.array(ends, pa.int64()), widest)
    assert found[0] == -(2.0**63) and np.isnan(found[1]) and found[2] == 2.0**63
