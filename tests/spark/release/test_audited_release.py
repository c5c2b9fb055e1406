"""The algorithm-aware audit of a release: made in tasks, the same however rows are spread, and private."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pandas as pd
import pytest

from ppdp_spark import DataError, InfeasibleError, SpecError, anonymize, attack
from ppdp_spark.spark.partition import fragments

PEOPLE = 900


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    draws = random.Random("audited")
    rows = [
        {
            "age": draws.randrange(18, 90),
            "hours": draws.randrange(0, 60),
            "ill": draws.choice(["flu", "flu", "cold", "gout"]),
        }
        for _ in range(PEOPLE)
    ]
    return pd.DataFrame(rows)


def spec(folder: Path, **more) -> dict:
    return {
        "version": 1,
        "dataset": "asked",
        "columns": {"quasi_identifiers": {"age": {}, "hours": {}}, "sensitive": "ill"},
        "privacy": {"alpha_k": {"alpha": 0.6, "k": 4}},
        "output": {"path": str(folder / "out"), "overwrite": True},
        **more,
    }


def bytes_of(run) -> dict[str, bytes]:
    """Every file of a release."""
    release = Path(run.paths["release"])
    return {str(f.relative_to(release)): f.read_bytes() for f in release.rglob("*") if f.is_file()}


def row_of(run) -> dict:
    (row,) = [row for row in run.verdict.to_dict()["criteria"] if row["criterion"] == "algorithm_aware"]
    return row


def test_the_audit_is_the_same_however_rows_are_spread_and_stays_with_the_owner(
    spark, tmp_path, people, monkeypatch
):
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 300)
    given = spec(tmp_path, audit={"algorithm": "full"})
    frame = spark.createDataFrame(people)
    run = anonymize(given, table=frame.repartition(3))
    row = row_of(run)
    assert row["status"] == "measured" and row["threshold"] is None
    assert row["witness"]["people looked at"] == PEOPLE
    assert row["witness"]["people beyond the criteria"] > 0 and row["value"] > 0.6
    assert (
        row["groups"] == run.summary["release"]["groups"] > row["witness"]["groups bound by refused cuts"] > 0
    )
    assert "knows how this program makes groups" in Path(run.paths["report"]).read_text()
    release = bytes_of(run)
    assert row_of(anonymize(given, table=frame.repartition(7, "hours"))) == row
    unaudited = anonymize(spec(tmp_path, audit={"algorithm": "none"}), table=frame)
    assert "`audit.algorithm` is none" in row_of(unaudited)["level"]
    assert bytes_of(unaudited) == release and not any(b"audit" in held for held in release.values())


def test_a_limit_makes_it_a_gate(spark, tmp_path, people):
    """Beyond it nothing is published, whether posteriors are too large or unknown."""
    table = spark.createDataFrame(people)
    given = spec(tmp_path, audit={"algorithm": "full", "at_most": 0.6})
    with pytest.raises(InfeasibleError, match=r"may learn more than `audit.at_most` \(0.6\)"):
        anonymize(given, table=table)
    verdict = json.loads((tmp_path / "out/private/verdict.json").read_text())
    assert [row["status"] for row in verdict["criteria"]] == ["fail"] and not (
        tmp_path / "out/release"
    ).exists()
    blind = anonymize({**given, "partitioner": "blind", "least_size": 60}, table=table)
    row = row_of(blind)
    assert row["status"] == "pass" and row["witness"]["groups bound by refused cuts"] == 0


def attacking(run_folder: Path, original: Path, **audit) -> dict:
    return {
        "version": 1,
        "dataset": "asked again",
        "columns": {"quasi_identifiers": {}},
        "attack": {"release": str(run_folder), "original": str(original), "audit": audit},
    }


@pytest.fixture(scope="module")
def published(spark, tmp_path_factory, people):
    """Releases in both forms, audited as a whole, one of them of what suppression left; and their table."""
    folder = tmp_path_factory.mktemp("published")
    spark.createDataFrame(people).repartition(2).write.parquet(str(folder / "people.parquet"))
    runs = {}
    for form, suppression in (("generalized", {}), ("bucketized", {"method": "r", "l": 3, "budget": 0.9})):
        asked = spec(
            folder / form,
            audit={"algorithm": "full"},
            suppression=suppression,
            input={"path": str(folder / "people.parquet")},
        )
        asked["output"] |= {"form": form}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fragments, "FRAGMENT_ROWS", 300)
            runs[form] = anonymize(asked, spark=spark)
    assert runs["bucketized"].verdict.to_dict()["criteria"][0]["value"] > 0
    return folder, runs


@pytest.mark.parametrize("form", ["generalized", "bucketized"])
def test_attack_says_of_a_release_what_anonymize_said(spark, published, monkeypatch, form):
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 300)
    folder, runs = published
    row, gate = row_of(runs[form]), {"algorithm": "full"}
    if form == "bucketized":
        gate["at_most"] = row["value"] - 0.01
    asked = attacking(folder / form / "out", folder / "people.parquet", **gate)
    told = attack({**asked, "output": {"path": str(folder / f"told-{form}")}}, spark=spark)
    found = row_of(told)
    demanded = ("status", "threshold", "violations")
    assert {k: v for k, v in found.items() if k not in demanded} == {
        k: v for k, v in row.items() if k not in demanded
    }
    assert (found["status"], told.verdict.ok) == (
        ("fail", False) if "at_most" in gate else ("measured", True)
    )
    page = Path(told.paths["report"]).read_text()
    assert "knows how this program makes groups" in page and "What the choice of the tasks" in page


def test_groups_that_are_not_those_of_the_release_are_no_answer(spark, published, monkeypatch, people):
    """Another table, and tasks of another size."""
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 300)
    folder, _ = published
    changed = people.copy()
    changed.loc[0, "ill"] = "gout" if people.loc[0, "ill"] != "gout" else "flu"
    spark.createDataFrame(changed).write.parquet(str(folder / "changed.parquet"))
    asked = attacking(folder / "generalized/out", folder / "changed.parquet")
    with pytest.raises(DataError, match="not those of"):
        attack(asked, spark=spark)


def test_an_attack_without_what_it_needs_says_what_it_needs(spark, published, monkeypatch):
    folder, _ = published
    with monkeypatch.context() as later:
        later.setattr("ppdp_spark.spark.attacks.made_again.package_version", lambda: "9.9")
        with pytest.raises(DataError, match=r"made by version .* and this is 9\.9"):
            attack(attacking(folder / "generalized/out", folder / "people.parquet"), spark=spark)
    release, table = folder / "generalized/out", folder / "people.parquet"
    with pytest.raises(DataError, match="needs the spec of the run"):
        attack(attacking(release / "release", table), spark=spark)
    asked = attacking(release, table)
    del asked["attack"]["original"]
    with pytest.raises(SpecError, match="original` is missing: `audit` makes the groups"):
        attack(asked, spark=spark)
