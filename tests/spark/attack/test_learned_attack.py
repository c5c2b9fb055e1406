"""`attack: {learn: naive_bayes}` on tables and releases: what plain loops conclude, calibration, silence."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from ppdp_spark import ReleaseSpec, anonymize, attack
from ppdp_spark.core.attacks.learning import SETTLED
from ppdp_spark.spark.maxent import chunks
from ppdp_spark.spark.synthetic.census import census
from support.core.learned_reference import LearnedByLoops
from support.released.attacks import posteriors, spec

COLUMNS = {
    "group": "group",
    "quasi_identifiers": {"age": "numeric", "sex": "categorical"},
    "sensitive": "job",
}


def people(rows=360, seed=5) -> pd.DataFrame:
    """People whose job follows age and sex, five to a group; ages and sexes are easy to find in a text."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(7001, 7009, rows), rng.choice(["CANARYF", "CANARYM"], rows)
    likely = (age // 3 + (sex == "CANARYF")) % 4
    job = np.where(rng.random(rows) < 0.7, likely, rng.integers(0, 4, rows))
    jobs = [f"job{j}" for j in job]
    return pd.DataFrame({"age": age, "sex": sex, "job": jobs, "group": np.arange(rows) // 5})


def by_hand(table: pd.DataFrame):
    """The posterior of every combination of age and sex, by loops over people and values."""
    tuples = sorted(set(zip(table["age"], table["sex"], strict=True)))
    values = sorted(set(table["job"]))
    codes = [(tuple_[0], tuple_[1]) for tuple_ in zip(table["age"], table["sex"], strict=True)]
    learned = LearnedByLoops(table["group"].to_list(), codes, table["job"].to_list(), settled=SETTLED)
    found = {}
    for age, sex in tuples:
        alike = [i for i, code in enumerate(codes) if code == (age, sex)]
        for value in values:
            share = sum(learned.posterior[i].get(value, 0.0) for i in alike) / len(alike)
            if share > 0:
                found[age, sex, value] = share
    return found


@pytest.fixture(scope="module")
def attacked(spark, tmp_path_factory):
    """The attack on such people in several chunks, who are stored in two ways of partitioning."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK_VARIABLES", 300)
        return learned_twice(spark, tmp_path_factory)


def learned_twice(spark, tmp_path_factory):
    folder, table, runs = tmp_path_factory.mktemp("learned"), people(), []
    spark.createDataFrame(table).write.parquet(str(folder / "original.parquet"))
    for parts in (1, 5):
        mixed = spark.createDataFrame(table.sample(frac=1.0, random_state=parts)).repartition(parts)
        asked = spec(
            path=folder / str(parts),
            columns=COLUMNS,
            learn="naive_bayes",
            original=str(folder / "original.parquet"),
            threshold=0.44,
        )
        runs.append(attack(asked, table=mixed))
    assert chunks.chunks_for(runs[0].summary["attack"]["source"]["variables"], 0) > 2
    return folder, table, runs


def test_everybody_is_believed_to_have_what_plain_loops_find(spark, attacked):
    folder, table, runs = attacked
    expected = by_hand(table)
    for parts in (1, 5):
        found = posteriors(spark, folder / str(parts))
        got = {(r.age, r.sex, r.value): r.posterior for r in found.itertuples()}
        assert got == pytest.approx(expected, abs=1e-8)
    solver = runs[0].summary["attack"]["steps"][1]["solver"]
    assert solver["form"] == "learned" and solver["converged"] and solver["residual"] < 1e-8
    assert 2 < solver["iterations"] < 50


def test_the_partitioning_changes_not_one_bit(attacked):
    _, _, (one, other) = attacked
    told = [json.dumps({**run.summary["attack"], "steps": None}, sort_keys=True) for run in (one, other)]
    assert told[0] == told[1]
    assert one.verdict.rows == other.verdict.rows


def test_calibration_and_verdict_are_those_of_the_table(attacked):
    _, table, (run, _) = attacked
    believed, jobs = by_hand(table), table.groupby(["age", "sex"])["job"]
    best = {}
    for (age, sex, job), share in believed.items():
        best[age, sex] = max(best.get((age, sex), (0.0, "")), (share, job))
    right = sum((jobs.get_group(key) == job).sum() for key, (_, job) in best.items())
    learning = run.summary["attack"]["learning"]
    for side in ("shares", "learned"):
        assert sum(each["people"] for each in learning[side]["classes"]) == len(table)
    assert sum(each["right"] for each in learning["learned"]["classes"]) == pytest.approx(right)
    beyond = [key for key, (share, _) in best.items() if share > 0.44]
    assert beyond and learning["learned"]["beyond"] == sum(len(jobs.get_group(key)) for key in beyond)
    row, share = run.verdict.rows
    assert (row.criterion, row.threshold, row.status) == ("learned_posterior", 0.44, "fail")
    assert row.violations == len(beyond) and row.value == pytest.approx(max(best.values())[0], abs=1e-8)
    assert share.criterion == "learned_people" and share.status == "measured" and not run.ok
    assert share.value == pytest.approx(learning["learned"]["beyond"] / len(table))
    assert learning["shares"]["beyond"] < learning["learned"]["beyond"]
    assert right > sum(each["right"] for each in learning["shares"]["classes"])


def test_the_findings_name_nobody(attacked):
    folder, _, (run, _) = attacked
    told = json.dumps([run.verdict.to_dict(), {k: v for k, v in run.summary.items() if k != "spec"}])
    page = (folder / "1/private/attack/report.html").read_text()
    assert "learned" in page
    for text in (told, page):
        assert not re.search(r"CANARY|(?<![\d.])700\d(?!\d)", text)


@pytest.fixture(scope="module")
def census_folder(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("census")
    census(spark, 3000, seed=3, partitions=1).write.parquet(str(folder / "original.parquet"))
    return folder


def released(spark, folder, form):
    plain = {
        "version": 1,
        "dataset": "census",
        "input": {"path": str(folder / "original.parquet")},
        "columns": {
            "identifiers": ["person_id"],
            "quasi_identifiers": {
                **dict.fromkeys(("sex", "education", "race", "state", "marital"), "categorical"),
                **dict.fromkeys(("age", "income", "hours"), "numeric"),
            },
            "sensitive": "occupation",
        },
        "privacy": {"alpha_k": {"alpha": 0.5, "k": 5}},
        "output": {"path": str(folder / form), "form": form},
    }
    assert anonymize(ReleaseSpec.parse(plain), spark=spark).ok
    original = str(folder / "original.parquet")
    outside = {} if form == "bucketized" else {"external": original}
    section = {"release": str(folder / form), "learn": "naive_bayes", "original": original, **outside}
    return {**plain, "attack": section, "output": {}}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["bucketized", "generalized"])
def test_a_census_is_guessed_better_than_the_shares_of_groups_allow(spark, census_folder, form):
    asked = released(spark, census_folder, form)
    run = attack(ReleaseSpec.parse(asked), spark=spark)
    learning = run.summary["attack"]["learning"]
    shares, learned = (sum(each["right"] for each in learning[k]["classes"]) for k in ("shares", "learned"))
    assert learned > 1.02 * shares
    assert learning["learned"]["beyond"] > learning["shares"]["beyond"]
