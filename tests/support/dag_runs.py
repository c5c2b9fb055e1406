"""An Airflow of its own, and runs of the release DAG on it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

from pyspark.find_spark_home import _find_spark_home

from support.places import ROOT
from support.released.releases import run

BIN = Path(os.environ.get("PPDP_AIRFLOW", ROOT / "build/airflow-env/bin"))
SPARK_HOME = Path(_find_spark_home())

# `airflow dags test` names a run by the clock; the same method takes the time of an earlier run.
AGAIN = """
import json, os, sys
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import timezone
found = DagBag(os.environ["AIRFLOW__CORE__DAGS_FOLDER"]).dags["ppdp_release"]
began, date = map(timezone.parse, sys.argv[1:3])
ended = found.test(run_after=began, logical_date=date, run_conf=json.loads(sys.argv[3]))
print("run", ended.run_id, "ended", ended.state)
"""


@dataclass(frozen=True)
class Airflow:
    """An Airflow home with a migrated database, and what to put before spark-submit."""

    home: Path
    before: tuple[str, ...] = ()

    def __call__(self, program: str, *arguments: object) -> CompletedProcess[str]:
        submit = [str(SPARK_HOME / "bin/spark-submit"), "--master", "local[2]", "--driver-memory", "1g"]
        for name, value in (("wholeStage", "false"), ("factoryMode", "NO_CODEGEN")):
            submit += ["--conf", f"spark.sql.codegen.{name}={value}"]
        environment = {
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "jobs/airflow"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "1",
            "AIRFLOW_VAR_PPDP_SUBMIT": json.dumps([*self.before, *submit]),
            "SPARK_HOME": str(SPARK_HOME),
            "PATH": f"{BIN}:{os.environ['PATH']}",
        }
        return run([BIN / program, *map(str, arguments)], environment=environment, cwd=self.home)


def conf_of(spec: Path, folder: Path) -> str:
    roots = {"staging_root": str(folder / "staging"), "publish_root": str(folder / "public")}
    return json.dumps({"spec": str(spec), **roots})


def dags_test(airflow: Airflow, date: str, conf: str) -> CompletedProcess[str]:
    return airflow("airflow", "dags", "test", "ppdp_release", date, "--conf", conf)


def only_folder(folder: Path) -> Path:
    (found,) = (path for path in folder.iterdir() if not path.name.startswith("."))
    return found
