"""Several sensitive attributes published independently: what an adversary who knows one of them infers.

Every way to give the values to the people of a small group is a possible world, and every world is put
through the program's own cutting and describing. The adversary sees what comes out, knows everybody's
quasi-identifiers and the target's value of one attribute, and keeps the worlds in which just that comes out.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from ppdp_spark.core.criteria import KAnonymity
from ppdp_spark.core.data.attributes import Ordered
from ppdp_spark.core.data.coded_people import Axis, Sensitive
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.core.partition.mondrian import partition
from ppdp_spark.run.criteria.several_attributes import beside_each_other
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.profile import SensitiveDomain
from ppdp_spark.spark.partition.cut_people import CutFragment
from ppdp_spark.spec import PrivacySpec

AGES = [1, 2, 3, 4, 5]
ILLS, JOBS = [0, 0, 1, 1, 2], [0, 0, 0, 1, 1]


def layout(*, codes_published: bool) -> Layout:
    """One quasi-identifier, and two sensitive attributes of three and two values."""
    domains = tuple(
        SensitiveDomain(name, "svpi", "string", tuple(values), tuple(counts))
        for name, values, counts in [("ill", "abc", [2, 2, 1]), ("job", "xy", [3, 2])]
    )
    return Layout((Ordered("age", "integer", "int", 1, 5),), domains, codes_published, 0)


def shown(world: list[tuple[int, int, int]], given: Layout, k: int, order: list[int]) -> tuple:
    """Everything that leaves the task for people (age, ill, job) who come in some order."""
    rows = [world[i] for i in order]
    columns = {"q0": 0, "sensitive": 1, "sensitive1": 2}
    packed = defaultdict(lambda: np.zeros(len(rows), np.int64))
    for field in given.packing.fields:
        codes = np.array([row[columns[field.name]] for row in rows], np.int64)
        packed[f"w{field.word}"] |= codes << field.shift
    batch = pa.RecordBatch.from_pydict({name: pa.array(words) for name, words in packed.items()})
    (found,) = CutFragment(given, (KAnonymity(k),), raw=False)([batch])
    return tuple(repr(column.to_pylist()) for column in found.columns)


@pytest.mark.parametrize("codes_published", [False, True])
def test_what_somebody_knows_of_one_attribute_says_nothing_about_another(codes_published):
    given, rng = layout(codes_published=codes_published), random.Random(5)
    worlds = [
        list(zip(AGES, ills, jobs, strict=True))
        for ills in sorted(set(permutations(ILLS)))
        for jobs in sorted(set(permutations(JOBS)))
    ]
    seen = defaultdict(list)
    for world in worlds:
        seen[shown(world, given, len(AGES), rng.sample(range(5), 5))].append(world)
    share = Counter(JOBS)
    for consistent in seen.values():
        for target in range(len(AGES)):
            for ill in set(ILLS):
                jobs = Counter(world[target][2] for world in consistent if world[target][1] == ill)
                for job, number in jobs.items():
                    assert Fraction(number, jobs.total()) == Fraction(share[job], len(JOBS))
    assert sum(map(len, seen.values())) == 30 * 10


def values_of(rng: random.Random, people: int, width: int) -> list[int]:
    return [min(width - 1, int(rng.expovariate(0.7))) for _ in range(people)]


@pytest.mark.parametrize("seed", range(12))
def test_every_group_satisfies_the_criteria_of_every_attribute(seed):
    """Counted by hand: sizes, different values, and the distance of ordered values from the whole table."""
    rng = random.Random(seed)
    people, widths = rng.randrange(40, 160), (rng.randrange(3, 6), rng.randrange(3, 7))
    codes = np.array([[rng.randrange(1, 30), rng.randrange(1, 6)] for _ in range(people)], np.int32)
    columns = [values_of(rng, people, width) for width in widths]
    names = [[str(value) for value in range(width)] for width in widths]
    counts = [
        [column.count(value) for value in range(width)] for column, width in zip(columns, widths, strict=True)
    ]
    domains = {
        name: ValueDomain(labels, number) for name, labels, number in zip("ab", names, counts, strict=True)
    }
    own = {"b": {"t_closeness": {"t": 0.35}, "l_diversity": {"kind": "distinct", "l": 3}}}
    demanded = {"k_anonymity": 3, "l_diversity": {"kind": "distinct", "l": 2}, "per_attribute": own}
    privacy = PrivacySpec.model_validate(demanded)
    criteria = beside_each_other(privacy, domains)
    sensitive = Sensitive.several([np.array(column) for column in columns], widths)
    axes = [Axis(1 / 30, -0.01), Axis(1 / 6, -0.01)]
    groups = partition(codes, sensitive, axes, criteria)
    whole = [count / people for count in counts[1]]
    members = np.split(groups.order, groups.starts[1:-1])
    assert sorted(np.concatenate(members).tolist()) == list(range(people))
    assert len(members) > 1
    for group in members:
        held = [[column[i] for i in group] for column in columns]
        assert len(group) >= 3
        assert len(set(held[0])) >= 2
        assert len(set(held[1])) >= 3
        gaps = [abs(held[1].count(value) / len(group) - share) for value, share in enumerate(whole)]
        assert sum(gaps) / 2 <= 0.35 + 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_an_attribute_beside_its_own_copy_changes_no_cut(seed):
    rng = random.Random(100 + seed)
    people, width = 120, 4
    codes = np.array([[rng.randrange(1, 40), rng.randrange(1, 9)] for _ in range(people)], np.int32)
    values = np.array(values_of(rng, people, width))
    number = [int((values == value).sum()) for value in range(width)]
    domain = ValueDomain([str(value) for value in range(width)], number)
    privacy = PrivacySpec.model_validate(
        {"k_anonymity": 2, "l_diversity": {"kind": "recursive", "c": 2, "l": 2}}
    )
    axes = [Axis(1 / 40, -0.01), Axis(1 / 9, -0.01)]
    twice = partition(
        codes,
        Sensitive.several([values, values], [width, width]),
        axes,
        beside_each_other(privacy, {"a": domain, "b": domain}),
    )
    once = partition(codes, Sensitive.single(values, width), axes, beside_each_other(privacy, {"a": domain}))
    assert twice.starts.tolist() == once.starts.tolist()
    assert twice.order.tolist() == once.order.tolist()
