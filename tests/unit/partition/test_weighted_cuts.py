"""Mondrian with weights against a textbook recursion, and sums of weights against exact decimals."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria import EstimatedPopulation, KAnonymity
from ppdp_spark.core.criteria.base import Criterion
from ppdp_spark.core.criteria.release.bookkeeping import WeightConservation
from ppdp_spark.core.data.coded_people import Axis, Sensitive
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.weight_units import UNITS, decimal_text, sums_of_groups
from ppdp_spark.core.partition.mondrian import partition, undivided_summary
from ppdp_spark.errors import InternalError
from support.core.strict_mondrian import reachable


@st.composite
def weighed(draw):
    people = draw(st.integers(1, 40))
    codes = draw(st.lists(st.integers(1, 9), min_size=people, max_size=people))
    texts = st.sampled_from(["0.1", "0.3", "0.7", "1", "2.5", "3.000001", "9.999999"])
    return np.array(codes, np.int32), draw(st.lists(texts, min_size=people, max_size=people))


def cut(codes, weights, criteria):
    units = np.array([int(Decimal(text) * UNITS) for text in weights], np.int64)
    none = Sensitive.single(np.zeros(len(codes), np.int32), 1)
    found = partition(codes[:, None], none, [Axis(1 / 8, -1 / 9)], criteria, weights=units)
    sums = sums_of_groups(units, found.order, found.starts).tolist()
    bounds = zip(found.starts[:-1], found.starts[1:], strict=True)
    groups = [sorted(found.order[a:b].tolist()) for a, b in bounds]
    exact = [sum(Decimal(weights[p]) for p in group) for group in groups]
    assert sums == [total * UNITS for total in exact]
    return sorted(groups)


@settings(max_examples=200, deadline=None)
@given(table=weighed())
def test_both_sides_of_a_cut_stand_for_so_many_people(table):
    """Three people of the sample on each side, who stand for five at least: exactly five will do, no less."""
    codes, weights = table

    def ok(side):
        return len(side) >= 3 and sum(Decimal(weights[p]) for p in side) >= 5

    assert cut(codes, weights, [KAnonymity(3), EstimatedPopulation(5)]) == reachable(codes, ok)


@settings(max_examples=60, deadline=None)
@given(table=weighed())
def test_weights_nobody_asks_for_decide_nothing(table):
    codes, weights = table
    assert cut(codes, weights, [KAnonymity(2)]) == cut(codes, ["1"] * len(codes), [KAnonymity(2)])


def row_of(criterion: Criterion, units: list[int]):
    groups = GroupSummaries(np.array([1] * len(units)), np.empty((len(units), 0), np.int64))
    held = GroupSummaries(groups.sizes, groups.counts, population=np.array(units, np.int64))
    (row,) = criterion.decide(criterion.summarise(held, np.arange(1, len(units) + 1)))
    return row


def test_a_millionth_of_a_person_decides():
    """As floats, ten tenths and a large number are less than they are; as units they are what they are."""
    assert row_of(EstimatedPopulation(10), [10 * UNITS, 10 * UNITS + 1]).status == "pass"
    failing = row_of(EstimatedPopulation(10), [11 * UNITS, 10 * UNITS - 1])
    assert (failing.status, failing.violations, failing.witness) == ("fail", 1, {"group": 2})
    assert failing.value < failing.threshold == 10
    large = 4 * 10**18
    assert row_of(EstimatedPopulation(4 * 10**12), [large]).status == "pass"
    assert row_of(EstimatedPopulation(4 * 10**12), [large - 1]).status == "fail"


def test_one_person_may_stand_for_many_and_many_for_few():
    """What weights say of the population and what k-anonymity says of the sample are two things."""
    one = undivided_summary(Sensitive.single(np.zeros(1, np.int32), 1), weights=np.array([5_000 * UNITS]))
    many = undivided_summary(Sensitive.single(np.zeros(50, np.int32), 1), weights=np.full(50, UNITS))
    assert EstimatedPopulation(100).allowed(one)[0] and not KAnonymity(2).allowed(one)[0]
    assert KAnonymity(50).allowed(many)[0] and not EstimatedPopulation(51).allowed(many)[0]


def test_published_weights_add_up_to_the_last_unit():
    assert row_of(WeightConservation("12.5"), [12_000_000, 500_000]).status == "pass"
    lost = row_of(WeightConservation("12.5"), [12_000_000, 499_999])
    assert (lost.status, lost.value, lost.threshold) == ("fail", 12.499999, 12.5)
    assert [decimal_text(n) for n in (0, 1, UNITS, 10 * UNITS, 12_340_000)] == [
        "0", "0.000001", "1", "10", "12.34",
    ]  # fmt: skip


def test_groups_whose_weights_are_not_known():
    """Nothing is wrong where nobody is; where weights are not known, nothing is decided."""
    nobody = GroupSummaries(np.empty(0, np.int64), np.empty((0, 0), np.int64))
    criterion = EstimatedPopulation(2)
    (row,) = criterion.decide(criterion.summarise(nobody, np.empty(0, np.int64)))
    assert (row.value, row.groups, row.status) == (None, 0, "pass")
    with pytest.raises(InternalError, match="not known"):
        criterion.allowed(GroupSummaries(np.array([3]), np.array([[1, 1, 1]])))
