"""Local criteria: worked examples, limits, refusals, and agreement with pycanon."""

from __future__ import annotations

import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from pycanon import anonymity as pycanon

from ppdp_spark.core.criteria import (
    AlphaK,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    KAnonymity,
    LocalCriterion,
    RecursiveDiversity,
    TCloseness,
    Worst,
)
from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.errors import DataError, SpecError


def groups_of(*rows, sizes=None, dtype=np.int64):
    counts = np.array(rows, dtype=dtype)
    return GroupSummaries(counts.sum(axis=1) if sizes is None else np.array(sizes), counts)


def allowed(criterion, *rows, sizes=None):
    return criterion.allowed(groups_of(*rows, sizes=sizes)).tolist()


def achieved(criterion, *rows, sizes=None):
    return criterion.achieved(groups_of(*rows, sizes=sizes)).tolist()


def one_of_each(distribution) -> list[LocalCriterion]:
    table = tuple(distribution)
    return [
        KAnonymity(2),
        AlphaK(0.5, 2),
        DistinctDiversity(2),
        EntropyDiversity(2),
        RecursiveDiversity(2, 2),
        TCloseness(0.3, table),
        TCloseness(0.3, table, ordered=True),
        BasicBetaLikeness(1, table),
        EnhancedBetaLikeness(1, table),
        DeltaDisclosure(1, table),
    ]


def test_every_local_criterion_is_listed_under_its_name():
    named = {name for family in families() for name in family.names}
    assert {criterion.name for criterion in one_of_each((1, 2))} == named - {"skyline", "robustness"}


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


class TestLimits:
    @pytest.mark.parametrize("criterion", one_of_each((5, 5, 5)), ids=repr)
    @pytest.mark.parametrize("shape", [(0, 3), (0, 0)])
    def test_no_groups(self, criterion, shape):
        none = GroupSummaries(np.zeros(0, dtype=np.int64), np.zeros(shape, dtype=np.int64))
        assert criterion.allowed(none).shape == criterion.achieved(none).shape == (0,)
        assert criterion.allowed(none).dtype == np.bool_
        statistic = criterion.summarise(none, np.zeros(0, dtype=np.int64))
        assert statistic == Worst(0, 0, None, None)
        assert criterion.decide(statistic)[0].ok

    @pytest.mark.parametrize("criterion", one_of_each((5, 5, 5)), ids=repr)
    def test_one_group_in_every_integer_type(self, criterion):
        for dtype in (np.uint8, np.int16, np.int32, np.int64, np.uint32):
            groups = groups_of([5, 5, 5], dtype=dtype)
            assert criterion.allowed(groups).tolist() == [True]
            row = criterion.decide(criterion.summarise(groups, np.array([7])))[0]
            assert (row.status, row.groups, row.violations, row.witness) == ("pass", 1, 0, {"group": 7})

    @pytest.mark.parametrize("criterion", one_of_each((10**9,) * 3), ids=repr)
    def test_sizes_of_a_billion_in_32_bits(self, criterion):
        # int32 sums and products would wrap
        groups = GroupSummaries(
            np.array([2 * 10**9, 2 * 10**9], dtype=np.int32),
            np.array([[700_000_000, 650_000_000, 650_000_000], [2 * 10**9, 0, 0]], dtype=np.int32),
        )
        expected = [True, isinstance(criterion, KAnonymity)]
        assert criterion.allowed(groups).tolist() == expected
        assert np.isfinite(criterion.achieved(groups)[0])

    def test_ten_thousand_values(self):
        rng = np.random.default_rng(5)
        counts = rng.integers(1, 4, (20, 10_000))
        for criterion in one_of_each(counts.sum(axis=0).tolist()):
            groups = GroupSummaries(counts.sum(axis=1), counts)
            assert criterion.allowed(groups).shape == (20,)
            assert np.isfinite(criterion.achieved(groups)).all() or criterion.name.startswith("enhanced")

    def test_a_hundred_thousand_groups_that_all_tie(self):
        groups = groups_of(*[[3, 2, 1]] * 5, [4, 1, 1])
        many = groups.rows(np.arange(100_000) % 6)
        tie = [AlphaK(0.5, 2), TCloseness(0, (3, 2, 1)), TCloseness(0, (3, 2, 1), True)]
        for criterion in [*tie, RecursiveDiversity(2, 2)]:
            assert criterion.allowed(many).sum() == np.count_nonzero(np.arange(100_000) % 6 < 5)

    def test_statistics_and_criteria_travel(self):
        for criterion in one_of_each((5, 5, 5)):
            assert pickle.loads(pickle.dumps(criterion)) == criterion
            assert hash(criterion) == hash(pickle.loads(pickle.dumps(criterion)))
            row = criterion.decide(criterion.summarise(groups_of([5, 5, 5]), np.array([0])))[0]
            assert json.loads(json.dumps(row.to_dict()))["criterion"] == criterion.name


class TestVerdict:
    def test_the_witness_is_the_worst_group(self):
        groups = groups_of([5, 5, 0], [9, 1, 0], [4, 3, 3])
        row = AlphaK(0.5, 2).decide(AlphaK(0.5, 2).summarise(groups, np.array([30, 10, 20])))[0]
        assert (row.value, row.threshold, row.relation) == (0.9, 0.5, "<=")
        assert (row.status, row.violations, row.witness) == ("fail", 1, {"group": 10})
        assert row.level == "α = 0.5, k = 2"

    def test_a_value_that_rounds_to_its_threshold_still_shows_on_which_side_it_is(self):
        largest = 2**61
        groups = groups_of([largest, largest], [largest + 1, largest])
        row = AlphaK(0.5, 2).decide(AlphaK(0.5, 2).summarise(groups, np.array([0, 1])))[0]
        assert row.value > 0.5 and row.status == "fail" and row.witness == {"group": 1}

    def test_levels_read_well(self):
        levels = [criterion.level for criterion in one_of_each((1, 1))]
        assert levels == [
            "k = 2",
            "α = 0.5, k = 2",
            "ℓ = 2",
            "ℓ = 2",
            "c = 2, ℓ = 2",
            "t = 0.3, equal distance",
            "t = 0.3, ordered distance",
            "β = 1",
            "β = 1",
            "δ = 1",
        ]


class TestParameters:
    @pytest.mark.parametrize(
        ("build", "message"),
        [
            (lambda: KAnonymity(1), r"`k` \(1\) must be at least 2"),
            (lambda: KAnonymity(2.0), r"`k` \(2.0\) must be a whole number, not float"),
            (lambda: KAnonymity(True), r"`k` \(True\) must be a whole number"),
            (lambda: KAnonymity(None), r"`k` \(None\) must be a whole number"),
            (lambda: AlphaK(0, 2), r"`alpha` \(0\) must be above 0"),
            (lambda: AlphaK(1.01, 2), r"`alpha` \(1.01\) must be at most 1"),
            (lambda: AlphaK(0.5, 0), r"`k` \(0\) must be at least 2"),
            (lambda: AlphaK("0.5", 2), r"`alpha` \(0.5\) must be a number, not str"),
            (lambda: AlphaK(math.nan, 2), r"`alpha` \(nan\) must be finite"),
            (lambda: AlphaK(1e-31, 2), r"`alpha` \(1e-31\) must .* at most 30 decimal places"),
            (lambda: DistinctDiversity(1), r"`l` \(1\) must be at least 2"),
            (lambda: EntropyDiversity(1), r"`l` \(1\) must be above 1"),
            (lambda: EntropyDiversity(math.inf), r"`l` \(inf\) must be finite"),
            (lambda: EntropyDiversity(True), r"`l` \(True\) must be a number"),
            (lambda: RecursiveDiversity(0, 2), r"`c` \(0\) must be above 0"),
            (lambda: RecursiveDiversity(10**400, 2), r"`c` \(10+\) must be below 10\^30"),
            (lambda: RecursiveDiversity(1, 1), r"`l` \(1\) must be at least 2"),
            (lambda: TCloseness(-0.1, (1,)), r"`t` \(-0.1\) must be from 0 to 1"),
            (lambda: TCloseness(1.1, (1,)), r"`t` \(1.1\) must be from 0 to 1"),
            (lambda: TCloseness(0.1, (1,), "no"), r"`ordered` \(no\) must be true or false"),
            (lambda: TCloseness(0.1, ()), r"`distribution` \(0 counts\)"),
            (lambda: TCloseness(0.1, (0, 0)), r"`distribution` \(2 counts\)"),
            (lambda: TCloseness(0.1, (3, -1)), r"`distribution` \(2 counts\) must hold no negative"),
            (lambda: TCloseness(0.1, (0.5, 0.5)), r"`distribution` must hold one whole count"),
            (lambda: TCloseness(0.1, 7), r"`distribution` must hold one whole count"),
            (lambda: TCloseness(0.1, (2**62,)), r"`distribution` \(1 counts\) must sum to less than 2\^62"),
            (lambda: BasicBetaLikeness(0, (1,)), r"`beta` \(0\) must be above 0"),
            (lambda: EnhancedBetaLikeness(-1, (1,)), r"`beta` \(-1\) must be above 0"),
            (lambda: EnhancedBetaLikeness(1, (-1, 5)), r"`distribution` \(2 counts\)"),
            (lambda: DeltaDisclosure(0, (1,)), r"`delta` \(0\) must be above 0"),
        ],
    )
    def test_refusals_name_the_field_and_the_value(self, build, message):
        with pytest.raises(SpecError, match=message):
            build()

    def test_numbers_of_every_kind_mean_the_same(self):
        rows = [3, 3, 3, 1], [4, 3, 3, 0]
        for alpha in (0.3, np.float64(0.3), np.float32(0.3), Decimal("0.3"), Fraction(3, 10)):
            assert allowed(AlphaK(alpha, np.int32(2)), *rows) == [True, False]
        assert allowed(RecursiveDiversity(np.int8(3), 2), [6, 2], [5, 2]) == [False, True]
        assert allowed(BasicBetaLikeness(np.int8(127), (1, 127)), [1, 0], [0, 1]) == [True, True]

    def test_a_numpy_distribution_becomes_a_tuple_of_ints(self):
        criterion = TCloseness(0.1, np.array([4, 6], dtype=np.int32))
        assert criterion == TCloseness(0.1, (4, 6))
        assert all(type(count) is int for count in criterion.distribution)


class TestAgainstPycanon:
    """pycanon computes the levels of a whole table; ours is the worst achieved value over its groups."""

    SEEDS = range(12)

    @pytest.fixture(params=SEEDS)
    def table(self, request):
        return self.random_table(request.param)

    @staticmethod
    def random_table(seed):
        rng = np.random.default_rng(seed)
        values = int(rng.integers(2, 6))
        shares = rng.dirichlet(np.ones(values))
        zip_code, age = rng.integers(0, 3, 90), rng.integers(0, 2, 90)
        disease = rng.choice(values, 90, p=shares)
        disease[:values] = np.arange(values)
        return pd.DataFrame({"zip": zip_code, "age": age, "code": disease, "disease": disease.astype(str)})

    @staticmethod
    def groups(table):
        counts = table.groupby(["zip", "age", "code"]).size().unstack(fill_value=0).to_numpy()
        return GroupSummaries(counts.sum(axis=1), counts)

    @staticmethod
    def canon(measure, table, sensitive="disease"):
        return measure(table, ["zip", "age"], [sensitive])

    def distribution(self, table):
        return tuple(table["code"].value_counts().sort_index().tolist())

    def test_k(self, table):
        groups = self.groups(table)
        k = pycanon.k_anonymity(table, ["zip", "age"])
        assert KAnonymity(max(k, 2)).achieved(groups).min() == k
        assert KAnonymity(k).allowed(groups).all() and not KAnonymity(k + 1).allowed(groups).all()

    def test_alpha_k(self, table):
        alpha, k = self.canon(pycanon.alpha_k_anonymity, table)
        assert AlphaK(1, k).achieved(self.groups(table)).max() == pytest.approx(alpha)

    def test_distinct(self, table):
        level = self.canon(pycanon.l_diversity, table)
        assert DistinctDiversity(2).achieved(self.groups(table)).min() == level

    def test_entropy(self, table):
        # pycanon rounds exp(entropy) down, after rounding errors: a uniform group may lose a level
        level = self.canon(pycanon.entropy_l_diversity, table)
        ours = EntropyDiversity(1.5).achieved(self.groups(table)).min()
        assert level in {math.floor(ours - 1e-9), math.floor(ours + 1e-9)}

    def test_recursive(self, table):
        # pycanon sorts counts upwards, so its r_1 is the rarest value and its sum the most frequent ones:
        # its c is 2 if some group is uniform over exactly ℓ values and 1 otherwise, never above the right one
        c, level = self.canon(pycanon.recursive_c_l_diversity, table)
        groups = self.groups(table)
        if level == 1:
            assert math.isnan(c) and not DistinctDiversity(2).allowed(groups).all()
            return
        ours = RecursiveDiversity(1, level).achieved(groups).max()
        rising = [sorted(row[row > 0].tolist()) for row in groups.counts]
        assert c == max(math.floor(row[0] / sum(row[level - 1 :]) + 1) for row in rising)
        assert c <= math.floor(ours) + 1
        assert RecursiveDiversity(math.floor(ours) + 1, level).allowed(groups).all()

    def test_recursive_of_pycanon_calls_an_unsafe_table_safe(self):
        table = pd.DataFrame({"zip": [1] * 11, "disease": ["flu"] * 10 + ["cold"]})
        assert pycanon.recursive_c_l_diversity(table, ["zip"], ["disease"]) == (1, 2)
        assert achieved(RecursiveDiversity(1, 2), [10, 1]) == [10]

    @pytest.mark.parametrize("ordered", [False, True])
    def test_t(self, table, ordered):
        t = self.canon(pycanon.t_closeness, table, "code" if ordered else "disease")
        criterion = TCloseness(0.2, self.distribution(table), ordered)
        assert criterion.achieved(self.groups(table)).max() == pytest.approx(t, abs=1e-12)

    def test_basic_beta(self, table):
        beta = self.canon(pycanon.basic_beta_likeness, table)
        criterion = BasicBetaLikeness(0.5, self.distribution(table))
        assert criterion.achieved(self.groups(table)).max() == pytest.approx(beta, abs=1e-12)

    def test_enhanced_beta(self, table):
        # pycanon takes the largest over values of min(largest gain, −ln p), which any release satisfies with
        # the rarest value's −ln p: it never exceeds the right level, and is equal where one exists
        beta = self.canon(pycanon.enhanced_beta_likeness, table)
        distribution = self.distribution(table)
        ours = EnhancedBetaLikeness(100, distribution).achieved(self.groups(table)).max()
        basic = BasicBetaLikeness(100, distribution).achieved(self.groups(table)).max()
        assert beta == pytest.approx(min(basic, -math.log(min(distribution) / 90)), abs=1e-12)
        assert ours == math.inf or ours == pytest.approx(beta, abs=1e-12)

    def test_delta(self, table):
        # pycanon skips values that a group lacks; the definition does not
        delta = self.canon(pycanon.delta_disclosure, table)
        groups = self.groups(table)
        ours = DeltaDisclosure(50, self.distribution(table)).achieved(groups).max()
        if (groups.counts > 0).all():
            assert ours == pytest.approx(delta, abs=1e-12)
        else:
            assert ours == math.inf and math.isfinite(delta)

    def test_the_random_tables_reach_both_sides_of_every_deviation(self):
        tables = [self.random_table(seed) for seed in self.SEEDS]
        groups = [self.groups(table) for table in tables]
        levels = [
            EnhancedBetaLikeness(100, self.distribution(table)).achieved(group).max()
            for table, group in zip(tables, groups, strict=True)
        ]
        assert {math.isinf(level) for level in levels} == {True, False}
        assert {bool((group.counts > 0).all()) for group in groups} == {True, False}
        assert {bool(DistinctDiversity(2).allowed(group).all()) for group in groups} == {True, False}
