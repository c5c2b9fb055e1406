"""r-robustness against enumerated worlds: bounds never below the truth, criteria never wrongly safe."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria.robustness import (
    RRobustness,
    SignatureGroups,
    WorstPosterior,
    binary_posteriors,
    binary_swap_bound,
    delta_condition,
    deviation_ceiling,
    greatest_deviation,
    joint_posteriors,
    joint_swap_bound,
    relaxed,
)
from ppdp_spark.core.criteria.robustness.relative import relative_bounds
from ppdp_spark.core.data.groups import GroupSummaries, PriorExtrema
from ppdp_spark.errors import SpecError
from support.core.pairwise_bound import contradicted, pairwise_swap_bound

ROUNDING = 1e-11


def examples(number: int) -> settings:
    return settings(max_examples=number, deadline=None)


# --- the definitions: worlds one by one ----------------------------------------------------------------


def enumerated_joint(priors, counts):
    """Posteriors by listing every world; None if no world has weight."""
    values = [x for x, count in enumerate(counts) for _ in range(count)]
    total, held = 0, Counter()
    for world in set(permutations(values)):
        weight = prod(priors[person][x] for person, x in enumerate(world))
        total += weight
        for person, x in enumerate(world):
            held[person, x] += weight
    if total == 0:
        return None
    return [[held[person, x] / total for x in range(len(counts))] for person in range(len(priors))]


def enumerated_binary(prior, count):
    """Posteriors of "x or not x" by listing who may have x; None if no world has weight."""
    people = range(len(prior))
    total, held = 0, Counter()
    for chosen in combinations(people, count):
        weight = prod(prior[i] if i in chosen else 1 - prior[i] for i in people)
        total += weight
        for i in chosen:
            held[i] += weight
    return None if total == 0 else [held[i] / total for i in people]


def literal_pairwise(priors, counts):
    """The pairwise bound to the letter, for priors above 0."""
    people, held = range(len(priors)), [x for x, count in enumerate(counts) if count]
    bounds = [0.0] * len(counts)
    for x in held:
        for a in people:
            kept = []
            for j in people:
                others = [priors[a][y] / priors[j][y] for y in held if y != x]
                kept += [priors[j][x] / priors[a][x] * min(others)] if others and j != a else []
            total = sum(sorted(kept)[: len(priors) - counts[x]])
            bounds[x] = max(bounds[x], counts[x] / (counts[x] + total))
    return bounds


def literal_joint(priors, counts):
    """The joint bound to the letter, and the coarser one with the least ratio for every other value."""
    held = [x for x, count in enumerate(counts) if count]
    ratio = {y: min(row[y] for row in priors) / max(max(row[y] for row in priors), 5e-324) for y in held}
    bounds, coarse = [0] * len(counts), [0] * len(counts)
    for x in held:
        others = [y for y in held if y != x]
        weight = ratio[x] * sum(counts[y] * ratio[y] for y in others)
        least = ratio[x] * min((ratio[y] for y in others), default=0) * sum(counts[y] for y in others)
        bounds[x], coarse[x] = (counts[x] / (counts[x] + w) for w in (weight, least))
    return bounds, coarse


def random_groups(rng, number, *, zeros, spread):
    """Groups of 2 to 6 people and 1 to 4 values, with repeats; all of one size and width at a time."""
    size, width = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    base = rng.uniform(0.02, 0.3, (number, 1, width))
    priors = base * np.exp(rng.normal(0, spread, (number, size, width)))
    priors = np.minimum(priors, 0.95)
    priors[rng.random(priors.shape) < zeros] = 0.0
    counts = rng.multinomial(size, rng.dirichlet(np.ones(width), number))
    return SignatureGroups.of_people(priors, counts)


def of_group(groups, g):
    return groups.priors[groups.offsets[g] : groups.offsets[g + 1]]


def as_summaries(groups):
    return GroupSummaries(groups.sizes, groups.counts, (groups.extrema(),))


ROUNDS = [(seed, zeros, spread) for seed in range(8) for zeros in (0.0, 0.2) for spread in (0.05, 0.5, 3.0)]


@pytest.mark.parametrize(("seed", "zeros", "spread"), ROUNDS)
def test_joint_bounds_and_exact_posteriors_against_enumeration(seed, zeros, spread):
    groups = random_groups(np.random.default_rng([seed, int(10 * zeros)]), 50, zeros=zeros, spread=spread)
    exact, pairwise = joint_posteriors(groups), pairwise_swap_bound(groups)
    bound = joint_swap_bound(groups.sizes, groups.counts, *groups.extrema())
    assert (contradicted(groups) == exact.contradicted).all()
    for g in range(len(groups)):
        rows = slice(groups.offsets[g], groups.offsets[g + 1])
        truth = enumerated_joint(of_group(groups, g), groups.counts[g])
        if truth is None:
            assert exact.contradicted[g]
            assert bound[g].max() == pairwise[g].max() == 1
            continue
        np.testing.assert_allclose(exact.values[rows], truth, rtol=0, atol=1e-9)
        highest = np.max(truth, axis=0)
        assert (pairwise[g] >= highest - ROUNDING).all()
        assert (bound[g] >= highest - ROUNDING).all()
        literal, coarse = literal_joint(of_group(groups, g), groups.counts[g])
        np.testing.assert_allclose(bound[g], literal, rtol=1e-9)
        assert (bound[g] <= np.array(coarse) + ROUNDING).all() and (
            pairwise[g] <= np.array(coarse) + ROUNDING
        ).all()
        if not zeros:
            literal = literal_pairwise(of_group(groups, g), groups.counts[g])
            np.testing.assert_allclose(pairwise[g], literal, rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_no_smaller_joint_bound_follows_from_counts_and_extrema(seed):
    """The person with the largest prior of x and the smallest ones of all else attains the bound."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 3, int(rng.integers(2, 4)))
    low, high = np.sort(rng.uniform(0.05, 0.4, (2, len(counts))), axis=0)
    bound = joint_swap_bound(counts.sum(keepdims=True), counts[None], low[None], high[None])[0]
    for x in range(len(counts)):
        priors = np.tile(high, (counts.sum(), 1))
        priors[:, x], priors[0] = low[x], low
        priors[0, x] = high[x]
        assert enumerated_joint(priors.tolist(), counts)[0][x] == pytest.approx(bound[x], rel=1e-9)


def test_a_mean_that_rounds_to_one_does_not_count_as_one():
    """One in a million priors differs by one float: c/N would tie, and the true bound is above it."""
    counts = np.array([[500_000, 499_999, 1]])
    low, high = np.full((1, 3), 0.25), np.full((1, 3), 0.25)
    groups = GroupSummaries(counts.sum(axis=1), counts, (PriorExtrema(low, high),))
    assert RRobustness(2, "joint", ("s",)).allowed(groups).all()
    low[0, 2] = np.nextafter(0.25, 0)
    assert not RRobustness(2, "joint", ("s",)).allowed(groups).any()


@pytest.mark.parametrize(("seed", "zeros", "spread"), ROUNDS)
def test_binary_bounds_and_exact_posteriors_against_enumeration(seed, zeros, spread):
    groups = random_groups(np.random.default_rng([seed, 7]), 30, zeros=zeros, spread=spread)
    exact = binary_posteriors(groups)
    bound = binary_swap_bound(groups.sizes, groups.counts, *groups.extrema())
    for g, x in zip(*np.nonzero(groups.counts), strict=True):
        prior = of_group(groups, g)[:, x]
        truth = enumerated_binary(prior, groups.counts[g, x])
        assert exact.contradicted[g, x] == (truth is None)
        if truth is not None:
            found = exact.values[groups.offsets[g] : groups.offsets[g + 1], x]
            np.testing.assert_allclose(found, truth, rtol=0, atol=1e-9)
            assert bound[g, x] >= max(truth) - ROUNDING


# --- decisions in exact arithmetic -----------------------------------------------------------------------

prior = st.one_of(
    st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.25, 1 / 3, 0.5, 1.0]),
    st.floats(0, 1, allow_subnormal=True),
)
levels = st.one_of(st.integers(2, 6), st.sampled_from([1.5, 2.5, 3.01, Fraction(7, 3)]))


@st.composite
def one_group(draw, *, size=5, values=3, positive=False):
    people, width = draw(st.integers(1, size)), draw(st.integers(1, values))
    chances = prior.filter(lambda p: p > 1e-300) if positive else prior
    pool = draw(st.lists(chances, min_size=1, max_size=3))
    cell = st.sampled_from(pool)
    row = st.lists(cell, min_size=width, max_size=width)
    priors = draw(st.lists(row, min_size=people, max_size=people))
    values_held = draw(st.lists(st.integers(0, width - 1), min_size=people, max_size=people))
    return priors, [values_held.count(x) for x in range(width)]


def exactly(priors):
    return [[Fraction(p) for p in row] for row in priors]


@examples(400)
@given(one_group(), levels)
def test_what_the_joint_criterion_allows_is_robust_in_exact_arithmetic(group, r):
    priors, counts = group
    groups = SignatureGroups.of_people(np.array([priors]), np.array([counts]))
    if RRobustness(r, "joint", ("s",)).allowed(as_summaries(groups))[0]:
        truth = enumerated_joint(exactly(priors), counts)
        assert truth is not None
        assert max(map(max, truth)) <= 1 / Fraction(str(r))
        assert relaxed(r).allowed(as_summaries(groups))[0]


@examples(400)
@given(one_group(), levels, st.booleans())
def test_what_the_binary_criterion_allows_is_robust_in_exact_arithmetic(group, r, unique):
    priors, counts = group
    groups = SignatureGroups.of_people(np.array([priors]), np.array([counts]))
    if RRobustness(r, "binary", ("s",), unique=unique).allowed(as_summaries(groups))[0]:
        assert not unique or max(counts) <= 1
        for x, count in enumerate(counts):
            column = [row[x] for row in exactly(priors)]
            truth = enumerated_binary(column, count)
            if count and truth is not None:
                assert max(truth) <= 1 / Fraction(str(r))
            elif count:
                assert len(set(column)) == 1


@examples(300)
@given(st.integers(1, 12), prior, prior, levels)
def test_the_delta_condition_is_the_binary_bound_of_a_value_that_occurs_once(size, one, other, r):
    low, high = np.array([[min(one, other)]]), np.array([[max(one, other)]])
    sizes, counts = np.array([size]), np.array([[1]])
    assume(size > 1 or one == other)
    level = Fraction(str(r))
    condition = delta_condition(sizes, counts, low, high, r=r)[0, 0]
    bound = binary_swap_bound(sizes, counts, low, high)[0, 0]
    if abs(bound - 1 / level) > 1e-12:
        assert condition == (bound <= 1 / level)
    m, f = Fraction(float(low[0, 0])), Fraction(float(high[0, 0]))
    ceiling = 0 if f in (0, 1) else (size - level) * f / (f * (level - 1) / (1 - f) + size - 1)
    published = size >= level and f - m <= ceiling
    assert published or not condition
    if f == m or (published and f - m < ceiling * (1 - Fraction(1, 10**12)) and m > 1e-300):
        assert condition == published
    assert greatest_deviation(low, high)[0, 0] == pytest.approx(float(f - m), rel=1e-15)
    assert deviation_ceiling(sizes, r, high[0])[0] == pytest.approx(float(ceiling), rel=1e-9, abs=1e-15)


@examples(400)
@given(
    st.floats(1e-3, 0.9),
    st.integers(2, 200),
    st.integers(1, 20),
    levels,
    st.integers(-40, 40),
)
def test_rounding_never_allows_a_group_at_the_threshold(high, size, count, r, steps):
    """Priors a few floats around the tie c (r − 1) = κ (N − c), of one value among values of equal priors."""
    level = Fraction(str(r))
    assume(0 < count * (level - 1) < size - count)
    tie, top = count * (level - 1) / (size - count), Fraction(high)
    lows = {"joint": tie * top, "binary": tie * top / (1 - top + tie * top)}
    for model, low in lows.items():
        near = float(low) + steps * np.spacing(float(low))
        counts = np.array([[count] + [1] * (size - count)])
        minimum, maximum = np.full(counts.shape, 0.001), np.full(counts.shape, 0.001)
        minimum[0, 0], maximum[0, 0] = near, high
        groups = GroupSummaries(np.array([size]), counts, (PriorExtrema(minimum, maximum),))
        kappa = Fraction(near) / top
        if model == "binary":
            kappa *= (1 - top) / (1 - Fraction(near))
        within = RRobustness(r, model, ("s",)).allowed(groups)[0]
        assert not within or count * (level - 1) <= kappa * (size - count)
        minimum[0, 0] = near * (1 + 1e-12)
        assume(minimum[0, 0] < high)
        assert RRobustness(r, model, ("s",)).allowed(groups)[0]


@examples(200)
@given(one_group(size=8, values=4, positive=True))
def test_posteriors_add_up_and_ignore_how_rows_are_merged(group):
    priors, counts = group
    apart = SignatureGroups.of_people(np.array([priors]), np.array([counts]))
    rows, where, people = np.unique(np.array(priors), axis=0, return_inverse=True, return_counts=True)
    merged = SignatureGroups(np.array([0, len(rows)]), people, rows, np.array([counts]))
    exact = joint_posteriors(apart).values
    np.testing.assert_allclose(exact, joint_posteriors(merged).values[where.ravel()], atol=1e-9)
    np.testing.assert_allclose(exact.sum(axis=0), counts, atol=1e-9)
    np.testing.assert_allclose(pairwise_swap_bound(apart), pairwise_swap_bound(merged), atol=1e-12)


@examples(100)
@given(one_group(size=6, values=3), st.integers(0, 5))
def test_the_order_of_people_does_not_matter(group, seed):
    priors, counts = group
    shuffled = np.random.default_rng(seed).permutation(len(priors))
    first = SignatureGroups.of_people(np.array([priors]), np.array([counts]))
    second = SignatureGroups.of_people(np.array([priors])[:, shuffled], np.array([counts]))
    np.testing.assert_allclose(joint_posteriors(first).values[shuffled], joint_posteriors(second).values)
    np.testing.assert_allclose(pairwise_swap_bound(first), pairwise_swap_bound(second))


# --- how much surer than before ---------------------------------------------------------------------------


def increases(priors, counts, model):
    """posterior / prior of everybody and every value that the group has; of those who can have it."""
    if model == "joint":
        truth = enumerated_joint(priors, counts)
    else:
        columns = [enumerated_binary([row[x] for row in priors], count) for x, count in enumerate(counts)]
        truth = None if None in columns else list(zip(*columns, strict=True))
    if truth is None:
        return None
    pairs = [(row[x], prior[x]) for row, prior in zip(truth, priors, strict=True) for x in range(len(counts))]
    return [p / f for p, f in pairs if f > 0 and p > 0]


@examples(400)
@given(one_group(), st.sampled_from([1.5, 2, 3, 7.25, 20]), st.sampled_from(["joint", "binary"]))
def test_nobody_becomes_surer_than_so_many_times_the_prior_in_exact_arithmetic(group, times, model):
    priors, counts = group
    groups = as_summaries(SignatureGroups.of_people(np.array([priors]), np.array([counts])))
    criterion = RRobustness(1.0001, model, ("s",), times=times)
    found = increases(exactly(priors), counts, model)
    if criterion.allowed(groups)[0]:
        assert found is not None and max(found, default=0) <= Fraction(str(times))
    (statistic,) = criterion.summarise(groups, np.arange(1))[1:]
    if found is not None and statistic.value < np.inf:
        assert Fraction(statistic.value) >= max(found, default=0) * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize("model", ["joint", "binary"])
@pytest.mark.parametrize("seed", range(6))
def test_relative_bounds_hold_for_enumerated_worlds_and_equal_priors_attain_them(seed, model):
    """Three hundred groups, priors alike and far apart."""
    rng = np.random.default_rng([seed, 17])
    for spread in (0.0, 0.3, 2.0):
        groups = random_groups(rng, 50, zeros=0.0, spread=spread)
        summaries = as_summaries(groups)
        bounds = relative_bounds(summaries, summaries.priors[0], groups.counts, model).max(axis=1)
        for g in range(len(groups)):
            truth = max(increases(of_group(groups, g), groups.counts[g], model))
            assert bounds[g] >= truth * (1 - 1e-9)
            if spread == 0.0:
                assert bounds[g] == pytest.approx(truth, rel=1e-9)


def test_a_relative_bound_is_told_beside_the_other_and_decides():
    priors = PriorExtrema(np.array([[0.1, 0.2]]), np.array([[0.1, 0.2]]))
    groups = GroupSummaries(np.array([4]), np.array([[2, 2]]), (priors,))
    for times, ok in ((5.1, True), (4.9, False)):
        criterion = RRobustness(2, "joint", ("sex",), times=times)
        absolute, relative = criterion.decide(criterion.summarise(groups, np.array([7])))
        assert absolute.ok and (absolute.criterion, relative.criterion) == (
            "robustness",
            "relative_robustness",
        )
        assert relative.ok == ok == criterion.allowed(groups)[0]
        assert relative.value == pytest.approx(5.0) and relative.threshold == times
        assert relative.witness == {"group": 7, "value": 0}
    with pytest.raises(SpecError, match="must be above 1"):
        RRobustness(2, "joint", ("sex",), times=1.0)


# --- the criterion's statistic ---------------------------------------------------------------------------


def many_groups(rng, number):
    counts = rng.integers(0, 4, (number, 3))
    counts[:, 0] += 1
    sets = []
    for _ in range(2):
        ends = np.sort(rng.choice([0.1, 0.2, 0.3], (2, number, 3)), axis=0)
        sets.append(PriorExtrema(ends[0], ends[1]))
    return GroupSummaries(counts.sum(axis=1), counts, tuple(sets))


@examples(100)
@given(
    st.integers(0, 10**6),
    st.integers(0, 12),
    st.integers(0, 12),
    st.sampled_from([("joint", False), ("binary", False), ("binary", True)]),
)
def test_statistics_merge_in_any_tree_to_that_of_the_whole(seed, first, second, form):
    groups, ids = many_groups(np.random.default_rng(seed), 12), np.arange(12)[::-1] * 3
    criterion = RRobustness(2, form[0], ("sex", "age"), unique=form[1])
    cuts = sorted((first, second))
    parts = [slice(0, cuts[0]), slice(cuts[0], cuts[1]), slice(cuts[1], 12)]
    a, b, c = (criterion.summarise(groups.rows(part), ids[part]) for part in parts)
    whole = criterion.summarise(groups, ids)
    assert criterion.merge(criterion.merge(a, b), c) == whole
    assert criterion.merge(c, criterion.merge(b, a)) == whole
    assert all(isinstance(worst, WorstPosterior) for worst in whole)


@examples(100)
@given(st.integers(0, 10**6), levels, st.sampled_from(["joint", "binary"]))
def test_value_status_and_witness_agree(seed, r, model):
    groups = many_groups(np.random.default_rng(seed), 10)
    criterion = RRobustness(r, model, ("sex", "age"))
    allowed, achieved = criterion.allowed(groups), criterion.achieved(groups)
    assert (allowed == (achieved <= criterion.threshold)).all()
    rows = criterion.decide(criterion.summarise(groups, np.arange(10)))
    assert allowed.all() == all(row.ok for row in rows)
    assert max(row.value for row in rows if row.value is not None) == achieved.max()
    for row, (low, high) in zip(rows, groups.priors, strict=True):
        assert row.ok == (row.value <= row.threshold)
        bound = joint_swap_bound if model == "joint" else binary_swap_bound
        found = bound(groups.sizes, groups.counts, low, high)
        assert found[row.witness["group"], row.witness["value"]] == pytest.approx(row.value, rel=1e-12)
    assert (allowed <= relaxed(r).allowed(groups)).all()
