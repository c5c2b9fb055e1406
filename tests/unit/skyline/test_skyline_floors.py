"""Floors and patterns: what local cuts of the skyline rest on."""

from __future__ import annotations

import numpy as np
import pytest

from ppdp_spark.core.criteria.skyline import (
    LocalSkyline,
    LocalThreshold,
    Point,
    SkylineCriterion,
    Target,
    balanced_floors,
    patterns,
    slack_floors,
)
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.errors import InfeasibleError, SpecError
from support.core.skyline_releases import release, statistics, verdict

# --- local criteria and floors ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "ell", "first", "second"),
    [("mvpi-set", 2, (7, [0, 6, 6]), (8, [3, 3, 1])), ("mvpi-multiset", 1, (12, [7, 1, 0]), (7, [2, 6, 5]))],
)
def test_with_several_values_a_union_may_be_worse_than_its_parts(case, ell, first, second):
    """Why `union_closed` is declared for SVPI only [Skyline, Sec 5.2, Discussion]."""
    (n1, c1), (n2, c2) = first, second
    ratios = statistics(case, (ell, 0, 0), release(c1, c2, np.add(c1, c2), people=[n1, n2, n1 + n2]))[:, 2]
    c = 1 / (1 + (ratios[2] + min(ratios[:2])) / 2)
    local = LocalSkyline(case, (Target(0, "σ", Point(ell, 0, 0, c)),))
    allowed = local.allowed(release(c1, c2, np.add(c1, c2), people=[n1, n2, n1 + n2]))
    assert allowed.tolist() == [True, True, False]
    assert not local.union_closed
    assert not SkylineCriterion(case, local.targets).union_closed


def test_floors_let_both_factors_reach_the_same_share():
    """Groups far larger than the knowledge are allowed up to the share p* with a (1−p)^(m+1)/p = R."""
    target = (Target(0, "σ", Point(1, 20, 2, 0.5)),)
    table = release([500_000, 4_000_000, 3_500_000, 2_000_000])
    floors = LocalThreshold("svpi", target, balanced_floors("svpi", target, table))
    kept = 5.5 / 9.5
    shares = np.linspace(0.05, 0.6, 5501)
    limit = shares[kept * (1 - shares) ** 3 / shares > 1].max()
    for share, expected in ((limit - 0.001, True), (limit + 0.001, False)):
        rest = 10_000_000 * (1 - share) / 9.5 * np.array([4.0, 3.5, 2.0])
        counts = np.round([10_000_000 * share, *rest]).astype(int)
        assert floors.allowed(release(counts)).tolist() == [expected]
    assert floors.union_closed


def test_floors_with_c_one_only_ask_for_positive_statistics():
    target = (Target(0, "σ", Point(1, 5, 3, 1.0)),)
    floors = LocalThreshold("svpi", target, balanced_floors("svpi", target, release([10, 100, 200])))
    groups = release([1, 4, 8], [1, 5, 8], [1, 6, 8], [1, 8, 1], [0, 1, 0])
    assert floors.allowed(groups).tolist() == [False, False, True, False, True]
    assert floors.allowed(groups).tolist() == [
        verdict("svpi", (1, 5, 3), groups.rows([g]), c=1.0).ok for g in range(5)
    ]


def test_floors_of_a_value_that_the_table_lacks():
    target = (Target(0, "σ", Point(1, 5, 3, 0.5)),)
    table = release([0, 100, 200])
    assert LocalThreshold("svpi", target, balanced_floors("svpi", target, table)).allowed(table).all()
    minima = SkylineCriterion("svpi", target).statistics(table)[0]
    for give in ("target", "family"):
        assert LocalThreshold("svpi", target, slack_floors(target, minima, give)).allowed(table).all()


def test_slack_goes_to_the_side_it_is_given_to():
    target = (Target(0, "σ", Point(0, 2, 2, 0.5)),)
    minima = SkylineCriterion("svpi", target).statistics(release([10, 90]))[0]
    to_target = slack_floors(target, minima, "target")[0]
    to_family = slack_floors(target, minima, "family")[0]
    assert to_target[3:].tolist() == minima[0, 3:].tolist()
    assert to_family[1:3].tolist() == minima[0, 1:3].tolist()
    for floors in (to_target, to_family):
        assert floors[1] * floors[4] == pytest.approx(1.0, rel=1e-11)
        assert floors[2] * floors[3] == pytest.approx(1.0, rel=1e-11)


def test_unsafe_floors_and_tables_are_refused():
    target = (Target(0, "HIV", Point(0, 2, 2, 0.5)),)
    with pytest.raises(SpecError, match="safe themselves"):
        LocalThreshold("svpi", target, np.array([[2.0, 2.0, 2.0, 0.5, 0.49]]))
    with pytest.raises(SpecError, match="shape"):
        LocalThreshold("svpi", target, np.ones(5))
    with pytest.raises(
        InfeasibleError, match=r"σ = HIV, .*\(0, 2, 2\): breach probability 0.753886 must be below 0.5"
    ):
        balanced_floors("svpi", target, release([50, 60]))
    with pytest.raises(SpecError, match="one group"):
        balanced_floors("svpi", target, release([5, 60], [5, 60]))
    with pytest.raises(InfeasibleError):
        slack_floors(target, np.array([[0.5, 2.0, 2.0, 1.0, 1.0]]), "target")


@pytest.mark.parametrize("case", ["svpi", "mvpi-set", "mvpi-multiset"])
@pytest.mark.parametrize("seed", range(4))
def test_statistics_by_pattern_are_those_of_the_groups(case, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(rng.integers(1, 9), [0.4, 0.3, 0.2, 0.1], size=500)
    sizes = counts.sum(axis=1) if case != "mvpi-set" else counts.max(axis=1) + rng.integers(0, 2, 500)
    groups, ids = GroupSummaries(sizes, counts), rng.permutation(500)
    points = [Point(0, 0, 0, 0.9), Point(3, 2, 1, 0.5), Point(1, 1, 3, 0.7), Point(7, 0, 2, 0.4)]
    check = SkylineCriterion(case, tuple(Target(v, f"v{v}", p) for v in range(4) for p in points))
    quick = check.summarise(groups, ids)
    monkeypatch.setattr(patterns, "FEWER", 10_000)
    plain = check.summarise(groups, ids)
    for name in ("minima", "ids", "people", "occurrences", "values"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(plain, name), err_msg=name)
