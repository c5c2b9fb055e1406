"""Releases at the edges: infeasible, empty, many attributes, names that would clash, private files."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from ppdp_spark import anonymize
from ppdp_spark.errors import DataError, InfeasibleError, SpecError
from support.released.people import JOBS, people, released, spec_for


def test_infeasible_leaves_a_failing_verdict_and_no_release(spark, tmp_path):
    table = spark.createDataFrame(people(4))
    with pytest.raises(InfeasibleError, match="k_anonymity 4, needed >= 5"):
        anonymize(spec_for(tmp_path), table=table)
    verdict = json.loads((tmp_path / "out/private/verdict.json").read_text())
    assert verdict["status"] == "fail" and not verdict["publishable"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["private"]


def test_a_failed_run_keeps_the_old_release(spark, tmp_path):
    spec = spec_for(tmp_path)
    anonymize(spec, table=spark.createDataFrame(people(100)))
    before = (tmp_path / "out/release/release.json").read_bytes()
    with pytest.raises(SpecError, match="already holds a release"):
        anonymize(spec, table=spark.createDataFrame(people(100)))
    forced = spec_for(tmp_path, **{"output.overwrite": True, "composition": {"earlier": "accept"}})
    with pytest.raises(InfeasibleError):
        anonymize(forced, table=spark.createDataFrame(people(3)))
    assert (tmp_path / "out/release/release.json").read_bytes() == before
    anonymize(forced, table=spark.createDataFrame(people(120)))
    assert len(released(tmp_path)) == 120
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["private", "release"]


def test_edge_tables(spark, tmp_path):
    with pytest.raises(DataError, match="no rows"):
        anonymize(spec_for(tmp_path), table=spark.createDataFrame(people(10)).limit(0))
    constant = spark.createDataFrame([(1, "x")] * 30, "age int, job string")
    columns = {"quasi_identifiers": {"age": {}}, "sensitive": "job"}
    only_k = {"columns": columns, "privacy": {"k_anonymity": 5}}
    run = anonymize(spec_for(tmp_path / "c", **only_k), table=constant)
    assert run.summary["release"]["groups"] == 1 and run.summary["metrics"]["gcp"] == 0
    missing = spark.createDataFrame([(None, "x")] * 30, "age int, job string")
    anonymize(spec_for(tmp_path / "m", **only_k), table=missing)
    assert released(tmp_path / "m").age.isna().all()
    infinite = spark.createDataFrame([(math.inf, "x")] * 30, "age double, job string")
    with pytest.raises(DataError, match="infinite"):
        anonymize(spec_for(tmp_path / "i", **only_k), table=infinite)
    apart = spark.createDataFrame([(end, "x") for end in (-1.7e308, 1.7e308)] * 9, "age double, job string")
    with pytest.raises(DataError, match="too far apart"):
        anonymize(spec_for(tmp_path / "i", **only_k), table=apart)
    with pytest.raises(DataError) as caught:
        anonymize(spec_for(tmp_path / "n"), table=constant)
    assert any("did you mean" in p or "the table has" in p for p in caught.value.problems)
    assert len(caught.value.problems) == 4


@pytest.mark.usefixtures("compiled")
def test_many_attributes(spark, tmp_path):
    rng = np.random.default_rng(1)
    wide = pd.DataFrame(rng.integers(0, 5, (300, 60)), columns=[f"q.{j}" for j in range(60)])
    columns = {"quasi_identifiers": {name: {} for name in wide.columns}}
    spec = spec_for(tmp_path, **{"columns": columns, "privacy": {"k_anonymity": 10}})
    run = anonymize(spec, table=spark.createDataFrame(wide))
    assert run.ok and run.summary["release"]["rows"] == 300


def test_names_that_we_use_ourselves_are_free_for_users(spark, tmp_path):
    rng = np.random.default_rng(5)
    names = ["people", "sensitive", "q0", "a0", "size", "path", "fragment", "w0", "description", "x.y `z`"]
    data = pd.DataFrame(rng.integers(0, 6, (200, len(names))), columns=names)
    columns = {
        "quasi_identifiers": {name: {} for name in names[:8]},
        "sensitive": "description",
        "publish_as_is": ["x.y `z`"],
    }
    for form in ("generalized", "bucketized"):
        changes = {"columns": columns, "privacy": {"k_anonymity": 5}, "output.form": form}
        run = anonymize(spec_for(tmp_path / form, **changes), table=spark.createDataFrame(data))
        assert run.ok
    out = released(tmp_path / "generalized")
    assert sorted(zip(out.description, out["x.y `z`"], strict=True)) == sorted(
        zip(data.description, data["x.y `z`"], strict=True)
    )


def test_people_of_a_group_are_sorted_by_what_is_published(spark, tmp_path):
    rows = [(i % 3, [JOBS[(7 * i) % 5]], f"n{(11 * i) % 40:02d}") for i in range(120)]
    table = spark.createDataFrame(rows, "age int, jobs array<string>, note string")
    sets = {"quasi_identifiers": {"age": {}}, "sensitive": {"column": "jobs", "case": "mvpi-multiset"}}
    alone = {"quasi_identifiers": {"age": {}}, "publish_as_is": ["note"]}
    for name, columns in (("jobs", sets), ("note", alone)):
        spec = spec_for(tmp_path / name, columns=columns, privacy={"k_anonymity": 5})
        anonymize(spec, table=table)
        for _, group in released(tmp_path / name).groupby("group_id"):
            listed = [list(v) if name == "jobs" else v for v in group[name]]
            assert listed == sorted(listed)


def test_names_that_would_clash_are_refused(spark, tmp_path):
    table = spark.createDataFrame([(1, 2, "x")] * 10, "age int, age_min int, job string")
    columns = {"quasi_identifiers": {"age": {}, "age_min": {}}, "sensitive": "job"}
    with pytest.raises(DataError, match="age_min"):
        anonymize(spec_for(tmp_path, columns=columns, privacy={"k_anonymity": 5}), table=table)


def test_summary_and_private_files(spark, tmp_path):
    run = anonymize(spec_for(tmp_path), table=spark.createDataFrame(people(300)))
    private = tmp_path / "out" / "private"
    summary = json.loads((private / "summary.json").read_text())
    assert summary["input"]["rows"] == 300 and summary["input"]["unassigned"] == ["note", "extra"]
    assert summary["release"]["rows"] + summary["release"]["suppressed"]["total"] == 300
    sizes = released(tmp_path).groupby("group_id").size()
    assert summary["metrics"]["discernibility"] == int((sizes**2).sum())
    assert summary["metrics"]["average_class_ratio"] == pytest.approx(300 / len(sizes) / 5)
    assert sum(b["rows"] for b in summary["metrics"]["sizes"]["histogram"]) == 300
    assert private.stat().st_mode & 0o077 == 0
    assert all(p.stat().st_mode & 0o077 == 0 for p in private.iterdir())
    text = (
        "".join(p.read_text() for p in private.iterdir())
        + (tmp_path / "out/release/release.json").read_text()
    )
    assert "ID17" not in text and "never published" not in text
    assert run.to_dict()["verdict"]["status"] == "pass"
