"""Our dealing beside ART as printed [ART, Section V]: the guarantee, people without a place, answers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria.robustness import RRobustness
from ppdp_spark.core.data.groups import GroupSummaries, PriorExtrema
from ppdp_spark.core.partition.art import pack
from ppdp_spark.core.utility.queries import Domain, Holders, bucketized_answers, draw_queries, true_answers
from support.places import script

literal = script("literal_art")

PEOPLE, WIDTH = 160, 8


class Town:
    """People of two sexes and four ages, whose values depend a little on both."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.codes = np.column_stack([rng.integers(1, 3, PEOPLE), rng.integers(1, 5, PEOPLE)]).astype(
            np.int32
        )
        weights = np.exp(rng.normal(0, 0.35, (3, WIDTH))[self.codes[:, 0]])
        self.values = (rng.random((PEOPLE, 1)) > np.cumsum(weights / weights.sum(1, keepdims=True), 1)).sum(1)
        self.values = np.minimum(self.values, WIDTH - 1).astype(np.int32)
        self.sets = [self.codes[:, 0].tolist(), [tuple(row) for row in self.codes.tolist()]]
        self.people = literal.People.learned(self.values.tolist(), self.sets)
        self.tables = [
            np.array([[float(p.get(x, 0)) for x in range(WIDTH)] for p in s]) for s in self.people.priors
        ]

    def dealt(self, r):
        """Our groups, in the published form; everybody is a class of their own."""
        found = pack(
            self.values, np.arange(PEOPLE), self.tables, self.codes, width=WIDTH, r=float(r), model="binary"
        )
        return [np.flatnonzero(found.groups == g).tolist() for g in range(found.count)]

    def summaries(self, groups):
        counts = np.array([np.bincount(self.values[group], minlength=WIDTH) for group in groups])
        extrema = [
            PriorExtrema(
                np.array([table[group].min(0) for group in groups]),
                np.array([table[group].max(0) for group in groups]),
            )
            for table in self.tables
        ]
        return GroupSummaries(counts.sum(axis=1), counts, tuple(extrema))

    def error(self, groups):
        """Mean distance of answered from true counts; whoever is in no group is missed."""
        queries = draw_queries([Domain(1, 2), Domain(1, 4)], WIDTH, 100)
        places = list(self.codes.T)
        truths = true_answers(queries, places, Holders.of(np.arange(PEOPLE), self.values, WIDTH))
        order = np.concatenate(groups)
        group = np.repeat(np.arange(len(groups)), [len(some) for some in groups])
        holders = Holders.of(group, self.values[order], WIDTH)
        found = bucketized_answers(queries, [column[order] for column in places], group, holders)
        return np.abs(found - truths).mean()


@pytest.fixture(scope="module", params=[1, 2])
def town(request):
    return Town(request.param)


@pytest.mark.parametrize("r", [2, 3])
def test_both_place_as_many_people_and_answer_as_well(town, r):
    printed, ours = literal.literal_art(town.people, Fraction(r)), town.dealt(r)
    for groups in (printed, ours):
        placed = [i for group in groups for i in group]
        assert len(placed) == len(set(placed)) and groups
        assert all(literal.satisfied(town.people, group, Fraction(r)) for group in groups)
        assert RRobustness(r, "binary", ("a", "b"), unique=True).allowed(town.summaries(groups)).all()
    unplaced = [PEOPLE - sum(map(len, groups)) for groups in (printed, ours)]
    assert unplaced[1] <= unplaced[0] + PEOPLE // 20
    assert town.error(ours) <= 1.2 * town.error(printed)


def test_both_decide_alike_about_any_group(town):
    """Groups by chance: the printed condition in fractions, ours in floats; nobody's is at the threshold."""
    rng = np.random.default_rng(5)
    groups = [rng.choice(PEOPLE, rng.integers(2, 8), replace=False).tolist() for _ in range(400)]
    groups += [group[:-1] for group in literal.literal_art(town.people, Fraction(2)) if len(group) > 2]
    held = [literal.satisfied(town.people, group, Fraction(2)) for group in groups]
    assert RRobustness(2, "binary", ("a", "b"), unique=True).allowed(town.summaries(groups)).tolist() == held
    assert 0 < sum(held) < len(held)


def test_singletons_that_nobody_can_join_are_not_published():
    people = literal.People.learned([0, 0, 0, 1], [[0, 0, 0, 0]])
    assert literal.literal_art(people, Fraction(2)) == [[0, 3]]
