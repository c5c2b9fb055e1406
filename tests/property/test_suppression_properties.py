"""Claims about D- and R-suppression that the search over levels and the privacy argument rest on."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ppdp_spark.core.suppression.r import (
    after_level,
    expected_suppression,
    has_l_candidacy,
    is_eligible,
    is_p_eligible,
    outcome_distribution,
    r_suppress,
    safe_d,
    unsafe_d,
)

SETTINGS = settings(max_examples=150, deadline=None)


@st.composite
def violating(draw):
    small = draw(st.lists(st.integers(1, 12), min_size=1, max_size=7))
    big = draw(st.integers(1, 40))
    counts = draw(st.permutations([big, *small]))
    l = draw(st.integers(2, len(counts)))
    assume(not is_eligible(counts, l))
    return counts, l


def d_path(counts):
    """All states of D-suppression down to the empty table, with whether each is a level start."""
    rank = sorted(range(len(counts)), key=lambda v: (-counts[v], v))
    state = list(counts)
    top = max(state)
    yield tuple(state), True
    while any(state):
        state[max((v for v in rank if state[v] == top), key=rank.index)] -= 1
        starts = max(state) < top
        top = max(state)
        yield tuple(state), starts


def after_step1(counts, level):
    state = list(counts)
    state[counts.index(max(counts))] = level
    return state


def levels(counts, l):
    ordered = [*sorted(counts, reverse=True), 0]
    return range(ordered[l], ordered[0] + 1)


@SETTINGS
@given(violating(), st.data())
def test_candidacy_is_monotone_and_eligibility_is_over_level_starts(case, data):
    counts, l = case
    total = sum(counts)
    level = data.draw(st.sampled_from(levels(counts, l)))
    states = list(d_path(after_step1(counts, level)))
    candidacy = [has_l_candidacy(state, total, l) for state, _ in states]
    assert candidacy == sorted(candidacy)
    starts = [is_p_eligible(state, l) for state, is_start in states if is_start]
    assert starts == sorted(starts)


@SETTINGS
@given(violating())
def test_unsafe_d_is_the_first_state_with_both_and_never_above_safe_d(case):
    counts, l = case
    total = sum(counts)
    both = [s for s, _ in d_path(counts) if is_p_eligible(s, l) and has_l_candidacy(s, total, l)]
    unsafe = unsafe_d(counts, l)
    assert tuple(unsafe.kept.tolist()) == both[0]
    assert unsafe.suppressed <= safe_d(counts, l).suppressed


@SETTINGS
@given(violating(), st.integers(0, 2**32))
def test_r_suppression_keeps_its_promises(case, seed):
    counts, l = case
    result = r_suppress(counts, l, random.Random(seed))
    assert is_p_eligible(result.kept, l)
    assert has_l_candidacy(result.kept, sum(counts), l)
    assert (result.kept + result.removed).tolist() == list(counts)
    assert min(result.removed) >= 0 and min(result.kept) >= 0
    assert result.suppressed == sum(result.removed.tolist()) >= unsafe_d(counts, l).suppressed
    first = counts.index(max(counts))
    assert result.kept[first] >= np.sort(result.kept)[-l]


@SETTINGS
@given(violating())
def test_suppression_never_grows_with_the_level(case):
    """On this the error bound of `expected_suppression` rests; also: levels above Unsafe D's end in it."""
    counts, l = case
    ordered = [*sorted(counts, reverse=True), 0]
    unsafe = unsafe_d(counts, l)
    suppressed = []
    for level in levels(counts, l):
        h = next(h for h in range(1, l + 1) if ordered[h] <= level <= ordered[h - 1])
        result = after_level(counts, l, h, level)
        suppressed.append(result.suppressed)
        if level >= unsafe.kept.max():
            assert result.kept.tolist() == unsafe.kept.tolist()
        else:
            assert result.kept[counts.index(max(counts))] == level
    assert suppressed == sorted(suppressed, reverse=True)


@SETTINGS
@given(violating(), st.integers(1, 8))
def test_expectation_and_distribution_agree(case, nodes):
    counts, l = case
    outcomes = outcome_distribution(counts, l)
    assert sum(outcomes.values()) == 1
    mean = sum(p * (sum(counts) - sum(kept)) for kept, p in outcomes.items())
    assert expected_suppression(counts, l).value == mean
    coarse = expected_suppression(counts, l, nodes=nodes)
    assert abs(coarse.value - mean) <= coarse.error
