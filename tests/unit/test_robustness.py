"""r-robustness: golden vectors, published tables, the joint counterexample, limits and refusals."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria import AlphaK
from ppdp_spark.core.criteria.robustness import (
    RRobustness,
    SignatureGroups,
    binary_posteriors,
    binary_swap_bound,
    coarse_swap_bound,
    contradicted,
    delta_condition,
    deviation_ceiling,
    exact_work,
    feasible,
    greatest_deviation,
    joint_posteriors,
    pairwise_swap_bound,
    probability_deviation,
    relaxed,
)
from ppdp_spark.core.data.groups import GroupSummaries, PriorExtrema
from ppdp_spark.errors import DataError, SpecError
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


def one_group(priors, counts):
    return SignatureGroups.of_people(np.array([priors], dtype=float), np.array([counts]))


def summaries(*groups: SignatureGroups) -> GroupSummaries:
    extrema = [group.extrema() for group in groups]
    counts = np.concatenate([group.counts for group in groups])
    lows, highs = (np.concatenate(part) for part in zip(*extrema, strict=True))
    return GroupSummaries(counts.sum(axis=1), counts, (PriorExtrema(lows, highs),))


def equal_priors(counts, prior=0.2, sets=1):
    counts = np.array(counts)
    flat = np.full(counts.shape, prior)
    return GroupSummaries(counts.sum(axis=1), counts, (PriorExtrema(flat, flat),) * sets)


class TestGolden:
    @pytest.mark.parametrize("case", GOLDEN)
    def test_joint_model(self, case):
        group, names = golden_group(case)
        exact = joint_posteriors(group)
        assert exact.feasible.all()
        assert not exact.contradicted.any()
        assert exact.values.max(axis=0) == pytest.approx(expected(case, "joint_max", names), abs=1e-9)
        coarse = coarse_swap_bound(group.sizes, group.counts, *group.extrema())[0]
        assert coarse == pytest.approx(expected(case, "swap_bound", names), abs=1e-9)
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
        for bound in (coarse_swap_bound, binary_swap_bound):
            found = bound(groups.sizes, groups.counts, *groups.priors[0])
            assert found.tolist() == [[0.5, 0.25, 0.25, 0], [1, 0, 0, 0]]

    @pytest.mark.parametrize("low", [0.0, 0.3])
    def test_a_value_impossible_for_somebody_makes_the_joint_bound_one(self, low):
        counts = np.array([[1, 1, 1]])
        minimum, maximum = np.array([[0.0, 0.3, 0.3]]), np.array([[low, 0.3, 0.3]])
        assert coarse_swap_bound(np.array([3]), counts, minimum, maximum).tolist() == [[1, 1, 1]]

    def test_zeros_of_absent_values_do_not_matter(self):
        minimum, maximum = np.array([[0.0, 0.3, 0.3]]), np.array([[0.4, 0.3, 0.3]])
        bound = coarse_swap_bound(np.array([2]), np.array([[0, 1, 1]]), minimum, maximum)
        assert bound.tolist() == [[0, 0.5, 0.5]]

    def test_binary_extremes(self):
        minimum = np.array([[0.0, 0.0, 1.0, 0.0, 0.2]])
        maximum = np.array([[0.0, 0.3, 1.0, 1.0, 1.0]])
        bound = binary_swap_bound(np.array([5]), np.array([[1, 1, 1, 1, 1]]), minimum, maximum)
        assert bound.tolist() == [[0.2, 1, 0.2, 1, 1]]

    def test_one_value_only(self):
        ones = np.full((1, 1), 0.2)
        assert coarse_swap_bound(np.array([3]), np.array([[3]]), ones, ones).tolist() == [[1]]


class TestPairwiseZeros:
    def test_values_of_one_half_of_the_people(self):
        men, women = [0.2, 0.4, 0.4], [0.0, 0.5, 0.5]
        group = one_group([men] * 4 + [women] * 4, [1, 4, 3])
        exact, bound = joint_posteriors(group), pairwise_swap_bound(group)[0]
        assert exact.values[:4, 0] == pytest.approx(0.25)
        assert (bound >= exact.values.max(axis=0) - 1e-12).all()

    def test_a_person_with_one_possible_value(self):
        group = one_group([[0.5, 0.5], [1.0, 0.0]], [1, 1])
        assert joint_posteriors(group).values.tolist() == [[0, 1], [1, 0]]
        assert pairwise_swap_bound(group).tolist() == [[1, 1]]

    def test_priors_that_contradict_the_group_are_never_safe(self):
        only_last = [0, 0, 0, 0, 1.0]
        even = [0.2] * 5
        group = one_group([only_last, only_last, even, even, even], [1] * 5)
        assert contradicted(group).tolist() == [True]
        assert pairwise_swap_bound(group).tolist() == [[1] * 5]
        exact = joint_posteriors(group)
        assert np.isnan(exact.values).all()
        assert exact.contradicted.tolist() == [True]

    def test_people_of_one_signature_compete_for_a_value(self):
        priors = np.array([[0, 0, 0, 0, 1.0], [0.2] * 5])
        for alike, expected_ in ((2, True), (1, False)):
            people = np.array([alike, 5 - alike])
            group = SignatureGroups(np.array([0, 2]), people, priors, np.array([[1] * 5]))
            assert contradicted(group).tolist() == [expected_]
            assert joint_posteriors(group).contradicted.tolist() == [expected_]

    def test_priors_near_the_smallest_float(self):
        group = one_group([[1e-310, 1.0], [1.0, 1e-310]], [1, 1])
        exact, bound = joint_posteriors(group), pairwise_swap_bound(group)
        assert exact.values[0].tolist() == [0, 1]
        assert bound.tolist() == [[1, 1]]
        same = one_group([[1e-310, 1e-320]] * 2, [1, 1])
        assert pairwise_swap_bound(same).tolist() == [[0.5, 0.5]]


class TestPosteriors:
    def test_both_orders_of_summation_agree(self):
        rng = np.random.default_rng(5)
        signatures = rng.dirichlet(np.ones(6), 2)
        people, counts = np.array([7, 5]), np.array([[2, 2, 2, 3, 1, 2]])
        merged = SignatureGroups(np.array([0, 2]), people, signatures, counts)
        apart = SignatureGroups(np.array([0, 12]), np.ones(12), signatures.repeat(people, axis=0), counts)
        assert exact_work(merged)[0] == pytest.approx(8 * 6 * 2)
        assert exact_work(apart)[0] == pytest.approx(3**4 * 4 * 2 * 6)
        by_values, by_people = joint_posteriors(merged).values, joint_posteriors(apart).values
        assert by_people == pytest.approx(by_values.repeat(people, axis=0), abs=1e-12)
        assert by_values.T @ people == pytest.approx(counts[0], abs=1e-12)

    def test_products_far_below_the_smallest_float(self):
        priors = np.full((1, 18, 18), 1e-250)
        found = joint_posteriors(SignatureGroups.of_people(priors, np.ones((1, 18))))
        assert found.values == pytest.approx(np.full((18, 18), 1 / 18), rel=1e-9)

    def test_many_people_of_two_signatures(self):
        priors, people = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]), np.array([600, 400])
        group = SignatureGroups(np.array([0, 2]), people, priors, np.array([[300, 500, 200]]))
        assert feasible(group).all()
        exact = joint_posteriors(group).values
        assert people @ exact == pytest.approx([300, 500, 200], rel=1e-9)
        assert (pairwise_swap_bound(group)[0] >= exact.max(axis=0)).all()

    def test_twenty_different_people_fit_and_thirty_do_not(self):
        rng = np.random.default_rng(1)
        for size, fits in ((20, True), (30, False)):
            group = SignatureGroups.of_people(rng.dirichlet(np.ones(size), (1, size)), np.ones((1, size)))
            assert feasible(group).tolist() == [fits]
        found = joint_posteriors(group)
        assert not found.feasible.any()
        assert not found.contradicted.any()
        assert np.isnan(found.values).all()

    def test_binary_flags_belong_to_a_value(self):
        found = binary_posteriors(one_group([[0.0, 1.0, 0.5], [0.0, 0.5, 1.0]], [1, 1, 0]))
        assert found.contradicted.tolist() == [[True, False, False]]
        assert np.isnan(found.values[:, 0]).all()
        assert found.values[:, 1:].tolist() == [[1, 0], [0, 0]]

    def test_no_groups(self):
        none = SignatureGroups(np.zeros(1), np.empty(0), np.empty((0, 3)), np.empty((0, 3)))
        assert joint_posteriors(none).values.shape == (0, 3)
        assert binary_posteriors(none).values.shape == (0, 3)
        assert pairwise_swap_bound(none).shape == none.extrema().minimum.shape == (0, 3)

    def test_groups_that_make_no_sense(self):
        with pytest.raises(DataError, match="2 problems"):
            SignatureGroups(np.array([0, 1]), np.array([2]), np.array([[1.5, np.nan]]), np.array([[1, 2]]))
        with pytest.raises(DataError, match="offsets"):
            SignatureGroups(np.array([0, 0, 1]), np.array([1]), np.array([[1.0]]), np.array([[0], [1]]))
        with pytest.raises(DataError, match="one column a value"):
            SignatureGroups(np.array([0, 1]), np.array([1]), np.array([[0.5, 0.5]]), np.array([[1]]))


class TestCriterion:
    @pytest.mark.parametrize("model", ["joint", "binary"])
    def test_equal_signatures_reduce_to_l_diversity(self, model):
        groups = equal_priors([[1, 1, 1], [2, 1, 1], [10**9, 10**9, 10**9], [10**9 + 1, 10**9, 10**9]])
        criterion = RRobustness(3, model, ("sex",))
        assert criterion.allowed(groups).tolist() == [True, False, True, False]
        achieved = criterion.achieved(groups)
        assert (achieved <= criterion.threshold).tolist() == [True, False, True, False]

    def test_r_above_the_number_of_values(self):
        groups = equal_priors([[1, 1, 1], [5, 5, 5]])
        assert not RRobustness(3.01, "joint", ("sex",)).allowed(groups).any()
        assert not relaxed(3.01).allowed(groups).any()

    def test_one_row_for_each_attribute_set(self):
        counts, flat = np.array([[1, 1, 1], [2, 2, 0]]), np.full((2, 3), 0.3)
        wide = PriorExtrema(np.array([[0.3, 0.3, 0.3], [0.3, 0.15, 0.3]]), flat)
        groups = GroupSummaries(np.array([3, 4]), counts, (PriorExtrema(flat, flat), wide))
        criterion = RRobustness(2, "joint", ("sex", "age, sex"))
        rows = criterion.decide(criterion.summarise(groups, np.array([7, 9])))
        assert [row.level for row in rows] == [
            "r = 2, joint model, attributes [sex]",
            "r = 2, joint model, attributes [age, sex]",
        ]
        assert [(row.status, row.violations, row.groups) for row in rows] == [("pass", 0, 2), ("fail", 1, 2)]
        assert [row.witness for row in rows] == [{"group": 9, "value": 0}] * 2
        assert [row.value for row in rows] == pytest.approx([0.5, 2 / (2 + 0.5 * 2)])
        assert rows[0].threshold == 0.5
        assert criterion.allowed(groups).tolist() == [True, False]

    def test_batches_change_nothing(self, monkeypatch):
        rng = np.random.default_rng(3)
        counts = rng.integers(1, 4, (50, 3))
        low, high = np.sort(rng.choice([0.1, 0.11, 0.12], (2, 50, 3)), axis=0)
        groups = GroupSummaries(counts.sum(axis=1), counts, (PriorExtrema(low, high),))
        criterion, ids = RRobustness(2, "joint", ("sex",)), rng.permutation(50)
        whole = criterion.summarise(groups, ids), criterion.allowed(groups), criterion.achieved(groups)
        monkeypatch.setattr("ppdp_spark.core.criteria.robustness.r_robustness.BATCH_CELLS", 21)
        assert criterion.summarise(groups, ids) == whole[0]
        assert (criterion.allowed(groups) == whole[1]).all()
        assert (criterion.achieved(groups) == whole[2]).all()
        assert 0 < np.count_nonzero(whole[1]) < 50

    def test_unique_is_the_published_form(self):
        groups = equal_priors([[1, 1, 1, 1], [2, 1, 1, 1]])
        criterion = RRobustness(2, "binary", ("sex",), unique=True)
        assert criterion.allowed(groups).tolist() == [True, False]
        assert criterion.achieved(groups).tolist() == [0.25, 1.0]
        assert RRobustness(2, "binary", ("sex",)).allowed(groups).tolist() == [True, True]
        assert criterion.level == "r = 2, binary model, each value once a group"

    def test_no_groups(self):
        criterion = RRobustness(2, "joint", ("sex", "age"))
        empty = GroupSummaries(np.empty(0, np.int64), np.empty((0, 3), np.int64))
        nothing = criterion.summarise(empty, np.empty(0, np.int64))
        assert [row.ok for row in criterion.decide(nothing)] == [True, True]
        something = criterion.summarise(equal_priors([[1, 1]], sets=2), np.array([3]))
        assert criterion.merge(nothing, something) == criterion.merge(something, nothing) == something
        assert pickle.loads(pickle.dumps(something)) == something

    def test_declarations(self):
        criterion = RRobustness(3, "joint", ("sex",))
        assert criterion.needs_counts
        assert criterion.needs_priors
        assert not criterion.union_closed
        assert not AlphaK.needs_priors

    def test_relaxed_is_exact(self):
        assert relaxed(3) == AlphaK(Fraction(1, 3), 2)
        assert relaxed(2.5).alpha == Fraction(2, 5)
        assert relaxed(3).allowed(equal_priors([[1, 1, 1], [10**9 + 1, 10**9, 10**9]])).tolist() == [
            True,
            False,
        ]

    def test_wrong_parameters_are_named_together(self):
        with pytest.raises(SpecError, match="3 problems") as caught:
            RRobustness(1, "both", ())
        assert "`r` (1) must be above 1" in str(caught.value)
        with pytest.raises(SpecError, match="binary model only"):
            RRobustness(2, "joint", ("sex",), unique=True)
        for wrong in (0.5, float("nan"), float("inf"), True, "3"):
            with pytest.raises(SpecError, match="`r`"):
                RRobustness(wrong, "joint", ("sex",))

    @pytest.mark.parametrize("low", [-0.1, np.nan, 0.9, 1.1])
    def test_priors_that_are_none(self, low):
        counts, high = np.array([[1, 1]]), np.array([[0.5, 0.5]])
        broken = PriorExtrema(np.array([[0.5, low]]), high)
        with pytest.raises(DataError, match=r"\[sex\] must be probabilities"):
            RRobustness(2, "joint", ("sex",)).allowed(GroupSummaries(np.array([2]), counts, (broken,)))

    def test_missing_priors_and_sets_of_values(self):
        criterion = RRobustness(2, "joint", ("sex", "age"))
        with pytest.raises(DataError, match=r"needs those of 2: \[sex\], \[age\]"):
            criterion.allowed(equal_priors([[1, 1]]))
        many = GroupSummaries(np.array([1]), np.array([[1, 1]]), equal_priors([[1, 1]], sets=2).priors)
        with pytest.raises(DataError, match="one value a person"):
            criterion.achieved(many)
