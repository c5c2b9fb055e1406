"""Special cases of the skyline, examples of the paper, and witnesses."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria.skyline import (
    LocalSkyline,
    Point,
    SkylineCriterion,
    Target,
)
from support.core.skyline_releases import criterion, release, verdict

# --- published special cases ------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("sizes", [(2, 6), (3, 3), (5, 5), (4, 9), (1, 8)])
def test_k_anonymity_is_the_point_0_k2_0_with_unique_values(k, sizes):
    """[Skyline, Prop 3]: everyone's sensitive value is their own."""
    people = sum(sizes)
    counts = np.zeros((len(sizes), people), dtype=int)
    start = 0
    for g, size in enumerate(sizes):
        counts[g, start : start + size] = 1
        start += size
    targets = tuple(Target(v, str(v), Point(0, k - 2, 0, 1.0)) for v in range(people))
    local, whole = LocalSkyline("svpi", targets), SkylineCriterion("svpi", targets)
    assert local.allowed(release(*counts)).tolist() == [size >= k for size in sizes]
    rows = whole.decide(whole.summarise(release(*counts), np.arange(len(sizes))))
    assert all(row.ok for row in rows) == (min(sizes) >= k)


def is_recursively_diverse(counts, c, ell):
    """r₁ < c (r_ℓ + … + r_m), by the definition of (c,ℓ)-diversity."""
    ranked = sorted((x for x in counts if x), reverse=True)
    return ranked[0] < c * sum(ranked[ell - 1 :])


@pytest.mark.parametrize("ell", [2, 3, 4])
@pytest.mark.parametrize("c", [Fraction(1, 2), 1, 2, 3, 4, 6])
def test_recursive_diversity_is_the_point_ell2_0_0_with_confidence_c_over_c_plus_1(c, ell):
    """[Skyline, Prop 4]; many of these groups are exactly on the boundary."""
    grid = [row for row in np.ndindex(7, 4, 4, 3, 3) if sum(row)]
    targets = tuple(Target(v, str(v), Point(ell - 2, 0, 0, float(Fraction(c) / (c + 1)))) for v in range(5))
    allowed = LocalSkyline("svpi", targets).allowed(release(*grid))
    assert allowed.tolist() == [is_recursively_diverse(row, c, ell) for row in grid]


def test_examples_of_the_paper():
    flu = release([1, 4])
    assert verdict("svpi", (0, 0, 0), flu).value == pytest.approx(0.2)
    assert verdict("svpi", (0, 4, 0), flu).value == 1.0
    hospital = release([1, 1, 2])
    assert verdict("svpi", (0, 0, 0), hospital).value == pytest.approx(1 / 4)
    assert verdict("svpi", (1, 0, 0), hospital).value == pytest.approx(1 / 2)


# --- verdict rows and witnesses ---------------------------------------------------------------------


def test_the_witness_of_a_single_group():
    groups = release([3, 30, 5, 9], [2, 400, 400, 300])
    row = verdict("svpi", (2, 4, 1), groups, c=0.9)
    assert row.level == "σ = σ, (ℓ, k, m) = (2, 4, 1)"
    assert (row.relation, row.threshold, row.groups, row.violations) == ("<", 0.9, 2, 0)
    expected = (47 - 3 - 39 - 4) / 3 * (47 - 3 - 5) / (47 - 5)
    assert row.witness["negated_ratio"] == pytest.approx(expected)
    assert row.value == pytest.approx(1 / (1 + expected))
    assert row.witness["margin"] == pytest.approx(0.9 - row.value)
    assert row.witness["product"] == "SS1"
    assert (row.witness["group"], row.witness["group_people"], row.witness["group_occurrences"]) == (0, 47, 3)
    assert row.witness["excluded_values"] == [1, 3]
    assert row.witness["known_people"] == {"group": 0, "people": 4}
    assert row.witness["family"] == {"group": 0, "people": 1}
    assert json.dumps(row.to_dict())


@pytest.mark.parametrize(
    ("amounts", "product", "known_people", "place", "family"),
    [
        ((1, 1, 6), "SS2·SS5", 9, [10, 70, 10, 1], [4, 6, 5, 6]),
        ((1, 1, 6), "SS3·SS4", 4, [1, 42, 0, 2], [6, 10, 9, 11]),
        ((1, 8, 2), "SS3·SS4", 4, [2, 70, 5, 4], [10, 9, 11, 10]),
    ],
)
def test_the_witness_names_the_product_and_where_the_people_are(
    amounts, product, known_people, place, family
):
    """Group 4 is best for the target, most of whose people have one value; group 9 for the family."""
    check = criterion("svpi", amounts, c=0.9)
    row = check.decide(check.summarise(release(place, family), np.array([4, 9])))[0]
    _, k, m = amounts
    assert row.witness["product"] == product
    assert (row.witness["group"], row.witness["excluded_values"]) == (4, [1])
    assert (row.witness["group_people"], row.witness["group_occurrences"]) == (sum(place), place[0])
    assert row.witness["known_people"] == {"group": known_people, "people": k}
    assert row.witness["family"] == {"group": 9, "people": m}
    left, right = (0, k) if known_people == 9 else (k, 0)
    exact = Fraction(sum(place) - place[0] - place[1] - left, place[0])
    for i in range(m):
        exact *= Fraction(sum(family) - family[0] - right - i, sum(family) - right - i)
    assert row.value == pytest.approx(float(1 / (1 + exact)), rel=1e-13)


def test_ties_go_to_the_smallest_id():
    check = criterion("svpi", (0, 0, 1))
    same = release([1, 5], [1, 5], [1, 5])
    assert (check.summarise(same, np.array([9, 4, 6])).ids == 4).all()
    parts = [check.summarise(same.rows([i]), np.array([i_d])) for i, i_d in enumerate((9, 4, 6))]
    assert (check.merge(check.merge(parts[0], parts[1]), parts[2]).ids == 4).all()


def test_merging_with_a_part_that_lacks_the_value_keeps_the_witness():
    check = criterion("svpi", (0, 0, 0))
    held, lacking = (check.summarise(release(row), np.array([i])) for i, row in ((5, [1, 5]), (2, [0, 5])))
    for merged in (check.merge(held, lacking), check.merge(lacking, held)):
        assert merged.ids.tolist() == [[5] * 5]
        assert check.decide(merged)[0].groups == 2
