"""Blind groups against somebody who knows the program: every table of a few people is tried.

The releases are made by the cutting core and judged by the criteria of the package; what a reader infers
from them is counted by code that shares nothing with it.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from ppdp_spark.core.criteria import AlphaK, DistinctDiversity, KAnonymity, RecursiveDiversity
from ppdp_spark.core.criteria.skyline import SkylineCriterion
from ppdp_spark.core.data.coded_people import Axis, Sensitive
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.core.partition.blind import blind_criteria
from ppdp_spark.core.partition.least_size import predicted_size
from ppdp_spark.core.partition.mondrian import partition
from ppdp_spark.run.criteria.guarantees import criteria_of
from ppdp_spark.spec import PrivacySpec
from support.core.whole_posteriors import posteriors, surest, told_more, worlds

AXES = [Axis(1 / 4, -1 / 4), Axis(1 / 2, -1 / 2)]
SIZES = [(4, 3), (5, 3), (6, 3), (7, 3), (8, 2), (9, 2)]
"""People and values: 81, 243, 729, 2,187, 256 and 512 tables for each choice of quasi-identifiers."""


def quasi_identifiers(seed: int, people: int) -> np.ndarray:
    """Codes of two attributes, with people who are alike."""
    draws = np.random.default_rng([seed, people])
    return np.stack([draws.integers(0, 5, people), draws.integers(0, 3, people)], axis=1).astype(np.int32)


def cut(codes, table, values, criteria):
    """Groups as the core cuts them, each as its people."""
    sensitive = Sensitive.single(np.array(table), values)
    found = partition(codes, sensitive, AXES, criteria)
    return [found.order[a:b].tolist() for a, b in pairwise(found.starts)]


def allowed(groups, table, values, criteria) -> bool:
    """Whether the criteria hold for the groups, as they are asked for written files."""
    counts = [np.bincount([table[p] for p in group], minlength=values) for group in groups]
    summaries = GroupSummaries(np.array([len(group) for group in groups]), np.array(counts))
    rows = [row for c in criteria for row in c.decide(c.summarise(summaries, np.arange(len(groups))))]
    return all(row.ok for row in rows)


def published(groups, table):
    """What a reader sees: who is in which group, which quasi-identifiers tell, and the values of each."""
    return tuple(sorted((tuple(sorted(g)), tuple(sorted(table[p] for p in g))) for g in groups))


def blind(codes, values, criteria, least):
    """The program under test; the least size may depend on the counts of the whole table."""

    def program(table):
        whole = tuple(np.bincount(table, minlength=values).tolist())
        groups = cut(codes, table, values, blind_criteria(least(whole)))
        return published(groups, table) if allowed(groups, table, values, criteria) else None

    return program


def trying_again(codes, values, criteria, least):
    """Spoiled: where groups fail, larger ones are published without a word."""

    def program(table):
        for size in range(least(()), len(table) + 1):
            groups = cut(codes, table, values, blind_criteria(size))
            if allowed(groups, table, values, criteria):
                return published(groups, table)
        return None

    return program


def peeking_once(codes, values, criteria, least):
    """Spoiled: the first group is put together with the second if it fails; all the others are blind."""

    def program(table):
        groups = cut(codes, table, values, blind_criteria(least(())))
        if len(groups) > 1 and not allowed(groups[:1], table, values, criteria):
            groups = [groups[0] + groups[1], *groups[2:]]
        return published(groups, table) if allowed(groups, table, values, criteria) else None

    return program


def aware(codes, values, criteria, least):
    """Mondrian as it is: cuts are made where values allow it."""

    def program(table):
        groups = cut(codes, table, values, (*blind_criteria(least(())), *criteria))
        return published(groups, table) if allowed(groups, table, values, criteria) else None

    return program


def two(whole) -> int:
    return 2


BOUND = Fraction(2, 3)
SHARES = [AlphaK(BOUND, 2)]


def test_nobody_is_surer_than_the_group_says_in_ten_thousand_tables():
    """The posterior of a reader who knows the program is the share in the group, for every release."""
    tables = releases = 0
    for people, values in SIZES:
        for seed in range(3 if values == 3 else 4):
            codes = quasi_identifiers(seed, people)
            found = worlds(blind(codes, values, SHARES, two), people, values)
            tables += values**people
            releases += len(found)
            for release, from_tables in found.items():
                told = posteriors(from_tables)
                for group, held in release:
                    shares = {x: Fraction(n, len(held)) for x, n in Counter(held).items()}
                    assert all(told[person] == shares for person in group)
                assert surest(from_tables) <= BOUND
    assert tables >= 10_000 and releases > 100


@pytest.mark.parametrize(
    ("criteria", "bound"),
    [
        ([DistinctDiversity(2)], lambda person: len(person) >= 2),
        ([RecursiveDiversity(2, 2)], lambda person: max(person.values()) < Fraction(2, 3)),
        ([KAnonymity(3), AlphaK(Fraction(1, 2), 2)], lambda person: max(person.values()) <= Fraction(1, 2)),
    ],
    ids=["distinct", "recursive", "alpha-k"],
)
def test_what_other_criteria_bound_stays_bounded(criteria, bound):
    for people, values in [(5, 3), (6, 3), (9, 2)]:
        for seed in range(2):
            codes = quasi_identifiers(seed, people)
            for tables in worlds(blind(codes, values, criteria, two), people, values).values():
                assert all(bound(person) for person in posteriors(tables))


@pytest.mark.parametrize(("l", "k", "size"), [(0, 1, 3), (1, 0, 3), (1, 1, 6)])
def test_a_skyline_holds_against_a_reader_who_knows_the_program_and_others(l, k, size):
    """Told a value that the target does not have, and another person's, nobody reaches the confidence."""
    limit, found = Fraction(4, 5), 0
    privacy = PrivacySpec.model_validate({"skyline": {"default": [{"l": l, "k": k, "m": 0, "c": 0.8}]}})
    criteria = criteria_of(privacy, ValueDomain(("a", "b", "c"), (1, 1, 1)))
    assert any(isinstance(criterion, SkylineCriterion) for criterion in criteria)
    for seed in range(4):
        codes = quasi_identifiers(seed, 6)
        for tables in worlds(blind(codes, 3, criteria, lambda whole: size), 6, 3).values():
            found += 1
            assert all(surest(left) < limit for left in told_more(tables, k, l))
    assert found > 3


def test_a_predicted_size_gives_nothing_away():
    """K is a function of the counts in the whole table, which the release shows."""

    @cache
    def predicted(whole: tuple[int, ...]) -> int:
        return predicted_size(SHARES, np.array(whole), 2).size

    found = 0
    for people in (5, 6, 7):
        codes = quasi_identifiers(1, people)
        for tables in worlds(blind(codes, 3, SHARES, predicted), people, 3).values():
            found += 1
            assert surest(tables) <= BOUND
    assert found > 10 and predicted((2, 2, 2)) == 3 and predicted((4, 1, 1)) == 6


@pytest.mark.parametrize("spoiled", [trying_again, peeking_once, aware])
def test_a_program_that_looks_at_values_is_found_out(spoiled):
    """One look is enough: a reader who knows of it is surer of somebody than the criterion allows."""
    worst = Fraction(0)
    for people, values in [(5, 3), (6, 2)]:
        for seed in range(2):
            found = worlds(spoiled(quasi_identifiers(seed, people), values, SHARES, two), people, values)
            worst = max([worst, *map(surest, found.values())])
    assert worst > BOUND
