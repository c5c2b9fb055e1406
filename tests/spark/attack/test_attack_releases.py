"""`attack` on our own bucketized and generalized releases: rules, external tables, silence."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from ppdp_spark import ReleaseSpec, anonymize, attack
from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.spark.attacks.conclusions import KnowledgeStep, verdict_row
from ppdp_spark.spark.maxent.posteriors import Scores
from support.released.attacks import believed, posteriors, spec


def test_people_by_name_decide_and_their_quasi_identifiers_stay_hidden(spark, people, tmp_path):
    named = [
        {"name": "ann", "where": {"sex": "female", "degree": "college"}, "group": "g1"},
        {"name": "zoe", "where": {"age": 25}},
    ]
    told = [{"people": ["ann"], "value": "Breast Cancer", "probability": 1.0}]
    runs = [
        attack(
            spec(told, path=tmp_path / str(size), people=named, threshold=0.9),
            table=people,
            local_variables=size,
        )
        for size in (0, 1_000)
    ]
    steps = [run.summary["attack"]["steps"][0] for run in runs]
    assert [step["solver"]["form"] for step in steps] == ["distributed", "local"]
    for run, step in zip(runs, steps, strict=True):
        assert step["max_posterior"] == pytest.approx(1.0) and step["certain_people"] >= 1
        row = run.verdict.rows[0]
        assert (row.status, row.threshold, row.relation, run.ok) == ("fail", 0.9, "<=", False)
        assert row.witness == {"group": row.witness["group"], "value": "Breast Cancer", "people": 1.0}
        assert "(hidden)" in json.dumps(run.summary["spec"]["attack"]["people"])
    tables = [posteriors(spark, tmp_path / str(size)) for size in (0, 1_000)]
    ordered = [t.sort_values(["sex", "degree", "age", "person", "value"]) for t in tables]
    assert ordered[0]["posterior"].to_numpy() == pytest.approx(ordered[1]["posterior"].to_numpy(), abs=1e-8)
    assert set(tables[0]["person"].dropna()) == {"ann", "zoe"}


def census(rows=240, seed=5) -> pd.DataFrame:
    """People whose job leans on sex and age; identifiers and ages are easy to recognise in a text."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(7001, 7013, rows), rng.choice(["CANARYF", "CANARYM"], rows)
    job = np.where(rng.random(rows) < 0.5, (age % 4 + (sex == "CANARYF")) % 4, rng.integers(0, 4, rows))
    names = [f"CANARYID{i}" for i in range(rows)]
    return pd.DataFrame({"id": names, "age": age, "sex": sex, "job": [f"job{j}" for j in job]})


def published(spark, folder, form):
    """A release of the census, and its original as files."""
    table = spark.createDataFrame(census())
    table.write.parquet(str(folder / "original.parquet"))
    plain = {
        "version": 1,
        "dataset": "census",
        "input": {"path": str(folder / "original.parquet")},
        "columns": {
            "identifiers": ["id"],
            "quasi_identifiers": {"age": "numeric", "sex": "categorical"},
            "sensitive": "job",
        },
        "privacy": {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 2}},
        "output": {"path": str(folder / "out"), "form": form},
    }
    assert anonymize(ReleaseSpec.parse(plain), spark=spark).ok
    return plain


def attacked(spark, plain, folder, **attacking):
    section = {"release": str(folder / "out"), **attacking}
    found = {**plain, "attack": section, "output": {"path": str(folder / "found")}}
    return attack(ReleaseSpec.parse(found), spark=spark)


@pytest.fixture(scope="module")
def bucketized(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bucketized")
    return folder, published(spark, folder, "bucketized")


@pytest.fixture(scope="module")
def generalized(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("generalized")
    return folder, published(spark, folder, "generalized")


def test_our_bucketized_release_with_mined_rules(spark, bucketized):
    folder, plain = bucketized
    mine = {"positive": [0, 20, 600], "negative": [0, 20, 600], "attributes": [1, 2], "support": 1}
    original = str(folder / "original.parquet")
    run = attacked(spark, plain, folder, original=original, mine=mine, threshold=0.99)
    found = run.summary["attack"]
    none, some, everything = found["steps"]
    assert [step["solver"]["form"] for step in found["steps"]] == ["closed", "local", "local"]
    # Complete and true knowledge recovers the data; the more is known, the nearer the truth.
    assert none["accuracy"] > some["accuracy"] > everything["accuracy"]
    assert everything["accuracy"] == pytest.approx(0.0, abs=1e-6)
    table, estimate = census(), posteriors(spark, folder / "found")
    truth = table.groupby(["age", "sex"])["job"].value_counts(normalize=True)
    for (age, sex, job), share in zip(truth.index.to_list(), truth, strict=True):
        assert believed(estimate, age=age, sex=sex)[job] == pytest.approx(share, abs=1e-5)
    assert everything["max_posterior"] == pytest.approx(truth.max(), abs=1e-6)
    assert none["mean_posterior"] < everything["mean_posterior"]
    assert found["source"]["people"] == 240 and found["source"]["kind"] == "bucketized"
    assert found["knowledge"]["mined"]["positive"] == len(truth) + len_of_single_rules(table)
    assert run.ok == (truth.max() < 0.99) and found["threshold"] == 0.99
    (row,) = run.verdict.rows
    assert row.violations == sum(shares.max() > 0.99 for _, shares in truth.groupby(["age", "sex"]))
    assert row.value == max(step["max_posterior"] for step in found["steps"])
    silent(run, folder / "found")


@pytest.mark.parametrize("threshold", [None, 0.5, 1.0])
def test_the_verdict_counts_the_step_with_most_people_beyond(threshold):
    """Three steps; the second reaches the largest posterior first, the third reveals more people."""
    steps = [
        KnowledgeStep(
            {}, None, Scores(highest, 0.0, 0.0, beyond, ()), [{"group": n, "value": "x", "people": 1}], 0
        )
        for n, (highest, beyond) in enumerate([(0.5, 0), (1.0, 82), (1.0, 306), (0.9, 400)])
    ]
    row = verdict_row(steps, threshold, groups=7)
    assert (row.value, row.groups, row.witness["group"]) == (1.0, 7, 2)
    assert (row.violations, row.status) == ((0, "measured") if threshold is None else (400, "fail"))
    assert verdict_row(steps[:1], 0.5, groups=7).status == "pass"


def len_of_single_rules(table):
    return sum(len(table.groupby([name, "job"])) for name in ("age", "sex"))


def silent(run, folder):
    """No identifier and no quasi-identifier of anyone in what the run tells."""
    told = json.dumps(
        [run.verdict.to_dict(), {k: v for k, v in run.summary.items() if k != "spec"}], default=str
    )
    written = (folder / "private/attack/report.html").read_text()
    for text in (told, written, (folder / "private/attack/verdict.json").read_text()):
        assert "CANARY" not in text and "7001" not in text and "7012" not in text


def test_a_generalized_release_alone_and_with_an_external_table(spark, generalized):
    folder, plain = generalized
    run = attacked(spark, plain, folder)
    found = run.summary["attack"]
    assert found["source"]["kind"] == "generalized"
    assert found["source"]["tuples"] <= found["source"]["buckets"] and found["steps"][0]["accuracy"] is None
    external = str(folder / "original.parquet")
    chosen = census()[census()["age"].isin([7005, 7006])]
    share = float((chosen["job"] == "job1").mean())
    knowing = [{"given": {"age": [7005, 7006]}, "value": "job1", "probability": share}]
    run = attacked(spark, plain, folder, external=external, original=external, knowledge=knowing)
    step = run.summary["attack"]["steps"][0]
    assert run.summary["attack"]["source"]["people"] == 240 and step["accuracy"] > 0
    table = posteriors(spark, folder / "found")
    meant = table["age"].isin([7005, 7006]) & (table["value"] == "job1")
    mass = (table["posterior"] * table["people"])[meant].sum()
    assert mass / len(chosen) == pytest.approx(share, abs=1e-6)
    silent(run, folder / "found")
    few = spark.createDataFrame(census().head(200))
    few.write.parquet(str(folder / "few.parquet"))
    with pytest.raises(DataError, match="it must hold everybody in the release"):
        attacked(spark, plain, folder, external=str(folder / "few.parquet"))
    with pytest.raises(SpecError, match=r"add `attack.external`"):
        attacked(spark, plain, folder, original=external, mine={"positive": [3]})


def test_learning_from_a_generalized_release_needs_people(spark, generalized):
    folder, plain = generalized
    with pytest.raises(SpecError, match=r"`attack.learn` learns from exact .* add `attack.external`"):
        attacked(spark, plain, folder, learn="naive_bayes")
    external = str(folder / "original.parquet")
    run = attacked(spark, plain, folder, external=external, original=external, learn="naive_bayes")
    (shares, learned), found = run.summary["attack"]["steps"], run.summary["attack"]["learning"]
    assert (shares["solver"]["form"], learned["solver"]["form"]) == ("closed", "learned")
    assert learned["solver"]["converged"] and learned["solver"]["residual"] < 1e-8
    for side in ("shares", "learned"):
        assert sum(each["people"] for each in found[side]["classes"]) == pytest.approx(240)
    table = posteriors(spark, folder / "found")
    assert table.groupby("value")["people"].sum().min() > 0
    held = (table["posterior"] * table["people"]).groupby(table["value"]).sum()
    assert held.to_dict() == pytest.approx(census()["job"].value_counts().to_dict(), abs=1e-6)
    silent(run, folder / "found")


def test_more_people_outside_than_in_the_release_are_all_candidates(spark, generalized):
    folder, plain = generalized
    more = pd.concat([census(), census(60, seed=9)])
    spark.createDataFrame(more).write.parquet(str(folder / "more.parquet"))
    run = attacked(spark, plain, folder, external=str(folder / "more.parquet"))
    found = run.summary["attack"]
    assert found["source"]["people"] == 240 and sum(bar["people"] for bar in found["histogram"]) == 240
    named = [{"name": "ann", "where": {"age": 7001, "sex": "CANARYF"}}]
    with pytest.raises(DataError, match="needs groups whose people are certain"):
        attacked(spark, plain, folder, external=str(folder / "more.parquet"), people=named)


@pytest.mark.slow
@pytest.mark.parametrize("variables", [0, 10**6])
def test_the_same_conclusions_whatever_the_partitioning(spark, tmp_path, variables):
    """Rows in any order and any number of partitions: the same rules, statements and posteriors."""
    table = census().assign(group=np.repeat(np.arange(40), 6))
    female = table["sex"] == "CANARYF"
    share = float((table["job"] == "job1")[female].mean())
    told = [{"given": {"sex": "CANARYF"}, "value": "job1", "probability": share}]
    columns = {
        "identifiers": ["id"],
        "group": "group",
        "quasi_identifiers": {"age": "numeric", "sex": "categorical"},
        "sensitive": "job",
    }
    mine = {"positive": [0, 12], "negative": [0, 12], "attributes": [1, 2], "support": 2}
    found = []
    for parts in (1, 3, 7):
        mixed = spark.createDataFrame(table.sample(frac=1.0, random_state=parts)).repartition(parts)
        original, out = str(tmp_path / f"{parts}.parquet"), tmp_path / str(parts)
        mixed.write.parquet(original)
        asked = spec(told, path=out, columns=columns, original=original, mine=mine)
        run = attack(asked, table=mixed, local_variables=variables)
        concluded = posteriors(spark, out).sort_values(["age", "sex", "value"])
        found.append((run.summary["attack"], concluded.reset_index(drop=True)))
    (first, believed_first), *others = found
    assert first["steps"][-1]["solver"]["form"] == ("local" if variables else "distributed")
    for other, believed_other in others:
        assert other["source"] == first["source"] and other["knowledge"] == first["knowledge"]
        for mine_step, step in zip(other["steps"], first["steps"], strict=True):
            assert mine_step["statements"] == step["statements"]
            assert mine_step["max_posterior"] == pytest.approx(step["max_posterior"], abs=1e-9)
            assert mine_step["accuracy"] == pytest.approx(step["accuracy"], abs=1e-9)
        pd.testing.assert_frame_equal(believed_other, believed_first, rtol=0, atol=1e-9)
