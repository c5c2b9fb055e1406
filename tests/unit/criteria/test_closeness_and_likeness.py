"""t-closeness, β-likeness and δ-disclosure: worked examples and limits."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from ppdp_spark.core.criteria import (
    BasicBetaLikeness,
    DeltaDisclosure,
    EnhancedBetaLikeness,
    TCloseness,
)
from ppdp_spark.errors import DataError
from support.core.counted_groups import achieved, allowed, groups_of, one_of_each


class TestCloseness:
    SALARIES = (1,) * 9  # 3k … 11k, one person each

    def test_the_example_of_the_paper(self):
        # [Li et al. 2007, section 4]: {3k,4k,5k} is 0.375 from the table, {6k,8k,11k} 0.167
        low, spread = [1, 1, 1] + [0] * 6, [0, 0, 0, 1, 0, 1, 0, 0, 1]
        assert achieved(TCloseness(0.375, self.SALARIES, True), low, spread) == [0.375, pytest.approx(1 / 6)]
        assert allowed(TCloseness(0.375, self.SALARIES, True), low, spread) == [True, True]
        assert allowed(TCloseness(0.374, self.SALARIES, True), low, spread) == [False, True]
        assert allowed(TCloseness(Fraction(1, 6), self.SALARIES, True), low, spread) == [False, True]
        assert allowed(TCloseness(0.1666666666666666, self.SALARIES, True), low, spread) == [False, False]

    def test_equal_distance_is_half_the_sum_of_differences(self):
        assert achieved(TCloseness(0.2, (60, 40)), [6, 4], [8, 2], [10, 0]) == pytest.approx([0, 0.2, 0.4])
        assert allowed(TCloseness(0.2, (60, 40)), [6, 4], [8, 2], [81, 19]) == [True, True, False]

    def test_zero_t_wants_the_same_distribution(self):
        for ordered in (False, True):
            criterion = TCloseness(0, (30, 20, 10), ordered)
            assert allowed(criterion, [3, 2, 1], [3, 2, 2], [3 * 10**8, 2 * 10**8, 10**8]) == [
                True,
                False,
                True,
            ]
            one_off = [3 * 10**8 + 1, 2 * 10**8, 10**8]
            assert allowed(criterion, one_off) == [False]

    def test_the_order_of_values_matters_only_when_ordered(self):
        near, far = [2, 0, 1, 1], [2, 1, 1, 0]
        assert len(set(achieved(TCloseness(0.3, (1, 1, 1, 1)), near, far))) == 1
        assert achieved(TCloseness(0.3, (1, 1, 1, 1), True), near, far) == pytest.approx([1 / 12, 1 / 4])

    def test_the_domain_is_what_occurs_in_the_table(self):
        with_gap = achieved(TCloseness(0.5, (1, 0, 1, 0), True), [1, 0, 0, 0])
        assert with_gap == achieved(TCloseness(0.5, (1, 1), True), [1, 0]) == [0.5]

    def test_a_table_of_one_value_is_at_distance_zero(self):
        for ordered in (False, True):
            assert achieved(TCloseness(0, (7,), ordered), [3]) == [0]
            assert allowed(TCloseness(0, (7,), ordered), [3]) == [True]

    def test_products_beyond_64_bits(self):
        table = (3 * 10**12, 2 * 10**12, 10**12)
        rows = [3 * 10**9, 2 * 10**9, 10**9], [3 * 10**9 + 1, 2 * 10**9, 10**9]
        assert allowed(TCloseness(0, table), *rows) == [True, False]
        assert allowed(TCloseness(0, table, True), *rows) == [True, False]
        for ordered in (False, True):
            tie = TCloseness(0.5, (10**13, 10**13), ordered)
            assert allowed(tie, [10**9, 0], [1, 0], [10**9 - 1, 1]) == [True, True, True]
            assert allowed(TCloseness(0.4999999999999999, (10**13, 10**13), ordered), [10**9, 0]) == [False]


class TestLikeness:
    TABLE = (10, 30, 60)

    def test_basic_bounds_the_relative_gain(self):
        rows = [2, 2, 6], [3, 1, 6], [0, 0, 10]
        assert achieved(BasicBetaLikeness(1, self.TABLE), *rows) == pytest.approx([1, 2, 2 / 3])
        assert allowed(BasicBetaLikeness(1, self.TABLE), *rows) == [True, False, True]
        assert allowed(BasicBetaLikeness(0.999999999999, self.TABLE), *rows) == [False, False, True]

    def test_basic_with_decimal_beta_is_exact(self):
        assert allowed(BasicBetaLikeness(0.1, (10, 10)), [11, 9], [110_000_001, 89_999_999]) == [True, False]

    def test_enhanced_also_bounds_by_the_logarithm(self):
        # −ln 0.6 = 0.51 < 2/3: the frequent value may not become certain, whatever β
        rows = [2, 2, 6], [0, 0, 10], [1, 0, 9]
        assert allowed(EnhancedBetaLikeness(5, self.TABLE), *rows) == [True, False, True]
        assert allowed(BasicBetaLikeness(5, self.TABLE), *rows) == [True, True, True]
        assert achieved(EnhancedBetaLikeness(5, self.TABLE), *rows) == pytest.approx([1, math.inf, 0.5])
        assert allowed(EnhancedBetaLikeness(0.5, self.TABLE), *rows) == [False, False, True]

    def test_the_logarithmic_bound_is_where_it_should_be(self):
        # p = ½: q/p may reach 1 + ln 2 = 1.693147…, so 846,573 of a million but not one more
        rows = [846_573, 153_427], [846_574, 153_426]
        assert allowed(EnhancedBetaLikeness(5, (1, 1)), *rows) == [True, False]

    def test_a_table_of_one_value_cannot_gain(self):
        assert allowed(EnhancedBetaLikeness(1, (9, 0)), [3, 0]) == [True]
        assert allowed(BasicBetaLikeness(1, (9,)), [3]) == [True]

    def test_delta_wants_every_value_of_the_table(self):
        rows = [1, 3, 6], [2, 2, 6], [0, 4, 6]
        assert achieved(DeltaDisclosure(0.7, self.TABLE), *rows) == pytest.approx([0, math.log(2), math.inf])
        assert allowed(DeltaDisclosure(0.7, self.TABLE), *rows) == [True, True, False]
        assert allowed(DeltaDisclosure(0.69, self.TABLE), *rows) == [True, False, False]
        assert allowed(DeltaDisclosure(1000, self.TABLE), *rows) == [True, True, False]

    def test_delta_within_rounding_error_of_the_bound_is_refused(self):
        assert allowed(DeltaDisclosure(math.log(2), self.TABLE), [2, 2, 6]) == [False]
        assert allowed(DeltaDisclosure(math.log(2) + 1e-12, self.TABLE), [2, 2, 6]) == [True]

    def test_a_value_the_table_lacks_is_never_allowed(self):
        for criterion in one_of_each((10, 10, 0))[5:]:
            assert allowed(criterion, [5, 5, 0], [500, 500, 1]) == [True, False]
            assert achieved(criterion, [500, 500, 1]) == [math.inf]

    def test_a_group_without_occurrences_is_never_allowed(self):
        for criterion in one_of_each((10, 10))[5:]:
            assert allowed(criterion, [0, 0], [1, 1], sizes=[9, 2]) == [False, True]
            assert achieved(criterion, [0, 0], sizes=[9]) == [math.inf]

    def test_groups_and_distribution_must_have_the_same_values(self):
        for criterion in one_of_each((10, 10, 10))[5:]:
            with pytest.raises(DataError, match=r"2 sensitive values, `distribution` \(3 counts\)"):
                criterion.allowed(groups_of([1, 1]))
