"""Minimal sets of columns that single people out, against counting every set of every small table."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from ppdp_spark.core.discovery.anchors import anchored
from ppdp_spark.core.discovery.crowds import Crowds
from ppdp_spark.core.discovery.fragment_crowds import fragment_crowds
from ppdp_spark.core.discovery.lattice import minimal_sets
from ppdp_spark.core.discovery.short_codes import LONGEST, telling_bits


def literal_crowds(table, columns) -> Counter:
    """How many crowds there are of each size."""
    return Counter(Counter(zip(*(table[:, c].tolist() for c in columns), strict=True)).values())


def literal_minimal(table, needed: int, most: int) -> dict:
    """Every set is counted, and kept if none of its parts is."""
    found = {}
    for size in range(1, most + 1):
        for columns in combinations(range(table.shape[1]), size):
            alone = literal_crowds(table, columns)[1]
            if alone >= needed and not any(set(part) < set(columns) for part in found):
                found[columns] = alone
    return found


def crowds_of(table, columns) -> Crowds:
    sizes = literal_crowds(table, columns)
    return Crowds.of((size.bit_length() - 1, number, number * size) for size, number in sizes.items())


def a_table(rng):
    """Columns of few and many values, skewed ones, copies and functions of others."""
    people, columns = int(rng.integers(1, 60)), int(rng.integers(1, 8))
    parts = []
    for _ in range(columns):
        kind, values = rng.integers(5), int(rng.integers(1, 12))
        if kind == 0 and parts:
            parts.append(parts[int(rng.integers(len(parts)))] // int(rng.integers(1, 4)))
        elif kind == 1:
            parts.append(np.where(rng.random(people) < 0.8, 0, rng.integers(0, people, people)))
        elif kind == 2:
            parts.append(rng.integers(0, people, people))
        else:
            parts.append(rng.integers(0, values, people))
    return np.column_stack(parts)


def dense(table) -> list:
    return [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in table.T]


@pytest.mark.parametrize("seed", range(60))
def test_all_minimal_sets_are_found_with_their_exact_numbers(seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        table = a_table(rng)
        needed, most = int(rng.integers(1, max(2, len(table) // 2))), int(rng.integers(1, 5))
        asked = []

        def count(sets, table=table, asked=asked):
            asked.extend(sets)
            return [crowds_of(table, columns) for columns in sets]

        singles = [crowds_of(table, (c,)) for c in range(table.shape[1])]
        found = minimal_sets(singles, needed=needed, most=most, count=count)
        assert found.people == literal_minimal(table, needed, most)
        assert found.counted == len(asked) == len(set(asked))


@pytest.mark.parametrize("seed", range(20))
def test_one_more_column_is_bounded_from_both_sides(seed):
    rng = np.random.default_rng(seed)
    table = a_table(rng)
    places = range(table.shape[1])
    for columns in (c for size in (1, 2) for c in combinations(places, size)):
        before = crowds_of(table, columns)
        assert before.everybody == len(table)
        for more in set(places) - set(columns):
            after, values = crowds_of(table, (*columns, more)), crowds_of(table, (more,)).number
            assert before.number <= after.number <= before.most_crowds(values)
            assert before.alone <= after.alone <= before.most_alone(values)


def test_bounds_are_reached():
    """Of four people with two values one can be alone, and there are two crowds."""
    four = crowds_of(np.zeros((4, 1), int), (0,))
    assert (four.most_alone(2), four.most_alone(4), four.most_alone(1)) == (1, 4, 0)
    assert four.most_crowds(2) == 2
    pairs = crowds_of(np.repeat(np.arange(5), 2)[:, None], (0,))
    assert (pairs.most_alone(2), pairs.most_alone(1), pairs.most_crowds(9)) == (10, 0, 10)


def test_bounds_spare_most_counts():
    """Forty columns of two values cannot tell a thousand people apart by fours, nor can copies help."""
    rng = np.random.default_rng(1)
    many = rng.integers(0, 300, 1000)
    table = np.column_stack([*(rng.integers(0, 2, (40, 1000))), many, many])
    singles = [crowds_of(table, (c,)) for c in range(42)]
    asked = []

    def count(sets):
        asked.extend(sets)
        return [crowds_of(table, columns) for columns in sets]

    found = minimal_sets(singles, needed=700, most=3, count=count)
    assert found.people == {} and found.spared > 9_000
    assert all(len(set(columns) & {40, 41}) == 1 or len(columns) == 2 for columns in asked)


@pytest.mark.parametrize("seed", range(20))
def test_crowds_of_a_fragment(seed):
    rng = np.random.default_rng(seed)
    table = a_table(rng)
    sets = [c for size in (1, 2, 3) for c in combinations(range(table.shape[1]), size)]
    for asked in (sets, list(rng.permutation(np.array(sets, object)))):
        found = fragment_crowds(dense(table), [tuple(columns) for columns in asked])
        for columns, counted in zip(asked, found, strict=True):
            expected = crowds_of(table, columns)
            assert counted.T.tolist() == [list(expected.crowds), list(expected.people)]


def test_every_set_has_an_anchor_unless_all_of_its_columns_are_too_heavy():
    sets = list(combinations(range(6), 3))
    heaviest = [10, 900, 5, 2000, 2000, 2000]
    plan = anchored(sets, heaviest, fragment=100, most=1000)
    assert plan.others == [(3, 4, 5)]
    assert set(plan.by_anchor) <= {0, 1, 2}
    placed = [columns for held in plan.by_anchor.values() for columns in held]
    assert sorted([*placed, *plan.others]) == sets
    assert all(anchor in columns for anchor, held in plan.by_anchor.items() for columns in held)
    assert anchored(sets, [2000] * 6, fragment=100, most=1000).others == sets


def test_short_codes_tell_values_apart():
    rng = np.random.default_rng(5)
    for number in (1, 2, 3, 100, 5_000):
        hashes = rng.integers(-(2**63), 2**63 - 1, number)
        bits = telling_bits(hashes)
        codes = (hashes >> bits.shift) & ((1 << bits.length) - 1)
        assert len(set(codes.tolist())) == number and codes.min() >= 0
        assert bits.length <= 2 * max(2, number).bit_length() + 1 and bits.shift + bits.length <= 64
    assert telling_bits(np.array([7, 9, 7])) is None
    assert telling_bits(np.array([0, -(2**63)])).length <= LONGEST
