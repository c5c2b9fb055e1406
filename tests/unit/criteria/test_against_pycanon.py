"""Local criteria agree with pycanon."""

from __future__ import annotations

import math

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
    RecursiveDiversity,
    TCloseness,
)
from ppdp_spark.core.data.groups import GroupSummaries
from support.core.counted_groups import achieved


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
