"""Several sensitive attributes published side by side: what somebody who knows some infers of another.

Small tables are put through the program's own cutting and describing. The adversary sees what comes out,
knows who is in which group and any of the attributes that are declared to be known, and deals the published
records to the people of the group in every way. Nothing but the groups is taken from the program.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, permutations, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ppdp_spark.core.criteria import KAnonymity
from ppdp_spark.core.criteria.attributes.in_cells import InCells
from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.criteria.proximity import Proximity
from ppdp_spark.core.data.attributes import Ordered
from ppdp_spark.core.data.coded_people import Axis, Links, Sensitive
from ppdp_spark.core.data.groups import GroupSummaries, LinkedValues
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.core.partition.mondrian import partition, undivided_summary
from ppdp_spark.run.criteria.several_attributes import beside_each_other
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.profile import SensitiveDomain
from ppdp_spark.spark.partition.cut_people import CutFragment
from ppdp_spark.spec import PrivacySpec

NAMES, WIDTHS = ("ill", "job", "pay"), (3, 2, 3)
Record = tuple[int, ...]


def domains_of(records: list[Record]) -> dict[str, ValueDomain]:
    """The values of each attribute, named by their codes times ten."""
    return {
        name: ValueDomain(
            [str(10 * value) for value in range(width)],
            [sum(record[i] == value for record in records) for value in range(width)],
            kind="int",
        )
        for i, (name, width) in enumerate(zip(NAMES, WIDTHS, strict=True))
    }


def cut(ages: list[int], records: list[Record], privacy: dict, known: tuple[str, ...]) -> list[list[int]]:
    """The people of each group; none if the table fails as one group."""
    criteria = beside_each_other(PrivacySpec.model_validate(privacy), domains_of(records), known)
    columns = [np.array(column) for column in zip(*records, strict=True)]
    codes, sensitive = np.array(ages, np.int32)[:, None], Sensitive.several(columns, WIDTHS, linked=True)
    if not all(criterion.allowed(undivided_summary(sensitive))[0] for criterion in criteria):
        return []
    groups = partition(codes, sensitive, [Axis(0.01, -0.1)], criteria)
    return [part.tolist() for part in np.split(groups.order, groups.starts[1:-1])]


def subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))


def posteriors(
    shown: list[Record], known: Record, places: tuple[int, ...], asked: int
) -> dict[int, Fraction]:
    """What dealing the records of a group in every way says of somebody with known values at `places`."""
    worlds = [deal[0] for deal in permutations(shown) if all(deal[0][i] == known[i] for i in places)]
    found = Counter(record[asked] for record in worlds)
    return {value: Fraction(number, len(worlds)) for value, number in found.items()}


def tables(seed: int, people: int) -> tuple[list[int], list[Record]]:
    """People in clumps of all records there are, and some at random: so that cuts are possible."""
    rng = random.Random(seed)
    whole: list[Record] = list(product(range(2), range(2), range(1)))
    records = [
        whole[i % len(whole)]
        if rng.random() < 0.9
        else (rng.randrange(3), rng.randrange(2), rng.randrange(2))
        for i in range(people)
    ]
    return [i // 2 + rng.randrange(2) for i in range(people)], records


@pytest.mark.parametrize("known", [("job",), ("ill", "job"), NAMES])
def test_no_posterior_of_whoever_knows_declared_attributes_is_beyond_the_bound(known):
    """Every group small enough to deal its records in every way; every subset of what is declared."""
    bound, looked, cuts = Fraction(1, 2), 0, 0
    privacy = {"k_anonymity": 2, "per_attribute": {"ill": {"alpha_k": {"alpha": 0.5, "k": 2}}}}
    for seed in range(60):
        ages, records = tables(seed, 16)
        groups = cut(ages, records, privacy, known)
        cuts += max(0, len(groups) - 1)
        for group in groups:
            shown = [records[i] for i in group]
            if len(shown) > 7:
                continue
            for told in subsets(tuple(name for name in known if name != "ill")):
                places = tuple(NAMES.index(name) for name in told)
                for person in {tuple(record[i] for i in places): record for record in shown}.values():
                    assert max(posteriors(shown, person, places, 0).values()) <= bound
                    looked += 1
    assert cuts > 5 and looked > 20


def test_each_attribute_alone_passes_and_together_they_tell_everything():
    """Whoever has an ill has its job: cut as far as it goes unlinked, and not at all linked."""
    ages = list(range(12))
    records = [(i % 2, i % 2, 0) for i in range(12)]
    half = {"alpha_k": {"alpha": 0.5, "k": 2}}
    privacy = PrivacySpec.model_validate({"per_attribute": {"ill": half, "job": half}})
    domains, columns = domains_of(records), [np.array(column) for column in zip(*records, strict=True)]
    sensitive = Sensitive.several(columns, WIDTHS, linked=True)
    whole = undivided_summary(sensitive)
    apart = beside_each_other(privacy, domains)
    assert all(criterion.allowed(whole)[0] for criterion in apart)
    codes = np.array(ages, np.int32)[:, None]
    assert len(partition(codes, sensitive, [Axis(0.1, -0.1)], apart).starts) > 2
    for known in (("ill",), ("job",), NAMES):
        linked = beside_each_other(privacy, domains, known)
        assert not all(criterion.allowed(whole)[0] for criterion in linked)
    assert posteriors(records[:6], (0, 0, 0), (1,), 0) == {0: 1}


def layout(*, codes_published: bool) -> Layout:
    """One quasi-identifier, and two linked attributes of three and two values."""
    domains = tuple(
        SensitiveDomain(name, "svpi", "string", tuple(values), tuple(counts))
        for name, values, counts in [("ill", "abc", [2, 2, 1]), ("job", "xy", [3, 2])]
    )
    ages = (Ordered("age", "integer", "int", 1, 5),)
    return Layout(ages, domains, codes_published, 0, linked=True)


def published(world: list[tuple[int, int, int]], given: Layout, order: list[int]) -> tuple[str, ...]:
    """Everything that leaves the task for people (age, ill, job) who come in some order."""
    rows = [world[i] for i in order]
    columns = {"q0": 0, "sensitive": 1, "sensitive1": 2}
    packed = defaultdict(lambda: np.zeros(len(rows), np.int64))
    for field in given.packing.fields:
        codes = np.array([row[columns[field.name]] for row in rows], np.int64)
        packed[f"w{field.word}"] |= codes << field.shift
    packed["fragment"] = np.zeros(len(rows), np.int64)
    batch = pa.RecordBatch.from_pydict({name: pa.array(words) for name, words in packed.items()})
    (found,) = CutFragment(given, (KAnonymity(len(rows)),), raw=False)([batch])
    return tuple(repr(column.to_pylist()) for column in found.columns)


@pytest.mark.parametrize("codes_published", [False, True])
def test_what_leaves_the_task_tells_the_records_of_a_group_and_nothing_of_whose_they_are(codes_published):
    """All ways to give two attributes to five people: each record is everybody's equally often."""
    given, rng = layout(codes_published=codes_published), random.Random(5)
    seen: dict[tuple[str, ...], list[list[tuple[int, int, int]]]] = defaultdict(list)
    for ills in sorted(set(permutations([0, 0, 1, 1, 2]))):
        for jobs in sorted(set(permutations([0, 0, 0, 1, 1]))):
            world = list(zip(range(1, 6), ills, jobs, strict=True))
            seen[published(world, given, rng.sample(range(5), 5))].append(world)
    assert len(seen) == len({tuple(sorted(p[1:] for p in worlds[0])) for worlds in seen.values()}) > 3
    for worlds in seen.values():
        records = sorted(person[1:] for person in worlds[0])
        for target, job in product(range(5), (0, 1)):
            told = Counter(world[target][1] for world in worlds if world[target][2] == job)
            cell = Counter(ill for ill, other in records if other == job)
            assert set(told) == set(cell)
            for ill, number in cell.items():
                assert Fraction(told[ill], told.total()) == Fraction(number, cell.total())


def cells_by_hand(
    group: list[int], records: list[Record], places: tuple[int, ...], asked: int
) -> list[list[int]]:
    """Counts of the values of one attribute in every cell, by dictionaries."""
    found: dict[tuple, list[int]] = defaultdict(lambda: [0] * WIDTHS[asked])
    for number, record in zip(group, records, strict=True):
        key = (number, *(record[i] for i in places))
        found[key][record[asked]] += 1
    return [counts for _, counts in sorted(found.items())]


@pytest.mark.parametrize("seed", range(8))
def test_cells_are_counted_as_by_hand_in_pieces_of_any_size(seed, monkeypatch):
    from ppdp_spark.core.data import groups as module

    rng = random.Random(seed)
    group = sorted(rng.randrange(5) for _ in range(60))
    records = [tuple(rng.randrange(width) for width in WIDTHS) for _ in group]
    links = Links.of([np.array(column) for column in zip(*records, strict=True)])
    linked = LinkedValues.of(np.array(group), links.kind, links.kinds)
    for asked, places in product(range(3), subsets((0, 1, 2))):
        wanted = cells_by_hand(group, records, places, asked)
        for cells in (1, 7, 1 << 20):
            monkeypatch.setattr(module, "COUNT_CELLS", cells)
            parts = list(linked.cells(asked, places, WIDTHS[asked]))
            assert np.concatenate([some.counts for _, some in parts]).tolist() == wanted
            assert np.concatenate([some.sizes for _, some in parts]).tolist() == [sum(c) for c in wanted]
    chosen = [4, 1, 1]
    some = GroupSummaries(np.zeros(5, np.int64), np.empty((5, 0)), linked=linked).rows(chosen).linked
    again = [(n, r) for n, g in enumerate(chosen) for h, r in zip(group, records, strict=True) if h == g]
    wanted = cells_by_hand([n for n, _ in again], [r for _, r in again], (1,), 0)
    assert np.concatenate([part.counts for _, part in some.cells(0, (1,), 3)]).tolist() == wanted


GIVEN: dict[str, list[dict[str, Any]]] = {
    "l_diversity": [
        {"kind": "distinct", "l": 2},
        {"kind": "entropy", "l": 1.5},
        {"kind": "recursive", "c": 2, "l": 2},
    ],
    "t_closeness": [{"t": 0.3, "distance": "equal"}, {"t": 0.3, "distance": "ordered"}],
    "beta_likeness": [{"beta": 1, "kind": "basic"}, {"beta": 1, "kind": "enhanced"}],
    "delta_disclosure": [{"delta": 1.2}],
    "alpha_k": [{"alpha": 0.5, "k": 2}],
    "proximity": [{"within": 5, "share": 0.75}],
    "skyline": [{"default": [{"l": 0, "k": 1, "m": 0, "c": 0.9}], "values": {}, "may_be_absent": []}],
}
"""Criteria of values, each so weak that random cells often satisfy it."""


def test_whoever_knows_less_than_everything_declared_learns_no_more():
    """Of every family about values: if the finest cells satisfy it, so do those of every subset."""
    assert set(GIVEN) == {f.field for f in families() if f.traits.sensitive and not f.traits.priors}
    rng, held = random.Random(3), Counter()
    for _ in range(60):
        records = [
            (value, job, pay)
            for value, job, pay in product(range(3), range(2), range(2))
            for _ in range(rng.randrange(1, 4))
        ]
        domain = domains_of(records)["ill"]
        links = Links.of([np.array(column) for column in zip(*records, strict=True)])
        linked = LinkedValues.of(np.zeros(len(records), np.int64), links.kind, links.kinds)
        whole = GroupSummaries(np.array([len(records)]), np.empty((1, 0), np.int64), linked=linked)
        for family in families():
            for given in GIVEN.get(family.field, []):
                criterion: Any = (family.local or family.build)(given, domain)
                if InCells(criterion, 0, (1, 2), 3).allowed(whole)[0]:
                    held[family.field] += 1
                    for places in ((1,), (2,), ()):
                        assert InCells(criterion, 0, places, 3).allowed(whole)[0], (family.field, given)
    assert min(held[name] for name in GIVEN) > 5, held


def test_a_criterion_that_unions_do_not_keep_says_nothing_about_whoever_knows_less():
    """(ε, m)-anonymity as the paper has it, for incomes: safe in both cells, and not in their union."""

    def near_misses(pay: list[int], within: int) -> Fraction:
        return max(Fraction(sum(abs(x - y) <= within for y in pay), len(pay)) for x in pay)

    cells = [0, 20], [10, 40]
    assert [near_misses(pay, 10) for pay in cells] == [Fraction(1, 2)] * 2
    assert near_misses([*cells[0], *cells[1]], 10) == Fraction(3, 4)
    # The criterion of this package asks for any guess, and is kept: it refuses the first cell already.
    numbers = tuple(map(Fraction, (0, 10, 20, 40)))
    summaries = GroupSummaries(np.array([2, 2, 4]), np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]]))
    assert Proximity(10, 0.5, numbers).allowed(summaries).tolist() == [False, True, False]
