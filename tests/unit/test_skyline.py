"""The privacy skyline: golden vectors, the traps of its formulas, special cases, verdicts."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria.skyline import (
    LocalSkyline,
    LocalThreshold,
    Point,
    Skyline,
    SkylineCriterion,
    Target,
    balanced_floors,
    breach_probability,
    negated_ratio,
    patterns,
    required_ratio,
    slack_floors,
)
from ppdp_spark.core.criteria.skyline import batches as batches_module
from ppdp_spark.core.criteria.skyline.points import CASES
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.errors import DataError, InfeasibleError, SpecError
from support.places import golden

GOLDEN = golden("skyline")


def release(*groups, people=None):
    counts = np.array(groups)
    return GroupSummaries(counts.sum(axis=1) if people is None else np.array(people), counts)


def criterion(case, amounts, c=0.5, value=0):
    return SkylineCriterion(case, (Target(value, "σ", Point(*amounts, c)),))


def verdict(case, amounts, groups, c=0.5):
    check = criterion(case, amounts, c)
    return check.decide(check.summarise(groups, np.arange(len(groups))))[0]


def statistics(case, amounts, groups):
    return criterion(case, amounts).statistics(groups)[:, 0]


# --- golden vectors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda v: f"{v['case']}-{v['l']}-{v['k']}-{v['m']}")
def test_golden_vectors(vector):
    names = sorted({x for g in vector["groups"] for x in g["counts"]} | {vector["sigma"]})
    counts = [[g["counts"].get(x, 0) for x in names] for g in vector["groups"]]
    groups = release(*counts, people=[g["n"] for g in vector["groups"]])
    amounts = vector["l"], vector["k"], vector["m"]
    check = criterion(vector["case"], amounts, value=names.index(vector["sigma"]))
    found = check.summarise(groups, np.arange(len(groups)))
    assert found.minima[0] == pytest.approx(vector["ss"], rel=1e-12, abs=1e-12)
    row = check.decide(found)[0]
    assert row.value == pytest.approx(vector["breach"], rel=1e-12)
    assert row.ok == (vector["breach"] < 0.5)


# --- traps ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_two_negative_numerators_do_not_make_a_positive_ratio(case):
    groups = release([2, 2], people=[4])
    ss = statistics(case, (1, 6, 3), groups)[0]
    assert (ss >= 0).all()
    assert ss[0] == ss[2] == ss[4] == 0
    assert verdict(case, (1, 6, 3), groups, c=1.0).value == 1.0


def test_each_factor_is_cut_at_zero_not_the_product():
    """n = 5, #σ = 3, m = 4: factors 2/5, 1/4, 0/3, −1/2; the last one must not matter."""
    assert statistics("svpi", (0, 0, 4), release([3, 2]))[0, 3] == 0.0
    assert statistics("svpi", (0, 0, 2), release([3, 2]))[0, 3] == pytest.approx(2 / 5 * 1 / 4)


@pytest.mark.parametrize("case", CASES)
def test_a_group_without_the_value_is_neutral_however_small(case):
    big, small = [5, 20, 25], [0, 1, 0]
    people = [50, 1]
    alone = verdict(case, (1, 3, 4), release(big, people=people[:1]))
    beside = verdict(case, (1, 3, 4), release(big, small, people=people))
    assert alone.value == beside.value < 1
    assert statistics(case, (1, 3, 4), release(small, people=[1]))[0].tolist() == [np.inf] * 3 + [1.0] * 2


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("amounts", [(0, 5, 0), (0, 0, 5), (0, 2, 3), (0, 3, 2), (0, 10**9, 10**9)])
def test_knowledge_that_does_not_fit_discloses_everything(case, amounts):
    groups = release([1, 4], [10, 90], people=[5, 100])
    row = verdict(case, amounts, groups, c=1.0)
    assert row.value == 1.0
    assert row.status == "fail"
    assert row.witness["knowledge_fits"] is False


@pytest.mark.parametrize("case", CASES)
def test_an_absent_value_is_safe(case):
    row = verdict(case, (3, 100, 100), release([0, 3], [0, 1], people=[3, 1]), c=0.01)
    assert (row.value, row.status, row.witness["present"]) == (0.0, "pass", False)


@pytest.mark.parametrize("case", CASES)
def test_no_groups_at_all(case):
    empty = GroupSummaries(np.zeros(0, dtype=int), np.zeros((0, 2), dtype=int))
    assert verdict(case, (1, 1, 1), empty).value == 0.0
    assert LocalSkyline(case, (Target(0, "σ", Point(1, 1, 0, 0.5)),)).allowed(empty).shape == (0,)


def test_each_statistic_is_the_minimum_with_itself():
    """The extracted text of Figure 6 has SS5 = min(SS4, …)."""
    groups = release([4, 16], [1, 5])
    each, merged = statistics("svpi", (0, 3, 1), groups), verdict("svpi", (0, 3, 1), groups)
    assert merged.witness["statistics"] == each.min(axis=0).tolist()
    assert each[0, 3] < each[1, 3]
    assert each[0, 4] > each[1, 4]
    assert each.min(axis=0)[3] == pytest.approx(16 / 20)
    assert each.min(axis=0)[4] == pytest.approx(2 / 3)


def test_long_products_agree_with_exact_fractions():
    people, occurrences, k, m = 10**6, 20_000, 1000, 3000
    exact = Fraction(1)
    for i in range(m):
        exact *= Fraction(people - occurrences - k - i, people - k - i)
    found = statistics("svpi", (0, k, m), release([occurrences, people - occurrences]))[0, 4]
    assert found == pytest.approx(float(exact), rel=1e-12)


def test_multiset_factors_keep_their_digits():
    people, occurrences, m = 1000, 5000, 998
    groups = release([occurrences, 700], people=[people])
    ss = statistics("mvpi-multiset", (1, 0, m), groups)[0]
    q = Fraction(999, 1000) ** occurrences
    assert ss[1] == pytest.approx(float(q / (1 - q) * Fraction(999, 1000) ** 700), rel=1e-12)
    few = statistics("mvpi-multiset", (0, 0, m), release([40, 1], people=[people]))[0]
    assert few[3] == pytest.approx(float(Fraction(2, 1000) ** 40), rel=1e-12)


@pytest.mark.parametrize(
    ("case", "counts", "people", "last_safe"),
    [
        ("svpi", [1900, 2100], 4000, 2099),
        ("mvpi-set", [1900, 7], 4000, 2099),
        ("mvpi-multiset", [10**6, 7], 4000, 3998),
    ],
)
def test_with_c_one_underflow_decides_nothing(case, counts, people, last_safe):
    """V is far below the smallest float, and BP < 1 is still decided by whether it is zero."""
    groups = release(counts, people=[people])
    below = verdict(case, (0, 0, last_safe), groups, c=1.0)
    assert (below.status, below.value < 1) == ("pass", True)
    assert verdict(case, (0, 0, last_safe), groups, c=1 - 1e-12).status == "fail"
    above = verdict(case, (0, 0, last_safe + 1), groups, c=1.0)
    assert (above.status, above.value) == ("fail", 1.0)


def test_equality_with_c_is_unsafe_and_the_next_count_is_safe():
    """σ once in n people has BP = 1/(n−k): strictly below c only."""
    for c, people in ((0.5, 2), (0.2, 5), (0.1, 10), (0.01, 100), (1e-6, 10**6), (1 / 3, 3), (1 / 7, 7)):
        assert verdict("svpi", (0, 3, 0), release([1, people + 2]), c=c).status == "fail"
        assert verdict("svpi", (0, 3, 0), release([1, people + 3]), c=c).status == "pass"


def test_required_ratio_reads_c_as_a_decimal():
    assert required_ratio(0.3) == 7 / 3
    assert required_ratio(1.0) == 0.0
    assert required_ratio(0.999999999999) == pytest.approx(1e-12, rel=1e-9)
    assert breach_probability(np.array([0.0, 1e-300, 1.0, np.inf])).tolist() == [1.0, 1 - 2**-53, 0.5, 0.0]


def test_nan_and_infinite_times_zero_are_on_the_unsafe_side():
    assert negated_ratio(np.array([np.inf, np.inf, np.inf, 1.0, 0.0])) == 0.0
    assert not criterion("svpi", (0, 0, 1)).safe(np.array([[np.inf, np.nan, np.inf, 1.0, 1.0]]))


# --- ℓ, values, sizes -------------------------------------------------------------------------------


def plain_exclusion(counts, value, ell):
    return sum(sorted((x for v, x in enumerate(counts) if v != value), reverse=True)[:ell])


@pytest.mark.parametrize("ell", [0, 1, 2, 7, 47, 48, 60, 98, 99, 100, 5000])
def test_excluded_values_are_the_most_frequent_others_for_every_value(ell):
    rng = np.random.default_rng(ell)
    counts = rng.integers(0, 6, (40, 100))
    targets = tuple(Target(v, str(v), Point(ell, 0, 0, 0.5)) for v in range(100))
    found = SkylineCriterion("svpi", targets).statistics(release(*counts))[:, :, 1]
    for g, row in enumerate(counts.tolist()):
        for v, s in enumerate(row):
            left = sum(row) - s - plain_exclusion(row, v, ell)
            assert found[g, v] == (left / s if s else np.inf)


def test_ell_beyond_the_number_of_values_excludes_them_all():
    assert verdict("svpi", (50, 0, 0), release([3, 4, 5]), c=1.0).value == 1.0
    far, all_of_them = (
        verdict(c, (x, 0, 0), release([3, 4, 5], people=[20])).value for c in ("mvpi-set",) for x in (50, 2)
    )
    assert far == all_of_them < 1


def test_a_single_value_is_always_disclosed():
    assert verdict("svpi", (0, 0, 0), release([7]), c=1.0).value == 1.0


def test_ten_thousand_values():
    rng = np.random.default_rng(5)
    counts = rng.poisson(0.05, (60, 10_000))
    counts[:, 0] += 1
    targets = tuple(Target(v, str(v), Point(3, 1, 2, 0.9)) for v in range(10_000))
    check = SkylineCriterion("svpi", targets)
    found = check.summarise(release(*counts), np.arange(60))
    assert len(check.decide(found)) == 10_000
    for v in (0, 1, 77, 9999):
        rows = [r for r in counts.tolist() if r[v]]
        exact = [(sum(r) - r[v] - plain_exclusion(r, v, 3) - 1) / r[v] for r in rows]
        assert found.minima[v, 2] == pytest.approx(min(exact, default=np.inf), rel=1e-13)


def test_dtypes_layouts_and_batches_do_not_matter(monkeypatch):
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 9, (500, 6))
    targets = tuple(Target(v, str(v), Point(2, 1, 2, 0.9)) for v in range(6))
    check, ids = SkylineCriterion("svpi", targets), rng.permutation(500)
    whole = check.summarise(release(*counts), ids)
    monkeypatch.setattr(batches_module, "CELLS_AT_ONCE", 60)
    for variant in (counts.astype(np.uint16), np.asfortranarray(counts), counts.astype(np.int32)[:, ::1]):
        again = check.summarise(GroupSummaries(counts.sum(axis=1), variant), ids)
        for name in ("minima", "ids", "people", "occurrences", "values"):
            assert np.array_equal(getattr(whole, name), getattr(again, name)), name


# --- published special cases ------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("sizes", [(2, 6), (3, 3), (5, 5), (4, 9), (1, 8)])
def test_k_anonymity_is_the_point_0_k2_0_with_unique_values(k, sizes):
    """[Skyline, Prop 3]: everyone's sensitive value is their own."""
    people = sum(sizes)
    counts = np.zeros((len(sizes), people), dtype=int)
    start = 0
    for g, size in enumerate(sizes):
        counts[g, start : start + size] = 1
        start += size
    targets = tuple(Target(v, str(v), Point(0, k - 2, 0, 1.0)) for v in range(people))
    local, whole = LocalSkyline("svpi", targets), SkylineCriterion("svpi", targets)
    assert local.allowed(release(*counts)).tolist() == [size >= k for size in sizes]
    rows = whole.decide(whole.summarise(release(*counts), np.arange(len(sizes))))
    assert all(row.ok for row in rows) == (min(sizes) >= k)


def is_recursively_diverse(counts, c, ell):
    """r₁ < c (r_ℓ + … + r_m), by the definition of (c,ℓ)-diversity."""
    ranked = sorted((x for x in counts if x), reverse=True)
    return ranked[0] < c * sum(ranked[ell - 1 :])


@pytest.mark.parametrize("ell", [2, 3, 4])
@pytest.mark.parametrize("c", [Fraction(1, 2), 1, 2, 3, 4, 6])
def test_recursive_diversity_is_the_point_ell2_0_0_with_confidence_c_over_c_plus_1(c, ell):
    """[Skyline, Prop 4]; many of these groups are exactly on the boundary."""
    grid = [row for row in np.ndindex(7, 4, 4, 3, 3) if sum(row)]
    targets = tuple(Target(v, str(v), Point(ell - 2, 0, 0, float(Fraction(c) / (c + 1)))) for v in range(5))
    allowed = LocalSkyline("svpi", targets).allowed(release(*grid))
    assert allowed.tolist() == [is_recursively_diverse(row, c, ell) for row in grid]


def test_examples_of_the_paper():
    flu = release([1, 4])
    assert verdict("svpi", (0, 0, 0), flu).value == pytest.approx(0.2)
    assert verdict("svpi", (0, 4, 0), flu).value == 1.0
    hospital = release([1, 1, 2])
    assert verdict("svpi", (0, 0, 0), hospital).value == pytest.approx(1 / 4)
    assert verdict("svpi", (1, 0, 0), hospital).value == pytest.approx(1 / 2)


# --- verdict rows and witnesses ---------------------------------------------------------------------


def test_the_witness_of_a_single_group():
    groups = release([3, 30, 5, 9], [2, 400, 400, 300])
    row = verdict("svpi", (2, 4, 1), groups, c=0.9)
    assert row.level == "σ = σ, (ℓ, k, m) = (2, 4, 1)"
    assert (row.relation, row.threshold, row.groups, row.violations) == ("<", 0.9, 2, 0)
    expected = (47 - 3 - 39 - 4) / 3 * (47 - 3 - 5) / (47 - 5)
    assert row.witness["negated_ratio"] == pytest.approx(expected)
    assert row.value == pytest.approx(1 / (1 + expected))
    assert row.witness["margin"] == pytest.approx(0.9 - row.value)
    assert row.witness["product"] == "SS1"
    assert (row.witness["group"], row.witness["group_people"], row.witness["group_occurrences"]) == (0, 47, 3)
    assert row.witness["excluded_values"] == [1, 3]
    assert row.witness["known_people"] == {"group": 0, "people": 4}
    assert row.witness["family"] == {"group": 0, "people": 1}
    assert json.dumps(row.to_dict())


@pytest.mark.parametrize(
    ("amounts", "product", "known_people", "place", "family"),
    [
        ((1, 1, 6), "SS2·SS5", 9, [10, 70, 10, 1], [4, 6, 5, 6]),
        ((1, 1, 6), "SS3·SS4", 4, [1, 42, 0, 2], [6, 10, 9, 11]),
        ((1, 8, 2), "SS3·SS4", 4, [2, 70, 5, 4], [10, 9, 11, 10]),
    ],
)
def test_the_witness_names_the_product_and_where_the_people_are(
    amounts, product, known_people, place, family
):
    """Group 4 is best for the target, most of whose people have one value; group 9 for the family."""
    check = criterion("svpi", amounts, c=0.9)
    row = check.decide(check.summarise(release(place, family), np.array([4, 9])))[0]
    _, k, m = amounts
    assert row.witness["product"] == product
    assert (row.witness["group"], row.witness["excluded_values"]) == (4, [1])
    assert (row.witness["group_people"], row.witness["group_occurrences"]) == (sum(place), place[0])
    assert row.witness["known_people"] == {"group": known_people, "people": k}
    assert row.witness["family"] == {"group": 9, "people": m}
    left, right = (0, k) if known_people == 9 else (k, 0)
    exact = Fraction(sum(place) - place[0] - place[1] - left, place[0])
    for i in range(m):
        exact *= Fraction(sum(family) - family[0] - right - i, sum(family) - right - i)
    assert row.value == pytest.approx(float(1 / (1 + exact)), rel=1e-13)


def test_ties_go_to_the_smallest_id():
    check = criterion("svpi", (0, 0, 1))
    same = release([1, 5], [1, 5], [1, 5])
    assert (check.summarise(same, np.array([9, 4, 6])).ids == 4).all()
    parts = [check.summarise(same.rows([i]), np.array([i_d])) for i, i_d in enumerate((9, 4, 6))]
    assert (check.merge(check.merge(parts[0], parts[1]), parts[2]).ids == 4).all()


def test_merging_with_a_part_that_lacks_the_value_keeps_the_witness():
    check = criterion("svpi", (0, 0, 0))
    held, lacking = (check.summarise(release(row), np.array([i])) for i, row in ((5, [1, 5]), (2, [0, 5])))
    for merged in (check.merge(held, lacking), check.merge(lacking, held)):
        assert merged.ids.tolist() == [[5] * 5]
        assert check.decide(merged)[0].groups == 2


# --- points and skylines ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amounts", "field"),
    [
        ((-1, 0, 0, 0.5), "l"),
        ((0, 1.0, 0, 0.5), "k"),
        ((0, 0, True, 0.5), "m"),
        ((0, 2**41, 0, 0.5), "k"),
        ((0, 0, 0, 0), "c"),
        ((0, 0, 0, 1.01), "c"),
        ((0, 0, 0, float("nan")), "c"),
        ((0, 0, 0, "1"), "c"),
    ],
)
def test_points_are_validated(amounts, field):
    with pytest.raises(SpecError, match=f"`{field}`"):
        Point(*amounts)


def test_all_problems_of_a_point_are_reported():
    with pytest.raises(SpecError) as error:
        Point(-1, -1, -1, 2)
    assert len(error.value.problems) == 4


def test_dominance():
    point = Point(2, 3, 4, 0.5)
    assert point.dominates(point)
    assert point.dominates(Point(2, 2, 4, 0.6))
    assert not point.dominates(Point(2, 3, 4, 0.4))
    assert not point.dominates(Point(3, 0, 0, 0.5))


def test_a_skyline_has_defaults_and_values_of_their_own():
    default, special = Point(1, 1, 0, 0.5), Point(3, 9, 2, 0.3)
    skyline = Skyline((default,), {1: (special, default), 2: ()})
    targets = skyline.targets(["flu", "HIV", "none"])
    assert [(t.value, t.point) for t in targets] == [(0, default), (1, special), (1, default)]
    assert targets[1].level == "σ = HIV, (ℓ, k, m) = (3, 9, 2)"
    assert skyline.redundant() == ((1, default, special),)
    with pytest.raises(SpecError, match=r"\[5\]"):
        Skyline((default,), {5: (special,)}).targets(["flu"])


def test_of_equal_points_only_the_later_one_is_redundant():
    point = Point(1, 1, 0, 0.5)
    assert Skyline((point, point)).redundant() == ((None, point, point),)
    assert Skyline((point, Point(0, 2, 0, 0.5))).redundant() == ()


# --- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "counts", "people"),
    [
        ("svpi", [1, 2], 4),
        ("mvpi-set", [5, 2], 4),
        ("mvpi-multiset", [-1, 2], 4),
        ("mvpi-multiset", [1, 0], 0),
    ],
)
def test_counts_that_cannot_be_are_an_error(case, counts, people):
    with pytest.raises(DataError, match="1 groups have counts that cannot be in case"):
        verdict(case, (0, 0, 0), release([1, 1], counts, people=[2, people]))


def test_other_errors():
    with pytest.raises(SpecError, match="case"):
        SkylineCriterion("both", (Target(0, "σ", Point(0, 0, 0, 0.5)),))
    with pytest.raises(SpecError, match="at least one point"):
        SkylineCriterion("svpi", ())
    with pytest.raises(DataError, match=r"\[4\]"):
        criterion("svpi", (0, 0, 0), value=4).statistics(release([1, 2]))
    with pytest.raises(DataError, match="2 ids for 1 groups"):
        criterion("svpi", (0, 0, 0)).summarise(release([1, 2]), np.arange(2))
    with pytest.raises(SpecError, match="`m` must be 0"):
        LocalSkyline("svpi", (Target(0, "σ", Point(0, 0, 1, 0.5)),))


# --- local criteria and floors ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "ell", "first", "second"),
    [("mvpi-set", 2, (7, [0, 6, 6]), (8, [3, 3, 1])), ("mvpi-multiset", 1, (12, [7, 1, 0]), (7, [2, 6, 5]))],
)
def test_with_several_values_a_union_may_be_worse_than_its_parts(case, ell, first, second):
    """Why `union_closed` is declared for SVPI only [Skyline, Sec 5.2, Discussion]."""
    (n1, c1), (n2, c2) = first, second
    ratios = statistics(case, (ell, 0, 0), release(c1, c2, np.add(c1, c2), people=[n1, n2, n1 + n2]))[:, 2]
    c = 1 / (1 + (ratios[2] + min(ratios[:2])) / 2)
    local = LocalSkyline(case, (Target(0, "σ", Point(ell, 0, 0, c)),))
    allowed = local.allowed(release(c1, c2, np.add(c1, c2), people=[n1, n2, n1 + n2]))
    assert allowed.tolist() == [True, True, False]
    assert not local.union_closed
    assert not SkylineCriterion(case, local.targets).union_closed


def test_floors_let_both_factors_reach_the_same_share():
    """Groups far larger than the knowledge are allowed up to the share p* with a (1−p)^(m+1)/p = R."""
    target = (Target(0, "σ", Point(1, 20, 2, 0.5)),)
    table = release([500_000, 4_000_000, 3_500_000, 2_000_000])
    floors = LocalThreshold("svpi", target, balanced_floors("svpi", target, table))
    kept = 5.5 / 9.5
    shares = np.linspace(0.05, 0.6, 5501)
    limit = shares[kept * (1 - shares) ** 3 / shares > 1].max()
    for share, expected in ((limit - 0.001, True), (limit + 0.001, False)):
        rest = 10_000_000 * (1 - share) / 9.5 * np.array([4.0, 3.5, 2.0])
        counts = np.round([10_000_000 * share, *rest]).astype(int)
        assert floors.allowed(release(counts)).tolist() == [expected]
    assert floors.union_closed


def test_floors_with_c_one_only_ask_for_positive_statistics():
    target = (Target(0, "σ", Point(1, 5, 3, 1.0)),)
    floors = LocalThreshold("svpi", target, balanced_floors("svpi", target, release([10, 100, 200])))
    groups = release([1, 4, 8], [1, 5, 8], [1, 6, 8], [1, 8, 1], [0, 1, 0])
    assert floors.allowed(groups).tolist() == [False, False, True, False, True]
    assert floors.allowed(groups).tolist() == [
        verdict("svpi", (1, 5, 3), groups.rows([g]), c=1.0).ok for g in range(5)
    ]


def test_floors_of_a_value_that_the_table_lacks():
    target = (Target(0, "σ", Point(1, 5, 3, 0.5)),)
    table = release([0, 100, 200])
    assert LocalThreshold("svpi", target, balanced_floors("svpi", target, table)).allowed(table).all()
    minima = SkylineCriterion("svpi", target).statistics(table)[0]
    for give in ("target", "family"):
        assert LocalThreshold("svpi", target, slack_floors(target, minima, give)).allowed(table).all()


def test_slack_goes_to_the_side_it_is_given_to():
    target = (Target(0, "σ", Point(0, 2, 2, 0.5)),)
    minima = SkylineCriterion("svpi", target).statistics(release([10, 90]))[0]
    to_target = slack_floors(target, minima, "target")[0]
    to_family = slack_floors(target, minima, "family")[0]
    assert to_target[3:].tolist() == minima[0, 3:].tolist()
    assert to_family[1:3].tolist() == minima[0, 1:3].tolist()
    for floors in (to_target, to_family):
        assert floors[1] * floors[4] == pytest.approx(1.0, rel=1e-11)
        assert floors[2] * floors[3] == pytest.approx(1.0, rel=1e-11)


def test_unsafe_floors_and_tables_are_refused():
    target = (Target(0, "HIV", Point(0, 2, 2, 0.5)),)
    with pytest.raises(SpecError, match="safe themselves"):
        LocalThreshold("svpi", target, np.array([[2.0, 2.0, 2.0, 0.5, 0.49]]))
    with pytest.raises(SpecError, match="shape"):
        LocalThreshold("svpi", target, np.ones(5))
    with pytest.raises(
        InfeasibleError, match=r"σ = HIV, .*\(0, 2, 2\): breach probability 0.753886 must be below 0.5"
    ):
        balanced_floors("svpi", target, release([50, 60]))
    with pytest.raises(SpecError, match="one group"):
        balanced_floors("svpi", target, release([5, 60], [5, 60]))
    with pytest.raises(InfeasibleError):
        slack_floors(target, np.array([[0.5, 2.0, 2.0, 1.0, 1.0]]), "target")


@pytest.mark.parametrize("case", ["svpi", "mvpi-set", "mvpi-multiset"])
@pytest.mark.parametrize("seed", range(4))
def test_statistics_by_pattern_are_those_of_the_groups(case, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(rng.integers(1, 9), [0.4, 0.3, 0.2, 0.1], size=500)
    sizes = counts.sum(axis=1) if case != "mvpi-set" else counts.max(axis=1) + rng.integers(0, 2, 500)
    groups, ids = GroupSummaries(sizes, counts), rng.permutation(500)
    points = [Point(0, 0, 0, 0.9), Point(3, 2, 1, 0.5), Point(1, 1, 3, 0.7), Point(7, 0, 2, 0.4)]
    check = SkylineCriterion(case, tuple(Target(v, f"v{v}", p) for v in range(4) for p in points))
    quick = check.summarise(groups, ids)
    monkeypatch.setattr(patterns, "FEWER", 10_000)
    plain = check.summarise(groups, ids)
    for name in ("minima", "ids", "people", "occurrences", "values"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(plain, name), err_msg=name)
