"""The knowledge explorer against exhaustive evaluation, its witnesses, and its mergeable state."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from ppdp_spark.core.criteria.skyline import Point, SkylineCriterion, Target
from ppdp_spark.core.criteria.skyline.points import CASES, LARGEST_KNOWLEDGE
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.explorer import knowledge_skyline as knowledge
from ppdp_spark.core.explorer import signatures as signatures_module
from ppdp_spark.core.explorer.knowledge_skyline import Bounds, explore, signatures
from ppdp_spark.errors import DataError, SpecError


def release(case, counts, rng):
    counts = np.asarray(counts)
    if case == "svpi":
        return GroupSummaries(counts.sum(axis=1), counts)
    return GroupSummaries(counts.max(axis=1) + rng.integers(1, 12, len(counts)), counts)


def random_release(case, seed, groups=6, values=4, largest=8):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, largest, (groups, values))
    counts[:, -1] += 1
    return release(case, counts, rng)


def is_safe(case, groups, amounts, c, value=0):
    criterion = SkylineCriterion(case, (Target(value, "σ", Point(*amounts, c)),))
    return bool(criterion.safe(criterion.statistics(groups).min(axis=0)))


def found(case, groups, value=0, max_l=4):
    return signatures(groups, np.arange(len(groups)) + 100, value, case=case, max_l=max_l)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("c", [0.5, 0.9, 1.0])
@pytest.mark.parametrize("case", CASES)
def test_surface_and_points_against_exhaustive_evaluation(case, c, seed):
    groups = random_release(case, seed)
    bounds = Bounds(max_l=3, max_m=4)
    skyline = explore(found(case, groups), c, bounds)
    most = int(groups.sizes.max()) + 1
    safe = {a for a in product(range(5), range(most + 1), range(6)) if is_safe(case, groups, a, c)}
    for ell, m in product(range(4), range(5)):
        expected = max((k for x, k, y in safe if (x, y) == (ell, m)), default=-1)
        assert skyline.surface[ell, m] == expected
    inside = {a for a in safe if a[0] <= 3 and a[2] <= 4}
    maximal = {
        (ell, k, m)
        for ell, k, m in inside
        if not {(ell + 1, k, m), (ell, k + 1, m), (ell, k, m + 1)} & inside
    }
    assert set(skyline.amounts) == maximal
    assert len(skyline.amounts) == len(maximal)
    for point in skyline.points:
        steps = {"l": (1, 0, 0), "k": (0, 1, 0), "m": (0, 0, 1)}
        further = {axis: tuple(np.add((point.l, point.k, point.m), s)) for axis, s in steps.items()}
        assert set(point.open_axes) == {axis for axis, a in further.items() if a in safe}
        assert {(b.l, b.k, b.m) for b in point.breaches} == {a for a in further.values() if a not in safe}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("case", CASES)
def test_breaches_are_attained_in_the_groups_they_name(case, seed):
    groups = random_release(case, seed, largest=20)
    skyline = explore(found(case, groups), 0.8, Bounds(max_l=3, max_m=4))
    breaches = [b for point in skyline.points for b in point.breaches]
    breaches += [skyline.start] if skyline.start else []
    assert breaches
    places = {"SS1": (0, 0, 0), "SS2·SS5": (1, 4, 4), "SS3·SS4": (2, 2, 3)}
    for b in breaches:
        criterion = SkylineCriterion(case, (Target(0, "σ", Point(b.l, b.k, b.m, 0.8)),))
        each = criterion.statistics(groups)[:, 0]
        row = criterion.decide(criterion.summarise(groups, np.arange(len(groups))))[0]
        assert (row.status, row.value) == ("fail", pytest.approx(b.probability, rel=1e-12))
        named = (b.group, b.known_people_group, b.family_group)
        for statistic, group in zip(places[b.product], named, strict=True):
            assert each[group - 100, statistic] == each[:, statistic].min()
        counts = groups.counts[b.group - 100]
        assert (b.group_people, b.group_occurrences) == (groups.sizes[b.group - 100], counts[0])
        ranked = [v for _, v in sorted((-counts[v], v) for v in range(1, 4))]
        assert list(b.excluded_values) == [v for v in ranked[: b.l] if counts[v]]


def test_five_known_people_break_a_diverse_group():
    """One manager among six people: knowing five others names the sixth."""
    groups = GroupSummaries(np.array([6, 60]), np.array([[1, 3, 2], [5, 30, 25]]))
    skyline = explore(found("svpi", groups), 0.95, Bounds(max_l=0, max_m=0))
    assert skyline.amounts == [(0, 4, 0)]
    breach = next(b for b in skyline.points[0].breaches if b.k == 5)
    assert (breach.group, breach.probability, breach.product) == (100, 1.0, "SS1")
    assert breach.known_people_group == 100


@pytest.mark.parametrize("case", CASES)
def test_an_absent_value_is_safe_under_any_knowledge(case):
    groups = GroupSummaries(np.array([3, 4]), np.array([[0, 3], [0, 4]]))
    skyline = explore(found(case, groups), 0.1, Bounds(max_l=2, max_m=3))
    assert not skyline.present
    assert (skyline.surface == LARGEST_KNOWLEDGE).all()
    assert skyline.amounts == [(2, LARGEST_KNOWLEDGE, 3)]
    assert skyline.points[0].open_axes == ("l", "k", "m")
    assert skyline.groups == 2


def test_a_release_that_needs_no_knowledge_to_break():
    groups = GroupSummaries(np.array([2, 40]), np.array([[2, 0], [4, 36]]))
    skyline = explore(found("svpi", groups, max_l=10), 0.9)
    assert skyline.points == ()
    assert (skyline.surface == -1).all()
    assert skyline.start is not None
    assert (skyline.start.group, skyline.start.probability) == (100, 1.0)


def test_one_large_group():
    groups = GroupSummaries(np.array([10**6]), np.array([[10_000, 490_000, 500_000]]))
    skyline = explore(found("svpi", groups), 0.5, Bounds(max_l=3, max_m=5))
    assert skyline.surface[0, 0] == 10**6 - 2 * 10_000 - 1
    assert skyline.surface[1, 0] == 490_000 - 10_000 - 1
    assert (skyline.surface[2:] == -1).all()


def test_max_k_bounds_the_search():
    groups = GroupSummaries(np.array([100]), np.array([[1, 99]]))
    skyline = explore(found("svpi", groups), 0.5, Bounds(max_l=0, max_k=7, max_m=0))
    assert skyline.amounts == [(0, 7, 0)]
    assert skyline.points[0].open_axes == ("k", "m")
    assert [b.l for b in skyline.points[0].breaches] == [1]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(4))
def test_signatures_merge_in_any_order(case, seed):
    rng = np.random.default_rng(seed)
    groups = random_release(case, seed, groups=200, values=5, largest=6)
    ids = rng.permutation(200)
    whole = signatures(groups, ids, 1, case=case, max_l=3)
    pieces = np.array_split(rng.permutation(200), 5)
    parts = [signatures(groups.rows(p), ids[p], 1, case=case, max_l=3) for p in pieces]
    left = parts[0]
    for part in parts[1:]:
        left = left.merged(part)
    for merged in (left, knowledge.merge_signatures(parts[::-1])):
        assert merged.groups == whole.groups == 200
        for name in ("people", "occurrences", "others", "ids", "values"):
            assert np.array_equal(getattr(merged, name), getattr(whole, name)), name


def test_signatures_describe_real_groups():
    groups = random_release("svpi", 3, groups=300, values=6)
    some = signatures(groups, np.arange(300), 2, case="svpi", max_l=3)
    assert 0 < len(some) < 300
    for n, s, others, g, values in zip(
        some.people, some.occurrences, some.others, some.ids, some.values, strict=True
    ):
        row = groups.counts[g]
        assert (n, s) == (row.sum(), row[2])
        rest = sorted(np.delete(row, 2), reverse=True)
        assert others.tolist() == rest[:3]
        assert [row[v] for v in values if v >= 0] == [x for x in others if x > 0]
        assert 2 not in values


def test_colliding_hashes_change_nothing(monkeypatch):
    groups = random_release("svpi", 9, groups=400, values=4, largest=4)
    before = found("svpi", groups)
    monkeypatch.setattr(signatures_module, "_MIX", np.uint64(0))
    after = found("svpi", groups)
    for name in ("people", "occurrences", "others", "ids", "values"):
        assert np.array_equal(getattr(before, name), getattr(after, name))


@pytest.mark.parametrize("case", CASES)
def test_many_groups_reduce_to_few_signatures_without_changing_the_answer(case):
    groups = random_release(case, 11, groups=3000, values=8, largest=12)
    some = found(case, groups)
    assert len(some) < 300
    skyline = explore(some, 0.97, Bounds(max_l=4, max_m=3))
    for ell, m in product(range(5), range(4)):
        k = int(skyline.surface[ell, m])
        assert not is_safe(case, groups, (ell, k + 1, m), 0.97)
        assert k < 0 or is_safe(case, groups, (ell, k, m), 0.97)


def test_a_dictionary_for_reports():
    groups = random_release("svpi", 1, largest=20)
    skyline = explore(found("svpi", groups), 0.9, Bounds(max_l=2, max_m=2))
    data = json.loads(json.dumps(skyline.to_dict()))
    assert np.array_equal(data["surface"], skyline.surface)
    assert [(p["l"], p["k"], p["m"]) for p in data["points"]] == skyline.amounts
    assert data["points"][0]["breaches"][0]["product"] in ("SS1", "SS2·SS5", "SS3·SS4")


def test_errors():
    groups = random_release("svpi", 1)
    with pytest.raises(SpecError, match="`max_m`"):
        Bounds(max_m=-1)
    with pytest.raises(SpecError, match="`max_l` \\(5\\)"):
        explore(found("svpi", groups, max_l=4), 0.5, Bounds(max_l=5))
    with pytest.raises(SpecError, match="`c`"):
        explore(found("svpi", groups), 0.0, Bounds(max_l=1))
    with pytest.raises(SpecError, match="`max_l`"):
        found("svpi", groups, max_l=-1)
    with pytest.raises(DataError, match="value code 9"):
        found("svpi", groups, value=9)
    with pytest.raises(DataError, match="cannot be merged"):
        found("svpi", groups, value=0).merged(found("svpi", groups, value=1))
    with pytest.raises(DataError, match="3 ids for 6 groups"):
        signatures(groups, np.arange(3), 0, case="svpi", max_l=1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("case", CASES)
def test_signatures_attain_every_minimum_of_the_release(case, seed):
    """Few occurrences of σ and many sizes: for each #σ several groups matter, for other k and m."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 25, (400, 4))
    counts[:, 0] = rng.integers(1, 3, 400)
    sizes = counts.sum(axis=1) if case == "svpi" else counts.max(axis=1) + rng.integers(0, 40, 400)
    groups = GroupSummaries(sizes, counts)
    some = found(case, groups, max_l=3)
    kept = groups.rows(some.ids - 100)
    assert len(kept) < 100
    amounts = product(range(4), (0, 1, 3, 8), (0, 1, 4, 9))
    targets = tuple(Target(0, "σ", Point(*a, 0.5)) for a in amounts)
    criterion = SkylineCriterion(case, targets)
    expected = criterion.statistics(groups).min(axis=0)
    assert np.array_equal(criterion.statistics(kept).min(axis=0), expected)
