"""Two releases that each keep their promise pin people to one value; `compose` counts them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ppdp_spark import DataError, InfeasibleError, SpecError, anonymize, compose
from ppdp_spark.cli.app import app
from support.core.composed_worlds import by_cells

PEOPLE = 500
WEIGHTS = {"first": (1, 1, 1), "second": (6, 1, 1), "third": (1, 1, 9)}


def table():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "id": [f"P{i}" for i in range(PEOPLE)],
            "age": rng.integers(18, 90, PEOPLE),
            "city": rng.choice(list("abcdefgh"), PEOPLE),
            "income": rng.integers(0, 100_000, PEOPLE),
            "job": rng.choice([f"job{i}" for i in range(300)], PEOPLE),
        }
    )


def spec(name, place, **more):
    age, city, income = WEIGHTS[name]
    return {
        "version": 1,
        "dataset": "people",
        "columns": {
            "identifiers": ["id"],
            "quasi_identifiers": {
                "age": {"weight": age},
                "city": {"type": "categorical", "weight": city},
                "income": {"weight": income},
            },
            "sensitive": "job",
        },
        "privacy": {"alpha_k": {"alpha": 0.5, "k": 10}},
        "audit": {"algorithm": "none"},
        "output": {"path": str(place), **more.pop("output", {})},
        **more,
    }


@pytest.fixture(scope="module")
def people():
    return table()


@pytest.fixture(scope="module")
def released(spark, people, tmp_path_factory):
    """Three releases of one table, each in a root of its own: the second shows quasi-identifiers.

    The others print tight ranges, which do not overlap: everybody fits one group.
    """
    root = tmp_path_factory.mktemp("composed")
    frame, forms = spark.createDataFrame(people), {"second": "bucketized"}
    for name in WEIGHTS:
        form = {"form": forms[name]} if name in forms else {"bounds": "tight"}
        assert anonymize(spec(name, root / name / name, output=form), table=frame).ok
    return {name: root / name / name for name in WEIGHTS}


def groups_of(people, folder):
    """Everybody's group, by the published files and the people's quasi-identifiers alone."""
    data = folder / "release/data"
    if (data / "qi").exists():
        shown = pq.read_table(data / "qi").to_pandas()
        keys = ["age", "city", "income"]
        return people.merge(shown.drop_duplicates(keys), on=keys, how="left").group_id.to_numpy()
    groups = pq.read_table(data).to_pandas().drop_duplicates("group_id")
    found = np.zeros(len(people), int)
    for group in groups.itertuples():
        inside = people.age.between(group.age_min, group.age_max)
        inside &= people.income.between(group.income_min, group.income_max)
        inside &= people.city.isin(str(group.city).strip("{}").split(", "))
        assert not found[inside].any()
        found[inside] = group.group_id
    assert found.all()
    return found


def expected(people, *folders):
    """What is likely and possible for everybody, worked out on arrays."""
    truth, names = pd.factorize(people.job, sort=True)
    places = [np.unique(groups_of(people, folder), return_inverse=True)[1] for folder in folders]
    return by_cells(truth, places, len(names)), truth, places


def pinned_by_intersection(truth, places):
    """People whose groups have a single value in common, by sets."""
    held = [[set(truth[groups == g]) for g in groups] for groups in places]
    return sum(len(set.intersection(*sets)) == 1 for sets in zip(*held, strict=True))


def only_set(run, number):
    sets = [each for each in run.summary["composition"]["sets"] if len(each["releases"]) == number]
    return sets[0]


def test_two_releases_pin_exactly_those_whom_their_files_pin(spark, people, released):
    run = compose([released["first"], released["third"]], people=people, threshold=0.5, spark=spark)
    (share, possible), truth, places = expected(people, released["first"], released["third"])
    found = only_set(run, 2)
    by_sets = pinned_by_intersection(truth, places)
    assert found["pinned"] == (possible.sum(1) == 1).sum() >= by_sets > 0
    assert found["people"] == PEOPLE and not found["unsure"] and not found["contradicted"]
    assert found["highest"] == 1 and found["highest_alone"] <= 0.5 and found["alone"] == 0
    assert found["beyond"] == (share.max(1) > 0.5 - 1e-9).sum()
    assert sum(bin["people"] for bin in found["histogram"]) == PEOPLE
    pinned, posterior = run.verdict.rows
    assert not run.ok and pinned.value == found["pinned"] and posterior.violations == found["beyond"]


def test_a_release_that_shows_people_is_its_own_table_of_people(spark, people, released):
    run = compose([released["first"], released["second"]], spark=spark)
    (_, possible), _, _ = expected(people, released["first"], released["second"])
    assert run.ok and run.summary["composition"]["basis"] == "release"
    assert only_set(run, 2)["pinned"] == (possible.sum(1) == 1).sum() > 0
    assert {row.status for row in run.verdict.rows} == {"measured"}


@pytest.mark.slow
def test_three_releases_are_judged_together_and_by_pair(spark, people, released, tmp_path):
    people.to_parquet(tmp_path / "people.parquet")
    places = [str(released[name]) for name in WEIGHTS]
    asked = ["compose", *places, "--people", str(tmp_path / "people.parquet"), "--threshold", "0.9"]
    done = CliRunner().invoke(app, [*asked, "--output", str(tmp_path / "out"), "--quiet"])
    assert done.exit_code == 4, done.output
    summary = json.loads((tmp_path / "out/summary.json").read_text())["composition"]
    (_, possible), _, _ = expected(people, *released.values())
    whole, *pairs = summary["sets"]
    assert whole["pinned"] == (possible.sum(1) == 1).sum() > max(pair["pinned"] for pair in pairs)
    assert [pair["releases"] for pair in pairs] == [[0, 1], [0, 2], [1, 2]]
    page = (tmp_path / "out/report.html").read_text()
    assert "first + third" in page and "Pinned together" in page
    assert not [one for one in people.id if one in page]


def test_each_release_may_have_a_table_of_its_own_with_a_key(spark, people, released):
    """The tables are in different orders, and one lacks some people: these are in one release only."""
    later = people.sample(frac=1, random_state=1)
    run = compose(
        [released["first"], released["third"]],
        people=[people, later[:400]],
        person="id",
        spark=spark,
    )
    found = only_set(run, 2)
    assert found["people"] == 400 and found["once"] == 100 and found["pinned"] > 0


def test_what_is_asked_wrongly_is_told_at_once(spark, people, released):
    with pytest.raises(SpecError) as caught:
        compose([released["first"]], people=[people, people], threshold=2, spark=spark)
    assert len(caught.value.problems) == 4
    with pytest.raises(DataError, match="has no column “income”"):
        compose(list(released.values()), people=people.drop(columns="income"), spark=spark)


def test_a_release_that_pins_people_with_an_earlier_one_is_refused(spark, people, tmp_path):
    frame = spark.createDataFrame(people)
    tight = {"bounds": "tight"}
    assert anonymize(spec("first", tmp_path / "one", output=tight), table=frame).ok
    with pytest.raises(InfeasibleError, match=r"composition: \{earlier: accept\}"):
        anonymize(spec("third", tmp_path / "two", output=tight), table=frame)
    verdict = json.loads((tmp_path / "two/private/verdict.json").read_text())
    (failing,) = [row for row in verdict["criteria"] if row["status"] == "fail"]
    assert failing["criterion"] == "composition_pinned" and failing["value"] > 0
    assert not (tmp_path / "two/release").exists()
    assert len(list((tmp_path / ".releases").glob("*.json"))) == 1
    same = anonymize(spec("first", tmp_path / "same", output=tight), table=frame)
    assert same.ok and "composition" not in same.summary
    accepted = anonymize(spec("third", tmp_path / "two", composition={"earlier": "accept"}), table=frame)
    assert accepted.ok and accepted.summary["spec"]["composition"] == {"earlier": "accept"}


def test_earlier_releases_that_are_gone_are_told_or_stop_the_run(spark, people, tmp_path):
    frame = spark.createDataFrame(people)
    assert anonymize(spec("first", tmp_path / "one"), table=frame).ok
    (tmp_path / "one").rename(tmp_path / "moved")
    with pytest.raises(InfeasibleError, match="cannot be looked at"):
        anonymize(spec("third", tmp_path / "two", composition={"earlier": "require"}), table=frame)
    run = anonymize(spec("third", tmp_path / "two"), table=frame)
    assert run.ok and any("were not looked at" in warning for warning in run.summary["warnings"])
