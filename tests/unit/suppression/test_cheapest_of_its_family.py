"""R-suppression suppresses least of its family [Skewed, Thm 4]: all small tables, every weight of STEP-1.

A member draws h from 1..m with any probabilities of at most 1/l, then a level of S_1 as R does, and goes on
by any means until l-dichotomy holds. What it suppresses is found here by looking at every table left.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from ppdp_spark.core.suppression.d import DSuppression, Ranking
from ppdp_spark.core.suppression.r import expected_suppression


def tables(most: int, values: int):
    """Counts in descending order, at least two values, with at most so many rows."""
    for counts in product(range(1, most), repeat=values):
        if sum(counts) <= most and list(counts) == sorted(counts, reverse=True):
            yield counts


def least(counts: tuple[int, ...], level: int, l: int) -> int:
    """The fewest rows gone, of all tables that STEP-2 may reach from a level of S_1 and that are fit."""
    total, best = sum(counts), sum(counts)
    for kept in product(range(min(level, counts[0]) + 1), *(range(count + 1) for count in counts[1:])):
        ranked, gone = sorted(kept, reverse=True), total - sum(kept)
        if ranked[0] * l <= sum(kept) and (ranked[l - 1] + gone) * l > total:
            best = min(best, gone)
    return best


def after(counts: tuple[int, ...], level: int, l: int) -> int:
    """What D-suppression has taken when it stops, from a level of S_1."""
    if level == 0:
        return sum(counts)
    path = DSuppression(Ranking(counts, l, 0), level)
    return path.suppressed(*path.stop())


@pytest.mark.parametrize(("most", "values"), [(30, 2), (22, 3), (16, 4), (13, 5)])
def test_no_member_of_the_family_is_expected_to_suppress_less(most, values):
    looked = 0
    for counts in tables(most, values):
        for l in range(2, values + 1):
            if counts[0] * l <= sum(counts):
                continue
            looked += 1
            steps = [*counts, 0]
            taken = [after(counts, level, l) for level in range(counts[0] + 1)]
            fewest = [least(counts, level, l) for level in range(counts[0] + 1)]
            # Only R of l = m draws level 0.
            drawn = slice(int(l < values), None)
            assert taken[drawn] == fewest[drawn] and fewest == sorted(fewest, reverse=True)
            spans = [range(steps[h + 1], steps[h] + 1) for h in range(values)]
            means = [Fraction(sum(fewest[level] for level in span), len(span)) for span in spans]
            assert means == sorted(means)
            found = expected_suppression(counts, l)
            assert found.exact and found.value == sum(means[:l]) / l
    assert looked > 30
