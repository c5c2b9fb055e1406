"""The criterion of r-robustness: decisions, limits and refusals."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria import AlphaK
from ppdp_spark.core.criteria.robustness import (
    RRobustness,
    relaxed,
)
from ppdp_spark.core.data.groups import GroupSummaries, PriorExtrema
from ppdp_spark.errors import DataError, SpecError
from support.core.signed_examples import equal_priors


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
        assert [(row.witness["group"], row.witness["value"], row.witness["people"]) for row in rows] == [
            (9, 0, 4)
        ] * 2
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
        assert criterion.level == "r = 2, binary model, each value once per group"

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
        with pytest.raises(DataError, match="one value per person"):
            criterion.achieved(many)
