"""The privacy skyline: golden vectors and the traps of its formulas."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria.skyline import (
    LocalSkyline,
    Point,
    Target,
    breach_probability,
    negated_ratio,
    required_ratio,
)
from ppdp_spark.core.criteria.skyline.points import CASES
from ppdp_spark.core.data.groups import GroupSummaries
from support.core.skyline_releases import criterion, release, statistics, verdict
from support.places import golden

GOLDEN = golden("skyline")


# --- golden vectors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda v: f"{v['case']}-{v['l']}-{v['k']}-{v['m']}")
def test_golden_vectors(vector):
    names = sorted({x for g in vector["groups"] for x in g["counts"]} | {vector["sigma"]})
    counts = [[g["counts"].get(x, 0) for x in names] for g in vector["groups"]]
    groups = release(*counts, people=[g["n"] for g in vector["groups"]])
    amounts = vector["l"], vector["k"], vector["m"]
    check = criterion(vector["case"], amounts, value=names.index(vector["sigma"]))
    found = check.summarise(groups, np.arange(len(groups)))
    assert found.minima[0] == pytest.approx(vector["ss"], rel=1e-12, abs=1e-12)
    row = check.decide(found)[0]
    assert row.value == pytest.approx(vector["breach"], rel=1e-12)
    assert row.ok == (vector["breach"] < 0.5)


# --- traps ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_two_negative_numerators_do_not_make_a_positive_ratio(case):
    groups = release([2, 2], people=[4])
    ss = statistics(case, (1, 6, 3), groups)[0]
    assert (ss >= 0).all()
    assert ss[0] == ss[2] == ss[4] == 0
    assert verdict(case, (1, 6, 3), groups, c=1.0).value == 1.0


def test_each_factor_is_cut_at_zero_not_the_product():
    """n = 5, #σ = 3, m = 4: factors 2/5, 1/4, 0/3, −1/2; the last one must not matter."""
    assert statistics("svpi", (0, 0, 4), release([3, 2]))[0, 3] == 0.0
    assert statistics("svpi", (0, 0, 2), release([3, 2]))[0, 3] == pytest.approx(2 / 5 * 1 / 4)


@pytest.mark.parametrize("case", CASES)
def test_a_group_without_the_value_is_neutral_however_small(case):
    big, small = [5, 20, 25], [0, 1, 0]
    people = [50, 1]
    alone = verdict(case, (1, 3, 4), release(big, people=people[:1]))
    beside = verdict(case, (1, 3, 4), release(big, small, people=people))
    assert alone.value == beside.value < 1
    assert statistics(case, (1, 3, 4), release(small, people=[1]))[0].tolist() == [np.inf] * 3 + [1.0] * 2


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("amounts", [(0, 5, 0), (0, 0, 5), (0, 2, 3), (0, 3, 2), (0, 10**9, 10**9)])
def test_knowledge_that_does_not_fit_discloses_everything(case, amounts):
    groups = release([1, 4], [10, 90], people=[5, 100])
    row = verdict(case, amounts, groups, c=1.0)
    assert row.value == 1.0
    assert row.status == "fail"
    assert row.witness["knowledge_fits"] is False


@pytest.mark.parametrize("case", CASES)
def test_an_absent_value_is_safe(case):
    row = verdict(case, (3, 100, 100), release([0, 3], [0, 1], people=[3, 1]), c=0.01)
    assert (row.value, row.status, row.witness["present"]) == (0.0, "pass", False)


@pytest.mark.parametrize("case", CASES)
def test_no_groups_at_all(case):
    empty = GroupSummaries(np.zeros(0, dtype=int), np.zeros((0, 2), dtype=int))
    assert verdict(case, (1, 1, 1), empty).value == 0.0
    assert LocalSkyline(case, (Target(0, "σ", Point(1, 1, 0, 0.5)),)).allowed(empty).shape == (0,)


def test_each_statistic_is_the_minimum_with_itself():
    """The extracted text of Figure 6 has SS5 = min(SS4, …)."""
    groups = release([4, 16], [1, 5])
    each, merged = statistics("svpi", (0, 3, 1), groups), verdict("svpi", (0, 3, 1), groups)
    assert merged.witness["statistics"] == each.min(axis=0).tolist()
    assert each[0, 3] < each[1, 3]
    assert each[0, 4] > each[1, 4]
    assert each.min(axis=0)[3] == pytest.approx(16 / 20)
    assert each.min(axis=0)[4] == pytest.approx(2 / 3)


def test_long_products_agree_with_exact_fractions():
    people, occurrences, k, m = 10**6, 20_000, 1000, 3000
    exact = Fraction(1)
    for i in range(m):
        exact *= Fraction(people - occurrences - k - i, people - k - i)
    found = statistics("svpi", (0, k, m), release([occurrences, people - occurrences]))[0, 4]
    assert found == pytest.approx(float(exact), rel=1e-12)


def test_multiset_factors_keep_their_digits():
    people, occurrences, m = 1000, 5000, 998
    groups = release([occurrences, 700], people=[people])
    ss = statistics("mvpi-multiset", (1, 0, m), groups)[0]
    q = Fraction(999, 1000) ** occurrences
    assert ss[1] == pytest.approx(float(q / (1 - q) * Fraction(999, 1000) ** 700), rel=1e-12)
    few = statistics("mvpi-multiset", (0, 0, m), release([40, 1], people=[people]))[0]
    assert few[3] == pytest.approx(float(Fraction(2, 1000) ** 40), rel=1e-12)


@pytest.mark.parametrize(
    ("case", "counts", "people", "last_safe"),
    [
        ("svpi", [1900, 2100], 4000, 2099),
        ("mvpi-set", [1900, 7], 4000, 2099),
        ("mvpi-multiset", [10**6, 7], 4000, 3998),
    ],
)
def test_with_c_one_underflow_decides_nothing(case, counts, people, last_safe):
    """V is far below the smallest float, and BP < 1 is still decided by whether it is zero."""
    groups = release(counts, people=[people])
    below = verdict(case, (0, 0, last_safe), groups, c=1.0)
    assert (below.status, below.value < 1) == ("pass", True)
    assert verdict(case, (0, 0, last_safe), groups, c=1 - 1e-12).status == "fail"
    above = verdict(case, (0, 0, last_safe + 1), groups, c=1.0)
    assert (above.status, above.value) == ("fail", 1.0)


def test_equality_with_c_is_unsafe_and_the_next_count_is_safe():
    """σ once in n people has BP = 1/(n−k): strictly below c only."""
    for c, people in ((0.5, 2), (0.2, 5), (0.1, 10), (0.01, 100), (1e-6, 10**6), (1 / 3, 3), (1 / 7, 7)):
        assert verdict("svpi", (0, 3, 0), release([1, people + 2]), c=c).status == "fail"
        assert verdict("svpi", (0, 3, 0), release([1, people + 3]), c=c).status == "pass"


def test_required_ratio_reads_c_as_a_decimal():
    assert required_ratio(0.3) == 7 / 3
    assert required_ratio(1.0) == 0.0
    assert required_ratio(0.999999999999) == pytest.approx(1e-12, rel=1e-9)
    assert breach_probability(np.array([0.0, 1e-300, 1.0, np.inf])).tolist() == [1.0, 1 - 2**-53, 0.5, 0.0]


def test_nan_and_infinite_times_zero_are_on_the_unsafe_side():
    assert negated_ratio(np.array([np.inf, np.inf, np.inf, 1.0, 0.0])) == 0.0
    assert not criterion("svpi", (0, 0, 1)).safe(np.array([[np.inf, np.nan, np.inf, 1.0, 1.0]]))
