"""The predicted least size of blind groups: against chances counted exactly, and what it may depend on."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest

from ppdp_spark.core.criteria import AlphaK, DistinctDiversity, KAnonymity
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.core.partition import least_size
from ppdp_spark.core.partition.least_size import Chance, chance_to_pass, likely_sizes, predicted_size
from ppdp_spark.run.criteria.guarantees import criteria_of
from ppdp_spark.spec import PrivacySpec


def exact(values, sizes, holds) -> Fraction:
    """The share of all orders of these values in which each group, dealt out in turn, passes."""
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    orders = list(permutations(values))
    passing = [all(holds(order[a:b]) for a, b in pairwise(bounds)) for order in orders]
    return Fraction(sum(passing), len(orders))


@pytest.mark.parametrize(
    ("criterion", "holds"),
    [
        (AlphaK(Fraction(1, 2), 2), lambda g: 2 * max(g.count(x) for x in g) <= len(g)),
        (DistinctDiversity(2), lambda g: len(set(g)) >= 2),
    ],
)
def test_the_chance_is_that_of_all_orders(criterion, holds):
    values, sizes = [0, 0, 0, 1, 1, 2, 3], np.array([3, 4])
    drawn, expected = (
        chance_to_pass([criterion], np.bincount(values), sizes),
        float(exact(values, sizes, holds)),
    )
    assert 0 < expected < 1 and abs(drawn.share - expected) < 4 * (0.25 / drawn.drawn) ** 0.5


def test_large_tables_are_drawn_from_with_replacement(monkeypatch):
    """The chance that three draws of four equally frequent values are not all alike is 15/16."""
    monkeypatch.setattr(least_size, "_PERMUTED", 10)
    monkeypatch.setattr(least_size, "CHANCE", 2)
    drawn = chance_to_pass([DistinctDiversity(2)], np.full(4, 1_000), np.array([3]))
    assert abs(drawn.share - 15 / 16) < 0.05


def test_drawing_stops_when_too_many_fail_and_never_before():
    sure = chance_to_pass([KAnonymity(2)], np.array([50, 50]), np.array([50, 50]))
    assert sure == Chance(least_size.MOST, least_size.MOST) and sure.enough and sure.share == 1
    never = chance_to_pass([KAnonymity(60)], np.array([50, 50]), np.array([50, 50]))
    assert never.passed == 0 and never.drawn <= least_size.MOST // 20 + 1 and not never.enough


def test_the_prediction_passes_and_a_much_smaller_size_would_not():
    counts, criteria = np.array([400, 300, 200, 100]), [AlphaK(Fraction(3, 5), 2)]
    found = predicted_size(criteria, counts, 2)
    assert found.predicted and found.chance.enough
    assert not chance_to_pass(criteria, counts, likely_sizes(1_000, found.size // 2)).enough


def test_the_prediction_is_the_same_each_time_and_grows_with_the_table():
    criteria = [DistinctDiversity(3)]
    small, again, large = (predicted_size(criteria, np.array([5, 3, 2]) * n, 3) for n in (100, 100, 20_000))
    assert small == again and small.size < large.size


def test_where_no_two_groups_are_likely_to_pass_there_is_one():
    assert predicted_size([AlphaK(Fraction(1, 2), 2)], np.array([50, 50]), 2).size == 100
    assert predicted_size([KAnonymity(2)], np.array([1]), 2).size == 2


def test_coupled_skylines_are_judged_over_the_whole_release():
    """Points with m > 0 look at all groups of a release together: more groups, less chance."""
    privacy = PrivacySpec.model_validate({"skyline": {"default": [{"l": 1, "k": 1, "m": 1, "c": 0.8}]}})
    criteria = criteria_of(privacy, ValueDomain(("a", "b", "c", "d"), (300, 300, 300, 300)))
    counts = np.array([300, 300, 300, 300])
    few, many = (chance_to_pass(criteria, counts, np.full(n, 1_200 // n)) for n in (10, 120))
    assert few.share > many.share
    found = predicted_size(criteria, counts, 2)
    assert 2 < found.size < 600 and found.chance.enough


def test_parts_of_a_release_are_judged_as_the_whole(monkeypatch):
    """A release is drawn in parts where it is large; that must not change what is decided of it."""
    counts, sizes = np.array([30, 30, 30, 30]), np.full(12, 10)
    privacy = PrivacySpec.model_validate({"skyline": {"default": [{"l": 1, "k": 1, "m": 1, "c": 0.9}]}})
    criteria = criteria_of(privacy, ValueDomain(("a", "b", "c", "d"), (30, 30, 30, 30)))
    whole = chance_to_pass(criteria, counts, sizes)
    monkeypatch.setattr(least_size, "_PART", 30)
    assert chance_to_pass(criteria, counts, sizes) == whole and 0 < whole.share < 1


@pytest.mark.parametrize(("people", "least"), [(10, 2), (1_000, 7), (99, 33), (65, 33), (3, 5)])
def test_likely_sizes_are_between_the_least_and_twice_that(people, least):
    sizes = likely_sizes(people, least)
    if people < 2 * least:
        assert sizes.tolist() == [people]
    else:
        assert least == sizes.min() and sizes.max() == 2 * least - 1 and len(sizes) >= 2
        assert abs(sizes.sum() - people) < 3 * least
