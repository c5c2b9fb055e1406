"""One core, two cores, executor processes: the same is published."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from support.places import ROOT

pytestmark = pytest.mark.cluster


RUN = """
import sys
from ppdp_spark.spark.partition import fragments
from ppdp_spark.spark.release import numbering
fragments.FRAGMENT_ROWS, fragments.SAMPLE_ROWS, numbering.FILE_ROWS = 3_000, 4_000, 2_000
from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.spark.session import local_session
settings = {"spark.executor.memory": "1g", "spark.sql.codegen.wholeStage": "false"}
settings["spark.sql.codegen.factoryMode"] = "NO_CODEGEN"
spark = local_session(sys.argv[1], driver_memory="1g", **settings)
spec = ReleaseSpec.load(sys.argv[2], [f"output.path={sys.argv[3]}"])
table = spark.read.parquet(str(spec.input.path)).repartition(int(sys.argv[4]))
assert anonymize(spec, table=table).ok
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cluster")
    rng = np.random.default_rng(0)
    rows = 20_000
    income = np.where(rng.random(rows) < 0.03, np.nan, rng.lognormal(10, 1, rows))
    table = pd.DataFrame(
        {
            "age": rng.integers(0, 90, rows),
            "city": rng.choice(list("abcdefghij"), rows),
            "income": income,
            "job": rng.choice([f"job{i}" for i in range(8)], rows),
        }
    )
    table.to_parquet(folder / "people.parquet")
    (folder / "spec.yaml").write_text(
        "version: 1\ndataset: people\ninput: {path: people.parquet}\n"
        "columns: {quasi_identifiers: {age: {}, city: {}, income: {}}, sensitive: job}\n"
        "privacy:\n  k_anonymity: 5\n  skyline: {default: [{l: 1, k: 2, m: 1, c: 0.75}]}\n"
        "output: {path: unused}\n"
    )
    return folder / "spec.yaml"


def test_masters_and_partitions(spec, tmp_path):
    manifests = []
    for master, parts in (("local[1]", 1), ("local[2]", 7), ("local-cluster[2,1,1024]", 2)):
        out = tmp_path / master
        command = [sys.executable, "-c", RUN, master, str(spec), str(out), str(parts)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=ROOT)
        assert done.returncode == 0, done.stderr[-3000:]
        manifests.append(json.loads((out / "release/release.json").read_text()))
    # Digests of the files included: not a byte differs.
    assert len(manifests[0]["files"]) > 3
    assert manifests[1:] == [manifests[0]] * 2
