"""Suppression on counts: golden vectors, a literal record-by-record version, edges, the law of STEP-1."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from ppdp_spark.core.suppression.r import (
    after_level,
    expected_suppression,
    has_l_candidacy,
    is_eligible,
    is_p_eligible,
    outcome_distribution,
    r_suppress,
    safe_d,
    secret_rng,
    unsafe_d,
    violations,
)
from ppdp_spark.errors import DataError, InfeasibleError, SpecError
from support.places import golden
from support.steps import lines_run

GOLDEN = golden("suppression")
PAPER = [10, 4, 2, 1, 1]


def literal(counts, l, level=None, stop_level=None):
    """[Skewed, Fig 2 and 3] one record at a time, on a list of records."""
    rank = sorted(range(len(counts)), key=lambda v: (-counts[v], v))
    records = [value for value, count in enumerate(counts) for _ in range(count)]
    kept = Counter(records)
    if level is not None:
        while kept[rank[0]] > level:
            kept[rank[0]] -= 1

    def stopped():
        ordered = sorted((kept[v] for v in rank), reverse=True)
        if stop_level is not None:
            return ordered[0] == stop_level
        gone = len(records) - sum(ordered)
        eligible = Fraction(ordered[0]) <= Fraction(sum(ordered), l)
        return eligible and ordered[l - 1] + gone > Fraction(len(records), l)

    while not stopped():
        top = max(kept.values())
        lowest = max((v for v in rank if kept[v] == top), key=rank.index)
        kept[lowest] -= 1
    return [kept[v] for v in range(len(counts))]


def intervals(counts, l):
    ordered = [*sorted(counts, reverse=True), 0]
    return [(h, ordered[h], ordered[h - 1]) for h in range(1, l + 1)]


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


def of_many_values(m):
    """Skewed counts of m values, 1,050 times as many records."""
    counts = np.random.default_rng(0).integers(1, 1500, m)
    counts[m // 8] = 300 * m
    return counts


@pytest.mark.parametrize("method", [unsafe_d, safe_d, r_suppress])
def test_a_million_values_are_searched_and_never_stepped_through(method):
    """A billion records: few lines of Python, and as many arrays as for a hundred values."""
    counts = of_many_values(10**6)
    assert counts.sum() > 10**9
    found = []
    assert lines_run(lambda: found.append(method(counts, 6))) < 1_000
    assert lines_run(lambda: method(of_many_values(100), 6)) > 50
    tracemalloc.start()
    method(counts, 6)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 12 * counts.nbytes
    (result,) = found
    assert is_eligible(result.kept, 6) and has_l_candidacy(result.kept, result.total, 6)


def test_expected_suppression_of_many_levels_is_bracketed():
    counts = [1800, 800, 420, 180, 170, 140]
    exact = expected_suppression(counts, 4)
    assert exact.exact
    coarse = expected_suppression(counts, 4, nodes=20)
    assert not coarse.exact
    assert abs(coarse.value - exact.value) <= coarse.error < 30
    outcomes = outcome_distribution(counts, 4)
    assert sum(p * (sum(counts) - sum(kept)) for kept, p in outcomes.items()) == exact.value
    huge = expected_suppression([count * 10**12 for count in counts], 4, nodes=300)
    assert abs(huge.value / 10**12 - exact.value) <= huge.error / 10**12 + 2
    with pytest.raises(SpecError, match="`limit`"):
        outcome_distribution([count * 10**12 for count in counts], 4)


def test_expectation_where_every_draw_ends_in_unsafe_d():
    expected = expected_suppression([1, 1, 3], 2)
    assert (expected.value, expected.exact) == (unsafe_d([1, 1, 3], 2).suppressed, True)
    assert outcome_distribution([1, 1, 3], 2) == {(1, 1, 1): 1}


def test_huge_totals_of_the_less_frequent_values():
    """What goes from ranks 2..m alone exceeds 2**63."""
    counts = [2**63 - 1, *[2**62] * 10, *[2**40 + i for i in range(30)]]
    result = unsafe_d(np.array(counts), 20)
    level = int(result.kept.max())
    assert result.kept.tolist() == [min(c, level) for c in counts]
    assert sum(result.removed[1:].tolist()) > 2**63
    assert level * 20 <= sum(min(c, level) for c in counts)
    assert (level + 1) * 20 > sum(min(c, level + 1) for c in counts)
    assert result.suppressed == sum(result.removed.tolist())


def test_outcome_distribution_against_all_draws():
    rng = random.Random(3)
    for _ in range(60):
        counts = [rng.randint(1, 15) for _ in range(5)]
        counts[rng.randrange(5)] += 15
        expected: Counter = Counter()
        for _h, low, high in intervals(counts, 3):
            for level in range(low, high + 1):
                expected[tuple(literal(counts, 3, level))] += Fraction(1, 3 * (high - low + 1))
        if not is_eligible(counts, 3):
            assert outcome_distribution(counts, 3) == dict(expected)


class Recorder(random.Random):
    """Notes what STEP-1 draws."""

    def __init__(self, seed):
        self.drawn = []
        super().__init__(seed)

    def randrange(self, start, stop=None, step=1):
        value = super().randrange(start, stop, step)
        self.drawn.append(value)
        return value


def draws_p_value(draw, counts, l, size):
    """Chi-square p-value of `size` draws of (h, F) against 1/l times uniform on [F_{h+1}, F_h]."""
    seen = Counter(draw() for _ in range(size))
    expected = {
        (h, level): size / l / (high - low + 1)
        for h, low, high in intervals(counts, l)
        for level in range(low, high + 1)
    }
    assert set(seen) <= set(expected)
    statistic = sum((seen[cell] - e) ** 2 / e for cell, e in expected.items())
    return chi2.sf(statistic, len(expected) - 1)


def test_the_law_of_h_and_level():
    rng = Recorder(11)

    def draw():
        rng.drawn.clear()
        r_suppress(PAPER, 3, rng)
        return tuple(rng.drawn)

    assert draws_p_value(draw, PAPER, 3, 8_000) > 1e-4


def test_a_spoiled_law_is_rejected():
    rng = random.Random(11)
    levels = [(h, level) for h, low, high in intervals(PAPER, 3) for level in range(low, high + 1)]
    assert draws_p_value(lambda: rng.choice(levels), PAPER, 3, 20_000) < 1e-6

    def open_at_the_lower_end():
        h, low, high = rng.choice(intervals(PAPER, 3))
        return h, rng.randint(min(low + 1, high), high)

    assert draws_p_value(open_at_the_lower_end, PAPER, 3, 20_000) < 1e-6


def outcomes_p_value(draw, counts, l, size):
    outcomes = outcome_distribution(counts, l)
    seen = Counter(draw() for _ in range(size))
    statistic = sum((seen[key] - size * float(p)) ** 2 / (size * float(p)) for key, p in outcomes.items())
    return chi2.sf(statistic, len(outcomes) - 1) if set(seen) <= set(outcomes) else 0.0


def test_the_law_of_what_is_published():
    rng = random.Random(12)
    assert outcomes_p_value(lambda: tuple(r_suppress(PAPER, 3, rng).kept), PAPER, 3, 8_000) > 1e-4
    assert outcomes_p_value(lambda: tuple(unsafe_d(PAPER, 3).kept), PAPER, 3, 1_000) < 1e-6


def test_randomness_is_secret_by_default():
    assert isinstance(secret_rng(), random.SystemRandom)
    random.seed(0)
    first = [r_suppress([400, 9, 8], 3).suppressed for _ in range(40)]
    random.seed(0)
    assert first != [r_suppress([400, 9, 8], 3).suppressed for _ in range(40)]


def test_results_show_aggregates_only():
    result = r_suppress([977, 13, 11], 3, random.Random(1))
    assert set(result.to_dict()) == {"method", "l", "total", "published", "suppressed", "rate"}
    assert "kept" not in repr(result) and "removed" not in repr(result)
    with pytest.raises(ValueError, match="read-only"):
        result.kept[0] = 1
