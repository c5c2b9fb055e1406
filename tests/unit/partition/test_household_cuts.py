"""Mondrian with households against a textbook recursion, and criteria of households against plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria import AlphaK, DistinctDiversity, EntropyDiversity, KAnonymity
from ppdp_spark.core.criteria.households.household_anonymity import HouseholdAnonymity
from ppdp_spark.core.criteria.households.known_household import KnownHousehold
from ppdp_spark.core.data import households as cells_held
from ppdp_spark.core.data.coded_people import Axis, Sensitive
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.households import Households
from ppdp_spark.core.partition.mondrian import partition, undivided_summary
from ppdp_spark.errors import InternalError
from support.core.strict_mondrian import reachable


def without_any_household(group, household, value, holds):
    """What somebody who knows all of one household makes of the others, whichever household it is."""
    kept = []
    for known in {household[p] for p in group}:
        others = [value[p] for p in group if household[p] != known]
        if others:
            kept.append(holds(others))
    return all(kept)


@st.composite
def peopled(draw):
    people = draw(st.integers(1, 40))
    codes = draw(st.lists(st.integers(1, 9), min_size=people, max_size=people))
    household = draw(st.lists(st.integers(0, 12), min_size=people, max_size=people))
    value = draw(st.lists(st.integers(0, 3), min_size=people, max_size=people))
    return np.array(codes, np.int32), np.array(household, np.int32), np.array(value, np.int32)


def cut(codes, household, value, criteria):
    found = partition(
        codes[:, None], Sensitive.single(value, 4), [Axis(1 / 8, -1 / 9)], criteria, households=household
    )
    return sorted(
        sorted(found.order[a:b].tolist()) for a, b in zip(found.starts[:-1], found.starts[1:], strict=True)
    )


@settings(max_examples=150, deadline=None)
@given(table=peopled())
def test_both_sides_of_a_cut_have_k_households(table):
    codes, household, value = table
    groups = cut(codes, household, value, [KAnonymity(3), HouseholdAnonymity(3)])
    assert groups == reachable(codes, lambda side: len({household[p] for p in side}) >= 3)


@settings(max_examples=150, deadline=None)
@given(table=peopled())
def test_both_sides_of_a_cut_stand_somebody_who_knows_a_household(table):
    codes, household, value = table

    def ok(side):
        distinct = len({value[p] for p in side}) >= 2
        return distinct and without_any_household(side, household, value, lambda v: len(set(v)) >= 2)

    criteria = [DistinctDiversity(2), KnownHousehold(DistinctDiversity(2))]
    assert cut(codes, household, value, criteria) == reachable(codes, ok)


def share_of(values):
    return max(Counter(values).values()) / len(values)


WORST = {
    "distinct": (DistinctDiversity(2), lambda v: len(set(v)), min),
    "share": (AlphaK(0.5, 2), lambda v: share_of(v) if len(v) > 1 else np.inf, max),
    "entropy": (
        EntropyDiversity(2),
        lambda v: float(np.exp(-sum(n / len(v) * np.log(n / len(v)) for n in Counter(v).values()))),
        min,
    ),
}


@pytest.mark.parametrize("name", WORST)
@pytest.mark.parametrize("cells", [1, 1 << 23])
@settings(max_examples=60, deadline=None)
@given(table=peopled())
def test_what_is_left_without_any_household(name, cells, table):
    """Values and decisions of every group, however many cells are held at a time."""
    group, household, value = table
    group = group - 1
    criterion, of, worst = WORST[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells_held, "COUNT_CELLS", cells)
        counts = np.zeros((9, 4), np.int64)
        np.add.at(counts, (group, value), 1)
        together = Households.of(group, household, value, 9)
        groups = GroupSummaries(counts.sum(axis=1), counts, households=together)
        known = KnownHousehold(criterion)
        achieved, allowed = known.achieved(groups), known.allowed(groups)
        chosen = np.flatnonzero(counts.any(axis=1))[::-1]
        np.testing.assert_array_equal(known.achieved(groups.rows(chosen)), achieved[chosen])
    people = defaultdict(list)
    for p, g in enumerate(group.tolist()):
        people[g].append(p)
    for g, members in people.items():
        left = []
        for one in {household[p] for p in members}:
            others = [int(value[p]) for p in members if household[p] != one]
            left += [of(others)] if others else []
        assert together.number[g] == len({household[p] for p in members})
        if left:
            assert achieved[g] == pytest.approx(worst(left))
            met = worst(left) >= 2 - 1e-12 if worst is min else worst(left) <= 0.5
            assert allowed[g] == met
        else:
            assert allowed[g]


def test_a_group_of_one_household_is_no_worst_group():
    """Nobody of another household is there, so nothing is learnt; the other group decides."""
    together = Households.of(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1]), 2)
    groups = GroupSummaries(np.array([2, 2]), np.array([[1, 1], [1, 1]]), households=together)
    (row,) = (c := KnownHousehold(DistinctDiversity(2))).decide(c.summarise(groups, np.array([1, 2])))
    assert (row.value, row.witness, row.groups, row.violations) == (1.0, {"group": 2}, 2, 1)


def test_many_people_of_few_households_are_not_many_households():
    """Forty people of two households are k people for any k up to 40, and two households."""
    household = np.arange(40, dtype=np.int32) % 2
    whole = undivided_summary(Sensitive.single(np.zeros(40, np.int32), 1), household)
    assert KAnonymity(40).allowed(whole)[0]
    assert HouseholdAnonymity(2).allowed(whole)[0] and not HouseholdAnonymity(3).allowed(whole)[0]


def test_no_groups_and_groups_whose_households_are_not_known():
    """Nothing is wrong where nobody is; where it is not known who belongs together, nothing is decided."""
    for criterion in (HouseholdAnonymity(2), KnownHousehold(DistinctDiversity(2))):
        nobody = GroupSummaries(np.empty(0, np.int64), np.empty((0, 3), np.int64))
        (row,) = criterion.decide(criterion.summarise(nobody, np.empty(0, np.int64)))
        assert (row.value, row.groups, row.status) == (None, 0, "pass")
        with pytest.raises(InternalError, match="not known"):
            criterion.allowed(GroupSummaries(np.array([3]), np.array([[1, 1, 1]])))
