"""Restoring l-eligibility of skewed data by suppression, decided on counts alone [Skewed].

Counts come as a vector in any order and results go back in that order. Inside, values are ranked by
larger count first, then lower index: rank 1 is the paper's S_1, and that ranking *of the base table*
also says which of several tied values loses a record first: the lowest rank [Skewed, Ex 2], in STEP-2 of
R-suppression too. (Figure 3 could also be read as ranking anew after STEP-1; the two differ only where
STEP-2 stops inside a level at which STEP-1 tied S_1 with others.)

Where some values need no protection, `counts` are those of the others, and `beside` says how many rows have
one that does not. These rows are never suppressed and belong to |T| and |T_P|: S_1 is the most frequent
protected value, too frequent if more than a share 1/l of *all* rows have it. What is proved of the methods
uses of |T| only that it stays the same, and that |T_P| is at least the sum of the counts, so it stands, but
for STEP-1 at level 0.

Everything is an exact integer; totals are Python integers and cannot overflow.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from ppdp_spark.core.data.groups import BoolArray, IntArray
from ppdp_spark.core.suppression.d import Counts, DSuppression, Ranking, checked_l, count_vector, exact_total
from ppdp_spark.errors import DataError, SpecError


@dataclass(frozen=True, eq=False)
class Suppression:
    """How many records of each value stay and go.

    where
        method      `r`, `safe-d` or `unsafe-d`
        l           the l of l-eligibility
        total       |T|
        suppressed  |T_S|
        kept        records of each value in T_P, in the caller's order of values
        removed     records of each value in T_S, likewise: private, never to be published or logged
    """

    method: str
    l: int
    total: int
    suppressed: int
    kept: IntArray = field(repr=False)
    removed: IntArray = field(repr=False)

    @property
    def published(self) -> int:
        return self.total - self.suppressed

    @property
    def rate(self) -> float:
        """|T_S| / |T|, and 0 for an empty table."""
        return self.suppressed / self.total if self.total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Aggregates only: nothing from which STEP-1 or a value's loss could be read."""
        return {
            "method": self.method,
            "l": self.l,
            "total": self.total,
            "published": self.published,
            "suppressed": self.suppressed,
            "rate": self.rate,
        }


@dataclass(frozen=True)
class Violation:
    """A violating value: its rank, its count, and how many records it is above |T|/l."""

    rank: int
    count: int
    excess: int


@dataclass(frozen=True)
class ExpectedSuppression:
    """E(|T_S|) of R-suppression: `value` is within `error` of the truth; 0 where it is exact."""

    value: Fraction
    error: Fraction

    @property
    def exact(self) -> bool:
        return self.error == 0


def secret_rng() -> random.Random:
    """The operating system's generator: no seed exists that could undo STEP-1."""
    return random.SystemRandom()


def is_eligible(counts: Counts, l: int, beside: int = 0) -> bool:
    """l-eligibility F_1 <= |T|/l; on T_P it is P-eligibility [Skewed, Def 1]. No rows: eligible."""
    vector, l_value = count_vector(counts), checked_l(l)
    return vector.size == 0 or int(vector.max()) * l_value <= exact_total(vector) + beside


is_p_eligible = is_eligible


def has_l_candidacy(published: Counts, total: int, l: int, beside: int = 0) -> bool:
    """F'_l + |T_S| > |T|/l, with F'_l of the ranking of T_P [Skewed, Def 2]."""
    vector, l_value = count_vector(published), checked_l(l)
    suppressed = total - exact_total(vector) - beside
    if suppressed < 0:
        raise DataError(f"`total` ({total}) must be at least the number of published records")
    lth = int(np.partition(vector, -l_value)[-l_value]) if l_value <= vector.size else 0
    return (lth + suppressed) * l_value > total


def violations(counts: Counts, l: int, beside: int = 0) -> tuple[Violation, ...]:
    """The violating values F_i > |T|/l by rank; fewer than l if l values occur."""
    vector, l_value = count_vector(counts), checked_l(l)
    bound = (exact_total(vector) + beside) // l_value
    above = np.sort(vector[vector > bound])[::-1]
    return tuple(Violation(i + 1, int(c), int(c) - bound) for i, c in enumerate(above))


def _result(ranking: Ranking, method: str, kept_by_rank: IntArray) -> Suppression:
    kept = np.empty_like(ranking.counts)
    kept[ranking.order] = kept_by_rank
    removed = ranking.counts - kept
    for array in (kept, removed):
        array.setflags(write=False)
    return Suppression(method, ranking.l, ranking.total, exact_total(removed), kept, removed)


def with_others(found: Suppression, counts: IntArray, protected: BoolArray) -> Suppression:
    """What was found about protected values, as the loss of every value: of others nothing goes."""
    kept = counts.copy()
    kept[protected] = found.kept
    return replace(found, kept=kept, removed=counts - kept)


def _untouched(ranking: Ranking, method: str) -> Suppression:
    return _result(ranking, method, ranking.counts[ranking.order])


def unsafe_d(counts: Counts, l: int, beside: int = 0) -> Suppression:
    """Unsafe D-suppression: a lower bound on suppression, not safe to publish [Skewed, Thm 2]."""
    ranking = Ranking(counts, l, beside)
    if ranking.eligible:
        return _untouched(ranking, "unsafe-d")
    path = DSuppression(ranking, ranking.first)
    return _result(ranking, "unsafe-d", path.kept(*path.stop()))


def safe_d(counts: Counts, l: int, beside: int = 0) -> Suppression:
    """Safe D-suppression: stop at the start of level F_l [Skewed, Thm 1]."""
    ranking = Ranking(counts, l, beside)
    if ranking.eligible:
        return _untouched(ranking, "safe-d")
    path = DSuppression(ranking, ranking.first)
    return _result(ranking, "safe-d", path.kept(ranking.frequency(ranking.l), 0))


def r_suppress(counts: Counts, l: int, rng: random.Random | None = None, beside: int = 0) -> Suppression:
    """R-suppression [Skewed, Fig 3]; `rng` is `secret_rng()` unless given.

    With l = m, STEP-1 may choose level 0 (F_{m+1} = 0), and then everything is suppressed. The draws
    are not part of the result.
    """
    ranking = Ranking(counts, l, beside)
    if ranking.eligible:
        return _untouched(ranking, "r")
    rng = secret_rng() if rng is None else rng
    h = rng.randrange(1, ranking.l + 1)
    level = rng.randrange(ranking.frequency(h + 1), ranking.frequency(h) + 1)
    return _after(ranking, level)


def after_level(counts: Counts, l: int, h: int, level: int) -> Suppression:
    """What R-suppression does once STEP-1 has drawn `h` and `level`: a study of T, never published."""
    ranking = Ranking(counts, l)
    if ranking.eligible:
        raise SpecError("`counts` (l-eligible) must violate l-eligibility: STEP-1 is not run otherwise")
    if not 1 <= h <= ranking.l:
        raise SpecError(f"`h` ({h}) must be in 1..{ranking.l}")
    if not ranking.frequency(h + 1) <= level <= ranking.frequency(h):
        raise SpecError("`level` (out of range) must be in [F_{h+1}, F_h]")
    return _after(ranking, level)


def _after(ranking: Ranking, level: int) -> Suppression:
    """What STEP-2 makes of a level.

    At level 0 all protected rows go. So it is in the paper, where nothing less is P-eligible; with rows
    beside them something may be, and S_1 would be the one value that is missing.
    """
    if level == 0:
        return _result(ranking, "r", np.zeros_like(ranking.counts))
    path = DSuppression(ranking, int(level))
    return _result(ranking, "r", path.kept(*path.stop()))


def outcome_distribution(
    counts: Counts,
    l: int,
    limit: int = 100_000,
    beside: int = 0,
) -> dict[tuple[int, ...], Fraction]:
    """Every T_P of R-suppression, in the caller's order of values, with its exact probability.

    Levels from Unsafe D's last level up all end where Unsafe D does (by [Skewed, Thm 2] nothing
    stops before), so that only the levels below it are walked: at most `limit`.
    """
    ranking = Ranking(counts, l, beside)
    if ranking.eligible:
        return {_as_key(_untouched(ranking, "r")): Fraction(1)}
    shared, lowest = _shared_level(ranking), ranking.frequency(ranking.l + 1)
    if shared - lowest > limit:
        raise SpecError(f"`counts` ({shared - lowest} levels) must span at most `limit` ({limit}) levels")
    outcomes: dict[tuple[int, ...], Fraction] = {}
    for level in range(lowest, shared + 1):
        key = _as_key(_after(ranking, level))
        upper = ranking.first if level == shared else level
        outcomes[key] = outcomes.get(key, Fraction(0)) + _step1_probability(ranking, level, upper)
    return outcomes


def _as_key(result: Suppression) -> tuple[int, ...]:
    return tuple(int(count) for count in result.kept)


def _shared_level(ranking: Ranking) -> int:
    """The level of Unsafe D's result: from here up every STEP-1 level ends in that result."""
    return DSuppression(ranking, ranking.first).stop()[0]


def _step1_probability(ranking: Ranking, lower: int, upper: int) -> Fraction:
    """The probability that STEP-1 draws a level of lower..upper."""
    share = Fraction(0)
    for low, high in ranking.intervals():
        hits = max(0, min(high, upper) - max(low, lower) + 1)
        share += Fraction(hits, ranking.l * (high - low + 1))
    return share


def expected_suppression(counts: Counts, l: int, nodes: int = 4096) -> ExpectedSuppression:
    """E(|T_S|) of R-suppression over STEP-1: exact up to `nodes` levels, else within a proved error.

    |T_S| never grows with the level: after equally many removals the path of the higher level has a
    top no higher and an l-th count no lower. So |T_S| between two evaluated levels lies between
    theirs, which brackets every sum over a longer stretch of levels.
    """
    ranking = Ranking(counts, l)
    if ranking.eligible:
        return ExpectedSuppression(Fraction(0), Fraction(0))
    shared = _shared_level(ranking)
    lowest = ranking.frequency(ranking.l + 1)
    value = _step1_probability(ranking, shared, ranking.first) * _suppressed_after(ranking, shared)
    error = Fraction(0)
    for low, high in _stretches(lowest, shared - 1, _ends(ranking), nodes):
        at_low = _suppressed_after(ranking, low)
        at_high = at_low if high == low else _suppressed_after(ranking, high)
        inside, ends = _interior(ranking, low, high), ((low, at_low), (high, at_high))[: 1 + (high > low)]
        value += inside * Fraction(at_low + at_high, 2)
        value += sum(_step1_probability(ranking, level, level) * cut for level, cut in ends)
        error += inside * Fraction(at_low - at_high, 2)
    return ExpectedSuppression(value, error)


def _suppressed_after(ranking: Ranking, level: int) -> int:
    path = DSuppression(ranking, level)
    return path.suppressed(*path.stop())


def _interior(ranking: Ranking, low: int, high: int) -> Fraction:
    return _step1_probability(ranking, low + 1, high - 1) if high - low > 1 else Fraction(0)


def _ends(ranking: Ranking) -> Iterator[int]:
    for low, high in ranking.intervals():
        yield from (low, high)


def _stretches(lowest: int, highest: int, ends: Iterator[int], nodes: int) -> Iterator[tuple[int, int]]:
    """lowest..highest cut into disjoint stretches: at the ends of intervals, and into equal parts."""
    step = max(1, -(-(highest - lowest + 1) // max(1, nodes)))
    cuts = set(range(lowest, highest + 1, step)) | {end for end in ends if lowest <= end <= highest}
    for start, following in pairwise([*sorted(cuts), highest + 1]):
        yield start, following - 1
