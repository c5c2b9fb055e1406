"""`ppdp attack` and its spark-submit job: what is printed, and how they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.commands.generate import generate
from support.places import ROOT

pytestmark = pytest.mark.slow

SUBMIT = [
    str(Path(sys.executable).parent / "spark-submit"),
    "--master",
    "local[2]",
    str(ROOT / "jobs/attack.py"),
]


def ran(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "COLUMNS": "120",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, timeout=900)


@pytest.fixture(scope="module")
def home(spark, tmp_path_factory) -> Path:
    """The specs of `conf/`, a census, and the release that the attack of `conf/` is about."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "hierarchies").symlink_to(ROOT / "conf/hierarchies")
    for name in ("census-diverse.yaml", "census-attack.yaml"):
        (folder / name).write_text((ROOT / "conf" / name).read_text())
    census = str(folder / "data/census.parquet")
    generate(spark, census, rows=3_000, seed=1, shape="parquet", overwrite=False)
    places = [f"input.path={census}", f"output.path={folder / 'out/census-diverse'}"]
    spec = ReleaseSpec.load(folder / "census-diverse.yaml", places)
    assert anonymize(spec, spark=spark).ok
    return folder


def test_the_spec_of_conf_is_measured_and_gated(home):
    """Three steps of mined knowledge; people who are alone with a rule are certain, and the gate closes."""
    done = ran(*SUBMIT, "census-attack.yaml", cwd=home)
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr and "FAIL" in done.stdout
    verdict = json.loads((home / "out/census-diverse/private/attack/verdict.json").read_text())
    (row,) = [row for row in verdict["criteria"] if row["status"] == "fail"]
    assert row["value"] > row["threshold"] == 0.9
    summary = json.loads((home / "out/census-diverse/private/attack/summary.json").read_text())
    steps = summary["attack"]["steps"]
    assert len(steps) == 3 and steps[0]["accuracy"] > steps[1]["accuracy"] > steps[2]["accuracy"]
    assert (home / "out/census-diverse/release/release.json").exists()


def test_what_is_allowed_passes_and_what_contradicts_the_release_is_named(home, called):
    document = yaml.safe_load((home / "census-attack.yaml").read_text())
    del document["attack"]["mine"], document["attack"]["original"]
    out = str(home / "out/census-diverse")
    document |= {"input": {"path": str(home / "data/census.parquet")}, "output": {"path": out}}
    document["attack"] |= {"threshold": 1.0, "release": out}
    (home / "quiet.yaml").write_text(yaml.safe_dump(document))
    done = called("attack", "quiet.yaml", cwd=home)
    assert done.exit_code == 0 and "PASS" in done.stdout, done.stderr
    summary = json.loads((home / "out/census-diverse/private/summary.json").read_text())
    frequent = summary["sensitive"]["values"][0]["value"]
    document["attack"]["knowledge"] = [{"given": {"sex": "Male"}, "value": frequent, "probability": 1.0}]
    (home / "wrong.yaml").write_text(yaml.safe_dump(document))
    done = called("attack", "wrong.yaml", cwd=home)
    assert done.exit_code == 3 and "knowledge 0" in done.stderr and isinstance(done.exception, SystemExit)
    misspelt = called("attack", "quiet.yaml", "--set", "attack.treshold=1", cwd=home)
    assert misspelt.exit_code == 2 and "did you mean" in misspelt.stderr
