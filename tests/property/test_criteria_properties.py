"""Local criteria against their definitions in exact arithmetic, and attempts to refute what they declare."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria import (
    AlphaK,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    KAnonymity,
    LocalCriterion,
    RecursiveDiversity,
    TCloseness,
)
from ppdp_spark.core.criteria.distribution import DistributionCriterion
from ppdp_spark.core.criteria.exact import agreeing, product_at_most
from ppdp_spark.core.data.groups import GroupSummaries

getcontext().prec = 60
TIE = Decimal(10) ** -50
INFINITE = Decimal("Infinity")


def examples(number: int) -> settings:
    return settings(max_examples=number, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Group(NamedTuple):
    size: int
    counts: tuple[int, ...]


# --- definitions, one group at a time, in fractions or in 60 decimal digits ------------------------------


def logarithm(number: Fraction) -> Decimal:
    return Decimal(number.numerator).ln() - Decimal(number.denominator).ln()


def decimal(number) -> Decimal:
    return number if isinstance(number, Decimal) else Decimal(number.numerator) / Decimal(number.denominator)


def shares(counts) -> list[Fraction]:
    return [Fraction(count, sum(counts)) for count in counts]


def comparable(group: Group, table) -> bool:
    inside = all(total > 0 or count == 0 for count, total in zip(group.counts, table, strict=True))
    return inside and sum(group.counts) > 0


def exact_value(criterion: LocalCriterion, group: Group):
    """The achieved value by definition, before any comparison."""
    counts = group.counts
    match criterion:
        case KAnonymity():
            return Fraction(group.size)
        case AlphaK():
            if group.size < criterion.k:
                return INFINITE
            return max(Fraction(count, group.size) for count in counts)
        case DistinctDiversity():
            return Fraction(len({code for code, count in enumerate(counts) if count}))
        case EntropyDiversity():
            if not any(counts):
                return Fraction(0)
            return sum((-decimal(q) * logarithm(q) for q in shares(counts) if q), Decimal(0)).exp()
        case RecursiveDiversity():
            falling = sorted(counts, reverse=True)
            tail = sum(falling[criterion.l - 1 :])
            return Fraction(falling[0], tail) if tail else INFINITE
    assert isinstance(criterion, DistributionCriterion)
    if not comparable(group, criterion.distribution):
        return INFINITE
    pairs = [(q, p) for q, p in zip(shares(counts), shares(criterion.distribution), strict=True) if p]
    match criterion:
        case TCloseness(ordered=False):
            return sum((abs(q - p) for q, p in pairs), Fraction(0)) / 2
        case TCloseness():
            work = [abs(sum((q - p for q, p in pairs[: i + 1]), Fraction(0))) for i in range(len(pairs))]
            return sum(work, Fraction(0)) / max(len(pairs) - 1, 1)
        case EnhancedBetaLikeness():
            gains = [((q - p) / p, p) for q, p in pairs if q > p]
            if any(decimal(gain) > -logarithm(p) for gain, p in gains):
                return INFINITE
            return max((gain for gain, _ in gains), default=Fraction(0))
        case BasicBetaLikeness():
            return max(((q - p) / p for q, p in pairs if q > p), default=Fraction(0))
        case DeltaDisclosure():
            return max(abs(logarithm(q / p)) if q else INFINITE for q, p in pairs)
    raise AssertionError(criterion)


def exact_threshold(criterion: LocalCriterion) -> Fraction:
    match criterion:
        case KAnonymity():
            number = criterion.k
        case AlphaK():
            number = criterion.alpha
        case DistinctDiversity() | EntropyDiversity():
            number = criterion.l
        case RecursiveDiversity():
            number = criterion.c
        case TCloseness():
            number = criterion.t
        case BasicBetaLikeness():
            number = criterion.beta
        case DeltaDisclosure():
            number = criterion.delta
    return number if isinstance(number, Fraction) else Fraction(str(number))


def satisfies(criterion: LocalCriterion, group: Group) -> bool:
    value, threshold = exact_value(criterion, group), exact_threshold(criterion)
    if isinstance(value, Decimal):
        threshold = decimal(threshold)
        if isinstance(criterion, EntropyDiversity) and abs(value - threshold) < TIE:
            return True
    return {">=": value >= threshold, "<=": value <= threshold, "<": value < threshold}[criterion.relation]


# --- random groups, with parameters that often tie ----------------------------------------------------------


def summaries(groups: list[Group]) -> GroupSummaries:
    width = len(groups[0].counts)
    counts = np.array([group.counts for group in groups], dtype=np.int64).reshape(len(groups), width)
    return GroupSummaries(np.array([group.size for group in groups], dtype=np.int64), counts)


@st.composite
def group_lists(draw, least=1):
    width = draw(st.integers(1, 5))
    scale = draw(st.sampled_from([1, 1, 1, 7, 10**8]))
    count = st.integers(0, 6) | st.sampled_from([0, 0, 1, 12])
    rows = draw(st.lists(st.tuples(*[count] * width), min_size=least, max_size=6))
    several_values_a_person = draw(st.booleans())
    groups = []
    for row in rows:
        size = draw(st.integers(0, 12)) if several_values_a_person else sum(row)
        groups.append(Group(size * scale, tuple(count * scale for count in row)))
    return groups


DECIMALS = [0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 1, Fraction(1, 3), Fraction(2, 7), 0.3333333333333333]


@st.composite
def criteria(draw, groups):
    """Any criterion; its parameter a round number, or the exact value of one of the groups."""
    rest = draw(st.tuples(*[st.integers(0, 9)] * len(groups[0].counts)))
    table = tuple(int(total) for total in np.sum([group.counts for group in groups], axis=0) + np.array(rest))
    table = table if any(table) else (1, *table[1:])
    ratio, level = draw(st.sampled_from(DECIMALS)), draw(st.integers(2, 5))
    criterion = draw(
        st.sampled_from(
            [
                KAnonymity(draw(st.integers(2, 20))),
                AlphaK(ratio, level),
                DistinctDiversity(level),
                EntropyDiversity(draw(st.sampled_from([level, level, 1.5, 2.5, Fraction(7, 3)]))),
                RecursiveDiversity(ratio * draw(st.sampled_from([1, 2, 5])), level),
                TCloseness(ratio, table),
                TCloseness(ratio, table, ordered=True),
                BasicBetaLikeness(ratio, table),
                EnhancedBetaLikeness(ratio, table),
                DeltaDisclosure(ratio, table),
            ]
        )
    )
    return tightened(criterion, draw(st.sampled_from(groups))) if draw(st.booleans()) else criterion


def tightened(criterion: LocalCriterion, group: Group) -> LocalCriterion:
    """The criterion with the value of `group` as its threshold, where that is a fraction it takes."""
    value = exact_value(criterion, group)
    if not isinstance(value, Fraction) or value <= 0:
        return criterion
    match criterion:
        case AlphaK() if value <= 1:
            return AlphaK(value, criterion.k)
        case RecursiveDiversity():
            return RecursiveDiversity(value, criterion.l)
        case TCloseness():
            return TCloseness(value, criterion.distribution, criterion.ordered)
        case BasicBetaLikeness():
            return type(criterion)(value, criterion.distribution)
    return criterion


@st.composite
def cases(draw, least=1):
    groups = draw(group_lists(least))
    return groups, draw(criteria(groups))


# --- properties ---------------------------------------------------------------------------------------------


@examples(250)
@given(cases())
def test_allowed_is_the_definition(case):
    groups, criterion = case
    decided = criterion.allowed(summaries(groups)).tolist()
    assert decided == [satisfies(criterion, group) for group in groups]


@examples(150)
@given(cases())
def test_achieved_is_the_value_of_the_definition(case):
    groups, criterion = case
    values = criterion.achieved(summaries(groups))
    expected = [float(exact_value(criterion, group)) for group in groups]
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


@examples(150)
@given(cases())
def test_allowed_agrees_with_achieved_and_threshold(case):
    groups, criterion = case
    values = criterion.achieved(summaries(groups))
    compared = {">=": np.greater_equal, "<=": np.less_equal, "<": np.less}[criterion.relation]
    assert not np.isnan(values).any()
    assert compared(values, criterion.threshold).tolist() == criterion.allowed(summaries(groups)).tolist()
    assert criterion.higher_is_safer == (criterion.relation == ">=")


@examples(250)
@given(cases(least=2))
def test_the_union_of_allowed_groups_is_allowed(case):
    groups, criterion = case
    assert criterion.union_closed
    safe = [group for group, ok in zip(groups, criterion.allowed(summaries(groups)), strict=True) if ok]
    for one, other in combinations(safe, 2):
        counts = tuple(a + b for a, b in zip(one.counts, other.counts, strict=True))
        union = Group(one.size + other.size, counts)
        assert criterion.allowed(summaries([union])).all(), (criterion, one, other)


@examples(100)
@given(cases(least=3), st.data())
def test_statistics_merge_in_any_order_and_grouping(case, data):
    groups, criterion = case
    whole = summaries(groups)
    ids = np.array(data.draw(st.permutations(range(len(groups)))))
    cut, end = sorted(data.draw(st.tuples(*[st.integers(0, len(groups))] * 2)))
    parts = [slice(0, cut), slice(cut, end), slice(end, None)]
    a, b, c = (criterion.summarise(whole.rows(part), ids[part]) for part in parts)
    merged = criterion.merge(criterion.merge(a, b), c)
    assert merged == criterion.merge(a, criterion.merge(b, c))
    assert merged == criterion.merge(c, criterion.merge(b, a))
    assert merged == criterion.summarise(whole, ids)
    row = criterion.decide(merged)[0]
    assert row.ok == criterion.allowed(whole).all()
    assert row.violations == np.count_nonzero(~criterion.allowed(whole))
    failing = ids[~criterion.allowed(whole)]
    assert len(failing) == 0 or row.witness["group"] in failing


@examples(100)
@given(cases())
def test_a_whole_table_is_allowed_by_criteria_that_compare_with_it(case):
    _, criterion = case
    if hasattr(criterion, "distribution"):
        whole = Group(sum(criterion.distribution), criterion.distribution)
        assert criterion.allowed(summaries([whole])).all()


@examples(100)
@given(st.integers(2, 6), st.integers(-3, 3), st.sampled_from([10**8, 10**9, 10**12]))
def test_entropy_near_its_level_is_never_wrongly_allowed(level, extra, scale):
    """Groups a hair off uniform: the entropy differs from log ℓ by far less than a float can tell."""
    row = (scale + extra, *[scale] * (level - 1))
    assert EntropyDiversity(level).allowed(summaries([Group(sum(row), row)])).tolist() == [extra == 0]


BIG = st.integers(0, 3) | st.integers(0, 2**62) | st.integers(2**31 - 2, 2**31 + 2)


@examples(150)
@given(
    st.lists(st.tuples(BIG, BIG), min_size=1, max_size=6),
    BIG,
    st.integers(1, 10**30),
    st.booleans(),
)
def test_products_compare_like_integers(pairs, factor, scale, swap):
    left, right = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    upper = [left, right, scale] if swap else [right, factor, scale]
    expected = [a * factor * scale <= (a * b if swap else b * factor) * scale for a, b in pairs]
    assert product_at_most([left, factor, scale], upper).tolist() == expected


@examples(60)
@given(st.integers(2**53, 2**61), st.integers(-2, 2))
def test_products_that_floats_cannot_tell_apart(number, off):
    array = np.array([number], dtype=np.int64)
    assert product_at_most([array + off, 10**20 + 1], [array, 10**20 + 1]).tolist() == [off <= 0]


@examples(60)
@given(st.floats(0, 10), st.booleans(), st.floats(0.1, 9), st.sampled_from([">=", "<=", "<"]))
def test_agreeing_values_tell_the_side_and_keep_what_already_agrees(value, ok, threshold, relation):
    compare = {">=": np.greater_equal, "<=": np.less_equal, "<": np.less}[relation]
    moved = agreeing(np.array([value]), np.array([ok]), threshold, relation)[0]
    assert compare(moved, threshold) == ok
    assert moved == value or compare(value, threshold) != ok
    assert math.isfinite(moved)
