"""The invariants that the skyline declares: statistics, unions, floors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria.skyline import (
    LocalSkyline,
    LocalThreshold,
    Point,
    SkylineCriterion,
    Target,
    balanced_floors,
    negated_ratio,
    slack_floors,
)
from ppdp_spark.core.criteria.skyline.points import CASES
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.errors import InfeasibleError
from support.core.skyline_groups import breach, release

# --- invariants ------------------------------------------------------------------------------------


def plain_ratio(case, people, counts, amounts):
    """NR of one group in exact fractions (SVPI, set) straight from the table of formulas."""
    ell, k, m = amounts
    s, others = counts[0], sorted(counts[1:], reverse=True)[:ell]
    if not s:
        return None
    left = people - s - k - (sum(others) if case == "svpi" else 0)
    ratio = Fraction(max(left, 0), s)
    for x in others if case == "mvpi-set" else ():
        ratio *= Fraction(max(people - x, 0), people)
    for i in range(m):
        above, below = people - s - (k + 1) - i, people - (k + 1) - i
        ratio = ratio * Fraction(above, below) if above > 0 else Fraction(0)
    return ratio


amounts_strategy = st.tuples(st.integers(0, 6), st.integers(0, 8), st.integers(0, 8))


@st.composite
def group_rows(draw, case, values=5, largest=12):
    count = st.integers(0, largest)
    counts = [[draw(count) for _ in range(values)] for _ in range(draw(st.integers(1, 6)))]
    for row in counts:
        row[-1] += 1
    totals = [sum(row) for row in counts]
    if case == "svpi":
        return list(zip(totals, counts, strict=True))
    floor = [max(row) for row in counts]
    return [(f + draw(st.integers(0, 30)), row) for f, row in zip(floor, counts, strict=True)]


@pytest.mark.parametrize("case", ["svpi", "mvpi-set"])
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_first_statistic_agrees_with_exact_fractions(case, data):
    groups = data.draw(group_rows(case))
    amounts = data.draw(amounts_strategy)
    criterion = SkylineCriterion(case, (Target(0, "σ", Point(*amounts, 0.5)),))
    found = criterion.statistics(release(groups))[:, 0, 0]
    for value, (people, counts) in zip(found, groups, strict=True):
        exact = plain_ratio(case, people, counts, amounts)
        assert value == np.inf if exact is None else value == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_summarise_is_the_minimum_of_statistics_and_merge_any_order(case, data):
    groups = data.draw(group_rows(case))
    points = data.draw(st.lists(amounts_strategy, min_size=1, max_size=3))
    targets = tuple(Target(v, str(v), Point(*a, 0.5)) for a in points for v in range(5))
    criterion, summaries = SkylineCriterion(case, targets), release(groups)
    ids = np.array(data.draw(st.permutations(range(10, 10 + len(groups)))))
    whole = criterion.summarise(summaries, ids)
    each = criterion.statistics(summaries)
    assert np.array_equal(whole.minima, each.min(axis=0))
    for t, target in enumerate(targets):
        holds = summaries.counts[:, target.value] > 0
        for j in range(5):
            at = holds & (each[:, t, j] == whole.minima[t, j])
            assert whole.ids[t, j] == (ids[at].min() if holds.any() else -1)
    parts = [criterion.summarise(summaries.rows([i]), ids[[i]]) for i in range(len(groups))]
    order = data.draw(st.permutations(parts))
    merged = order[0]
    for part in order[1:]:
        merged = criterion.merge(merged, part)
    assert merged.groups == whole.groups
    for name in ("minima", "ids", "people", "occurrences", "values"):
        assert np.array_equal(getattr(merged, name), getattr(whole, name)), name
    assert criterion.decide(merged) == criterion.decide(whole)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_more_knowledge_never_lowers_the_breach_probability(case, data):
    groups = data.draw(group_rows(case))
    amounts = data.draw(amounts_strategy)
    axis = data.draw(st.integers(0, 2))
    more = tuple(a + (i == axis) for i, a in enumerate(amounts))
    assert breach(case, groups, more) >= breach(case, groups, amounts) - 1e-14


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_in_svpi_t_v_and_the_ratio_only_fall_when_a_group_is_split(data):
    """[Skyline, Thm 4]; the first statistic alone may rise, the ratio it goes into may not."""
    parts = data.draw(group_rows("svpi"))
    amounts = data.draw(amounts_strategy)
    criterion = SkylineCriterion("svpi", (Target(0, "σ", Point(*amounts, 0.5)),))
    split = criterion.statistics(release(parts)).min(axis=0)
    counts = np.array([c for _, c in parts]).sum(axis=0)
    whole = criterion.statistics(GroupSummaries(np.array([counts.sum()]), counts[None]))[0]
    assert (split[:, 1:] <= whole[:, 1:] * (1 + 1e-13)).all()
    assert (negated_ratio(split) <= negated_ratio(whole) * (1 + 1e-13)).all()


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_without_family_knowledge_the_release_is_safe_iff_each_group_is(case, data):
    groups = release(data.draw(group_rows(case)))
    points = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=2))
    c = data.draw(st.sampled_from([0.2, 0.5, 0.75, 0.9, 1.0]))
    targets = tuple(Target(v, str(v), Point(ell, k, 0, c)) for ell, k in points for v in range(5))
    whole, local = SkylineCriterion(case, targets), LocalSkyline(case, targets)
    verdict = whole.decide(whole.summarise(groups, np.arange(len(groups))))
    allowed = local.allowed(groups)
    assert allowed.all() == all(row.ok for row in verdict)
    for g in range(len(groups)):
        alone = whole.decide(whole.summarise(groups.rows([g]), np.array([g])))
        assert allowed[g] == all(row.ok for row in alone)
        worst = max(row.value / row.threshold for row in alone)
        assert local.achieved(groups)[g] == pytest.approx(worst, rel=1e-12)
    assert (
        local.decide(local.summarise(groups, np.arange(len(groups))))[0].status == "pass"
    ) == allowed.all()


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_local_skyline_is_closed_under_union_where_it_says_so(data):
    groups = release(data.draw(group_rows("svpi")))
    amounts = data.draw(st.tuples(st.integers(0, 3), st.integers(0, 4)))
    targets = tuple(Target(v, str(v), Point(*amounts, 0, 0.8)) for v in range(5))
    local = LocalSkyline("svpi", targets)
    assert local.union_closed
    kept = groups.rows(local.allowed(groups))
    if len(kept):
        union = GroupSummaries(kept.sizes.sum()[None], kept.counts.sum(axis=0)[None])
        assert local.allowed(union).all()


def floored(case, targets, table, groups, floors):
    """The groups that a threshold allows, after checking what it promises."""
    threshold = LocalThreshold(case, targets, floors)
    allowed = threshold.allowed(groups)
    each = SkylineCriterion(case, targets).statistics(groups)
    assert np.array_equal(allowed, (each >= threshold.floors).all(axis=(1, 2)))
    return allowed, each


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_groups_that_reach_safe_floors_are_jointly_safe(case, data):
    groups = release(data.draw(group_rows(case, largest=40)))
    amounts = data.draw(st.tuples(st.integers(0, 2), st.integers(0, 6), st.integers(0, 6)))
    c = data.draw(st.sampled_from([0.3, 0.5, 0.75, 0.95, 1.0]))
    targets = tuple(Target(v, str(v), Point(*amounts, c)) for v in range(5))
    table = GroupSummaries(groups.sizes.sum()[None], groups.counts.sum(axis=0)[None])
    criterion = SkylineCriterion(case, targets)
    own = criterion.statistics(table)[0]
    if not criterion.safe(own):
        with pytest.raises(InfeasibleError, match="even the undivided table"):
            balanced_floors(case, targets, table)
        return
    floors = balanced_floors(case, targets, table)
    assert (floors <= own).all()
    assert LocalThreshold(case, targets, floors).allowed(table).all()
    allowed, each = floored(case, targets, table, groups, floors)
    joint = np.vstack([each[allowed], own[None]]).min(axis=0)
    assert criterion.safe(joint)
    for give in ("target", "family"):
        further = slack_floors(targets, joint, give)
        allowed, each = floored(case, targets, table, groups, further)
        joint = np.vstack([each[allowed], joint[None]]).min(axis=0)
        assert criterion.safe(joint)
