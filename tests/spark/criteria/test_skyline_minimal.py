"""SkylineAnonymize with m > 0: no group of the result has a safe allowed cut left [Skyline, Thm 5].

The oracle shares nothing with the package: exact fractions, cuts enumerated from the rows.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.core.criteria import KAnonymity
from ppdp_spark.core.criteria.skyline import LocalSkyline, Point, SkylineCriterion, Target, balanced_floors
from ppdp_spark.core.data.attributes import Ordered
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.errors import InfeasibleError
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.profile import SensitiveDomain
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.partition.coupled_skyline import Coupling
from ppdp_spark.spark.partition.cut_people import CutFragment

INFINITE = None


def ratio(sizes, point, value):
    """NR of a release by the formulas of one value per person; `sizes` are counts of values by group."""
    ell, k, m = point

    def t(counts, k):
        others = sorted((c for v, c in counts.items() if v != value), reverse=True)
        left = sum(counts.values()) - counts[value] - sum(others[:ell]) - k
        return Fraction(max(0, left), counts[value])

    def v(counts, m, k):
        n, product = sum(counts.values()), Fraction(1)
        for i in range(m):
            if n - k - i <= 0 or n - counts[value] - k - i <= 0:
                return Fraction(0)
            product *= Fraction(n - counts[value] - k - i, n - k - i)
        return product

    held = [counts for counts in sizes if counts.get(value)]
    if not held:
        return INFINITE
    ss1 = min(t(g, k) * v(g, m, k + 1) for g in held)
    ss2, ss3 = min(t(g, 0) for g in held), min(t(g, k) for g in held)
    ss4, ss5 = (
        min([Fraction(1), *(v(g, m, 0) for g in held)]),
        min([Fraction(1), *(v(g, m, k) for g in held)]),
    )
    return min(ss1, ss2 * ss5, ss3 * ss4)


def is_safe(groups, targets):
    counted = [{v: group.count(v) for v in set(group)} for group in groups]
    for value, *point, c in targets:
        found = ratio(counted, point, value)
        if found is not INFINITE and not found > (1 - c) / c:
            return False
    return True


def median_cut(rows, attribute):
    """The most even cut around the median of one attribute: both sides, or None."""
    codes = sorted(row[attribute] for row in rows)
    if codes[0] == codes[-1]:
        return None
    size, median = len(codes), codes[(len(codes) - 1) // 2]
    below, upto = sum(c < median for c in codes), sum(c <= median for c in codes)
    even = upto < size and (below == 0 or min(upto, size - upto) >= min(below, size - below))
    last = median if even else median - 1
    return [r for r in rows if r[attribute] <= last], [r for r in rows if r[attribute] > last]


def safe_cuts_left(groups, attributes, targets, k=1):
    """Groups with a cut that leaves the whole release safe; rows end with the sensitive value."""
    found = []
    for i, rows in enumerate(groups):
        others = [[row[-1] for row in g] for j, g in enumerate(groups) if j != i]
        for attribute in range(attributes):
            sides = median_cut(rows, attribute)
            if sides is None or min(map(len, sides)) < k:
                continue
            if is_safe([*others, *([row[-1] for row in side] for side in sides)], targets):
                found.append((i, attribute))
    return found


class InMemory:
    """Batches of groups that tasks run over without an engine."""

    schema = None

    def __init__(self, batches):
        self.batches = batches

    def mapInArrow(self, task, schema):
        return InMemory(list(task(iter(self.batches))))

    def toArrow(self):
        return pa.Table.from_batches(self.batches)


def settled(rows, attributes, values, targets, k):
    """Final groups of small rows under skyline targets, by the rounds of the package; None if refused."""
    codes = np.array([row[:-1] for row in rows], np.int32) + 1
    held = np.array([row[-1] for row in rows], np.int32)
    counts = tuple(int(n) for n in np.bincount(held, minlength=values))
    described = tuple(Ordered(f"a{j}", "integer", "int", 0, 9) for j in range(attributes))
    domain = SensitiveDomain("s", "svpi", "string", tuple(map(str, range(values))), counts)
    layout = Layout(described, (domain,), True, 0)
    named = [Target(v, str(v), Point(l, kk, m, float(c))) for v, l, kk, m, c in targets]
    apart = tuple(t for t in named if t.point.m == 0)
    local = [LocalSkyline("svpi", apart)] if apart else []
    local = (*([KAnonymity(k)] if k > 1 else []), *local)
    coupling = Coupling(layout, local, SkylineCriterion("svpi", tuple(t for t in named if t.point.m)))
    whole = GroupSummaries(np.array([len(rows)]), np.array([counts]))
    if len(rows) < k or not all(c.allowed(whole)[0] for c in local):
        return None
    try:
        floors = balanced_floors("svpi", coupling.skyline.targets, whole)
    except InfeasibleError:
        return None
    arrays = {C.code(j): codes[:, j] for j in range(attributes)} | {C.SENSITIVE: held}
    words = layout.packing.packed(arrays)
    batch = {C.word(w): pa.array(word) for w, word in enumerate(words)}
    batch[C.FRAGMENT] = pa.array(np.zeros(len(rows), np.int32))
    task = CutFragment(layout, coupling.floored(floors), raw=True)
    first = InMemory(list(task([pa.RecordBatch.from_pydict(batch)])))
    groups = coupling.settle(first, lambda made: made).toArrow()
    found = []
    for i in range(groups.num_rows):
        people = [groups.column(C.word(w))[i].values.to_numpy() for w in range(layout.packing.words)]
        unpacked = layout.packing.unpacked(people)
        columns = [unpacked[C.code(j)] - 1 for j in range(attributes)] + [unpacked[C.SENSITIVE]]
        found.append([tuple(map(int, row)) for row in zip(*columns, strict=True)])
    return found


def random_case(rng):
    """A table, and points of which one is just missed by most cuts: there greedy rounds can go wrong."""
    attributes, values = rng.randint(2, 6), rng.randint(2, 4)
    domain = [rng.choice([2, 2, 4, 9]) for _ in range(attributes)]
    rows = [
        (*(rng.randrange(d) for d in domain), min(rng.randrange(values), rng.randrange(values)))
        for _ in range(rng.randint(8, 60))
    ]
    points = {
        (rng.randrange(values), rng.randint(0, 2), rng.randint(0, 2), rng.choice([0, 1, 2, 3]))
        for _ in range(rng.randint(0, 2))
    }
    targets = [(*point, Fraction(rng.choice([80, 90, 95, 99]), 100)) for point in sorted(points)]
    aimed = (rng.randrange(values), rng.randint(0, 2), rng.randint(0, 1), rng.randint(1, 3))
    c = tight_confidence(rows, attributes, aimed)
    return rows, attributes, values, [(*aimed, c), *targets], rng.choice([1, 1, 2])


def tight_confidence(rows, attributes, point):
    """The smallest c, in thousandths, at which the table can be cut along one of its attributes."""
    value, *amounts = point
    best = Fraction(1)
    for sides in filter(None, (median_cut(rows, j) for j in range(attributes))):
        held = [[row[-1] for row in side] for side in sides]
        counted = [{v: group.count(v) for v in set(group)} for group in held]
        found = ratio(counted, amounts, value)
        best = min(best, Fraction(0) if found is INFINITE else 1 / (1 + found))
    return min(Fraction(999, 1000), Fraction(int(best * 1000) + 1, 1000))


def search(number, seed):
    """Cases searched, and those of them that were cut, each seen to be safe and minimal."""
    rng, cut = random.Random(seed), 0
    for _ in range(number):
        rows, attributes, values, targets, k = random_case(rng)
        groups = settled(rows, attributes, values, targets, k)
        if groups is None:
            continue
        assert sorted(row for group in groups for row in group) == sorted(rows)
        assert is_safe([[row[-1] for row in group] for group in groups], targets)
        assert not safe_cuts_left(groups, attributes, targets, k), (rows, targets, k)
        cut += len(groups) > 1
    return cut


@pytest.mark.parametrize("seed", range(2))
def test_no_safe_cut_is_left_in_small_tables(seed):
    assert search(500, seed) > 50


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*range(100, 104), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(104, 110))]
)
def test_no_safe_cut_is_left_in_many_small_tables(seed):
    assert search(1_000, seed) > 100


EIGHTY = """
2212c 2122a 1211c 2221a 2212a 1222c 2222b 1121c 1121c 1112a 2122a 2221c 2121c 1222c 2122a 2121a
2111b 1111a 2121c 1221c 2211a 2222c 2222c 1121c 2112c 1121c 1121c 2222b 1111c 2212a 1121c 1221a
2111b 1211a 1111a 2211a 2112a 2212a 1212c 2211a 2212a 2222a 2121b 2112c 1221c 2112b 2221c 2222a
1221c 1111b 2121c 2221a 1121c 2221b 1111c 2111c 2212b 2221a 1122c 2111c 1222c 2221c 2122a 2212c
2121b 2221a 1112c 2112a 2122a 2212a 2221b 1122c 1222c 1222c 1121c 1121c 1111a 1212c 1111b 2111c
"""


def test_a_cut_along_another_attribute_is_tried(spark, tmp_path):
    """The first attribute's sides are safe alone and not together; the third attribute's cut is safe."""
    rows = EIGHTY.split()
    table = pa.table(
        {f"q{j}": [int(row[j]) for row in rows] for j in range(4)} | {"s": [row[4] for row in rows]}
    )
    pq.write_table(table, tmp_path / "in.parquet")
    spec = ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "minimal",
            "input": {"path": str(tmp_path / "in.parquet")},
            "columns": {"quasi_identifiers": {f"q{j}": "numeric" for j in range(4)}, "sensitive": "s"},
            "privacy": {"skyline": {"values": {"a": [{"l": 1, "k": 0, "m": 2, "c": 0.9}]}}},
            "output": {"path": str(tmp_path / "out"), "form": "bucketized"},
        }
    )
    run = anonymize(spec, spark=spark)
    assert run.ok
    assert run.summary["release"]["groups"] > 1
    data = tmp_path / "out" / "release" / "data"
    people, held = (pq.read_table(data / name).to_pylist() for name in ("qi", "sensitive"))
    values = {
        g: [r["s"] for r in held if r["group_id"] == g for _ in range(r["count"])]
        for g in {row["group_id"] for row in people}
    }
    assert is_safe(list(values.values()), [("a", 1, 0, 2, Fraction(9, 10))])


@pytest.mark.parametrize(
    ("case", "form"),
    [
        ("mvpi-set", "generalized"),
        ("mvpi-multiset", "bucketized"),
        pytest.param("mvpi-set", "bucketized", marks=pytest.mark.slow),
        pytest.param("mvpi-multiset", "generalized", marks=pytest.mark.slow),
    ],
)
def test_people_without_any_value(spark, tmp_path, case, form):
    """Fewer values than people: a table by values must not be read by people."""
    rows = [["s"] if i % 10 == 0 else ["x"] if i % 5 == 1 else [] for i in range(400)]
    table = pa.table({"age": [i % 50 for i in range(400)], "cond": pa.array(rows, pa.list_(pa.string()))})
    pq.write_table(table, tmp_path / "in.parquet")
    spec = ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "empty",
            "input": {"path": str(tmp_path / "in.parquet")},
            "columns": {
                "quasi_identifiers": {"age": "numeric"},
                "sensitive": {"column": "cond", "case": case},
            },
            "privacy": {"skyline": {"default": [{"l": 0, "k": 1, "m": 1, "c": 0.8}]}},
            "output": {"path": str(tmp_path / "out"), "form": form},
        }
    )
    run = anonymize(spec, spark=spark)
    assert run.ok
    assert run.summary["release"]["groups"] > 1
