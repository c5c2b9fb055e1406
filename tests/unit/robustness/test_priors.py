"""Priors of people in one task: signatures matched, classes, extrema of groups."""

from __future__ import annotations

import numpy as np
import pytest

from ppdp_spark.core.criteria.robustness import priors as module
from ppdp_spark.core.criteria.robustness.priors import PeoplePriors, matched, prior_table


def some_priors(people, seed):
    rng = np.random.default_rng(seed)
    tables = tuple(rng.dirichlet(np.ones(4), size=n) for n in (3, 5))
    rows = tuple(rng.integers(0, len(table), people).astype(np.int32) for table in tables)
    return PeoplePriors(rows, tables), rng.integers(0, 4, people).astype(np.int32)


@pytest.mark.parametrize("cells", [1, 100, 1 << 23])
def test_extrema_are_those_of_the_people(monkeypatch, cells):
    monkeypatch.setattr(module, "COUNT_CELLS", cells)
    priors, values = some_priors(60, 5)
    bounds = np.array([0, 1, 9, 30, 60])
    seen = 0
    for part, groups in priors.summaries(values, 4, bounds[:-1], bounds[1:]):
        for g, (start, end) in enumerate(zip(bounds[:-1][part], bounds[1:][part], strict=True)):
            seen += 1
            counts = np.bincount(values[start:end], minlength=4)
            np.testing.assert_array_equal(groups.counts[g], counts)
            for rows, table, extrema in zip(priors.rows, priors.tables, groups.priors, strict=True):
                own = table[rows[start:end]]
                present = counts > 0
                np.testing.assert_array_equal(extrema.minimum[g][present], own.min(axis=0)[present])
                np.testing.assert_array_equal(extrema.maximum[g][present], own.max(axis=0)[present])
    assert seen == 4


def test_classes_have_the_priors_of_their_people():
    priors, _ = some_priors(200, 2)
    classes, tables = priors.classes()
    for rows, own, table in zip(priors.rows, priors.tables, tables, strict=True):
        np.testing.assert_array_equal(table[classes], own[rows])
    assert len(tables[0]) == len({*zip(*priors.rows, strict=True)})


def test_matched_finds_equal_rows_only():
    rng = np.random.default_rng(0)
    known = np.unique(rng.integers(-(2**60), 2**60, (50, 3)), axis=0)
    keys = np.concatenate([known[::-1], known[:3] + 1])
    np.testing.assert_array_equal(matched(keys, known), [*range(len(known))[::-1], -1, -1, -1])


def test_matched_without_keys_or_known():
    assert matched(np.zeros((0, 2), int), np.zeros((0, 2), int)).tolist() == []
    assert matched(np.zeros((2, 1), int), np.zeros((0, 1), int)).tolist() == [-1, -1]


def test_prior_table_fills_what_is_not_listed_with_zero():
    table = prior_table(np.array([2, 0, 1]), np.array([0.5, 0.5, 1.0]), np.array([0, 2, 3]), 4)
    np.testing.assert_array_equal(table, [[0.5, 0, 0.5, 0], [0, 1, 0, 0]])
