"""Blind releases through their files: who has which value leaves no trace in the groups; failing is told."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from ppdp_spark import InfeasibleError, ReleaseSpec, SpecError, anonymize, plan, sweep, verify
from ppdp_spark.run.results import Stages
from ppdp_spark.spark.data.profile import profile_table
from ppdp_spark.spark.data.tables import assign_roles
from ppdp_spark.spark.partition import fragments
from ppdp_spark.spark.partition.coded_table import CodedTable

PEOPLE = 1_500
VALUES = ["asthma", "cold", "flu", "gout"]


def table(values: list[str]) -> pd.DataFrame:
    """The same people each time, with these values."""
    draws = random.Random("people")
    ages = [draws.randrange(18, 90) for _ in range(PEOPLE)]
    return pd.DataFrame(
        {
            "age": ages,
            "pay": [draws.randrange(0, 10**12) for _ in range(PEOPLE)],
            "sex": [draws.choice("fm") for _ in range(PEOPLE)],
            "ill": values,
        }
    )


def drawn(seed: str) -> list[str]:
    """Everybody's value, each as often as the others."""
    values = [VALUES[i % 4] for i in range(PEOPLE)]
    random.Random(seed).shuffle(values)
    return values


def spec(folder: Path, **more) -> dict:
    return {
        "version": 1,
        "dataset": "blind",
        "columns": {"quasi_identifiers": {"age": {}, "pay": {}, "sex": {}}, "sensitive": "ill"},
        "privacy": {"k_anonymity": 5},
        "partitioner": "blind",
        "output": {"path": str(folder / "out"), "overwrite": True},
        **more,
    }


def digests(folder: Path) -> dict[str, str]:
    """A hash of every byte of every file below a folder."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }


@pytest.fixture
def several_fragments(monkeypatch):
    """Tables of a few hundred rows are spread over tasks, by cuts from a sample of one row in several."""
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 400)
    monkeypatch.setattr(fragments, "FRAGMENT_SAMPLE_ROWS", 60)


ROBUST = {"robustness": {"r": 1.1, "priors": [{"attributes": ["sex"]}]}}


@pytest.mark.parametrize(
    ("privacy", "least"), [(ROBUST, 40), pytest.param({"k_anonymity": 5}, 5, marks=pytest.mark.slow)]
)
def test_groups_are_the_same_to_the_byte_whoever_has_which_value(
    spark, tmp_path, several_fragments, privacy, least
):
    form = {"path": str(tmp_path / "out"), "overwrite": True, "form": "bucketized"}
    given, found = spec(tmp_path, privacy=privacy, least_size=least, output=form), []
    cuts = []
    for values in (drawn("a"), drawn("b")):
        run = anonymize(given, table=spark.createDataFrame(table(values)))
        assert run.ok and run.summary["metrics"]["sizes"]["smallest"] >= least
        cuts.append(run.summary["release"]["groups"])
        found.append(digests(tmp_path / "out" / "release" / "data" / "qi"))
    assert found[0] == found[1] and len(set(cuts)) == 1


def test_the_sample_that_cuts_come_from_does_not_see_values(spark, several_fragments, tmp_path):
    """Of the other partitioners it is a part of the rows that depends on all they hold."""

    def cuts(partitioner: str, values: list[str]) -> fragments.Tree:
        given, frame = (
            ReleaseSpec.parse(spec(tmp_path, partitioner=partitioner)),
            spark.createDataFrame(table(values)),
        )
        roles = assign_roles(frame, given.columns)
        profile = profile_table(frame, given, roles)
        stages = Stages()

        def unsaved(name):
            return lambda rows: rows

        coded = CodedTable.of(frame, given, roles, profile, saver=unsaved, stages=stages)
        assert 0 < coded.sample.count() < PEOPLE
        return fragments.propose_tree(coded.sample, profile.attributes, PEOPLE)

    one, other = drawn("a"), sorted(drawn("a"))
    assert cuts("blind", one) == cuts("blind", other) and len(fragments.fragments_of(cuts("blind", one))) > 1
    assert cuts("mondrian", one) != cuts("mondrian", other)


def test_all_assignments_with_the_published_counts_give_the_same_files(spark, tmp_path):
    """The theorem of blind grouping, with the reader's own copy of the release."""
    # Tight ranges tell who is in which group; those of the grid are a function of quasi-identifiers, too.
    output = {"path": str(tmp_path / "out"), "overwrite": True, "bounds": "tight"}
    given = spec(tmp_path, privacy={"alpha_k": {"alpha": 0.6, "k": 5}}, output=output)
    people = table(drawn("a"))
    run = anonymize(given, table=spark.createDataFrame(people))
    first, rows = digests(tmp_path / "out" / "release"), []
    for file in sorted((tmp_path / "out" / "release" / "data").rglob("*.parquet")):
        rows += pq.read_table(file).to_pylist()
    groups = {}
    for row in rows:
        box = (row["age_min"], row["age_max"], row["pay_min"], row["pay_max"], row["sex"])
        groups.setdefault(box, []).append(row["ill"])
    draws, moved = random.Random("moved"), 0
    for (age, oldest, pay, most, sex), held in groups.items():
        inside = people["age"].between(age, oldest) & people["pay"].between(pay, most)
        inside &= people["sex"].isin(sex.strip("{}").split(", "))
        assert sorted(people.loc[inside, "ill"]) == sorted(held)
        dealt = draws.sample(held, len(held))
        moved += sum(a != b for a, b in zip(people.loc[inside, "ill"], dealt, strict=True))
        people.loc[inside, "ill"] = dealt
    assert moved > PEOPLE / 3
    anonymize(given, table=spark.createDataFrame(people))
    assert digests(tmp_path / "out" / "release") == first
    assert run.summary["blind"]["chosen"] == "predicted"
    (row,) = [
        row for row in verify(tmp_path / "out", spark=spark).verdict.rows if row.criterion == "blind_grouping"
    ]
    assert row.status == "pass" and row.threshold == run.summary["blind"]["least_size"]


def test_groups_that_fail_are_refused_told_and_remembered(spark, tmp_path):
    alike = sorted(drawn("a"))
    people = table(alike)
    people["age"] = sorted(people["age"])
    frame = spark.createDataFrame(people)
    given = spec(tmp_path, privacy={"alpha_k": {"alpha": 0.5, "k": 5}}, least_size=20)
    with pytest.raises(InfeasibleError, match=r"nothing is published.*this one failed") as raised:
        anonymize(given, table=frame)
    assert raised.value.exit_code == 4 and not any(value in str(raised.value) for value in VALUES)
    assert not (tmp_path / "out" / "release").exists()
    verdict = json.loads((tmp_path / "out" / "private" / "verdict.json").read_text())
    assert verdict["status"] == "fail" and not verdict["publishable"]
    whole = anonymize({**given, "least_size": PEOPLE}, table=frame)
    assert whole.summary["blind"] == {
        "least_size": PEOPLE,
        "chosen": "given by hand",
        "chance": None,
        "refused_before": 1,
    }
    assert "refused once before" in whole.summary["warnings"][0]
    with pytest.raises(SpecError, match="not part of `sweep`"):
        sweep(given, {"least_size": [20, 40]}, table=frame)
    with pytest.raises(InfeasibleError, match="the whole table as one group already fails"):
        anonymize({**given, "least_size": PEOPLE + 1}, table=frame)


def test_a_plan_does_not_depend_on_who_has_which_value_and_leaves_nothing(spark, tmp_path):
    given = spec(tmp_path, privacy={"l_diversity": {"kind": "distinct", "l": 2}})
    told = []
    for values in (drawn("a"), sorted(drawn("a"))):
        found = plan(given, table=spark.createDataFrame(table(values)))
        rows = [row.to_dict() for row in found.verdict.rows]
        told.append((found.summary["blind"], found.summary["metrics"], rows))
    assert told[0] == told[1] and not list(tmp_path.iterdir())
    blind, metrics, _ = told[0]
    assert blind["chosen"] == "predicted" and blind["chance"] >= 0.8
    made = anonymize(given, table=spark.createDataFrame(table(drawn("a"))))
    assert made.summary["metrics"] == metrics
    assert made.summary["blind"]["least_size"] == blind["least_size"]
    by_hand = plan({**given, "least_size": 2}, table=spark.createDataFrame(table(drawn("a"))))
    assert by_hand.ok and by_hand.summary["blind"]["chance"] < blind["chance"]


def test_a_plan_is_about_blind_groups(spark, tmp_path):
    with pytest.raises(SpecError, match=r"`partitioner` \(mondrian\) looks at sensitive values"):
        plan(ReleaseSpec.parse(spec(tmp_path, partitioner="mondrian")), table=spark.range(1))
