"""Robust releases: every group recomputed in plain Python from the input, whatever made the groups."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import permutations, product

import pytest

from ppdp_spark.commands import anonymize, check, verify
from ppdp_spark.errors import BudgetError, DataError, InfeasibleError, SpecError
from ppdp_spark.spark.partition import fragments
from ppdp_spark.spec import ReleaseSpec
from support.core.robust_reference import (
    SCHEMA,
    SETS,
    VALUES,
    learned_priors,
    people,
    published_values,
    released_groups,
    spec_of,
    worst_bound,
)


@pytest.mark.parametrize(
    ("partitioner", "model", "form"),
    [
        ("art", "joint", "bucketized"),
        pytest.param("art", "binary", "generalized", marks=pytest.mark.slow),
        ("mondrian", "joint", "generalized"),
        pytest.param("mondrian", "binary", "bucketized", marks=pytest.mark.slow),
    ],
)
def test_every_published_group_is_robust(spark, tmp_path, monkeypatch, partitioner, model, form):
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 300)
    rows = people(1500)
    spec = spec_of(tmp_path / "out", partitioner=partitioner, model=model, form=form)
    run = anonymize(spec, table=spark.createDataFrame(rows, SCHEMA))
    groups = released_groups(tmp_path / "out", form)
    published = [pid for members in groups.values() for pid in members]
    suppressed = run.summary["release"]["suppressed"]
    assert len(set(published)) == len(published) == 1500 - suppressed["unplaced"]
    assert suppressed["unplaced"] < 150
    found = {tuple(names): 0.0 for names in SETS}
    listed = published_values(tmp_path / "out", form)
    for group, members in groups.items():
        own = [rows[pid] for pid in members]
        assert listed[group] == Counter(row[4] for row in own)
        if partitioner == "art" and model == "binary":
            assert max(Counter(row[4] for row in own).values()) == 1
        for names in SETS:
            bound = worst_bound(own, learned_priors(rows, names), model)
            assert bound <= 1 / 3 + 1e-12
            found[tuple(names)] = max(found[tuple(names)], bound)
    stated = [row for row in run.verdict.rows if row.criterion == "robustness"]
    assert [row.value for row in stated] == pytest.approx(list(found.values()), abs=1e-9)
    assert verify(tmp_path / "out", spark=spark).ok


def test_the_same_release_whatever_the_partitioning(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 250)
    table = spark.createDataFrame(people(900), SCHEMA)
    contents = []
    for parts in (1, 5):
        spec = spec_of(tmp_path / f"out{parts}")
        anonymize(spec, table=table.repartition(parts))
        contents.append(
            json.loads((tmp_path / f"out{parts}" / "release" / "release.json").read_text())["files"]
        )
    assert contents[0] == contents[1]


def test_verify_needs_the_extrema_of_this_very_release(spark, tmp_path):
    table = spark.createDataFrame(people(400), SCHEMA)
    for name in ("a", "b"):
        anonymize(spec_of(tmp_path / name, r=2 if name == "a" else 3), table=table)
    (tmp_path / "b" / "private" / "robustness").rename(tmp_path / "kept")
    missing = verify(tmp_path / "b", spark=spark)
    assert [row.witness["reason"] for row in missing.verdict.failures] == [
        "the owner's prior extrema are not there"
    ]
    (tmp_path / "a" / "private" / "robustness").rename(tmp_path / "b" / "private" / "robustness")
    other = verify(tmp_path / "b", spark=spark)
    assert "not those of this release" in other.verdict.failures[0].witness["reason"]


def test_anatomy_has_distinct_values_in_every_group(spark, tmp_path):
    rows = people(600)
    spec = spec_of(tmp_path / "out", partitioner="anatomy").to_dict()
    spec["privacy"] = {"l_diversity": {"kind": "distinct", "l": 4}}
    anonymize(ReleaseSpec.parse(spec), table=spark.createDataFrame(rows, SCHEMA))
    for members in released_groups(tmp_path / "out", "bucketized").values():
        assert len({rows[pid][4] for pid in members}) == len(members) >= 4


def test_art_plans_groups_as_large_as_other_criteria_need(spark, tmp_path):
    """Groups of two people would all fail (α, k) with k = 6, and everybody would be left without a place."""
    spec = spec_of(tmp_path / "out", r=1.3, privacy={"alpha_k": {"alpha": 0.5, "k": 6}})
    run = anonymize(spec, table=spark.createDataFrame(people(1500), SCHEMA))
    groups = released_groups(tmp_path / "out", "bucketized")
    assert min(map(len, groups.values())) >= 6 and len(groups) > 50
    assert run.summary["release"]["suppressed"]["unplaced"] < 150


def test_a_value_that_is_too_frequent_points_at_suppression(spark, tmp_path):
    rows = [(i, 30, "f", "n", "flu" if i % 2 else VALUES[i % 6]) for i in range(200)]
    with pytest.raises(InfeasibleError, match=r"suppression: \{method: r") as caught:
        anonymize(spec_of(tmp_path / "out"), table=spark.createDataFrame(rows, SCHEMA))
    assert caught.value.exit_code == 4
    assert not (tmp_path / "out" / "release").exists()


def test_people_without_a_place_beyond_the_budget(spark, tmp_path):
    rows = [(i, 30, "f" if i < 60 else "m", "n", VALUES[i % 3 + 3 * (i < 60)]) for i in range(120)]
    rows[0] = (0, 30, "f", "n", "flu")
    table = spark.createDataFrame(rows, SCHEMA)
    with pytest.raises(BudgetError, match="find no group"):
        anonymize(spec_of(tmp_path / "out", r=4, budget=0.01), table=table)
    verdict = json.loads((tmp_path / "out" / "private" / "verdict.json").read_text())
    assert verdict["status"] == "fail" and not (tmp_path / "out" / "release").exists()


def prior_file(tmp_path, spark, entries):
    path = tmp_path / "priors.parquet"
    spark.createDataFrame(entries, "sex string, value string, probability double").coalesce(1).write.parquet(
        str(path)
    )
    return [{"attributes": ["sex"], "path": str(path)}]


def test_supplied_priors_are_used(spark, tmp_path):
    rows = people(600, skew=0)
    told = [(sex, value, 1 / 6) for sex, value in product("fm", VALUES)]
    told[0] = ("f", VALUES[0], 0.05)
    spec = spec_of(tmp_path / "out", priors=prior_file(tmp_path, spark, told))
    anonymize(spec, table=spark.createDataFrame(rows, SCHEMA))

    def prior(row, value):
        rest = 1 - sum(p for sex, _, p in told if sex == row[2])
        assert rest < 0.2
        return next(p for sex, v, p in told if (sex, v) == (row[2], value))

    for members in released_groups(tmp_path / "out", "bucketized").values():
        assert worst_bound([rows[pid] for pid in members], prior, "joint") <= 1 / 3 + 1e-12


def test_bad_priors_are_reported_all_at_once(spark, tmp_path):
    told = [
        ("f", "flu", 0.9),
        ("f", "cold", 0.9),
        ("f", "cold", 0.1),
        ("f", "gout", -0.5),
        ("x", "gout", 0.5),
    ]
    spec = spec_of(tmp_path / "out", priors=prior_file(tmp_path, spark, told))
    with pytest.raises(DataError) as caught:
        anonymize(spec, table=spark.createDataFrame(people(100), SCHEMA))
    text = str(caught.value)
    assert "not numbers from 0 to 1" in text and "sum to more than 1" in text and "list a value twice" in text
    assert "lack the signatures of 54 rows" in text
    assert not (tmp_path / "out" / "release").exists()


def test_unknown_signatures_are_reported(spark, tmp_path):
    spec = spec_of(tmp_path / "out", priors=prior_file(tmp_path, spark, [("f", "flu", 0.2)]))
    with pytest.raises(DataError, match="lack the signatures"):
        anonymize(spec, table=spark.createDataFrame(people(100), SCHEMA))


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        ({"t_closeness": {"t": 0.3}}, "t_closeness"),
        ({"beta_likeness": {"beta": 3}}, "beta_likeness"),
    ],
)
def test_what_cannot_be_combined(tmp_path, privacy, words):
    spec = spec_of(tmp_path / "out", privacy=privacy)
    with pytest.raises(SpecError, match=words):
        spec.require_for("anonymize")


def test_skylines_that_couple_groups_hold_beside_robustness_and_so_do_relative_bounds(spark, tmp_path):
    """By the published counts alone; robustness by itself makes groups that break the skyline."""
    rows, point = people(900), {"l": 1, "k": 1, "m": 1, "c": 0.55}
    table, found = spark.createDataFrame(rows, SCHEMA), {}
    for name, more in (("alone", {}), ("beside", {"skyline": {"default": [point]}})):
        output = tmp_path / name
        spec = spec_of(output, partitioner="mondrian", r=2, budget=0.9, privacy=more)
        if more:
            spec = spec.of({**spec.to_dict(), "privacy": with_times(spec, 6.5)})
        run = anonymize(spec, table=table)
        groups = list(published_values(output, "bucketized").values())
        found[name] = max(most_likely(groups, value, point) for value in VALUES)
        assert sum(sum(group.values()) for group in groups) == run.summary["release"]["rows"]
        if more:
            assert verify(output, spark=spark).ok
            told = {row.criterion for row in run.verdict.rows if row.ok}
            assert {"skyline", "robustness", "relative_robustness"} <= told
            for members in released_groups(output, "bucketized").values():
                own = [rows[pid] for pid in members]
                for names in SETS:
                    prior = learned_priors(rows, names)
                    counts = Counter(row[4] for row in own)
                    assert len(own) > 7 or largest_increase(own, prior, counts) <= 6.5
    assert found["beside"] < 0.55 <= found["alone"]


def with_times(spec, times):
    privacy = spec.to_dict()["privacy"]
    return {**privacy, "robustness": {**privacy["robustness"], "times": times}}


def most_likely(groups, value, point):
    """The breach probability of (1, 1, 1): T in one group and V in the same or another [Skyline, Sec 4]."""
    present = [group for group in groups if group[value]]
    worst = float("inf")
    for target in present:
        size, having = sum(target.values()), target[value]
        excluded = max((count for other, count in target.items() if other != value), default=0)
        for known in (0, point["k"]):
            left = (size - having - excluded - known) / having
            for family in present:
                own = family is target
                taken = known + 1 if own else point["k"] - known
                if own and known != point["k"]:
                    continue
                number = sum(family.values())
                chance = (number - family[value] - taken) / (number - taken) if number > taken else 0
                worst = min(worst, max(left, 0) * max(chance, 0))
    return 1 / (worst + 1)


def largest_increase(members, prior, counts):
    """posterior / prior in the joint model, by all worlds."""
    values = sorted(counts.elements())
    total, held = 0.0, Counter()
    for world in set(permutations(values)):
        weight = 1.0
        for row, value in zip(members, world, strict=True):
            weight *= prior(row, value)
        total += weight
        for place, value in enumerate(world):
            held[place, value] += weight
    return max(
        held[place, value] / total / prior(row, value)
        for place, row in enumerate(members)
        for value in counts
    )


@pytest.mark.parametrize("model", ["joint", "binary"])
def test_check_audits_any_table_of_groups(spark, model):
    rows = people(240)
    ours = "value int, sensitive int, code int, text int, first int"
    grouped = [(*row, row[0] // 6, 1, 2, 3, 4, 5) for row in rows]
    table = spark.createDataFrame(grouped, f"{SCHEMA}, cluster int, {ours}")
    spec = spec_of("unused", model=model, r=2).to_dict()
    spec["columns"]["group"] = "cluster"
    del spec["output"], spec["partitioner"]
    run = check(ReleaseSpec.parse(spec), table=table)
    found = [row for row in run.verdict.rows if row.criterion == "robustness"]
    for names, row in zip(SETS, found, strict=True):
        prior = learned_priors(rows, names)
        bounds = [worst_bound(rows[i : i + 6], prior, model) for i in range(0, 240, 6)]
        worst = [exact_posterior(rows[i : i + 6], prior, model) for i in range(0, 240, 6)]
        assert row.value == pytest.approx(max(worst), abs=1e-9) and max(worst) <= max(bounds) + 1e-12
        assert row.violations == sum(p > 0.5 for p in worst) and row.groups == 40


def exact_posterior(members, prior, model):
    """The largest posterior, by enumerating every assignment of the group's values to its people."""
    values = [row[4] for row in members]
    worst = 0.0
    for wanted in set(values):
        weights = defaultdict(float)
        seen = [v if model == "joint" else v == wanted for v in values]
        for world in set(permutations(seen)):
            weight = 1.0
            for row, value in zip(members, world, strict=True):
                if model == "joint":
                    weight *= prior(row, value)
                else:
                    weight *= prior(row, wanted) if value else 1 - prior(row, wanted)
            for place, value in enumerate(world):
                if value == (wanted if model == "joint" else True):
                    weights[place] += weight
            weights["all"] += weight
        worst = max(worst, *(weights[i] / weights["all"] for i in range(len(members))))
    return worst
