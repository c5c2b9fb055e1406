"""The algorithm-aware audit against an adversary who tries every table of a few people.

The groups are made by the cutting core; what a reader infers from them is counted by code that shares nothing
with the package. All tables of a choice of quasi-identifiers are cut at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from ppdp_spark.core.attacks.algorithm_aware import FEWEST, AlgorithmAwareAudit, Audited, Examined, Place
from ppdp_spark.core.attacks.program_posteriors import AuditEffort
from ppdp_spark.core.criteria import (
    AlphaK,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
)
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.data.coded_people import Axis, Partition, Sensitive
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.core.partition.blind import blind_criteria
from ppdp_spark.core.partition.mondrian import partition
from ppdp_spark.core.partition.partitioners import CutsName
from ppdp_spark.run.criteria.guarantees import separable_criteria
from ppdp_spark.spec import PrivacySpec
from support.core.whole_posteriors import Release, Table, posteriors, worlds

AXES = [Axis(1 / 4, -1 / 4), Axis(1 / 2, -1 / 2)]
KINDS = [
    Axis(1 / 3, -1 / 4, nodes=np.array([[0, 1, 2, 3], [4, 4, 5, 5], [6, 6, 6, 6]])),
    Axis(1.0, -1 / 2, unordered=True),
]
"""A hierarchy of four leaves, and two categories without order."""

WAYS: dict[str, tuple[CutsName, list[Axis]]] = {
    "median": ("median", AXES),
    "loss": ("loss", AXES),
    "loss of kinds": ("loss", KINDS),
}

SIZES = ((5, 3), (6, 3), (7, 3), (8, 3), (9, 2))
"""People and values: 243, 729, 2,187, 6,561 and 512 tables."""

SMALL = SIZES[:3]

CLOSE = 1e-9

HALF = (AlphaK(Fraction(1, 2), 2),)
RECURSIVE = (RecursiveDiversity(3, 2),)


def quasi_identifiers(seed: int, people: int) -> np.ndarray:
    """Codes of two attributes, with people who are alike."""
    draws = np.random.default_rng([seed, people])
    return np.stack([draws.integers(0, 5, people), draws.integers(0, 3, people)], axis=1).astype(np.int32)


@dataclass(frozen=True)
class World:
    """All tables of a few people with given quasi-identifiers, and the groups that are made of them."""

    people: int
    values: int
    codes: np.ndarray
    criteria: tuple[LocalCriterion, ...]
    way: str

    @property
    def cuts(self) -> CutsName:
        return WAYS[self.way][0]

    @property
    def axes(self) -> list[Axis]:
        return WAYS[self.way][1]

    def cut(self, tables: Sequence[Table]) -> tuple[np.ndarray, Sensitive, Partition]:
        """The groups of many tables, which are cut at once."""
        everybody = np.tile(self.codes, (len(tables), 1))
        sensitive = Sensitive.single(np.array(tables).ravel(), self.values)
        bounds = np.arange(len(tables) + 1) * self.people
        groups = partition(everybody, sensitive, self.axes, self.criteria, bounds=bounds, cuts=self.cuts)
        return everybody, sensitive, groups

    def releases(self) -> dict[Release, list[Table]]:
        """Every release, and the tables it can come from."""
        tables = list(product(range(self.values), repeat=self.people))
        _, sensitive, found = self.cut(tables)
        counts = [
            np.bincount(sensitive.values[found.order[a:b]], minlength=self.values)
            for a, b in zip(found.starts, found.starts[1:], strict=False)
        ]
        groups = GroupSummaries(np.diff(found.starts), np.array(counts))
        good = np.all([criterion.allowed(groups) for criterion in self.criteria], axis=0)
        made: dict[Table, list[tuple[tuple[int, ...], tuple[int, ...]]] | None] = {t: [] for t in tables}
        for g, (a, b) in enumerate(zip(found.starts, found.starts[1:], strict=False)):
            table = tables[found.order[a] // self.people]
            members = tuple(sorted(int(p) % self.people for p in found.order[a:b]))
            shown = made[table]
            if shown is not None and good[g]:
                shown.append((members, tuple(sorted(table[p] for p in members))))
            else:
                made[table] = None

        def program(table: Table) -> Release | None:
            shown = made[table]
            return None if shown is None else tuple(sorted(shown))

        return worlds(program, self.people, self.values)


@dataclass(frozen=True)
class Told:
    """What the audit says of a person of one release, and what follows from trying every table.

    `bound` says whether a cut that was refused because of values goes through the person's group.
    """

    low: np.ndarray
    high: np.ndarray
    known: bool
    bound: bool
    truth: np.ndarray

    @property
    def covered(self) -> bool:
        return bool((self.low - CLOSE <= self.truth).all() and (self.truth <= self.high + CLOSE).all())


@cache
def worlds_of(
    criteria: tuple[LocalCriterion, ...], sizes: tuple[tuple[int, int], ...] = SIZES, way: str = "median"
) -> tuple[tuple[World, dict[Release, list[Table]]], ...]:
    made = (World(n, values, quasi_identifiers(n, n), criteria, way) for n, values in sizes)
    return tuple((world, world.releases()) for world in made)


def audit_of(world: World, **more) -> AlgorithmAwareAudit:
    return AlgorithmAwareAudit(world.criteria, 2, 10_000, cuts=world.cuts, **more)


def examined(world: World, releases: dict[Release, list[Table]], **more) -> Examined:
    """One table of each release, all of them audited at once."""
    codes, sensitive, groups = world.cut([tables[0] for tables in releases.values()])
    found = audit_of(world, **more).examined(codes, sensitive, groups, world.axes)
    assert found is not None
    return found


def told(world: World, releases: dict[Release, list[Table]], **more) -> Iterator[Told]:
    """What the audit says of each person of each release, beside the truth."""
    if not releases:
        return
    found = examined(world, releases, **more)
    low, high = found.limits()
    known, bound = (np.repeat(x, np.diff(found.bounds)) for x in (found.known, found.bound.inside >= 0))
    truth = [posteriors(tables) for tables in releases.values()]
    for i, person in enumerate(found.people):
        shares = truth[person // world.people][person % world.people]
        dense = np.array([float(shares.get(x, 0)) for x in range(world.values)])
        yield Told(low[i], high[i], bool(known[i]), bool(bound[i]), dense)


CRITERIA = {
    "alpha-k": HALF,
    "recursive": RECURSIVE,
    "distinct": (DistinctDiversity(2), KAnonymity(3)),
    "entropy": (EntropyDiversity(1.5),),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CRITERIA)
def test_a_posterior_is_what_trying_every_table_gives(name, way):
    """Cuts that were refused in groups and above them, of ten thousand tables of up to nine people."""
    tables = people = 0
    for world, releases in worlds_of(CRITERIA[name], way=way):
        tables += world.values**world.people
        for person in told(world, releases):
            assert person.known and np.array_equal(person.low, person.high) and person.covered
            people += person.bound
    assert tables >= 10_000 and people > 100


LOCAL = {
    "t-closeness": {"t_closeness": {"t": 0.4}},
    "beta-likeness": {"beta_likeness": {"beta": 0.7}},
    "delta-disclosure": {"delta_disclosure": {"delta": 1.2}},
    "proximity": {"proximity": {"within": 0.4, "share": 0.6}, "k_anonymity": 2},
    "skyline": {
        "skyline": {"default": [{"l": 1, "k": 0, "m": 0, "c": 0.9}, {"l": 0, "k": 1, "m": 0, "c": 0.7}]}
    },
}


@pytest.mark.parametrize("name", LOCAL)
def test_so_it_is_under_every_criterion_that_groups_meet_by_themselves(name):
    privacy = PrivacySpec.model_validate(LOCAL[name])
    domain = ValueDomain(("1", "2", "3"), (3, 2, 1), "svpi", "int")
    criteria = separable_criteria(privacy, domain)
    bound = 0
    for world, releases in worlds_of(criteria, ((6, 3), (7, 3))):
        for person in told(world, releases):
            assert person.known and np.array_equal(person.low, person.high) and person.covered
            bound += person.bound
    assert bound


@pytest.mark.parametrize("way", ["median", "loss of kinds"])
@pytest.mark.parametrize("name", CRITERIA)
def test_an_interval_covers_what_trying_every_table_gives(name, way):
    """Nothing is computed exactly: assignments are drawn."""
    effort, narrow = AuditEffort(outcomes=0, wanted=300, draws=100, turns=10), 0
    for world, releases in worlds_of(CRITERIA[name], SMALL, way):
        for person in told(world, releases, effort=effort):
            assert person.covered
            narrow += person.bound and person.known and bool((person.high - person.low).max() < 0.5)
    assert narrow > 10


def test_without_draws_enough_nothing_is_claimed():
    """Where hardly any draw refuses what was refused there is no answer, and a limit fails."""
    (world, releases), *_ = worlds_of(RECURSIVE, SMALL)
    few = AuditEffort(outcomes=0, wanted=300, draws=FEWEST - 1, turns=1)
    people = list(told(world, releases, effort=few))
    assert any(person.bound for person in people)
    for person in people:
        assert person.known != person.bound
        assert person.known or ((person.low == 0).all() and (person.high == 1).all())
    found = examined(world, releases, effort=few).audited(audit_of(world, limit=1.0, effort=few))
    assert found.failing == found.unanswered > 0 and found.unknown >= found.unanswered


def test_what_was_refused_above_too_many_people_has_no_answer():
    """What is said of the others is exact all the same."""
    unknown = exact = 0
    for world, releases in worlds_of(RECURSIVE, SMALL):
        for person in told(world, releases, branch=4):
            unknown += not person.known
            exact += person.known and person.bound
            assert person.covered and (not person.known or np.array_equal(person.low, person.high))
    assert unknown > 10 and exact > 10


@pytest.mark.parametrize(
    ("name", "beyond"),
    [
        ("alpha-k", lambda shares: shares.max() > 0.5 + CLOSE),
        ("recursive", lambda shares: shares.max() >= 0.75 - CLOSE),
        ("distinct", lambda shares: shares.max() > 1 - CLOSE),
    ],
)
def test_people_beyond_the_criterion_are_counted(name, beyond):
    """The known figures: a share of one half becomes certainty, and so does three quarters."""
    counted = worst = 0
    for world, releases in worlds_of(CRITERIA[name]):
        if not releases:
            continue
        truth = [person.truth for person in told(world, releases)]
        found = examined(world, releases).audited(audit_of(world))
        assert found.worst is not None and found.undecided == 0
        assert found.beyond == sum(map(beyond, truth))
        assert found.worst.high == pytest.approx(max(shares.max() for shares in truth), abs=CLOSE)
        counted, worst = counted + found.beyond, max(worst, found.worst.high)
    assert counted > 10 and worst == 1


@pytest.mark.parametrize("way", WAYS)
def test_blind_groups_give_nothing_away(way):
    """Their cuts are refused by sizes alone: nobody's posterior differs from the share in the group."""
    for world, releases in worlds_of(blind_criteria(2), SMALL, way):
        assert not any(person.bound for person in told(world, releases))
        found = examined(world, releases).audited(audit_of(world))
        assert (found.bound, found.beyond, found.unanswered) == (0, 0, 0)


@pytest.mark.parametrize("cuts", ["median", "loss"])
def test_making_the_groups_again_from_other_values_agrees(cuts):
    """A deeper tree: values are dealt anew in groups, and those dealings count that make the same groups."""
    draws, people, dealings = np.random.default_rng(11), 60, 12_000
    codes = np.stack([draws.integers(0, top, people) for top in (30, 12, 4)], axis=1).astype(np.int32)
    axes = [Axis(1 / top, -1 / top) for top in (30, 12, 4)]
    values, criteria = draws.choice(3, people, p=[0.5, 0.3, 0.2]).astype(np.int32), (AlphaK(0.7, 4),)
    groups = partition(codes, Sensitive.single(values, 3), axes, criteria, cuts=cuts)
    found = AlgorithmAwareAudit(criteria, 4, people, cuts=cuts).examined(
        codes, Sensitive.single(values, 3), groups, axes
    )
    assert found is not None and found.known.all() and (found.bound.inside >= 0).sum() > 2
    group = np.repeat(np.arange(len(groups.starts) - 1), np.diff(groups.starts))
    keys = draws.random((dealings, people))
    shuffled = np.argsort(group + keys, axis=1)
    dealt = np.empty((dealings, people), np.int32)
    dealt[:, groups.order] = values[groups.order][shuffled]
    everybody, bounds = np.tile(codes, (dealings, 1)), np.arange(dealings + 1) * people
    dealing = Sensitive.single(dealt.ravel(), 3)
    again = partition(everybody, dealing, axes, criteria, bounds=bounds, cuts=cuts)
    begins = np.zeros((dealings, people), np.bool_)
    begins.ravel()[again.starts[:-1]] = True
    label = np.empty(people, np.int64)
    label[groups.order] = group
    alike = label[again.order.reshape(dealings, people) % people] == group
    borders = np.isin(np.arange(people), groups.starts)
    kept = dealt[alike.all(axis=1) & (begins == borders).all(axis=1)]
    assert len(kept) > 300
    low, high = found.limits()
    for place, person in enumerate(found.people):
        share = np.bincount(kept[:, person], minlength=3) / len(kept)
        slack = 4.5 * np.sqrt(0.25 / len(kept))
        assert (low[place] - slack <= share).all() and (share <= high[place] + slack).all()
    shares = np.array([np.bincount(values[label == g], minlength=3) / (label == g).sum() for g in group])
    assert np.abs(low - shares).max() > 0.1


def crowd(order: np.ndarray) -> tuple[np.ndarray, Sensitive]:
    """A table of a few hundred people, in any order."""
    draws = np.random.default_rng(3)
    codes = np.stack([draws.integers(0, 60, 400), draws.integers(0, 40, 400)], axis=1).astype(np.int32)
    return codes[order], Sensitive.single(draws.choice(5, 400, p=[0.4, 0.3, 0.1, 0.1, 0.1])[order], 5)


WIDE = [Axis(1 / 60, -1 / 60), Axis(1 / 40, -1 / 40)]


def found_in(order: np.ndarray, **more) -> Audited:
    codes, sensitive = crowd(order)
    criteria = (AlphaK(Fraction(1, 2), 5),)
    groups = partition(codes, sensitive, WIDE, criteria)
    return AlgorithmAwareAudit(criteria, 5, 400, **more).audit(codes, sensitive, groups, WIDE)


def test_draws_depend_on_content_alone():
    """The order of rows decides nothing, and a retried task draws the same."""
    few = AuditEffort(outcomes=10, wanted=200, draws=100, turns=4)
    one = found_in(np.arange(400), effort=few)
    assert one.exact < one.bound and one.worst is not None
    for seed in (1, 2):
        assert found_in(np.random.default_rng(seed).permutation(400), effort=few) == one


def test_a_sample_is_part_of_the_whole():
    whole, part = found_in(np.arange(400), branch=40), found_in(np.arange(400), branch=40, one_in=3)
    assert 0 < part.groups < whole.groups == whole.merged(Audited()).groups
    assert 0 < part.people < whole.people == 400 and part.bound < whole.bound
    assert part.worst is not None and whole.worst is not None and part.worst <= whole.worst


def test_the_verdict_says_how_sure_it_is():
    audit = AlgorithmAwareAudit(HALF, 2, 100, 3, limit=0.5)
    (row,) = audit.decide(Audited(groups=10, people=200, failing=1))
    assert (row.status, row.violations, row.value) == ("fail", 1, None)
    assert row.parameters["confidence"] == pytest.approx(0.98) and "one branch of the tree in 3" in row.level
    (unknown,) = audit.decide(Audited(groups=10, people=50))
    assert unknown.status == "fail"
    (passed,) = audit.decide(Audited(groups=10, people=50, worst=Place(0.5, 0.5, 0.5, 5, True)))
    assert passed.status == "pass" and passed.parameters["confidence"] == pytest.approx(0.99)
