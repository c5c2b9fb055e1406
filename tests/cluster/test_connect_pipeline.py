"""The whole pipeline, on a Spark Connect session too: the same is published as on a classic one."""

from __future__ import annotations

import json
import sys

import pytest
from pyspark.sql import DataFrame

from support.connect_port import connect_port
from support.released.releases import run, same_content, write_people

pytestmark = [pytest.mark.cluster, pytest.mark.versions]

CONNECT = hasattr(DataFrame, "toArrow")
"""Spark Connect can do what we need from 4.0 on."""

COMMANDS = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from ppdp_spark import ReleaseSpec, anonymize, attack, check, explore, suppress, verify
from ppdp_spark.spark.session import local_session

if sys.argv[1] == "connect":
    spark = SparkSession.builder.remote("local[2]").getOrCreate()
else:
    spark = local_session("local[2]", driver_memory="1g")
spark.conf.set("spark.sql.shuffle.partitions", "3")
spark.conf.set("spark.sql.codegen.wholeStage", "false")
spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
home, out = Path(sys.argv[2]), Path(sys.argv[2]) / sys.argv[1]

def spec(name, **changes):
    changes = {"output": {"path": str(out / name)}, **changes}
    sets = [f"{key}={json.dumps(value)}" for key, value in changes.items()]
    return ReleaseSpec.load(home / "spec.yaml", sets)

found = {"session": type(spark).__module__}
for form in ("generalized", "bucketized"):
    made = anonymize(spec(form, output={"path": str(out / form), "form": form}), spark=spark)
    found[form] = [made.ok, made.summary["metrics"], verify(out / form, spark=spark).ok]
table = {"path": str(out / "generalized/release/data"), "format": "parquet"}
columns = {"group": "group_id", "quasi_identifiers": {"age": {}}, "sensitive": "job"}
for command in (check, explore):
    done = command(spec(command.__name__, input=table, columns=columns), spark=spark)
    found[command.__name__] = [done.verdict.to_dict(), done.summary.get("knowledge")]
told = [{"given": {"age": {"from": 40}}, "value": "job1", "probability": 0.15}]
for size in (0, 10**6):
    knowing = {"release": str(out / "bucketized"), "knowledge": told}
    done = attack(spec("attacked", attack=knowing), spark=spark, local_variables=size)
    step = done.summary["attack"]["steps"][0]
    found[f"attack {size}"] = [step["solver"].pop("form"), step["solver"]["converged"], step["max_posterior"]]
cure = {"method": "r", "l": 4, "budget": 0.9}
kept = suppress(spec("suppressed", suppression=cure), spark=spark)
counted = spark.read.parquet(kept.paths["kept"]).count()
found["suppress"] = [kept.ok, 0 < counted == kept.summary["suppression"]["published"]]
try:
    anonymize(spec("never", privacy={"k_anonymity": 5000}), spark=spark)
except Exception as error:
    found["refused"] = [type(error).__name__, str(error), (out / "never/release").exists()]
Path(out / "found.json").write_text(json.dumps(found))
spark.stop()
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("connect")
    write_people(
        folder, rows=2_000, privacy="{k_anonymity: 5, skyline: {default: [{l: 1, k: 2, m: 1, c: 0.75}]}}"
    )
    return folder


@pytest.fixture(scope="module")
def found(home):
    """What the commands say of each kind of session."""
    said = {}
    for session in ("classic", "connect") if CONNECT else ("classic",):
        command = [sys.executable, "-c", COMMANDS, session, home]
        with connect_port():
            done = run(command, environment={"SPARK_LOCAL_IP": "127.0.0.1"})
        assert done.returncode == 0, done.stderr[-3000:]
        said[session] = json.loads((home / session / "found.json").read_text())
    return said


def test_every_command_does_its_work(found):
    classic = found["classic"]
    assert not classic["session"].startswith("pyspark.sql.connect")
    for form in ("generalized", "bucketized"):
        published, _, verified = classic[form]
        assert published and verified
    assert classic["check"][0]["status"] == "pass" and classic["explore"][1]
    assert classic["suppress"] == [True, True]
    assert [classic[f"attack {size}"][0] for size in (0, 10**6)] == ["distributed", "local"]
    assert classic["refused"][0] == "InfeasibleError" and not classic["refused"][2]


@pytest.mark.skipif(not CONNECT, reason="before 4.0 Spark Connect lacks what we need")
def test_connect_publishes_the_same(home, found):
    assert found["connect"]["session"].startswith("pyspark.sql.connect")
    assert {**found["connect"], "session": None} == {**found["classic"], "session": None}
    for form in ("generalized", "bucketized"):
        # Connect notes the collation of a text column in Parquet's footer; the table is the same.
        assert same_content(home / "classic" / form, home / "connect" / form, footers=False)
