"""The skyline against a brute-force enumeration of reconstructions, and the invariants it declares."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
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

SIGMA = 0
PAPER_CASES = CASES[:3]


# --- the adversary, by enumeration: no formula of the paper is used ---------------------------------


@cache
def worlds(case, people, counts):
    """Every reconstruction of one group, as has[world, person, value]."""
    occurrences = [value for value, count in enumerate(counts) for _ in range(count)]
    if case == "svpi":
        owners = [dict(enumerate(p)) for p in set(permutations(occurrences))]
        all_worlds = [[(person, value) for person, value in o.items()] for o in owners]
    elif case == "mvpi-set":
        choices = [combinations(range(people), count) for count in counts]
        all_worlds = [[(p, v) for v, owners in enumerate(w) for p in owners] for w in product(*choices)]
    else:
        everyone = product(range(people), repeat=len(occurrences))
        all_worlds = [list(zip(w, occurrences, strict=True)) for w in everyone]
    has = np.zeros((len(all_worlds), people, len(counts)), dtype=bool)
    for w, pairs in enumerate(all_worlds):
        for person, value in pairs:
            has[w, person, value] = True
    return has


def posterior(case, target_group, other_group, amounts, split):
    """Largest confidence that person 0 of the first group has σ, over values of the knowledge.

    People of a group are interchangeable, so only how many are where matters: `split` = (h, p) puts h
    of the k people and p of the m people into the target's group, the rest into the other one.
    """
    ell, k, m = amounts
    h, p = split
    here, there = (worlds(case, *g) for g in (target_group, other_group))
    values = here.shape[2]
    in_here, in_there = here[:, None], there[None, :]
    known = [in_here[:, :, 1 + i] for i in range(h)] + [in_there[:, :, i] for i in range(k - h)]
    family = [in_here[:, :, 1 + h + i] for i in range(p)]
    family += [in_there[:, :, k - h + i] for i in range(m - p)]
    event = in_here[:, :, 0, SIGMA]
    possible = np.ones((len(here), len(there)), dtype=bool)
    for person in family:
        possible &= ~person[..., SIGMA] | event
    best = Fraction(0)
    others = [v for v in range(values) if v != SIGMA]
    learnt = product(range(values), repeat=k) if case == "svpi" else [()]
    for what in learnt:
        given_people = possible.copy()
        for i, person in enumerate(known):
            given_people &= person[..., what[i]] if case == "svpi" else ~person[..., SIGMA]
        for excluded in combinations(others, min(ell, len(others))):
            fits = given_people.copy()
            for x in excluded:
                has_x = in_here[:, :, 0, x]
                fits &= ~has_x if case == "svpi" else ~has_x | event
            total = int(fits.sum())
            if total:
                best = max(best, Fraction(int((fits & event).sum()), total))
    return best


def enumerated_breach(case, groups, amounts):
    """The breach probability by definition; `groups` are one or two pairs (people, counts).

    Knowledge is "up to k people": exactly k people without σ may contradict the release, in which case
    fewer already disclose everything.
    """
    ell, most, m = amounts
    with_sigma = [people for people, counts in groups if counts[SIGMA]]
    if not with_sigma:
        return Fraction(0)
    if any(most + m + 1 > people for people in with_sigma):
        return Fraction(1)
    empty = (0, (0,) * len(groups[0][1]))
    padded = [*groups, empty][:2]
    best = Fraction(0)
    for first, second in (padded, padded[::-1]):
        for k, h, p in product(range(most + 1), range(most + 1), range(m + 1)):
            if h <= k and first[0] >= 1 + h + p and second[0] >= k - h + m - p:
                best = max(best, posterior(case, first, second, (ell, k, m), (h, p)))
    return best


def release(groups):
    return GroupSummaries(np.array([n for n, _ in groups]), np.array([c for _, c in groups]))


def breach(case, groups, amounts, c=0.5):
    criterion = SkylineCriterion(case, (Target(SIGMA, "σ", Point(*amounts, c)),))
    statistic = criterion.summarise(release(groups), np.arange(len(groups)))
    return criterion.decide(statistic)[0].value


@st.composite
def tiny_group(draw, case):
    if case == "svpi":
        held = draw(st.lists(st.integers(0, 2), min_size=1, max_size=5))
        return len(held), tuple(held.count(v) for v in range(3))
    people = draw(st.integers(1, 4))
    most = people if case == "mvpi-set" else 2
    return people, tuple(draw(st.integers(0, min(most, 2 if v else 3))) for v in range(3))


@pytest.mark.parametrize("case", PAPER_CASES)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_breach_probability_is_the_largest_posterior_of_all_reconstructions(case, data):
    groups = data.draw(st.lists(tiny_group(case), min_size=1, max_size=2))
    amounts = data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)))
    expected = enumerated_breach(case, groups, amounts)
    assert breach(case, groups, amounts) == pytest.approx(float(expected), abs=1e-12)


# --- whole records: worlds deal what stands side by side ---------------------------------------------

Records = st.lists(st.frozensets(st.integers(0, 2)), min_size=1, max_size=4)


@cache
def dealt(records):
    """Every way to deal the records of one group to its people, as has[world, person, value]."""
    deals = sorted(set(permutations(tuple(sorted(record)) for record in records)))
    has = np.zeros((len(deals), len(records), 3), dtype=bool)
    for w, deal in enumerate(deals):
        for person, record in enumerate(deal):
            has[w, person, list(record)] = True
    return has


def counted(records):
    return len(records), tuple(sum(v in record for record in records) for v in range(3))


def breach_of_records(groups, amounts, monkeypatch):
    """`enumerated_breach` with worlds in which whole records are dealt."""
    held = {}
    for i, records in enumerate(groups):
        people, counts = counted(records)
        held[people, (*counts, i)] = tuple(records)
    held[0, (0, 0, 0)] = ()
    table = {
        key: dealt(records) if records else np.zeros((1, 0, 3), dtype=bool) for key, records in held.items()
    }
    with monkeypatch.context() as patched:
        patched.setitem(globals(), "worlds", lambda case, people, counts: table[people, counts])
        padded = [(people, counts) for people, counts in held if people]
        return _largest(padded, amounts)


def _largest(groups, amounts):
    ell, most, m = amounts
    if not any(counts[SIGMA] for _, counts in groups):
        return Fraction(0)
    if any(most + m + 1 > people for people, counts in groups if counts[SIGMA]):
        return Fraction(1)
    padded, best = [*groups, (0, (0, 0, 0))][:2], Fraction(0)
    for first, second in (padded, padded[::-1]):
        for k, h, p in product(range(most + 1), range(most + 1), range(m + 1)):
            if h <= k and first[0] >= 1 + h + p and second[0] >= k - h + m - p:
                best = max(best, posterior("mvpi-records", first, second, (ell, k, m), (h, p)))
    return best


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    groups=st.lists(Records, min_size=1, max_size=2),
    amounts=st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)),
)
def test_no_posterior_of_dealt_records_is_above_the_breach_probability(groups, amounts, monkeypatch):
    expected = breach_of_records(groups, amounts, monkeypatch)
    found = breach("mvpi-records", [counted(records) for records in groups], amounts)
    assert float(expected) <= found + 1e-12
    apart = all(len(record) <= 1 for records in groups for record in records)
    if amounts[0] == 0 or apart:
        assert found == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("case", PAPER_CASES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_verdict_is_strict_when_c_is_exactly_the_posterior(case, data):
    groups = data.draw(st.lists(tiny_group(case), min_size=1, max_size=2))
    amounts = data.draw(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1)))
    expected = enumerated_breach(case, groups, amounts)
    statistics = SkylineCriterion(case, (Target(0, "σ", Point(*amounts, 0.5)),)).statistics(release(groups))

    def is_safe(c):
        criterion = SkylineCriterion(case, (Target(0, "σ", Point(*amounts, c)),))
        return bool(criterion.safe(statistics.min(axis=0)))

    if expected > 0:
        assert not is_safe(float(expected))
        assert not is_safe(float(expected) * 0.999)
    if expected < 1:
        assert is_safe(float(expected) + 1e-6 * (1 - float(expected)))
        assert is_safe(1.0)


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
