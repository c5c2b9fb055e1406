"""Guarantees are about people: what rows alone would pass must fail once people are counted, everywhere."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, attack, check, eligibility, explore, suppress, verify
from ppdp_spark.errors import DataError, InfeasibleError, SpecError

VISITS = pd.DataFrame(
    [
        # Rows: two of each disease in each group. People: two to one.
        *(("a", "g1", "f", "flu", 1), ("b", "g1", "f", "flu", 1)),
        *[("c", "g1", "f", "cold", 100)] * 2,
        *(("d", "g2", "f", "cold", 100), ("e", "g2", "f", "cold", 100)),
        *[("z", "g2", "f", "flu", 1)] * 2,
    ],
    columns=["who", "group", "sex", "disease", "cost"],
)


def spec(privacy, *, people=True, sensitive="disease", **columns):
    given = {"quasi_identifiers": {"sex": "categorical"}, "sensitive": sensitive, **columns}
    given |= {"person": "who"} if people else {}
    return {"version": 1, "dataset": "visits", "columns": given, "privacy": privacy}


ONE_KIND = {
    "k_anonymity": 4,
    "alpha_k": {"alpha": 0.5, "k": 2},
    "l_diversity": {"kind": "entropy", "l": 2},
    "t_closeness": {"t": 0.1},
    "beta_likeness": {"beta": 0.2, "kind": "basic"},
    "delta_disclosure": 0.2,
    "skyline": {"default": [{"l": 0, "k": 0, "m": 0, "c": 0.6}]},
    "robustness": {"r": 1.6, "priors": [{"attributes": ["sex"]}]},
}
RECURSIVE = {"k_anonymity": 2, "l_diversity": {"kind": "recursive", "c": 2, "l": 2}}
NUMBERS = {"k_anonymity": 2, "proximity": {"within": 1, "share": 0.5}}


@pytest.mark.parametrize(
    ("privacy", "sensitive"), [(ONE_KIND, "disease"), (RECURSIVE, "disease"), (NUMBERS, "cost")]
)
def test_every_criterion_of_check_counts_people(spark, privacy, sensitive):
    told = {}
    for people in (False, True):
        plain = spec(privacy, people=people, sensitive=sensitive, group="group")
        found = check(plain, table=VISITS, spark=spark).verdict.rows
        told[people] = {row.criterion: row.status for row in found if row.status != "measured"}
    failing = {name for name in told[True] if told[True][name] == "fail"}
    assert set(told[False].values()) == {"pass"}
    assert failing == set(told[True]) - ({"k_anonymity"} if privacy["k_anonymity"] == 2 else set())


def test_a_skyline_with_relatives_counts_people(spark):
    """Six people with the flu, three with four colds each: a third of the rows, most of the people."""
    rows = [(f"f{i}", "g", "flu") for i in range(6)] + [(f"c{i % 3}", "g", "cold") for i in range(12)]
    table = pd.DataFrame(rows, columns=["who", "group", "disease"])
    point = {"skyline": {"values": {"flu": [{"l": 0, "k": 1, "m": 1, "c": 0.5}]}}}
    columns = {"group": "group", "sensitive": "disease"}
    plain = {"version": 1, "dataset": "visits", "columns": columns, "privacy": point}
    found = []
    for person in (None, "who"):
        run = check({**plain, "columns": {**columns, "person": person}}, table=table, spark=spark)
        found += [row for row in run.verdict.rows if row.criterion == "skyline"]
    assert [row.status for row in found] == ["pass", "fail"]
    assert [row.value for row in found] == pytest.approx(
        [1 / (1 + 11 / 6 * 10 / 16), 1 / (1 + 2 / 6 * 1 / 7)]
    )


def test_two_people_with_six_rows_each_are_not_twelve(spark, tmp_path):
    rows = [
        (who, age, place, disease)
        for who, age, place in (("alice", 30, 1111), ("bob", 60, 9999))
        for disease in ("flu", "hiv", "cold", "asthma", "gout", "angina")
    ]
    table = pd.DataFrame(rows, columns=["person_id", "age", "zip", "disease"])
    asked = {"k_anonymity": 6, "l_diversity": {"kind": "distinct", "l": 6}}
    columns = {"quasi_identifiers": {"age": "numeric", "zip": "numeric"}, "sensitive": "disease"}
    plain = {"version": 1, "dataset": "visits", "privacy": asked, "output": {"path": str(tmp_path / "out")}}
    with pytest.raises(DataError) as told:
        anonymize({**plain, "columns": {**columns, "identifiers": ["person_id"]}}, table=table, spark=spark)
    assert "2 values of `person_id` stand on several rows, one of them on 6" in str(told.value)
    assert "`columns.person`" in str(told.value) and "`columns.may_repeat`" in str(told.value)
    with pytest.raises(DataError, match="rows disagree about `disease` within 2 of 2 people"):
        anonymize({**plain, "columns": {**columns, "person": "person_id"}}, table=table, spark=spark)
    sets = {**columns, "person": "person_id", "sensitive": {"column": "disease", "case": "mvpi-set"}}
    with pytest.raises(InfeasibleError, match="k_anonymity 2, needed >= 6"):
        privacy = {"k_anonymity": 6}
        anonymize({**plain, "columns": sets, "privacy": privacy}, table=table, spark=spark)
    assert not (tmp_path / "out" / "release").exists()


def visits(people, seed=3):
    rng = random.Random(seed)
    rows = []
    for person in range(people):
        age, sex = rng.randint(20, 70), rng.choice("fm")
        for number in range(rng.choice([1, 1, 2, 5])):
            found = rng.choice(["flu", "cold", "gout", "hiv"])
            rows.append((f"p{person}", len(rows), age, sex, pd.Timestamp(2026, 1, 1 + number).date(), found))
    rng.shuffle(rows)
    return pd.DataFrame(rows, columns=["who", "visit", "age", "sex", "day", "found"])


@pytest.mark.parametrize("form", ["generalized", pytest.param("bucketized", marks=pytest.mark.slow)])
def test_a_release_has_one_record_per_person_whatever_the_partitioning(spark, tmp_path, form):
    table = visits(300)
    digests = []
    for parts in (1, 5):
        columns = {
            "identifiers": ["visit"],
            "person": "who",
            "quasi_identifiers": {"age": "numeric", "sex": "categorical"},
            "sensitive": {"column": "found", "case": "mvpi-multiset"},
        }
        out = tmp_path / f"{form}{parts}"
        plain = {"version": 1, "dataset": "visits", "columns": columns, "privacy": {"k_anonymity": 7}}
        plain["output"] = {"path": str(out), "form": form}
        rows = spark.createDataFrame(table).repartition(parts)
        run = anonymize(plain, table=rows, spark=spark)
        facts = run.summary["input"]
        counted = Counter(table["who"])
        several = sum(number > 1 for number in counted.values())
        assert facts["rows"] == len(table) and facts["people"] == {
            "rows": len(table), "records": 300, "several": several, "most": max(counted.values()),
        }  # fmt: skip
        assert run.metrics.people == 300 and verify(out, spark=spark).ok
        digests.append(json.loads((out / "release" / "release.json").read_text())["files"])
    assert digests[0] == digests[1]
    report = Path(out / "private" / "report.html").read_text()
    assert "brought together into" in report and "p17" not in report
    if form == "generalized":
        published = pq.read_table(out / "release" / "data").to_pylist()
        assert len(published) == 300 and not {"who", "visit"} & set(published[0])
        own = table.groupby("who")["found"].apply(lambda found: tuple(sorted(found)))
        assert Counter(tuple(row["found"]) for row in published) == Counter(own)


def test_somebody_in_several_groups_counts_once_in_each(spark):
    rows = [("a", 1, "x"), ("a", 1, "y"), ("a", 2, "z"), ("b", 1, "x"), ("b", 2, "z"), ("b", 2, "z")]
    table = pd.DataFrame(rows, columns=["who", "zip", "found"])
    columns = {
        "person": "who",
        "quasi_identifiers": {"zip": "numeric"},
        "sensitive": {"column": "found", "case": "mvpi-set"},
    }
    plain = {"version": 1, "dataset": "visits", "columns": columns, "privacy": {"k_anonymity": 2}}
    point = {"skyline": {"values": {"y": [{"l": 0, "k": 0, "m": 0, "c": 0.5}]}}}
    for command in (check, explore):
        run = command({**plain, "privacy": {"k_anonymity": 2, **point}}, table=table, spark=spark)
        found = {
            row.criterion: (row.value, row.status) for row in run.verdict.rows if row.status != "measured"
        }
        assert found == {"k_anonymity": (2.0, "pass"), "skyline": (0.5, "fail")}, "one of two people has y"
        assert run.summary["input"]["people"] == {"rows": 6, "records": 4, "several": 2, "most": 2}
    failed = check({**plain, "privacy": {"k_anonymity": 3}}, table=table, spark=spark)
    assert not failed.ok and failed.verdict.failures[0].value == 2


def test_eligibility_and_suppression_count_people(spark, tmp_path):
    out = {"output": {"path": str(tmp_path / "out")}}
    counted = eligibility({**spec({"k_anonymity": 7}), **out}, table=VISITS, spark=spark)
    (row,) = counted.verdict.rows
    assert (row.value, row.status) == (6.0, "fail")
    plain = {**spec({"k_anonymity": 2}), "suppression": {"method": "safe-d", "l": 2, "budget": 1.0}}
    kept = suppress({**plain, **out}, table=VISITS, spark=spark)
    people = pq.read_table(kept.paths["kept"]).to_pydict()
    assert sorted(people["who"]) == sorted(set(people["who"])), "nobody is kept twice"
    assert kept.summary["input"]["rows"] == 8 and kept.summary["input"]["people"]["records"] == 6


def test_attack_says_that_it_looks_at_one_row_per_person(spark):
    with pytest.raises(SpecError, match=r"`columns.person` is not part of `attack`"):
        attack({**spec({"k_anonymity": 2}, group="group"), "attack": {}}, table=VISITS, spark=spark)
