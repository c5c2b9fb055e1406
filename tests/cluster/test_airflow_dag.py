"""The DAG on the real Airflow 3, in its own environment, submitting to the real Spark of this one.

`make airflow` builds build/airflow-env and runs this; PPDP_AIRFLOW names another environment's bin.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from support.dag_runs import AGAIN, BIN, SPARK_HOME, conf_of, dags_test, only_folder
from support.places import ROOT
from support.released.releases import run, same_content, sets, write_people

pytestmark = pytest.mark.airflow

TASKS = ["claim", "eligibility", "anonymize", "verify", "gate", "publish", "report"]

IMPORT = """
from airflow.dag_processing.dagbag import DagBag
import os
bag = DagBag(os.environ["AIRFLOW__CORE__DAGS_FOLDER"])
assert not bag.import_errors, bag.import_errors
found = bag.dags["ppdp_release"]
print(*(task.task_id for task in found.topological_sort()))
assert all(task.retries == 2 for task in found.tasks)
"""


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below, and when it was written."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_the_dag_is_imported_without_error(airflow):
    done = airflow("python", "-c", IMPORT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split()[-len(TASKS) :] == TASKS


KILL_ONCE = """
import os, signal, subprocess, sys, time
from pathlib import Path
mark, command = Path(sys.argv[1]), sys.argv[2:]
if mark.exists() or not any(part.endswith("/anonymize.py") for part in command):
    os.execvp(command[0], command)
(out,) = (Path(part.split("=", 1)[1].strip('"')) for part in command if part.startswith("output.path="))
job = subprocess.Popen(command, start_new_session=True)
while not list(out.glob(".staging-*/release/data/*")):
    if job.poll() is not None:
        sys.exit("the job ended before it published")
    time.sleep(0.01)
os.killpg(job.pid, signal.SIGKILL)
job.wait()
mark.write_text(" ".join(sorted(path.name for path in out.glob(".*"))))
sys.exit(137)
"""


@dataclass(frozen=True)
class Published:
    """What `airflow dags test` published into a folder, what it said, and what its first attempt left."""

    folder: Path
    said: str
    left: str

    @property
    def staged(self) -> Path:
        return only_folder(self.folder / "staging")

    @property
    def target(self) -> Path:
        return only_folder(self.folder / "public")


@pytest.fixture(scope="module")
def safe(airflow, tmp_path_factory) -> Published:
    """The run of a safe table; all processes of its first attempt end by SIGKILL while they write."""
    folder = tmp_path_factory.mktemp("safe")
    mark, script = folder / "mark", folder / "kill_once.py"
    script.write_text(KILL_ONCE)
    killing = replace(airflow, before=(sys.executable, str(script), str(mark)))
    done = dags_test(killing, "2026-01-01", conf_of(write_people(folder), folder))
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    return Published(folder, said, mark.read_text())


def test_the_killed_attempt_is_resumed_by_the_retry(safe):
    assert "anonymize ended with code 137" in safe.said
    assert ".claim-" in safe.left and ".staging-" in safe.left
    assert not list(safe.staged.glob(".*")), "the next attempt clears what the first one left"


def test_what_is_published_is_what_an_undisturbed_job_makes(safe, tmp_path):
    assert safe.staged.name == safe.target.name
    assert json.loads((safe.staged / "private/verdict.json").read_text())["publishable"] is True
    submit = [SPARK_HOME / "bin/spark-submit", "--master", "local[2]", ROOT / "jobs/anonymize.py"]
    plain = run([*submit, safe.folder / "spec.yaml", *sets(output__path=tmp_path / "plain"), "--quiet"])
    assert plain.returncode == 0, plain.stderr[-3000:]
    (tmp_path / "view").mkdir()
    (tmp_path / "view/release").symlink_to(safe.target)
    assert same_content(tmp_path / "plain", tmp_path / "view")
    assert not {path.name for path in safe.target.rglob("*")} & {"private", "verdict.json", "summary.json"}


def test_staging_is_for_the_owner_and_logs_show_no_row(safe):
    assert safe.staged.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (safe.staged / "logs").iterdir())
    assert "CANARY" not in safe.said


def test_the_same_run_again_changes_nothing(airflow, safe):
    staged, target, folder = safe.staged, safe.target, safe.folder
    before, made = content(target), content(staged / "release")
    began = json.loads((staged / "run.json").read_text())["run_id"]
    conf = conf_of(folder / "spec.yaml", folder)
    done = airflow("python", "-c", AGAIN, began.removeprefix("manual__"), "2026-01-01", conf)
    assert f"run {began} ended success" in done.stdout, (done.stdout + done.stderr)[-3000:]
    assert safe.staged == staged and safe.target == target
    assert content(target) == before and content(staged / "release") == made


def test_the_same_run_with_another_spec_is_refused(airflow, safe):
    target, folder = safe.target, safe.folder
    before, spec = content(target), folder / "spec.yaml"
    began, kept = json.loads((safe.staged / "run.json").read_text())["run_id"], spec.read_text()
    try:
        spec.write_text(kept.replace("k_anonymity: 5", "k_anonymity: 2"))
        conf = conf_of(spec, folder)
        done = airflow("python", "-c", AGAIN, began.removeprefix("manual__"), "2026-01-01", conf)
    finally:
        spec.write_text(kept)
    assert f"run {began} ended failed" in done.stdout
    assert content(target) == before and safe.target == target


TAMPER = """
import importlib.util, json, os, shutil, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("dag_file", sys.argv[1])
file = importlib.util.module_from_spec(spec); sys.modules["dag_file"] = file; spec.loader.exec_module(file)
staged, target = Path(sys.argv[2]), Path(sys.argv[3])
run = file.Run("again", Path("/spec"), staged, target)
file.require_audited(run)
digest = file.sha256(run.release / "release.json")
file.require_same(run.release, digest)

def refused(change, check):
    name = "private" if check is file.require_audited else "release"
    kept = staged / "kept"
    shutil.copytree(staged / name, kept)
    try:
        change()
        check(run) if check is file.require_audited else file.require_same(run.release, digest)
    except file.AirflowFailException:
        return True
    finally:
        shutil.rmtree(staged / name)
        kept.rename(staged / name)
    return False

verdict = run.private / "verdict.json"
plain = json.loads(verdict.read_text())
write = lambda **more: verdict.write_text(json.dumps({**plain, **more}))
for change in (
    verdict.unlink, lambda: verdict.write_text(""), lambda: verdict.write_text("[]"),
    lambda: verdict.write_text("{}"), lambda: verdict.write_text("pass"),
    lambda: verdict.write_bytes(bytes([255, 254])),
    lambda: write(status="fail"), lambda: write(status="PASS"), lambda: write(status=None),
    lambda: write(publishable=False), lambda: write(publishable="true"), lambda: write(publishable=1),
    lambda: write(criteria=[]), lambda: write(criteria=None), lambda: write(criteria=[{"status": "fail"}]),
    lambda: write(criteria=["pass"]), lambda: write(criteria={"status": "pass"}),
    lambda: write(run_id="other"), lambda: write(run_id=None),
    lambda: write(manifest="other"), lambda: write(manifest=None), (run.private / "summary.json").unlink,
):
    assert refused(change, file.require_audited), change
part = next(run.release.rglob("*.parquet"))
manifest = run.release / "release.json"
for change in (
    manifest.unlink, part.unlink, lambda: part.write_bytes(b"other"), lambda: manifest.write_text("{}"),
    lambda: (run.release / "stray").write_text("x"),
):
    assert refused(change, file.require_same), change
file.require_audited(run); file.require_same(run.release, digest)
print("fail closed")
"""


def test_the_gate_fails_closed(airflow, safe, tmp_path):
    dag = ROOT / "jobs/airflow/ppdp_release.py"
    done = airflow("python", "-c", TAMPER, dag, safe.staged, tmp_path / "public")
    assert done.stdout.endswith("fail closed\n"), (done.stdout + done.stderr)[-3000:]


def test_python_of_airflow_has_no_spark(airflow):
    done = airflow("python", "-c", "import pyspark")
    assert "No module named 'pyspark'" in done.stderr
    assert Path(sys.executable).parent != BIN
