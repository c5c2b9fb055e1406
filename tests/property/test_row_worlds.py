"""Rows of people, apart from each other: no way to bind them lets a reader conclude more than judged.

All ways to deal labelled rows to people such that everybody has one are enumerated, and nothing of the
package is used for that. Ways with equal records are one belief each: whoever takes the people of a group
for alike has a mean over these, whatever they believe of how many rows people have.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from ppdp_spark.core.criteria.skyline import SkylineCriterion
from ppdp_spark.core.criteria.skyline.points import Point, Target
from ppdp_spark.core.data.groups import GroupSummaries

SIGMA, TARGET = 0, 0


def deals(people, counts):
    """Who has which values, in all deals of the rows after which nobody has none."""
    rows = [value for value, number in enumerate(counts) for _ in range(number)]
    for owners in product(range(people), repeat=len(rows)):
        if len(set(owners)) == people:
            records = [[0] * len(counts) for _ in range(people)]
            for owner, value in zip(owners, rows, strict=True):
                records[owner][value] += 1
            yield tuple(map(tuple, records))


def conclusions(people, counts, amounts):
    """The chance that the target has σ, for every bag of records and all that can be known."""
    ell, k, m = amounts
    beliefs = defaultdict(list)
    for records in deals(people, counts):
        beliefs[tuple(sorted(records))].append(records)
    others = range(1, people)
    for every in beliefs.values():
        worlds = sorted(set(every))
        for known in combinations(others, k):
            for family in combinations([p for p in others if p not in known], m):
                for values in combinations([v for v in range(len(counts)) if v != SIGMA], ell):
                    yield posterior(worlds, known, family, values)


def posterior(worlds, known, family, values):
    possible = [
        (world[TARGET][SIGMA] > 0)
        for world in worlds
        if not any(world[p][SIGMA] for p in known)
        and all(not world[p][SIGMA] or world[TARGET][SIGMA] for p in family)
        and all(not world[TARGET][v] or world[TARGET][SIGMA] for v in values)
    ]
    return Fraction(sum(possible), len(possible)) if possible else Fraction(0)


def judged(case, people, counts, amounts):
    target = Target(SIGMA, "σ", Point(*amounts, 1.0))
    groups = GroupSummaries(np.array([people]), np.array([counts]))
    criterion = SkylineCriterion(case, (target,))
    (row,) = criterion.decide(criterion.summarise(groups, np.array([1])))
    return row.value


GROUPS = [
    (2, (1, 1)),
    (2, (2, 1)),
    (3, (1, 1, 1)),
    (3, (1, 2, 1)),
    (3, (2, 1, 2)),
    (3, (1, 3, 2)),
    (4, (1, 3, 1)),
]
GROUPS += [(4, (2, 2, 1)), (4, (1, 1, 3))]


@pytest.mark.parametrize(("people", "counts"), GROUPS)
def test_no_belief_about_which_rows_belong_together_concludes_more(people, counts):
    for amounts in [(0, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1)]:
        ell, k, m = amounts
        if k + m < people and ell < len(counts):
            worst = max(conclusions(people, counts, amounts))
            assert float(worst) <= judged("mvpi-rows", people, counts, amounts) + 1e-12, amounts


def test_without_knowledge_it_is_exact_where_everybody_can_have_one_row():
    for people, counts in [(3, (1, 1, 1)), (4, (2, 2)), (4, (1, 2, 1))]:
        worst = max(conclusions(people, counts, (0, 0, 0)))
        assert float(worst) == pytest.approx(judged("mvpi-rows", people, counts, (0, 0, 0)))


def test_occurrences_that_fall_to_anybody_are_another_model():
    """With as many rows as people everybody has one, which the multiset model of the paper leaves open."""
    worst = max(conclusions(4, (2, 2), (0, 0, 0)))
    assert float(worst) > judged("mvpi-multiset", 4, (2, 2), (0, 0, 0))
