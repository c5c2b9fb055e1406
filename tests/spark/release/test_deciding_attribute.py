"""Suppression where there are several sensitive attributes: one of them decides, and all are counted anew."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, eligibility, suppress, verify
from ppdp_spark.errors import DataError, InfeasibleError
from ppdp_spark.run.storage import Folder, table_digests


def people(number: int = 120, first: str = "judge") -> pa.Table:
    """Too many people have flu, and only one of them is a judge."""
    rng = random.Random(6)
    ills = ["flu"] * (3 * number // 5) + [
        rng.choice(["gout", "cold", "mumps"]) for _ in range(2 * number // 5)
    ]
    return pa.table(
        {
            "age": pa.array([rng.randrange(20, 80) for _ in ills], pa.int32()),
            "ill": ills,
            "job": [first, *(rng.choice(["cook", "smith", "nurse"]) for _ in ills[1:])],
        }
    )


def spec(folder: Path, linked: dict | None, **suppression):
    columns = {"quasi_identifiers": {"age": "numeric"}, "sensitive": ["ill", "job"]}
    return {
        "version": 1,
        "dataset": "deciding",
        "columns": columns if linked is None else {**columns, "sensitive_linked": linked},
        "privacy": {
            "k_anonymity": 6,
            "per_attribute": {
                "ill": {"l_diversity": {"kind": "distinct", "l": 2}},
                "job": {"t_closeness": {"t": 0.6}},
            },
        },
        "suppression": {"attribute": "ill", "l": 2, "budget": 0.5, **suppression},
        "output": {"path": str(folder), "queries": 10},
    }


@pytest.mark.parametrize("linked", [{"known": ["job"]}, pytest.param(None, marks=pytest.mark.slow)])
def test_the_named_attribute_decides_and_all_are_judged_as_published(spark, tmp_path, linked):
    # Whoever knows the job of the only judge knows the illness, unless the draw takes the judge.
    table = people(first="cook" if linked else "judge")
    run = anonymize(spec(tmp_path, linked, method="r"), table=spark.createDataFrame(table))
    assert run.ok
    rows = pq.read_table(tmp_path / "release" / "data").to_pylist()
    ills, jobs = (Counter(row[name] for row in rows) for name in ("ill", "job"))
    assert 2 * ills["flu"] <= len(rows) < 120
    assert all(
        ills[name] == number for name, number in Counter(table["ill"].to_pylist()).items() if name != "flu"
    )
    told = {
        each["column"]: {v["value"]: v["count"] for v in each["values"]} for each in run.summary["sensitive"]
    }
    assert told["ill"] == ills
    assert {name: number for name, number in told["job"].items() if number} == jobs
    if linked:
        pairs = Counter(zip(table["ill"].to_pylist(), table["job"].to_pylist(), strict=True))
        assert not Counter((row["ill"], row["job"]) for row in rows) - pairs
    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    assert manifest["suppression"] == {"method": "r", "l": 2, "total": 120, "attribute": "ill"}
    about = {row.criterion: row.parameters.get("sensitive") for row in run.verdict.rows}
    assert about["l_eligibility"] == about["suppression_budget"] == about["suppression_attack"] == "ill"
    (closest,) = (row for row in run.verdict.rows if row.criterion == "t_closeness")
    assert closest.value == pytest.approx(worst_distance(rows, jobs))


def worst_distance(rows: list[dict], jobs: Counter) -> float:
    """The largest distance of jobs in a group from those of all that is published, by hand."""
    found = []
    for group in {row["group_id"] for row in rows}:
        held = Counter(row["job"] for row in rows if row["group_id"] == group)
        gaps = (abs(held[job] / held.total() - jobs[job] / jobs.total()) for job in jobs)
        found.append(sum(gaps) / 2)
    return max(found)


@pytest.mark.slow
def test_what_is_kept_by_the_named_attribute(spark, tmp_path):
    table = spark.createDataFrame(people())
    run = suppress(spec(tmp_path, None, method="r"), table=table)
    assert run.summary["suppression"]["attribute"] == "ill"
    kept = Counter(spark.read.parquet(run.paths["kept"]).toPandas()["ill"])
    assert 2 * kept["flu"] <= kept.total() == run.summary["suppression"]["published"]
    with pytest.raises(InfeasibleError, match="not l-eligible"):
        anonymize(spec(tmp_path / "none", None, method="none"), table=table)
    failed = eligibility(spec(tmp_path / "none", None, method="none"), table=table).verdict.failures
    assert [(row.criterion, row.parameters["sensitive"]) for row in failed] == [("l_eligibility", "ill")]
    other = spec(tmp_path / "job", None, method="none") | {"suppression": {"attribute": "job", "l": 2}}
    assert eligibility(other, table=table).verdict.failures == ()


@pytest.mark.slow
def test_a_manifest_that_names_nobody_is_not_read(spark, tmp_path):
    anonymize(spec(tmp_path, None, method="r"), table=spark.createDataFrame(people()))
    release = tmp_path / "release"
    manifest = json.loads((release / "release.json").read_text())
    manifest["suppression"].pop("attribute")
    manifest["files"] = table_digests(Folder.at(release))
    (release / "release.json").write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="which sensitive attribute decided"):
        verify(tmp_path, spark=spark)
