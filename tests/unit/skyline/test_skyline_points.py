"""Points of a skyline: validation, dominance, and tables that cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from ppdp_spark.core.criteria.skyline import (
    LocalSkyline,
    Point,
    Skyline,
    SkylineCriterion,
    Target,
)
from ppdp_spark.errors import DataError, SpecError
from support.core.skyline_releases import criterion, release, verdict

# --- points and skylines ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amounts", "field"),
    [
        ((-1, 0, 0, 0.5), "l"),
        ((0, 1.0, 0, 0.5), "k"),
        ((0, 0, True, 0.5), "m"),
        ((0, 2**41, 0, 0.5), "k"),
        ((0, 0, 0, 0), "c"),
        ((0, 0, 0, 1.01), "c"),
        ((0, 0, 0, float("nan")), "c"),
        ((0, 0, 0, "1"), "c"),
    ],
)
def test_points_are_validated(amounts, field):
    with pytest.raises(SpecError, match=f"`{field}`"):
        Point(*amounts)


def test_all_problems_of_a_point_are_reported():
    with pytest.raises(SpecError) as error:
        Point(-1, -1, -1, 2)
    assert len(error.value.problems) == 4


def test_dominance():
    point = Point(2, 3, 4, 0.5)
    assert point.dominates(point)
    assert point.dominates(Point(2, 2, 4, 0.6))
    assert not point.dominates(Point(2, 3, 4, 0.4))
    assert not point.dominates(Point(3, 0, 0, 0.5))


def test_a_skyline_has_defaults_and_values_of_their_own():
    default, special = Point(1, 1, 0, 0.5), Point(3, 9, 2, 0.3)
    skyline = Skyline((default,), {1: (special, default), 2: ()})
    targets = skyline.targets(["flu", "HIV", "none"])
    assert [(t.value, t.point) for t in targets] == [(0, default), (1, special), (1, default)]
    assert targets[1].level == "σ = HIV, (ℓ, k, m) = (3, 9, 2)"
    assert skyline.redundant() == ((1, default, special),)
    with pytest.raises(SpecError, match=r"\[5\]"):
        Skyline((default,), {5: (special,)}).targets(["flu"])


def test_of_equal_points_only_the_later_one_is_redundant():
    point = Point(1, 1, 0, 0.5)
    assert Skyline((point, point)).redundant() == ((None, point, point),)
    assert Skyline((point, Point(0, 2, 0, 0.5))).redundant() == ()


# --- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "counts", "people"),
    [
        ("svpi", [1, 2], 4),
        ("mvpi-set", [5, 2], 4),
        ("mvpi-multiset", [-1, 2], 4),
        ("mvpi-multiset", [1, 0], 0),
    ],
)
def test_counts_that_cannot_be_are_an_error(case, counts, people):
    with pytest.raises(DataError, match="1 groups have counts that cannot be in case"):
        verdict(case, (0, 0, 0), release([1, 1], counts, people=[2, people]))


def test_other_errors():
    with pytest.raises(SpecError, match="case"):
        SkylineCriterion("both", (Target(0, "σ", Point(0, 0, 0, 0.5)),))
    with pytest.raises(SpecError, match="at least one point"):
        SkylineCriterion("svpi", ())
    with pytest.raises(DataError, match=r"\[4\]"):
        criterion("svpi", (0, 0, 0), value=4).statistics(release([1, 2]))
    with pytest.raises(DataError, match="2 ids for 1 groups"):
        criterion("svpi", (0, 0, 0)).summarise(release([1, 2]), np.arange(2))
    with pytest.raises(SpecError, match="`m` must be 0"):
        LocalSkyline("svpi", (Target(0, "σ", Point(0, 0, 1, 0.5)),))
