"""The skyline against a brute-force enumeration of reconstructions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria.skyline import (
    Point,
    SkylineCriterion,
    Target,
)
from ppdp_spark.core.criteria.skyline.points import CASES
from support.core.skyline_groups import SIGMA, breach, release

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
