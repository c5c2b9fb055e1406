"""Exact posteriors of r-robustness, and the pairwise shortcut."""

from __future__ import annotations

import numpy as np
import pytest

from ppdp_spark.core.criteria.robustness import (
    SignatureGroups,
    binary_posteriors,
    exact_work,
    feasible,
    joint_posteriors,
)
from ppdp_spark.errors import DataError
from support.core.pairwise_bound import contradicted, pairwise_swap_bound
from support.core.signed_examples import one_group


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
