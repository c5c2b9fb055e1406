"""Whatever the fragment: groups satisfy the condition, nothing is lost, and order does not matter."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.partition.art import anatomy, pack
from ppdp_spark.core.partition.art.condition import PlaceablePeople, Rules, Tally, allowed, compatible
from ppdp_spark.core.partition.art.deal import most_groups

PRIORS = st.sampled_from([0.0, 0.05, 0.1, 0.11, 0.12, 0.2, 0.21, 0.25, 0.5, 0.9, 1.0])
RS = st.sampled_from([1.1, 1.5, 2.0, 2.5, 3.0, 3.0000001, 4.0])
MODELS = st.sampled_from(["joint", "binary"])


@st.composite
def fragments(draw):
    """Values, classes, priors, codes and the number of values, with many equal and near-equal priors."""
    width, classes, sets = draw(st.integers(1, 7)), draw(st.integers(1, 6)), draw(st.integers(0, 3))
    people = draw(st.integers(0, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    near = draw(st.booleans())
    priors = []
    for _ in range(sets):
        if near:
            table = 0.3 * np.exp(
                rng.normal(0, draw(st.sampled_from([0.0, 0.02, 0.1, 0.3])), (classes, width))
            )
        else:
            table = np.array([[draw(PRIORS) for _ in range(width)] for _ in range(classes)])
        priors.append(np.clip(table, 0, 1))
    values = rng.integers(0, width, people).astype(np.int32)
    codes = rng.integers(0, 4, (people, draw(st.integers(0, 3)))).astype(np.int32)
    return values, rng.integers(0, classes, people).astype(np.int32), tuple(priors), codes, width


def joint_truth(members, values, classes, priors, r):
    """The swap bound in rational arithmetic, straight from its definition."""
    counts = Counter(int(values[i]) for i in members)
    for table in priors or [np.ones((int(classes.max()) + 1, int(values.max()) + 1))]:
        ratios = {}
        for y in counts:
            seen = [Fraction(float(table[classes[i], y])) for i in members]
            ratios[y] = min(seen) / max(seen) if max(seen) else Fraction(0)
        for x, c in counts.items():
            others = ratios[x] * sum(counts[y] * ratios[y] for y in counts if y != x)
            if Fraction(c) * Fraction(r) > c + others:
                return False
    return True


def binary_truth(members, values, classes, priors, r):
    """Each value once, and the largest posterior odds_v / Σ odds of the worst case, in rationals.

    The worst case of Theorem 1 has one person at the largest prior and N − 1 at the smallest one.
    """
    size, counts = len(members), Counter(int(values[i]) for i in members)
    if max(counts.values()) > 1 or size < Fraction(r):
        return False
    for table in priors:
        for x in counts:
            seen = [Fraction(float(table[classes[i], x])) for i in members]
            low, high = min(seen), max(seen)
            if low == high:
                continue
            if high == 1:
                return False
            top, rest = high / (1 - high), low / (1 - low)
            if top * Fraction(r) > top + (size - 1) * rest:
                return False
    return True


def members_of(packing):
    return [np.flatnonzero(packing.groups == g) for g in range(packing.count)]


@settings(max_examples=250, deadline=None)
@given(fragments(), RS, MODELS, st.integers(1, 5))
def test_groups_satisfy_the_condition_and_nobody_is_lost(fragment, r, model, smallest):
    values, classes, priors, codes, width = fragment
    packing = pack(values, classes, priors, codes, width=width, r=r, model=model, smallest=smallest)
    assert packing.groups.shape == values.shape and packing.groups.dtype == np.int32
    assert set(packing.groups[packing.groups >= 0]) == set(range(packing.count))
    assert packing.groups.min(initial=-1) >= -1
    truth = joint_truth if model == "joint" else binary_truth
    for members in members_of(packing):
        assert len(members) >= max(r, smallest)
        assert truth(members, values, classes, priors, r)


@settings(max_examples=60, deadline=None)
@given(fragments(), RS, MODELS, st.integers(1, 5), st.integers(0, 2**32))
def test_groups_satisfy_it_for_protected_values_where_others_fill_them(fragment, r, model, smallest, seed):
    """Against all worlds' bounds in rationals; people with an unprotected value may repeat in a group."""
    values, classes, priors, codes, width = fragment
    mask = np.random.default_rng(seed).random(width) < 0.5
    how = {"width": width, "r": r, "model": model, "smallest": smallest, "protected": mask.tolist()}
    packing = pack(values, classes, priors, codes, **how)
    for members in members_of(packing):
        assert len(members) >= max(r, smallest)
        assert protected_truth(members, values, classes, priors, Fraction(r), model, mask)
    rows = np.random.default_rng(seed).permutation(len(values))
    shuffled = (values[rows], classes[rows], priors, codes[rows])
    again = pack(*shuffled, **how)
    assert contents(packing, values, classes, priors, codes) == contents(again, *shuffled)


def protected_truth(members, values, classes, priors, r, model, mask):
    """The bound of each protected value of the group: unprotected ones count as people and in worlds."""
    size, counts = len(members), Counter(int(values[i]) for i in members)
    own = [x for x in counts if mask[x]]
    if model == "binary":
        return all(
            counts[x] == 1 and size >= r and binary_bound(table, members, classes, x) * r <= 1
            for x in own
            for table in priors or [np.full((int(classes.max()) + 1, len(mask)), 0.5)]
        )
    for table in priors or [np.ones((int(classes.max()) + 1, len(mask)))]:
        ratios = {}
        for y in counts:
            seen = [Fraction(float(table[classes[i], y])) for i in members]
            ratios[y] = min(seen) / max(seen) if max(seen) else Fraction(0)
        for x in own:
            others = sum(counts[y] * ratios[y] for y in counts if y != x)
            if counts[x] * r > counts[x] + ratios[x] * others:
                return False
    return True


def binary_bound(table, members, classes, value):
    """The posterior of one person at the largest prior, all others at the smallest one."""
    seen = [Fraction(float(table[classes[i], value])) for i in members]
    low, high = min(seen), max(seen)
    if low == high:
        return Fraction(1, len(members))
    if high == 1:
        return Fraction(1)
    top, rest = high / (1 - high), low / (1 - low)
    return top / (top + (len(members) - 1) * rest)


def test_a_frequent_value_that_needs_no_protection_leaves_nobody_without_a_place():
    values = np.array([0] * 30 + [1] * 3 + [2] * 3, np.int32)
    alike, codes = [np.full((1, 3), 1 / 3)], np.zeros((36, 1), np.int32)
    classes = np.zeros(36, np.int32)
    some = pack(values, classes, alike, codes, width=3, r=3, protected=[False, True, True])
    every = pack(values, classes, alike, codes, width=3, r=3)
    assert some.unplaced == 0 and every.unplaced > 20


def contents(packing, values, classes, priors, codes):
    """Each group as the multiset of its rows, classes told by their priors; unplaced rows last."""

    def row(i):
        known = tuple(tuple(table[classes[i]]) for table in priors)
        return int(values[i]), known, tuple(codes[i].tolist())

    return [Counter(row(i) for i in np.flatnonzero(packing.groups == g)) for g in (*range(packing.count), -1)]


@settings(max_examples=150, deadline=None)
@given(fragments(), RS, MODELS, st.integers(0, 2**32))
def test_neither_the_order_of_rows_nor_the_names_of_classes_matter(fragment, r, model, seed):
    values, classes, priors, codes, width = fragment
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(values))
    known = len(priors[0]) if priors else int(classes.max(initial=0)) + 1
    names = rng.permutation(known)
    renamed = tuple(table[np.argsort(names)] for table in priors)
    how = {"width": width, "r": r, "model": model}
    first = pack(values, classes, priors, codes, **how)
    shuffled = (values[rows], names[classes[rows]].astype(np.int32), renamed, codes[rows])
    second = pack(*shuffled, **how)
    assert contents(first, values, classes, priors, codes) == contents(second, *shuffled)


@settings(max_examples=300, deadline=None)
@given(fragments(), RS, MODELS)
def test_the_compiled_condition_is_never_laxer_than_the_truth(fragment, r, model):
    values, classes, priors, _, _ = fragment
    if not len(values) or not priors:
        return
    offsets = np.cumsum([0, *(len(table) for table in priors[:-1])])
    people = PlaceablePeople(values, (classes[:, None] + offsets).astype(np.int32), classes, values)
    rules = Rules(r, model == "joint", np.concatenate(priors), np.ones(priors[0].shape[1], np.bool_))
    truth = joint_truth if model == "joint" else binary_truth
    for size in range(1, min(len(values), 8) + 1):
        members = np.arange(size, dtype=np.int32)
        contradicted = any(table[classes[i], values[i]] == 0 for table in priors for i in members)
        if allowed(rules, people, members, Tally.of(size)):
            assert not contradicted
            assert truth(members, values, classes, priors, r)
            for other in members[1:]:
                assert compatible(rules, people, 0, int(other), size)
        elif truth(members, values, classes, priors, r * (1 + 1e-9)):
            assert contradicted or size < r * (1 + 1e-9) or len(set(values[:size])) == 1


@given(st.lists(st.integers(1, 12), min_size=1, max_size=8), st.integers(1, 6))
def test_no_more_groups_of_distinct_values_exist(counts, size):
    def supplies(groups):
        return sum(min(count, groups) for count in counts) >= size * groups

    truth = max(g for g in range(sum(counts) + 1) if supplies(g))
    assert most_groups(np.array(counts), size) == truth


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=40), st.integers(1, 5), st.integers(0, 2**32))
def test_anatomy_leaves_as_few_as_possible(values, l, seed):
    values = np.array(values, np.int32)
    packing = anatomy(values, 7, l, np.random.default_rng(seed).permutation(len(values)))
    counts = np.bincount(values, minlength=7)
    for members in members_of(packing):
        assert len(members) >= l == len(members) or len(members) > l
        assert len(set(values[members])) == len(members)
    assert packing.unplaced == len(values) - np.minimum(counts, packing.count).sum()
    if len(values) and counts.max() * l <= len(values):
        assert packing.unplaced == 0


@pytest.mark.parametrize("model", ["joint", "binary"])
@pytest.mark.parametrize("strength", [0.05, 0.3, 1.0])
def test_a_mixed_fragment_recomputed(model, strength):
    """Hundreds of people in classes of about four: mixed groups, growth and repeats all happen."""
    rng = np.random.default_rng(7)
    width, people, r = 8, 800, 2.5
    priors = tuple(
        (lambda t: t / t.sum(axis=1, keepdims=True))(np.exp(rng.normal(0, strength, (200, width))))
        for _ in range(2)
    )
    classes = rng.integers(0, 200, people).astype(np.int32)
    values = rng.choice(width, people, p=[0.3, 0.2, *[0.5 / 6] * 6]).astype(np.int32)
    codes = rng.integers(0, 9, (people, 2)).astype(np.int32)
    packing = pack(values, classes, priors, codes, width=width, r=r, model=model)
    mixed = [m for m in members_of(packing) if len(set(classes[m])) > 1]
    truth = joint_truth if model == "joint" else binary_truth
    assert mixed
    assert all(truth(members, values, classes, priors, r) for members in members_of(packing))
