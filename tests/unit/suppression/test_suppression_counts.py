"""Suppression on counts: golden vectors, a literal record-by-record version, edges."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

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
    violations,
)
from ppdp_spark.errors import DataError, InfeasibleError, SpecError
from support.core.literal_suppression import PAPER, intervals, literal
from support.places import golden

GOLDEN = golden("suppression")


def some_h(counts, l, level):
    return next(h for h, low, high in intervals(counts, l) if low <= level <= high)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: f"l{c['l']}m{len(c['counts'])}n{sum(c['counts'])}")
def test_golden(case):
    counts, l = case["counts"], case["l"]
    assert unsafe_d(counts, l).kept.tolist() == case["unsafe_d"]
    assert safe_d(counts, l).kept.tolist() == case["safe_d"]
    for level, kept in case["r_by_step1_level"]:
        assert after_level(counts, l, some_h(counts, l, level), level).kept.tolist() == kept
    expected = expected_suppression(counts, l)
    assert expected.exact
    assert float(expected.value) == pytest.approx(case["r_expected_suppressed"], rel=1e-12)


def test_paper_examples():
    assert unsafe_d(PAPER, 3).kept.tolist() == [4, 4, 2, 1, 1]
    assert unsafe_d(PAPER, 3).suppressed == 6
    assert safe_d(PAPER, 3).kept.tolist() == [2, 2, 2, 1, 1]
    assert safe_d(PAPER, 3).suppressed == 10
    example = after_level(PAPER, 3, 2, 3)
    assert example.kept.tolist() == [3, 3, 2, 1, 1]
    assert (example.suppressed, example.published, example.rate) == (8, 10, 8 / 18)


def test_identical_to_the_literal_algorithm_on_thousands_of_vectors():
    rng = random.Random(20)
    compared = 0
    while compared < 6000:
        m = rng.randint(2, 8)
        l = rng.randint(2, m)
        counts = [rng.randint(0, rng.choice([2, 5, 15])) for _ in range(m)]
        if max(counts) * l <= sum(counts) or sum(c > 0 for c in counts) < l:
            continue
        assert unsafe_d(counts, l).kept.tolist() == literal(counts, l)
        lth = sorted(counts, reverse=True)[l - 1]
        assert safe_d(counts, l).kept.tolist() == literal(counts, l, stop_level=lth)
        for h, low, high in intervals(counts, l):
            level = rng.randint(low, high)
            assert after_level(counts, l, h, level).kept.tolist() == literal(counts, l, level)
            compared += 1


def test_tied_values_lose_records_by_their_rank_in_the_base_table():
    """STEP-1 ties S_1 with the second value; D-suppression stops inside that level."""
    result = after_level([2, 1, 3, 1, 1], 3, 1, 2)
    assert result.kept.tolist() == [1, 1, 2, 1, 1]
    assert literal([2, 1, 3, 1, 1], 3, level=2) == [1, 1, 2, 1, 1]
    assert unsafe_d([3, 3, 1, 1], 3).kept.tolist() == literal([3, 3, 1, 1], 3)


def test_callers_order_does_not_matter_but_for_ties():
    counts = np.array([2, 1, 10, 1, 4])
    order = [2, 4, 0, 1, 3]
    for h, low, high in intervals(counts.tolist(), 3):
        for level in range(low, high + 1):
            assert (
                after_level(counts, 3, h, level).kept[order].tolist()
                == after_level(PAPER, 3, h, level).kept.tolist()
            )


@pytest.mark.parametrize("method", [unsafe_d, safe_d, r_suppress])
@pytest.mark.parametrize(
    ("counts", "l"),
    [([], 3), ([0, 0], 2), ([7], 1), ([9, 1], 1), ([5, 5, 5], 3), ([2, 2, 1], 2), ([3, 0, 3], 2)],
)
def test_eligible_data_passes_untouched(method, counts, l):
    assert is_eligible(counts, l)
    result = method(counts, l)
    assert result.kept.tolist() == counts
    assert result.suppressed == 0
    assert result.rate == 0.0
    assert expected_suppression(counts, l).value == 0
    assert outcome_distribution(counts, l) == {tuple(counts): 1}


@pytest.mark.parametrize("method", [unsafe_d, safe_d, r_suppress, outcome_distribution, expected_suppression])
@pytest.mark.parametrize(("counts", "l"), [([5], 2), ([5, 4], 3), ([5, 4, 0, 0], 3)])
def test_more_than_the_number_of_values_is_infeasible(method, counts, l):
    assert not is_eligible(counts, l)
    with pytest.raises(InfeasibleError, match=rf"`l` \({l}\) must be at most"):
        method(counts, l)


def test_l_equal_to_the_number_of_values_may_suppress_everything():
    outcomes = outcome_distribution([6, 2], 2)
    assert outcomes[(0, 0)] == Fraction(1, 2) * Fraction(1, 3)
    assert outcomes[(2, 2)] == Fraction(1, 2) + Fraction(1, 2) * Fraction(1, 3)
    assert after_level([6, 2], 2, 2, 0).rate == 1.0


@pytest.mark.parametrize("l", [0, -1, 2.0, "3", True, None])
def test_a_wrong_l_is_a_spec_error(l):
    with pytest.raises(SpecError, match="`l`"):
        r_suppress(PAPER, l)


@pytest.mark.parametrize(
    "counts", [[1.0, 2.0], [3, -1], [[1, 2]], np.array([2**63], dtype=np.uint64), [2**70, 1], [True, False]]
)
def test_wrong_counts_are_a_data_error(counts):
    with pytest.raises(DataError, match="`counts`"):
        unsafe_d(counts, 2)


@pytest.mark.parametrize(("h", "level"), [(0, 10), (4, 1), (1, 3), (2, 5), (3, 0)])
def test_a_draw_that_step_1_cannot_make_is_refused(h, level):
    with pytest.raises(SpecError):
        after_level(PAPER, 3, h, level)
    with pytest.raises(SpecError, match="violate"):
        after_level([3, 3], 2, 1, 3)


def test_conditions():
    assert not is_p_eligible([5, 4, 2, 1, 1], 3)
    assert is_p_eligible([4, 4, 2, 1, 1], 3)
    assert has_l_candidacy([5, 4, 2, 1, 1], 18, 3)
    assert not has_l_candidacy([6, 4, 2, 1, 1], 18, 3)
    with pytest.raises(DataError, match="`total`"):
        has_l_candidacy([5, 5], 9, 2)


def test_violations_name_ranks_and_excess():
    found = violations([1, 10, 9, 2], 3)
    assert [(v.rank, v.count, v.excess) for v in found] == [(1, 10, 3), (2, 9, 2)]
    assert violations([2, 2], 2) == ()


def test_huge_counts_scale_exactly():
    """Multiplying by 10^12 must not change which level starts are reached, nor overflow."""
    scale = 10**12
    big = [count * scale for count in PAPER]
    assert safe_d(big, 3).kept.tolist() == [2 * scale, 2 * scale, 2 * scale, scale, scale]
    assert unsafe_d(big, 3).kept.tolist() == [4 * scale, 4 * scale, 2 * scale, scale, scale]
    top = 2**63 - 1
    many = np.full(40, 2**60, dtype=np.int64)
    many[7] = top
    result = unsafe_d(many, 9)
    assert result.total == top + 39 * 2**60
    assert result.suppressed == result.total - sum(int(c) for c in result.kept)
    assert is_eligible(result.kept, 9) and has_l_candidacy(result.kept, result.total, 9)
    more = result.kept.copy()
    more[7] += 1
    assert not (is_eligible(more, 9) and has_l_candidacy(more, result.total, 9))
