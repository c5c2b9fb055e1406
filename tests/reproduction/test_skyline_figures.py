"""The published experiments of the privacy skyline [Skyline, Sec 7], measured again."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from ppdp_spark.core.criteria import RecursiveDiversity
from ppdp_spark.core.criteria.skyline import Point, SkylineCriterion, Target
from ppdp_spark.core.data.groups import GroupSummaries
from support.places import script

reproduction = script("reproduce_skyline")
studies = script("skyline_studies")

pytestmark = pytest.mark.reproduction

USUAL = (10, 10, 10)


def random_release(rng, *, groups, values, most):
    """Groups of which some lack values, and some are smaller than the knowledge."""
    counts = rng.integers(0, most + 1, size=(groups, values)) * (rng.random((groups, values)) < 0.8)
    counts[0, 0] += 1
    return GroupSummaries(counts.sum(axis=1), counts)


def spread(total, places):
    """All ways to spread `total` people over so many groups."""
    return [way for way in product(range(total + 1), repeat=places) if sum(way) == total]


def factor(size, counts, l, p, q, *, holds_target):
    """What one group contributes to NR, in fractions; value 0 is the target's."""
    if counts[0] == 0:
        return None if holds_target else Fraction(1)
    product_of = Fraction(1)
    taken = p + 1 if holds_target else p
    for i in range(q):
        left = size - counts[0] - taken - i
        product_of *= Fraction(left, size - taken - i) if left > 0 else 0
    if holds_target:
        excluded = sum(sorted(counts[1:], reverse=True)[:l])
        product_of *= Fraction(max(0, size - counts[0] - excluded - p), counts[0])
    return product_of


def least_by_enumeration(release, l, k, m):
    """The least product over every place of the target and every spread of known people and family."""
    sizes, counts = release.sizes.tolist(), release.counts.tolist()
    best = None
    for known, family in product(spread(k, len(sizes)), spread(m, len(sizes))):
        for place in range(len(sizes)):
            factors = [
                factor(sizes[g], counts[g], l, known[g], family[g], holds_target=g == place)
                for g in range(len(sizes))
            ]
            if factors[place] is not None:
                found = Fraction(1)
                for one in factors:
                    found *= one
                best = found if best is None else min(best, found)
    return best


def assert_same_answers(release, amount, values=1):
    expected = reproduction.programmed_ratios(release, amount, values)
    found = reproduction.checked_ratios(release, amount, values)
    np.testing.assert_allclose(found, expected, rtol=reproduction.AGREEMENT, atol=0, err_msg=str(amount))
    return expected


def test_the_dynamic_program_finds_the_least_of_all_spreads():
    rng = np.random.default_rng(1)
    positive = 0
    for _ in range(60):
        release = random_release(rng, groups=3, values=6, most=15)
        l, k, m = (int(x) for x in rng.integers(0, 4, size=3))
        expected = float(least_by_enumeration(release, l, k, m))
        (found,) = reproduction.programmed_ratios(release, (l, k, m))
        assert found == pytest.approx(expected, rel=1e-12, abs=0), (release, l, k, m)
        positive += expected > 0
    assert positive >= 30


def test_same_answers_on_many_small_releases():
    """Congregation [Skyline, Thm 1]: spreading people over more groups never helps the adversary."""
    rng = np.random.default_rng(2)
    seen = []
    for _ in range(1500):
        most = int(rng.choice([3, 10, 30]))
        release = random_release(rng, groups=int(rng.integers(1, 12)), values=6, most=most)
        amount = (int(rng.integers(0, 7)), int(rng.integers(0, 9)), int(rng.integers(0, 9)))
        seen.append(assert_same_answers(release, amount, 6))
    answers = np.concatenate(seen)
    assert np.count_nonzero(answers == 0) >= 500
    assert np.count_nonzero((answers > 0) & np.isfinite(answers)) >= 500


def test_same_answers_on_a_uniform_release_along_every_axis():
    release = reproduction.uniform_release(1000, 0)
    assert release.sizes.tolist() == [100] * 1000
    assert release.counts.shape == (1000, 20)
    (at_usual,) = assert_same_answers(release, USUAL)
    assert at_usual > 0
    for axis in range(3):
        for amount in (0, 5, 16):
            assert_same_answers(release, (*USUAL[:axis], amount, *USUAL[axis + 1 :]))


def test_same_answers_where_every_value_occurs_five_times():
    """All of the published ranges have a positive NR here, so agreement is never that of two zeros."""
    release = GroupSummaries(np.full(50, 100), np.full((50, 20), 5))
    for amount in (USUAL, (16, 10, 10), (10, 32, 10), (10, 10, 16)):
        assert assert_same_answers(release, amount) > 0


def test_the_quick_table_compares_cpu_times(capsys):
    figures = reproduction.improvement(quick=True, runs=1, seed=0)
    with capsys.disabled():
        print("\nCPU time of dynamic programming over SkylineCheck, 1,000 groups of 100 people")
        print(reproduction.table([row for records in figures.values() for row in records]))
    assert list(figures) == ["groups", "l", "k", "m", "values"]
    for axis in ("l", "k", "m"):
        none, usual = (row["breach_probability"] for row in figures[axis])
        assert none < usual == figures["groups"][0]["breach_probability"]
    worst = [row["breach_probability"] for row in figures["values"]]
    assert worst == sorted(worst)


@pytest.fixture(scope="module", params=sorted(reproduction.QUASI_IDENTIFIERS))
def adult(request, adult_path):
    return reproduction.read_adult(adult_path, reproduction.QUASI_IDENTIFIERS[request.param])


@pytest.fixture(scope="module")
def release(adult):
    return reproduction.diverse_release(adult)


def test_adult_is_the_papers(adult, release):
    assert release.sizes.sum() == len(adult.codes) == 45_222
    assert len(adult.labels) == 14
    assert release.counts.sum(axis=0).tolist() == np.bincount(adult.sensitive.values).tolist()


def test_the_release_is_safe_at_its_point_and_diverse(adult, release):
    targets = tuple(Target(v, name, Point(4, 0, 0, 0.75)) for v, name in enumerate(adult.labels))
    criterion = SkylineCriterion("svpi", targets)
    rows = criterion.decide(criterion.summarise(release, np.arange(len(release))))
    assert len(rows) == 14
    assert all(row.status == "pass" and row.value < 0.75 for row in rows)
    assert RecursiveDiversity(3, 6).allowed(release).all()
    assert not RecursiveDiversity(3, 7).allowed(release).all()
    assert len(release) > 300


def test_few_known_people_break_the_diverse_release(adult, release):
    """Published: (0, 4, 0) is the first maximal point, so that five known people suffice."""
    skyline = reproduction.explored(release, adult.labels)
    value = adult.labels.index("Exec-managerial")
    safe = int(skyline.surface[0, 0])
    assert (0, safe, 0) == skyline.amounts[0]
    assert 4 <= safe <= 10
    for known, expected in ((safe, "pass"), (safe + 1, "fail")):
        target = Target(value, "Exec-managerial", Point(0, known, 0, 0.95))
        criterion = SkylineCriterion("svpi", (target,))
        (row,) = criterion.decide(criterion.summarise(release, np.arange(len(release))))
        assert row.status == expected
    holding = release.rows(release.counts[:, value] > 0)
    left = holding.sizes - holding.counts[:, value] - (safe + 1)
    confidence = holding.counts[:, value] / (holding.counts[:, value] + np.maximum(left, 0))
    assert confidence.max() >= 0.95


def worst_implications(groups, k):
    """The largest Pr(t has s | k implications "w has z → t has s"), by all worlds and all choices."""
    people = [(g, i) for g, values in enumerate(groups) for i in range(len(values))]
    orders = [sorted(set(permutations(values))) for values in groups]
    worlds = [dict(zip(people, sum(world, ()), strict=True)) for world in product(*orders)]
    pairs = [(person, value) for person in people for value in {v for values in groups for v in values}]
    best = Fraction(0)
    for target in [(g, 0) for g in range(len(groups))]:
        for s in set(groups[target[0]]):
            for chosen in combinations(pairs, k):
                believed = [
                    world for world in worlds if world[target] == s or all(world[w] != z for w, z in chosen)
                ]
                having = sum(world[target] == s for world in believed)
                best = max(best, Fraction(having, len(believed)))
    return best


@pytest.mark.parametrize(
    "groups", [("aab",), ("abc",), ("aabc",), ("ab", "aac"), ("aab", "bcc"), ("ab", "ab", "cd")]
)
def test_basic_implications_are_those_of_all_worlds(groups):
    values = sorted(set("".join(groups)))
    counts = np.array([[group.count(value) for value in values] for group in groups])
    found = studies.basic_confidences(GroupSummaries(counts.sum(axis=1), counts), 3)
    for k in range(4):
        truth = worst_implications([tuple(group) for group in groups], k)
        assert found[k] == pytest.approx(float(truth), rel=1e-12)


def test_so_many_implications_make_at_least_as_sure_as_the_three_kinds_together():
    rng = np.random.default_rng(3)
    for _ in range(20):
        release = random_release(rng, groups=4, values=4, most=6)
        found = studies.basic_confidences(release, 6)
        for l, k, m in product(range(3), repeat=3):
            assert found[l + k + m] >= studies.largest_breach(release, (l, k, m)) - 1e-12


def test_unions_of_one_value_each_contradict_nothing_and_some_of_sets_do():
    rng, lost = np.random.default_rng(0), {"svpi": 0, "mvpi-set": 0}
    for case in lost:
        for _ in range(10):
            point = Point(*(int(x) for x in rng.integers(0, 4, 3)), 0.5)
            sides = studies.drawn_halves(rng, "mvpi-set", 20_000)
            if case == "svpi":
                sides = [GroupSummaries(side.counts.sum(axis=1), side.counts) for side in sides]
                filled = np.minimum(*(side.sizes for side in sides)) > 0
                sides = [side.rows(np.flatnonzero(filled)) for side in sides]
            lost[case] += int(studies.lost_by_union(case, point, *sides).sum())
    assert lost["svpi"] == 0 < lost["mvpi-set"]
