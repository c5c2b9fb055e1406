"""What R-suppression may end in: expectation, exact distribution, the law of STEP-1."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from ppdp_spark.core.suppression.r import (
    expected_suppression,
    is_eligible,
    outcome_distribution,
    r_suppress,
    secret_rng,
    unsafe_d,
)
from ppdp_spark.errors import SpecError
from support.core.literal_suppression import PAPER, intervals, literal


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
