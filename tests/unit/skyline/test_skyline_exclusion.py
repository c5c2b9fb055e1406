"""The values that an adversary excludes, for every value, of however many."""

from __future__ import annotations

import numpy as np
import pytest

from ppdp_spark.core.criteria.skyline import (
    Point,
    SkylineCriterion,
    Target,
)
from ppdp_spark.core.criteria.skyline import batches as batches_module
from ppdp_spark.core.data.groups import GroupSummaries
from support.core.skyline_releases import release, verdict

# --- ℓ, values, sizes -------------------------------------------------------------------------------


def plain_exclusion(counts, value, ell):
    return sum(sorted((x for v, x in enumerate(counts) if v != value), reverse=True)[:ell])


@pytest.mark.parametrize("ell", [0, 1, 2, 7, 47, 48, 60, 98, 99, 100, 5000])
def test_excluded_values_are_the_most_frequent_others_for_every_value(ell):
    rng = np.random.default_rng(ell)
    counts = rng.integers(0, 6, (40, 100))
    targets = tuple(Target(v, str(v), Point(ell, 0, 0, 0.5)) for v in range(100))
    found = SkylineCriterion("svpi", targets).statistics(release(*counts))[:, :, 1]
    for g, row in enumerate(counts.tolist()):
        for v, s in enumerate(row):
            left = sum(row) - s - plain_exclusion(row, v, ell)
            assert found[g, v] == (left / s if s else np.inf)


def test_ell_beyond_the_number_of_values_excludes_them_all():
    assert verdict("svpi", (50, 0, 0), release([3, 4, 5]), c=1.0).value == 1.0
    far, all_of_them = (
        verdict(c, (x, 0, 0), release([3, 4, 5], people=[20])).value for c in ("mvpi-set",) for x in (50, 2)
    )
    assert far == all_of_them < 1


def test_a_single_value_is_always_disclosed():
    assert verdict("svpi", (0, 0, 0), release([7]), c=1.0).value == 1.0


def test_ten_thousand_values():
    rng = np.random.default_rng(5)
    counts = rng.poisson(0.05, (60, 10_000))
    counts[:, 0] += 1
    targets = tuple(Target(v, str(v), Point(3, 1, 2, 0.9)) for v in range(10_000))
    check = SkylineCriterion("svpi", targets)
    found = check.summarise(release(*counts), np.arange(60))
    assert len(check.decide(found)) == 10_000
    for v in (0, 1, 77, 9999):
        rows = [r for r in counts.tolist() if r[v]]
        exact = [(sum(r) - r[v] - plain_exclusion(r, v, 3) - 1) / r[v] for r in rows]
        assert found.minima[v, 2] == pytest.approx(min(exact, default=np.inf), rel=1e-13)


def test_dtypes_layouts_and_batches_do_not_matter(monkeypatch):
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 9, (500, 6))
    targets = tuple(Target(v, str(v), Point(2, 1, 2, 0.9)) for v in range(6))
    check, ids = SkylineCriterion("svpi", targets), rng.permutation(500)
    whole = check.summarise(release(*counts), ids)
    monkeypatch.setattr(batches_module, "CELLS_AT_ONCE", 60)
    for variant in (counts.astype(np.uint16), np.asfortranarray(counts), counts.astype(np.int32)[:, ::1]):
        again = check.summarise(GroupSummaries(counts.sum(axis=1), variant), ids)
        for name in ("minima", "ids", "people", "occurrences", "values"):
            assert np.array_equal(getattr(whole, name), getattr(again, name)), name
