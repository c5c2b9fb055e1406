"""The algorithm-aware audit of a release: made in tasks, the same however rows are spread, and private."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pandas as pd
import pytest

from ppdp_spark import InfeasibleError, anonymize
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
