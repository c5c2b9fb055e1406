"""Limits of local criteria, their verdicts, and refused parameters."""

from __future__ import annotations

import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria import (
    AlphaK,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    Worst,
)
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.errors import SpecError
from support.core.counted_groups import allowed, groups_of, one_of_each


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
