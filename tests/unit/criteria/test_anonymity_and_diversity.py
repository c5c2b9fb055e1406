"""k-anonymity, (α, k) and ℓ-diversity: worked examples and limits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria import (
    AlphaK,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
)
from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.data.groups import GroupSummaries
from support.core.counted_groups import achieved, allowed, one_of_each


def test_every_local_criterion_is_listed_under_its_name():
    named = {name for family in families() for name in family.names}
    assert {criterion.name for criterion in one_of_each((1, 2))} == named - {
        "skyline",
        "robustness",
        "relative_robustness",
        "estimated_population",
    }


class TestAnonymity:
    def test_k_anonymity_needs_sizes_only(self):
        groups = GroupSummaries(np.array([9, 10, 11]), np.zeros((3, 0), dtype=np.int64))
        assert not KAnonymity.needs_counts
        assert KAnonymity(10).allowed(groups).tolist() == [False, True, True]
        assert KAnonymity(10).achieved(groups).tolist() == [9, 10, 11]

    def test_alpha_is_the_decimal_that_was_written(self):
        assert allowed(AlphaK(0.1, 2), [1] * 10, [2] + [1] * 8 + [0]) == [True, False]
        assert allowed(AlphaK(0.3, 2), [3, 3, 3, 1], [4, 3, 3, 0]) == [True, False]
        assert allowed(AlphaK(0.7, 2), [7, 3], [8, 2]) == [True, False]

    def test_alpha_of_a_third(self):
        assert allowed(AlphaK(Fraction(1, 3), 2), [1, 1, 1]) == [True]
        assert allowed(AlphaK(1 / 3, 2), [1, 1, 1]) == [False]

    def test_alpha_beyond_float_precision(self):
        just_over = [500_000_001, 500_000_000]
        assert allowed(AlphaK(0.5, 2), just_over, [5 * 10**8] * 2) == [False, True]
        largest = 2**61
        assert allowed(AlphaK(0.5, 2), [largest + 1, largest], [largest, largest]) == [False, True]

    def test_a_group_below_k_fails_whatever_its_shares(self):
        assert allowed(AlphaK(0.5, 4), [1, 1, 1], [2, 2, 0]) == [False, True]
        assert achieved(AlphaK(0.5, 4), [1, 1, 1], [2, 1, 1]) == [math.inf, 0.5]

    def test_shares_are_of_people_when_values_are_sets_or_multisets(self):
        criterion = AlphaK(0.5, 2)
        rows = [5, 5, 5], [0, 0, 0], [12, 0, 0]
        assert achieved(criterion, *rows, sizes=[10, 10, 10]) == [0.5, 0.0, 1.2]
        assert allowed(criterion, *rows, sizes=[10, 10, 10]) == [True, True, False]


class TestDiversity:
    def test_distinct(self):
        assert achieved(DistinctDiversity(3), [5, 0, 1], [1, 1, 1], [0, 0, 0]) == [2, 3, 0]
        assert allowed(DistinctDiversity(3), [5, 0, 1], [1, 1, 1], [0, 0, 0]) == [False, True, False]

    @pytest.mark.parametrize("values", [2, 3, 5, 6, 7, 10, 14, 49, 97, 1000, 10_000])
    @pytest.mark.parametrize("each", [1, 3, 10**9])
    def test_a_uniform_group_over_l_values_is_entropy_l_diverse(self, values, each):
        uniform = [each] * values + [0]
        assert allowed(EntropyDiversity(values), uniform) == [True]
        assert achieved(EntropyDiversity(values), uniform) == [pytest.approx(values, rel=1e-12)]
        assert allowed(EntropyDiversity(values + 1), uniform) == [False]

    def test_entropy_decides_ties_in_integers(self):
        # half of one value and an eighth of four others: two bits exactly
        assert allowed(EntropyDiversity(4), [4, 1, 1, 1, 1], [4 * 10**8] + [10**8] * 4) == [True, True]
        assert achieved(EntropyDiversity(4), [4, 1, 1, 1, 1])[0] >= 4
        for off, expected in ((-1, True), (1, False)):
            assert allowed(EntropyDiversity(4 + Fraction(off, 10**16)), [4, 1, 1, 1, 1]) == [expected]
            assert allowed(EntropyDiversity(4 + Fraction(off, 10**16)), [1, 1, 1, 1]) == [expected]

    def test_entropy_just_below_the_goal_is_refused(self):
        assert allowed(EntropyDiversity(2), [10**9 + 1, 10**9], [10**9, 10**9]) == [False, True]
        assert allowed(EntropyDiversity(2), [5001, 4999], [50_001, 49_999]) == [False, False]
        assert achieved(EntropyDiversity(2), [10**9 + 1, 10**9])[0] < 2

    def test_entropy_level_need_not_be_whole(self):
        assert allowed(EntropyDiversity(2.5), [1, 1, 0], [1, 1, 1]) == [False, True]
        assert allowed(EntropyDiversity(2.5), [2, 2, 1], [3, 1, 1]) == [True, True]
        assert allowed(EntropyDiversity(2.6), [2, 2, 1], [3, 1, 1]) == [True, False]

    def test_entropy_of_a_group_without_occurrences(self):
        barely_above_one = Fraction(10**20 + 1, 10**20)
        assert allowed(EntropyDiversity(barely_above_one), [0, 0], [7, 0], [1, 1]) == [False, False, True]
        assert achieved(EntropyDiversity(2), [0, 0]) == [0]

    def test_recursive_is_strict(self):
        # [Machanavajjhala et al.]: r_1 < c (r_ℓ + … + r_m)
        assert allowed(RecursiveDiversity(3, 2), [6, 2, 0], [5, 2, 0], [6, 1, 1]) == [False, True, False]
        assert allowed(RecursiveDiversity(3, 3), [6, 3, 2], [5, 3, 2], [5, 9, 0]) == [False, True, False]
        assert achieved(RecursiveDiversity(3, 3), [2, 6, 3], [5, 9, 0], [0, 0, 0]) == [3, math.inf, math.inf]

    def test_recursive_with_decimal_c(self):
        assert allowed(RecursiveDiversity(1.1, 2), [11, 10], [10, 10], [12, 11]) == [False, True, True]
        assert allowed(RecursiveDiversity(0.3, 2), [3, *[1] * 10], [3, 2, *[1] * 9]) == [False, True]

    def test_recursive_with_more_levels_than_values(self):
        assert allowed(RecursiveDiversity(100, 4), [1, 1, 1], [9, 9, 9]) == [False, False]
        assert allowed(RecursiveDiversity(100, 3), [1, 1, 1], [9, 9, 0]) == [True, False]
