"""Cuts by loss against a search that shares no code with it: what is lost, what is tried, what is left."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria import AlphaK, DistinctDiversity, KAnonymity
from ppdp_spark.core.data.coded_people import Axis, Sensitive
from ppdp_spark.core.data.hierarchy import Hierarchy
from ppdp_spark.core.partition.mondrian import partition

TREE = Hierarchy.from_rows(
    [(leaf, "ab", "few", "*") for leaf in "ab"]
    + [("c", "c and no other", "few", "*"), ("d", "d and no other", "many", "*")]
    + [(leaf, "efg", "many", "*") for leaf in "efg"]
)
"""Seven leaves, of which some stand alone below a node."""

LEAVES, CATEGORIES, CODES, WIDEST = len(TREE), 6, 9, 3
"""Of tables without hierarchies, cuts along so many attributes come first."""

PLACES = np.array([0, 0, 1, 2, 2.5, 4, 7, 7.5, 8, 10]) / 10
AXES = [
    Axis(1 / (CODES - 1), -1 / CODES),
    Axis(0.1, -0.1, PLACES, weight=1.0),
    Axis(1 / (CATEGORIES - 1), -1 / CATEGORIES, unordered=True),
    Axis(2 / (LEAVES - 1), -1 / LEAVES, weight=2.0, nodes=TREE.nodes),
    Axis(0.25, -0.1, weight=0.5),
    Axis(0.1, -0.1, weight=0.3),
]
TOPS = (CODES, CODES, CATEGORIES, LEAVES, 3, 4)
EVERY, PLAIN = tuple(range(6)), (0, 1, 2, 4, 5)
"""All attributes, and those without a hierarchy."""


def lost_along(j: int, column: tuple[int, ...]) -> float:
    """The penalty of what is published of a group along one attribute, from the definition."""
    known, weight = sorted({code for code in column if code}), AXES[j].weight
    if known and 0 in column:
        return weight
    if len(known) < 2:
        return 0.0
    if j == 1:
        return float(PLACES[known[-1]] - PLACES[known[0]])
    if j == 2:
        return (len(known) - 1) / (CATEGORIES - 1)
    if j == 3:
        names = [set(row) for row in TREE.nodes[:, [c - 1 for c in known]].T.tolist()]
        shared = set.intersection(*names)
        return weight * min(sum(n in row for row in TREE.nodes.T.tolist()) for n in shared) / LEAVES
    return (known[-1] - known[0]) * AXES[j].step


def lost(people: list[list[int]], along: Iterable[int] = EVERY) -> float:
    """What a group loses along some attributes."""
    columns = list(zip(*people, strict=True))
    return sum(lost_along(j, columns[j]) for j in along)


def sides(
    people: list[list[int]], along: Iterable[int] = EVERY
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Every cut that is promised to be tried along some attributes, as the places of people on both sides."""
    found = []
    columns = list(zip(*people, strict=True))
    for j, column in ((j, columns[j]) for j in along):
        codes = sorted(set(column))
        taken = [[c] for c in codes] if j in (2, 3) else [codes[:i] for i in range(1, len(codes))]
        if j == 2:
            frequent = sorted(codes, key=lambda c: (-column.count(c), c))
            taken += [frequent[:i] for i in range(1, len(frequent))]
        if j == 3:
            for level in TREE.nodes:
                taken += [[c for c in codes if c and level[c - 1] == name] for name in set(level.tolist())]
        for codes_left in taken:
            left = frozenset(i for i, code in enumerate(column) if code in codes_left)
            if 0 < len(left) < len(people):
                found.append((left, frozenset(range(len(people))) - left))
    return found


@st.composite
def tables(draw, largest=40):
    people = draw(st.integers(2, largest))
    rows = [[draw(st.integers(0, top)) for top in TOPS] for _ in range(people)]
    return rows, draw(st.lists(st.integers(0, 2), min_size=people, max_size=people))


CRITERIA = {
    "k": ([KAnonymity(3)], lambda v: len(v) >= 3),
    "k and distinct": ([KAnonymity(2), DistinctDiversity(2)], lambda v: len(v) >= 2 and len(set(v)) >= 2),
    "alpha": ([AlphaK(Fraction(1, 2), 2)], lambda v: len(v) >= 2 and 2 * max(map(v.count, v)) <= len(v)),
}


def made(rows, values, criteria, **more):
    codes = np.array(rows, np.int32)
    found = partition(codes, Sensitive.single(np.array(values), 3), AXES, criteria, cuts="loss", **more)
    return [found.order[a:b].tolist() for a, b in zip(found.starts, found.starts[1:], strict=False)]


@pytest.mark.parametrize("name", CRITERIA)
@settings(max_examples=60, deadline=None)
@given(table=tables())
def test_no_group_has_an_allowed_cut_left(name, table):
    rows, values = table
    criteria, ok = CRITERIA[name]
    groups = made(rows, values, criteria)
    assert sorted(chain(*groups)) == list(range(len(rows)))
    for group in groups:
        for cut in sides([rows[p] for p in group]):
            assert not all(ok([values[group[i]] for i in side]) for side in cut)


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize(("along", "first"), [(EVERY, len(EVERY)), (PLAIN, WIDEST)])
@given(table=tables(), k=st.integers(1, 3))
def test_the_first_cut_is_worth_most(table, k, along, first):
    """What is saved over the root of the bits spent, from the definitions, along the widest attributes."""
    rows, n = table[0], len(table[0])

    def worth(cut):
        a, b = map(len, cut)
        saved = n * lost(rows, along) - sum(len(side) * lost([rows[i] for i in side], along) for side in cut)
        return saved / np.sqrt(n * np.log2(n // k) - a * np.log2(a // k) - b * np.log2(b // k))

    columns = list(zip(*rows, strict=True))
    varying = [j for j in along if len(set(columns[j])) > 1]
    order = sorted(varying, key=lambda j: -lost_along(j, columns[j]))
    possible: list[tuple[frozenset[int], frozenset[int]]] = []
    for turn, j in enumerate(order):
        if turn < first or not possible:
            possible += [cut for cut in sides(rows, [j]) if min(map(len, cut)) >= k]
    codes, nobody = np.array(rows, np.int32)[:, along], Sensitive.single(np.zeros(n), 1)
    criteria = [KAnonymity(k)] if k > 1 else []
    found = partition(codes, nobody, [AXES[j] for j in along], criteria, cuts="loss")
    assert bool(len(found.cuts.start)) == bool(possible)
    if possible:
        left = frozenset(found.order[: found.cuts.middle[0]].tolist())
        chosen = worth((left, frozenset(range(n)) - left))
        assert chosen == pytest.approx(max(map(worth, possible)), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(table=tables(), seed=st.integers(0, 99))
def test_order_of_rows_does_not_matter(table, seed):
    rows, values = table
    mixed = np.random.default_rng(seed).permutation(len(rows)).tolist()
    one = made(rows, values, [KAnonymity(2), DistinctDiversity(2)])
    two = made([rows[p] for p in mixed], [values[p] for p in mixed], [KAnonymity(2), DistinctDiversity(2)])
    assert [sorted(group) for group in one] == [sorted(mixed[p] for p in group) for group in two]


def test_a_refused_median_leaves_no_giant():
    """Values crowd at the median, so that the even cut is refused; cuts beside it are not."""
    codes = np.arange(1, 1001, dtype=np.int32)[:, None]
    values = np.where((codes[:, 0] > 480) & (codes[:, 0] <= 520), 0, codes[:, 0] % 4)
    values[500:] = np.where(values[500:] == 0, 0, 1)
    sensitive, axes = Sensitive.single(values, 4), [Axis(1 / 999, -0.01)]
    largest = {}
    for cuts in ("median", "loss"):
        found = partition(codes, sensitive, axes, [KAnonymity(10), DistinctDiversity(4)], cuts=cuts)
        largest[cuts] = np.diff(found.starts).max()
    assert largest["median"] == 1000 and largest["loss"] < 600


def test_large_groups_are_cut_at_places_that_many_people_apart():
    """Of more than 256 people one in 64 is looked at: sides are no smaller than that, or k."""
    draws = np.random.default_rng(1)
    codes = draws.integers(1, 10_000, (5_000, 2)).astype(np.int32)
    found = partition(
        codes, Sensitive.single(np.zeros(5_000), 1), [Axis(1e-4, -0.01)] * 2, [KAnonymity(4)], cuts="loss"
    )
    assert np.diff(found.starts).max() < 8 and np.diff(found.starts).min() >= 4


def test_large_children_leave_the_others_under_their_parent():
    """Two of five leaves have people enough: they are published as they are, the rest as one group."""
    leaves = Hierarchy.from_rows([(name, "*") for name in "abcde"])
    codes = np.repeat([1, 2, 3, 4, 5], [9, 8, 3, 2, 1]).astype(np.int32)[:, None]
    found = partition(
        codes,
        Sensitive.single(np.zeros(23), 1),
        [Axis(1 / 4, -0.2, nodes=leaves.nodes)],
        [KAnonymity(5)],
        cuts="loss",
    )
    pairs = zip(found.lowest[:, 0].tolist(), found.highest[:, 0].tolist(), strict=True)
    assert sorted(pairs) == [(1, 1), (2, 2), (3, 5)]


def clustered(people: int) -> tuple[np.ndarray, np.ndarray]:
    """People of a few kinds whose codes go together, and a value each."""
    draws = np.random.default_rng(7)
    kind = draws.choice(5, people, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    columns = [np.clip(np.rint(draws.normal(1 + kind, 1.2)), 0, top).astype(np.int32) for top in TOPS[:2]] + [
        (draws.zipf(1.8, people) + kind) % (top + 1) for top in TOPS[2:]
    ]
    return np.stack(columns, axis=1).astype(np.int32), draws.choice(4, people, p=[0.5, 0.3, 0.1, 0.1])


@pytest.mark.parametrize("k", [5, 10, 100])
@pytest.mark.parametrize("more", [[], [DistinctDiversity(3)]])
def test_less_is_lost_than_at_medians(k, more):
    """Penalties of all people, from the definition."""
    codes, values = clustered(3_000)
    found = {}
    for cuts in ("median", "loss"):
        groups = partition(codes, Sensitive.single(values, 4), AXES, [KAnonymity(k), *more], cuts=cuts)
        people = [groups.order[a:b] for a, b in zip(groups.starts, groups.starts[1:], strict=False)]
        assert min(map(len, people)) >= k
        found[cuts] = sum(len(group) * lost(codes[group].tolist()) for group in people)
    assert found["loss"] < 0.8 * found["median"]
