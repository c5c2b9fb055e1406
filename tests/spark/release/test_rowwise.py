"""The rows of people with the description of their group: people are counted, and no row says whose it is."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, verify
from ppdp_spark.core.criteria import KAnonymity
from ppdp_spark.errors import DataError, InfeasibleError, SpecError
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.release import publication
from ppdp_spark.spark.release.forms import ON_SPARK

K, FOUND = 5, ["flu", "cold", "gout", "hiv", None]


def visits(people=120, seed=4):
    rng = random.Random(seed)
    rows = []
    for person in range(people):
        age, sex = rng.randint(20, 70), rng.choice("fm")
        rows += [
            (f"p{person}", len(rows), age + rng.choice([0, 0, 3]), sex, rng.choice(FOUND))
            for _ in range(rng.choice([1, 1, 2, 6]))
        ]
    rng.shuffle(rows)
    return pd.DataFrame(rows, columns=["who", "visit", "age", "sex", "found"])


def spec(out, **changes):
    columns = {
        "identifiers": ["visit"],
        "person": "who",
        "quasi_identifiers": {"age": {"varies": "range"}, "sex": "categorical"},
        "sensitive": {"column": "found", "case": changes.pop("case", "mvpi-multiset")},
        **changes.pop("columns", {}),
    }
    plain = {"version": 1, "dataset": "visits", "columns": columns, "privacy": {"k_anonymity": K}}
    return {**plain, "output": {"path": str(out), "form": "rowwise"}, **changes}


def published(out):
    return pq.read_table(out / "release" / "data").to_pylist()


def groups_of(rows):
    found = defaultdict(list)
    for row in rows:
        found[row["group_id"]].append(row)
    return found


def tagged(table):
    """The same visits with values that tell the test, and nobody else, whose row it is."""
    number = table.groupby("who").cumcount()
    return table.assign(found=[f"{who}|{n}" for who, n in zip(table["who"], number, strict=True)])


def test_rows_stand_in_the_group_of_their_person_and_people_are_counted(spark, tmp_path):
    table = tagged(visits())
    manifests = []
    for parts in (1, 4):
        out = tmp_path / f"out{parts}"
        run = anonymize(spec(out), table=spark.createDataFrame(table).repartition(parts), spark=spark)
        manifests.append(json.loads((out / "release" / "release.json").read_text()))
    assert manifests[0] == manifests[1]
    rows = published(out)
    assert set(rows[0]) == {"group_id", "people", "age", "age_min", "age_max", "sex", "found"}
    assert sorted(row["found"] for row in rows) == sorted(table["found"]), "every row, and no other"
    place = defaultdict(set)
    for row in rows:
        place[row["found"].split("|")[0]].add(row["group_id"])
    assert len(place) == 120 and all(len(groups) == 1 for groups in place.values())
    own = {who: (set(held["age"]), held["sex"].iloc[0]) for who, held in table.groupby("who")}
    assert len(groups_of(rows)) > 5
    for held in groups_of(rows).values():
        people = {row["found"].split("|")[0] for row in held}
        assert {row["people"] for row in held} == {len(people)} and len(people) >= K
        assert len({tuple(row[name] for name in ("age", "age_min", "age_max", "sex")) for row in held}) == 1
        low, high, sexes = held[0]["age_min"], held[0]["age_max"], held[0]["sex"].strip("{}").split(", ")
        assert all(min(own[who][0]) >= low and max(own[who][0]) <= high for who in people)
        assert all(own[who][1] in sexes for who in people)
    assert manifests[0]["rows"] == {"input": 120, "published": 120, "written": len(table)}
    assert run.summary["release"]["rows"] == 120 and run.summary["release"]["written"] == len(table)
    assert run.summary["input"]["rows"] == len(table) and run.metrics.people == 120
    assert run.release.count() == len(table)
    checked = verify(out / "release", spark=spark)
    (conserved,) = [row for row in checked.verdict.rows if row.criterion == "conservation"]
    assert checked.ok and conserved.level.startswith(f"120 people with {len(table)} rows in ")
    report = Path(run.paths["report"]).read_text()
    assert f">{len(table)}</data> rows of" in report


@pytest.mark.parametrize("case", ["mvpi-multiset", pytest.param("mvpi-set", marks=pytest.mark.slow)])
def test_what_is_judged_is_what_is_published(spark, tmp_path, monkeypatch, case):
    table = visits()
    privacy = {"k_anonymity": K, "skyline": {"default": [{"l": 0, "k": 0, "m": 0, "c": 0.9}]}}
    run = anonymize(spec(tmp_path / "a", privacy=privacy, case=case), table=table, spark=spark)
    rows = published(tmp_path / "a")
    values = table.drop_duplicates(["who", "found"]) if case == "mvpi-set" else table
    assert Counter(row["found"] for row in rows) == Counter(values["found"])
    order = {value: place for place, value in enumerate([*sorted(filter(None, FOUND)), None])}
    worst, groups = Counter(), groups_of(rows)
    for held in groups.values():
        places = [order[row["found"]] for row in held]
        assert places == sorted(places), "rows are in the order of their values"
        for value, number in Counter(row["found"] for row in held).items():
            worst[value] = max(worst[value], min(number, held[0]["people"]) / held[0]["people"])
    judged = [row.value or 0.0 for row in run.verdict.rows if row.criterion == "skyline"]
    assert sorted(judged) == pytest.approx(sorted(worst.values())) and len(groups) > 1
    monkeypatch.setattr(publication, "writable", lambda types: False)
    anonymize(spec(tmp_path / "b", privacy=privacy, case=case), table=table, spark=spark)
    assert published(tmp_path / "b") == rows


def test_as_many_rows_as_people_are_not_a_multiset_that_falls_to_anybody(spark, tmp_path):
    """Everybody has a row, so two of four have the flu: .5, where the multiset model has .4375."""
    rows = [
        ("a", 1, 30, "f", "flu"),
        ("b", 2, 30, "f", "flu"),
        ("c", 3, 30, "f", "hiv"),
        ("d", 4, 30, "f", "x"),
    ]
    table = pd.DataFrame(rows, columns=["who", "visit", "age", "sex", "found"])
    point = {"skyline": {"default": [{"l": 0, "k": 0, "m": 0, "c": 0.49}]}}
    with pytest.raises(InfeasibleError):
        anonymize(spec(tmp_path / "a", privacy=point), table=table, spark=spark)
    point["skyline"]["default"][0]["c"] = 0.51
    assert anonymize(spec(tmp_path / "a", privacy=point), table=table, spark=spark).ok


@pytest.mark.parametrize(("people", "told"), [([3, 3, 3], True), ([4, 4, 4], False), ([3, 3, 2], False)])
def test_a_group_says_one_number_of_people_and_no_more_than_its_rows(spark, tmp_path, people, told):
    table = pa.table({"group_id": [1, 1, 1], "people": people, "age": ["x"] * 3, "found": ["a", "b", "b"]})
    (tmp_path / "data").mkdir()
    pq.write_table(table, tmp_path / "data" / "part.parquet")
    manifest = {
        "sensitive": {"column": "found", "case": "mvpi-multiset"},
        "columns": {"quasi_identifiers": ["age"]},
    }
    grouped = ON_SPARK["rowwise"].read(spark, Folder.at(tmp_path / "data"), manifest)
    if told:
        (row,) = grouped.judge([KAnonymity(3)])
        assert row.ok and grouped.counts == (1, 2)
    else:
        with pytest.raises(Exception, match="described in two ways"):
            grouped.judge([KAnonymity(3)])


def test_what_would_tell_more_is_refused(spark, tmp_path):
    out, table = tmp_path / "out", visits(20)

    def refused(match, **changes):
        with pytest.raises(SpecError, match=match):
            anonymize(spec(out, **changes), table=table, spark=spark)

    refused(
        r"say whose they are by `columns\.person`", columns={"person": None, "quasi_identifiers": {"age": {}}}
    )
    refused("use `case: mvpi-multiset`", case="svpi")
    refused(
        r"`columns\.publish_as_is` cannot be combined",
        columns={"publish_as_is": ["visit"], "identifiers": []},
    )
    refused(r"`columns\.household` cannot be combined", columns={"household": "visit", "identifiers": []})
    refused(r"`output\.queries` cannot be", output={"path": str(out), "form": "rowwise", "queries": 5})
    lists = table.assign(found=[["a"]] * len(table))
    with pytest.raises(DataError, match="publishes one value per row"):
        anonymize(spec(out), table=lists, spark=spark)
