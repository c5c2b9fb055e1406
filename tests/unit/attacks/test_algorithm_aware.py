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

from ppdp_spark.core.attacks.algorithm_aware import AlgorithmAwareAudit, Audited, Examined
from ppdp_spark.core.attacks.program_posteriors import Effort
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
from ppdp_spark.core.partition.blind import blind_criteria
from ppdp_spark.core.partition.mondrian import partition
from support.core.whole_posteriors import Release, Table, posteriors, worlds

AXES = [Axis(1 / 4, -1 / 4), Axis(1 / 2, -1 / 2)]
SIZES = [(5, 3), (6, 3), (7, 3), (8, 3), (9, 2)]
"""People and values: 243, 729, 2,187, 256 and 512 tables for each choice of quasi-identifiers."""

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

    def cut(self, tables: Sequence[Table]) -> tuple[np.ndarray, Sensitive, Partition]:
        """The groups of many tables, which are cut at once."""
        everybody = np.tile(self.codes, (len(tables), 1))
        sensitive = Sensitive.single(np.array(tables).ravel(), self.values)
        bounds = np.arange(len(tables) + 1) * self.people
        return everybody, sensitive, partition(everybody, sensitive, AXES, self.criteria, bounds=bounds)

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

    def audit(self, effort: Effort = Effort()) -> AlgorithmAwareAudit:
        return AlgorithmAwareAudit(self.criteria, 2, self.people, effort=effort)


@dataclass(frozen=True)
class Told:
    """What the audit says of a person of one release, and what follows from trying every table."""

    low: np.ndarray
    high: np.ndarray
    known: bool
    tied: bool
    truth: dict[int, Fraction]

    @property
    def share(self) -> np.ndarray:
        return np.array([float(self.truth.get(x, 0)) for x in range(len(self.low))])


@cache
def worlds_of(criteria: tuple[LocalCriterion, ...], seeds: int) -> tuple[tuple[World, dict], ...]:
    made = [
        World(people, values, quasi_identifiers(seed, people), criteria)
        for people, values in SIZES
        for seed in range(seeds)
    ]
    found = ((world, world.releases()) for world in made)
    return tuple((world, releases) for world, releases in found if releases)


def told(world: World, releases: dict[Release, list[Table]], effort: Effort = Effort()) -> Iterator[Told]:
    """What the audit says of each person of each release, beside the truth."""
    first = [tables[0] for tables in releases.values()]
    codes, sensitive, groups = world.cut(first)
    found = world.audit(effort).examined(codes, sensitive, groups, AXES)
    assert found is not None
    low, high = found.limits()
    known = np.repeat(found.known, np.diff(found.bounds))
    tied = np.repeat(found.bound.inside >= 0, np.diff(found.bounds))
    truth = [posteriors(tables) for tables in releases.values()]
    for i, person in enumerate(found.people):
        yield Told(low[i], high[i], bool(known[i]), bool(tied[i]), truth[person // world.people][person % world.people])


CRITERIA = {
    "alpha-k": HALF,
    "recursive": RECURSIVE,
    "distinct": (DistinctDiversity(2), KAnonymity(2)),
    "entropy": (EntropyDiversity(1.5),),
}


@pytest.mark.parametrize("name", CRITERIA)
def test_what_is_exact_is_what_trying_every_table_gives(name):
    """Wherever no cut was refused higher up, the audit's posterior is the enumerated one."""
    tables = alike = other = 0
    for world, releases in worlds_of(CRITERIA[name], 3):
        tables += world.values**world.people
        for person in told(world, releases):
            assert np.array_equal(person.low, person.high)
            assert person.known
            assert np.allclose(person.low, person.share, rtol=0, atol=1e-12)
            alike += 1
    print(tables, alike)
    assert tables >= 10_000 and alike > 1_000
