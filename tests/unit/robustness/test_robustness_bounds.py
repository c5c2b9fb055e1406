"""r-robustness: golden vectors, published tables, the joint counterexample, bounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria.robustness import (
    RRobustness,
    SignatureGroups,
    binary_posteriors,
    binary_swap_bound,
    delta_condition,
    deviation_ceiling,
    greatest_deviation,
    joint_posteriors,
    joint_swap_bound,
    probability_deviation,
)
from ppdp_spark.core.data.groups import GroupSummaries, PriorExtrema
from support.core.pairwise_bound import pairwise_swap_bound
from support.core.signed_examples import equal_priors, one_group
from support.places import golden

GOLDEN = golden("robustness")
TABLE_V = [
    (3, 2, 0.1, 0.0474),
    (3, 2, 0.3, 0.1235),
    (3, 2, 0.5, 0.1667),
    (3, 2, 0.9, 0.0818),
    (4, 2, 0.3, 0.1750),
    (6, 2, 0.3, 0.2211),
    (6, 3, 0.3, 0.1537),
    (6, 4, 0.3, 0.0955),
]


def golden_group(case):
    """The group of a golden vector, and the names of its values in code order."""
    names = sorted(set(case["values"]))
    priors = np.array([[[person[name] for name in names] for person in case["prior"]]])
    counts = np.array([[case["values"].count(name) for name in names]])
    return SignatureGroups.of_people(priors, counts), names


def expected(case, field, names):
    return [case[field][name] for name in names]


def summaries(*groups: SignatureGroups) -> GroupSummaries:
    extrema = [group.extrema() for group in groups]
    counts = np.concatenate([group.counts for group in groups])
    lows, highs = (np.concatenate(part) for part in zip(*extrema, strict=True))
    return GroupSummaries(counts.sum(axis=1), counts, (PriorExtrema(lows, highs),))


class TestGolden:
    @pytest.mark.parametrize("case", GOLDEN)
    def test_joint_model(self, case):
        group, names = golden_group(case)
        exact = joint_posteriors(group)
        assert exact.feasible.all()
        assert not exact.contradicted.any()
        assert exact.values.max(axis=0) == pytest.approx(expected(case, "joint_max", names), abs=1e-9)
        bound = joint_swap_bound(group.sizes, group.counts, *group.extrema())[0]
        assert (bound <= np.array(expected(case, "swap_bound", names)) + 1e-9).all()
        assert (bound >= np.array(expected(case, "joint_max", names)) - 1e-9).all()
        pairwise = pairwise_swap_bound(group)[0]
        assert pairwise == pytest.approx(expected(case, "pairwise_bound", names), abs=1e-9)

    @pytest.mark.parametrize("case", [case for case in GOLDEN if "binary_max" in case])
    def test_binary_model(self, case):
        group, names = golden_group(case)
        exact = binary_posteriors(group).values.max(axis=0)
        assert exact == pytest.approx(expected(case, "binary_max", names), abs=1e-9)
        low, high = group.extrema()
        deviation, ceiling = greatest_deviation(low, high)[0], deviation_ceiling(group.sizes, 2, high)[0]
        assert deviation == pytest.approx(expected(case, "delta_max", names), abs=1e-9)
        assert ceiling == pytest.approx(expected(case, "delta_ceil_r2", names), abs=1e-9)
        condition = delta_condition(group.sizes, group.counts, low, high, r=2)[0]
        assert condition.tolist() == (deviation <= ceiling).tolist()


class TestDelta:
    @pytest.mark.parametrize(("size", "r", "prior", "ceiling"), TABLE_V)
    def test_table_v(self, size, r, prior, ceiling):
        assert round(float(deviation_ceiling(size, r, prior)), 4) == ceiling

    def test_certain_priors_leave_no_room(self):
        assert deviation_ceiling(np.array([5, 5]), 2, np.array([0.0, 1.0])).tolist() == [0, 0]

    def test_a_single_person_with_a_tiny_prior(self):
        assert float(deviation_ceiling(1, 2, 4e-15)) == pytest.approx(-1, rel=1e-12)

    def test_deviation_of_each_person(self):
        assert probability_deviation(np.array([0.1, 0.003])) == pytest.approx([0, 0.097])

    @pytest.mark.parametrize("prior", [0.0, 0.1, 1 / 3, 0.7, 1.0])
    @pytest.mark.parametrize("r", [2, 3, 2.5, Fraction(10, 3)])
    def test_equal_priors_need_r_people_only(self, prior, r):
        groups = equal_priors([[1] * size + [0] * (6 - size) for size in range(1, 7)], prior)
        held = delta_condition(groups.sizes, groups.counts, *groups.priors[0], r=r).all(axis=1)
        assert held.tolist() == [size >= r for size in range(1, 7)]

    def test_a_value_twice_is_refused_and_an_absent_one_is_not_asked(self):
        low, high = np.array([[0.1, 0.1, 0.0]]), np.array([[0.1, 0.1, 1.0]])
        held = delta_condition(np.array([4]), np.array([[2, 1, 0]]), low, high, r=2)
        assert held.tolist() == [[False, True, True]]

    def test_just_above_and_just_below_the_ceiling(self):
        sizes, counts, high = np.array([3]), np.array([[1]]), np.array([[0.1]])
        at = 0.1 - float(deviation_ceiling(3, 2, 0.1))
        for low, expected_ in ((at * (1 + 1e-12), True), (at * (1 - 1e-12), False)):
            assert delta_condition(sizes, counts, np.array([[low]]), high, r=2).tolist() == [[expected_]]


class TestCounterexample:
    """The Δ condition holds for all values, and the joint posterior is well above 1/2 [THEORY, section 2]."""

    LOW = 1 / 19 + 1e-9
    GROUP = one_group([[0.1, LOW, LOW], [LOW, 0.1, 0.1], [LOW, 0.1, 0.1]], [1, 1, 1])

    def test_condition_holds_and_joint_posterior_exceeds(self):
        low, high = self.GROUP.extrema()
        assert delta_condition(self.GROUP.sizes, self.GROUP.counts, low, high, r=2).all()
        assert binary_posteriors(self.GROUP).values.max() <= 0.5
        assert joint_posteriors(self.GROUP).values[0, 0] == pytest.approx(0.6435, abs=5e-5)

    def test_each_model_says_what_holds_in_it(self):
        groups = summaries(self.GROUP)
        assert RRobustness(2, "binary", ("sex",), unique=True).allowed(groups).tolist() == [True]
        assert RRobustness(2, "binary", ("sex",)).allowed(groups).tolist() == [True]
        joint = RRobustness(2, "joint", ("sex",))
        assert joint.allowed(groups).tolist() == [False]
        exact = joint_posteriors(self.GROUP).values.max()
        assert joint.achieved(groups)[0] >= exact - 1e-12
        assert pairwise_swap_bound(self.GROUP).max() >= exact - 1e-12


class TestBounds:
    def test_equal_priors_give_shares(self):
        groups = equal_priors([[2, 1, 1, 0], [4, 0, 0, 0]])
        for bound in (joint_swap_bound, binary_swap_bound):
            found = bound(groups.sizes, groups.counts, *groups.priors[0])
            assert found.tolist() == [[0.5, 0.25, 0.25, 0], [1, 0, 0, 0]]

    @pytest.mark.parametrize("low", [0.0, 0.3])
    def test_a_value_impossible_for_somebody_has_the_joint_bound_one(self, low):
        counts = np.array([[1, 1, 1]])
        minimum, maximum = np.array([[0.0, 0.3, 0.3]]), np.array([[low, 0.3, 0.3]])
        found = joint_swap_bound(np.array([3]), counts, minimum, maximum)
        assert found[0, 0] == 1 and found[0, 1:] == pytest.approx(0.5) and (found[0, 1:] >= 0.5).all()

    def test_zeros_of_absent_values_do_not_matter(self):
        minimum, maximum = np.array([[0.0, 0.3, 0.3]]), np.array([[0.4, 0.3, 0.3]])
        bound = joint_swap_bound(np.array([2]), np.array([[0, 1, 1]]), minimum, maximum)
        assert bound.tolist() == [[0, 0.5, 0.5]]

    def test_binary_extremes(self):
        minimum = np.array([[0.0, 0.0, 1.0, 0.0, 0.2]])
        maximum = np.array([[0.0, 0.3, 1.0, 1.0, 1.0]])
        bound = binary_swap_bound(np.array([5]), np.array([[1, 1, 1, 1, 1]]), minimum, maximum)
        assert bound.tolist() == [[0.2, 1, 0.2, 1, 1]]

    def test_one_value_only(self):
        ones = np.full((1, 1), 0.2)
        assert joint_swap_bound(np.array([3]), np.array([[3]]), ones, ones).tolist() == [[1]]
