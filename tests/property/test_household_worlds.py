"""Somebody who knows a household, by counting worlds: every assignment of published values to people.

The release says which values a group has; the adversary knows everybody's group, who belongs to one household
and the values of its members, and holds every assignment that agrees with this for equally likely.
"""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria import AlphaK, DistinctDiversity
from ppdp_spark.core.criteria.households.household_anonymity import HouseholdAnonymity
from ppdp_spark.core.criteria.households.known_household import KnownHousehold
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.households import Households


def beliefs(home, ill, known):
    """What is believed of everybody of another household: how likely each value is."""
    sure = {p: ill[p] for p in range(len(ill)) if home[p] == known}
    worlds = [w for w in permutations(ill) if all(w[p] == value for p, value in sure.items())]
    return [
        {value: n / len(worlds) for value, n in Counter(w[p] for w in worlds).items()}
        for p in range(len(ill))
        if p not in sure
    ]


def summary(home, ill):
    home, ill = np.array(home), np.array(ill)
    counts = np.bincount(ill, minlength=3)[None, :]
    together = Households.of(np.zeros(len(home), np.int64), home, ill, 1)
    return GroupSummaries(np.array([len(home)]), counts, households=together)


GROUPS = (
    st.integers(2, 6)
    .flatmap(lambda n: st.tuples(*(st.lists(st.integers(0, 2), min_size=n, max_size=n) for _ in "hi")))
    .filter(lambda group: len(set(group[0])) > 1)
)


@settings(max_examples=60, deadline=None)
@given(group=GROUPS)
def test_no_belief_is_beyond_what_is_found(group):
    """The largest share that is left is the largest belief; the fewest values left are all that can be."""
    home, ill = group
    found = [b for known in set(home) for b in beliefs(home, ill, known)]
    groups = summary(home, ill)
    if all(Counter(home)[known] < len(home) - 1 for known in home):
        share = KnownHousehold(AlphaK(0.5, 2))
        largest = max(max(one.values()) for one in found)
        assert share.achieved(groups)[0] == pytest.approx(largest)
        assert share.allowed(groups)[0] == (largest <= 0.5)
    fewest = min(map(len, found))
    assert KnownHousehold(DistinctDiversity(2)).achieved(groups)[0] == fewest
    assert KnownHousehold(DistinctDiversity(2)).allowed(groups)[0] == (fewest >= 2)


def test_safe_person_by_person_and_not_against_a_member():
    """Half of six people have each value; the household with all of one value knows that of the rest."""
    home, ill = [0, 0, 0, 1, 2, 3], [0, 0, 0, 1, 1, 1]
    groups = summary(home, ill)
    assert AlphaK(0.5, 2).allowed(groups)[0] and HouseholdAnonymity(4).allowed(groups)[0]
    assert max(max(one.values()) for one in beliefs(home, ill, 0)) == 1
    assert not KnownHousehold(AlphaK(0.5, 2)).allowed(groups)[0]
