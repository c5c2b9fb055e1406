"""The DAG on the real Airflow 3, in its own environment, submitting to the real Spark of this one.

`make airflow` builds build/airflow-env and runs this; PPDP_AIRFLOW names another environment's bin.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from pyspark.find_spark_home import _find_spark_home

from support.places import ROOT
from support.released.releases import run, same_content, sets, write_people

pytestmark = pytest.mark.airflow

BIN = Path(os.environ.get("PPDP_AIRFLOW", ROOT / "build/airflow-env/bin"))
TASKS = ["claim", "eligibility", "anonymize", "verify", "gate", "publish", "report"]
SPARK_HOME = Path(_find_spark_home())

IMPORT = """
from airflow.dag_processing.dagbag import DagBag
import os
bag = DagBag(os.environ["AIRFLOW__CORE__DAGS_FOLDER"])
assert not bag.import_errors, bag.import_errors
found = bag.dags["ppdp_release"]
print(*(task.task_id for task in found.topological_sort()))
assert all(task.retries == 2 for task in found.tasks)
"""

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


@pytest.fixture(scope="module")
def airflow(tmp_path_factory) -> Airflow:
    if not (BIN / "airflow").exists():
        pytest.skip("there is no Airflow: run `make airflow`")
    found = Airflow(tmp_path_factory.mktemp("airflow"))
    migrated = found("airflow", "db", "migrate")
    assert migrated.returncode == 0, migrated.stderr[-2000:]
    return found


def conf_of(spec: Path, folder: Path) -> str:
    roots = {"staging_root": str(folder / "staging"), "publish_root": str(folder / "public")}
    return json.dumps({"spec": str(spec), **roots})


def dags_test(airflow: Airflow, date: str, conf: str) -> CompletedProcess[str]:
    return airflow("airflow", "dags", "test", "ppdp_release", date, "--conf", conf)


def only_folder(folder: Path) -> Path:
    (found,) = (path for path in folder.iterdir() if not path.name.startswith("."))
    return found


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below, and when it was written."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_the_dag_is_imported_without_error(airflow):
    done = airflow("python", "-c", IMPORT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split()[-len(TASKS) :] == TASKS


@pytest.fixture(scope="module")
def safe(airflow, tmp_path_factory) -> Path:
    """A folder in which `airflow dags test` published a release."""
    folder = tmp_path_factory.mktemp("safe")
    done = dags_test(airflow, "2026-01-01", conf_of(write_people(folder), folder))
    (folder / "log").write_text(done.stdout + done.stderr)
    assert done.returncode == 0, (folder / "log").read_text()[-3000:]
    return folder


def test_a_safe_table_is_published(safe):
    staged, target = only_folder(safe / "staging"), only_folder(safe / "public")
    assert staged.name == target.name
    assert json.loads((staged / "private/verdict.json").read_text())["publishable"] is True
    submit = [SPARK_HOME / "bin/spark-submit", "--master", "local[2]", ROOT / "jobs/anonymize.py"]
    plain = run([*submit, safe / "spec.yaml", *sets(output__path=safe / "plain"), "--quiet"])
    assert plain.returncode == 0, plain.stderr[-3000:]
    (safe / "view").mkdir()
    (safe / "view/release").symlink_to(target)
    assert same_content(safe / "plain", safe / "view")
    assert not {path.name for path in target.rglob("*")} & {"private", "verdict.json", "summary.json"}


def test_staging_is_for_the_owner_and_logs_show_no_row(safe):
    staged = only_folder(safe / "staging")
    assert staged.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (staged / "logs").iterdir())
    assert "CANARY" not in (safe / "log").read_text()


def test_the_same_run_again_changes_nothing(airflow, safe):
    staged, target = only_folder(safe / "staging"), only_folder(safe / "public")
    before, made = content(target), content(staged / "release")
    began = json.loads((staged / "run.json").read_text())["run_id"]
    conf = conf_of(safe / "spec.yaml", safe)
    done = airflow("python", "-c", AGAIN, began.removeprefix("manual__"), "2026-01-01", conf)
    assert f"run {began} ended success" in done.stdout, (done.stdout + done.stderr)[-3000:]
    assert only_folder(safe / "staging") == staged and only_folder(safe / "public") == target
    assert content(target) == before and content(staged / "release") == made


def test_the_same_run_with_another_spec_is_refused(airflow, safe):
    staged, target = only_folder(safe / "staging"), only_folder(safe / "public")
    before, spec = content(target), safe / "spec.yaml"
    began, kept = json.loads((staged / "run.json").read_text())["run_id"], spec.read_text()
    try:
        spec.write_text(kept.replace("k_anonymity: 5", "k_anonymity: 2"))
        conf = conf_of(spec, safe)
        done = airflow("python", "-c", AGAIN, began.removeprefix("manual__"), "2026-01-01", conf)
    finally:
        spec.write_text(kept)
    assert f"run {began} ended failed" in done.stdout
    assert content(target) == before and only_folder(safe / "public") == target


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


def test_a_run_killed_while_it_wrote_is_resumed_by_the_retry(airflow, safe, tmp_path):
    """All processes of the first attempt end by SIGKILL; the second publishes what was to be published."""
    mark, script = tmp_path / "mark", tmp_path / "kill_once.py"
    script.write_text(KILL_ONCE)
    killing = replace(airflow, before=(sys.executable, str(script), str(mark)))
    done = dags_test(killing, "2026-04-01", conf_of(write_people(tmp_path), tmp_path))
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    assert "anonymize ended with code 137" in said
    assert ".claim-" in mark.read_text() and ".staging-" in mark.read_text()
    staged = only_folder(tmp_path / "staging")
    assert not list(staged.glob(".*")), "the next attempt clears what the first one left"
    for place, root in (("resumed", tmp_path), ("undisturbed", safe)):
        (tmp_path / place).mkdir()
        (tmp_path / place / "release").symlink_to(only_folder(root / "public"))
    assert same_content(tmp_path / "resumed", tmp_path / "undisturbed")


@pytest.mark.parametrize(
    ("privacy", "stopped", "date"),
    [
        ("{k_anonymity: 5_000}", "eligibility: a privacy check fails", "2026-02-01"),
        ("{k_anonymity: 1}", "eligibility: the spec is wrong", "2026-02-02"),
    ],
)
def test_an_unsafe_table_is_not_published(airflow, tmp_path, privacy, stopped, date):
    done = dags_test(airflow, date, conf_of(write_people(tmp_path, privacy=privacy), tmp_path))
    said = done.stdout + done.stderr
    assert done.returncode != 0 and stopped in said, said[-3000:]
    assert not (tmp_path / "public").exists() and "CANARY" not in said
    assert not (only_folder(tmp_path / "staging") / "release").exists()


def test_a_verdict_that_fails_stops_the_publication(airflow, tmp_path):
    """R-suppression over its budget: only `anonymize` can tell, and its verdict is final for the run."""
    spec = write_people(tmp_path)
    spec.write_text(spec.read_text() + "suppression: {method: r, l: 8, budget: 0.0}\n")
    done = dags_test(airflow, "2026-03-01", conf_of(spec, tmp_path))
    said = done.stdout + done.stderr
    assert done.returncode != 0 and "anonymize: the suppression budget is exceeded" in said, said[-3000:]
    assert not (tmp_path / "public").exists()
    staged = only_folder(tmp_path / "staging")
    assert json.loads((staged / "private/verdict.json").read_text())["status"] == "fail"
    began = json.loads((staged / "run.json").read_text())["run_id"].removeprefix("manual__")
    again = airflow("python", "-c", AGAIN, began, "2026-03-01", conf_of(spec, tmp_path))
    assert "ended failed" in again.stdout
    assert "the verdict does not allow publication" in again.stdout + again.stderr
    assert not (tmp_path / "public").exists()


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
    staged = only_folder(safe / "staging")
    dag = ROOT / "jobs/airflow/ppdp_release.py"
    done = airflow("python", "-c", TAMPER, dag, staged, tmp_path / "public")
    assert done.stdout.endswith("fail closed\n"), (done.stdout + done.stderr)[-3000:]


def test_python_of_airflow_has_no_spark(airflow):
    done = airflow("python", "-c", "import pyspark")
    assert "No module named 'pyspark'" in done.stderr
    assert Path(sys.executable).parent != BIN
