"""A sweep on Spark: variants beside the main release, and an infeasible one that does not stop the others."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.commands.compare import compare
from ppdp_spark.commands.sweep import sweep
from ppdp_spark.spark.engine.progress import Tasks, task_counter

SPEC = """
version: 1
dataset: people
input: {path: unused.parquet}
columns: {quasi_identifiers: {age: numeric, city: categorical}, sensitive: job}
privacy: {k_anonymity: 5}
output: {path: OUT}
"""


def test_a_sweep_goes_on_and_leaves_the_release_alone(spark, tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "age": rng.integers(0, 60, 200),
            "city": [f"CANARY{c}" for c in rng.integers(0, 4, 200)],
            "job": rng.choice(["cook", "nurse"], 200),
        }
    )
    table = spark.createDataFrame(data)
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC.replace("OUT", str(tmp_path / "out")))
    anonymize(ReleaseSpec.load(path), table=table)
    before = {p: p.read_bytes() for p in (tmp_path / "out/release").rglob("*") if p.is_file()}
    found = sweep(path, ["privacy.k_anonymity=500,20"], table=table, spark=spark, queries=60)
    assert {p: p.read_bytes() for p in before} == before
    assert found.ok and [choice.ok for choice in found.choices] == [False, True]
    assert "needed >= 500" in (found.choices[0].reason or "")
    kept = tmp_path / "out/sweep"
    assert kept.stat().st_mode & 0o077 == 0
    assert (kept / "k_anonymity-20/release/release.json").exists()
    assert not (kept / "k_anonymity-500/release").exists()
    result = json.loads((kept / "sweep.json").read_text())
    assert [v["status"] for v in result["variants"]] == ["fail", "pass"]
    summary = json.loads((kept / "k_anonymity-20/private/summary.json").read_text())
    metrics = summary["metrics"]
    found_losses = [metrics["queries"]["median"], metrics["queries"]["mean"], metrics["gcp"]]
    assert list(result["variants"][1]["losses"].values()) == found_losses
    assert found.to_pandas()[result["measures"]].loc[1].tolist() == found_losses
    page = (kept / "sweep.html").read_text()
    assert "1 of 2 variants" in page and "CANARY" not in page
    stages = {stage["name"]: stage for stage in summary["stages"]}
    assert stages["read"]["rows"] == stages["publish"]["rows"] == stages["partition"]["rows"] == 200
    assert stages["publish"]["groups"] == summary["release"]["groups"]
    both = compare([tmp_path / "out", kept / "k_anonymity-20"])
    assert [run.name for run in both.runs] == ["out", "k_anonymity-20"]


def test_spark_tells_its_tasks_or_nothing(spark):
    found = task_counter(spark)()
    assert found is None or isinstance(found, Tasks)

    class Remote:
        @property
        def sparkContext(self):
            raise AttributeError("not on Spark Connect")

    assert task_counter(Remote())() is None
