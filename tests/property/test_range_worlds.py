"""People with several values: groups cover all, and whoever knows some learns no more than groups say.

Worlds are enumerated: all ways in which people can own the published rows of groups that cover what is known
of them. Nothing of the package is used for that.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, permutations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria import AlphaK, KAnonymity
from ppdp_spark.core.data.attributes import CodeColumn, Ordered
from ppdp_spark.core.data.coded_people import Sensitive
from ppdp_spark.core.partition.mondrian import each_value, partition

K, ALPHA = 2, 2 / 3
PEOPLE = st.lists(
    st.tuples(
        st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True),
        st.lists(st.integers(1, 4), min_size=1, max_size=2, unique=True),
        st.integers(0, 2),
    ),
    min_size=2,
    max_size=7,
)


def cut(people):
    """Groups of people placed by the lowest of their values, and the boxes that cover all of them."""
    values = [[sorted(person[j]) for person in people] for j in (0, 1)]
    codes = np.array([[held[0] for held in each] for each in values], np.int32).T.copy()
    attributes = [Ordered("a", "integer", "int", 1, 9), Ordered("b", "integer", "int", 1, 4)]
    axes = [CodeColumn.read(a, pa.array(codes[:, j])).axis() for j, a in enumerate(attributes)]
    sensitive = Sensitive.single(np.array([person[2] for person in people]), 3)
    groups = partition(codes, sensitive, axes, [KAnonymity(K), AlphaK(Fraction(2, 3), K)])
    boxes = []
    for each in values:
        offsets = np.concatenate([[0], np.cumsum([len(held) for held in each])])
        spread = each_value(groups, np.array(list(chain.from_iterable(each)), np.int32), offsets)
        boxes.append((spread.lowest[:, 0], spread.highest[:, 0]))
    return groups, boxes


@settings(max_examples=60, deadline=None)
@given(people=PEOPLE)
def test_boxes_are_the_hull_of_all_values_of_their_people(people):
    groups, boxes = cut(people)
    for g, (start, end) in enumerate(zip(groups.starts[:-1], groups.starts[1:], strict=True)):
        for j, (low, high) in enumerate(boxes):
            held = [value for p in groups.order[start:end] for value in people[p][j]]
            assert (low[g], high[g]) == (min(held), max(held))


def table(rng):
    """Seven people with up to three values of one attribute, two of the other, and one of three secrets."""

    def some(values, most):
        return sorted({int(v) for v in rng.choice(values, rng.integers(1, most + 1))})

    return [(some(range(1, 10), 3), some(range(1, 5), 2), int(rng.integers(3))) for _ in range(7)]


def test_no_posterior_exceeds_what_the_groups_say():
    rng, uncertain = np.random.default_rng(7), 0
    for _ in range(60):
        people = table(rng)
        groups, boxes = cut(people)
        group = np.repeat(np.arange(len(groups.starts) - 1), np.diff(groups.starts))
        secrets = np.array([people[p][2] for p in groups.order])
        counts = [np.bincount(secrets[group == g]) for g in range(group.max() + 1)]
        if any(count.sum() < K or count.max() > ALPHA * count.sum() + 1e-9 for count in counts):
            assert len(counts) == 1, "only the undivided table may fail: nothing is published then"
            continue
        some = [[rng.permutation(person[j])[: rng.integers(1, 4)] for j in (0, 1)] for person in people]
        for known in (some, [person[:2] for person in people]):
            uncertain += judged(known, boxes, group, groups.order, secrets)
    assert uncertain > 10, "whoever knows one value only must not always know the group"


def judged(known, boxes, group, owner, secrets):
    """All worlds for somebody who knows some values of everybody; whether a group of anybody is in doubt."""

    def fit(held, g):
        return all(low[g] <= v <= high[g] for j, (low, high) in enumerate(boxes) for v in held[j])

    fits = np.array([[fit(held, g) for g in group] for held in known])
    assert all(fits[p, r] for r, p in enumerate(owner)), "everybody is where all of their values are covered"
    people = range(len(known))
    rows = np.array([world for world in permutations(people) if fits[people, world].all()])
    for person in people:
        of_row = np.bincount(rows[:, person], minlength=len(known)) / len(rows)
        of_secret = np.bincount(secrets, weights=of_row)
        assert of_row.max() <= 1 / K + 1e-9 and of_secret.max() <= ALPHA + 1e-9
    return any(len({group[row] for row in rows[:, person]}) > 1 for person in people)
