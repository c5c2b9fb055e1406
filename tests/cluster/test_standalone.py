"""A real standalone cluster: a master, two workers, spark-submit in client mode, the package as a zip."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.find_spark_home import _find_spark_home

from support.places import ROOT
from support.released.releases import run, same_content, sets, write_people

pytestmark = pytest.mark.cluster

SPARK_HOME = Path(_find_spark_home())
ANONYMIZE = ROOT / "jobs/anonymize.py"
MASTER, WORKER = (f"org.apache.spark.deploy.{name}" for name in ("master.Master", "worker.Worker"))


PRIVACY = {"k_anonymity": 5, "skyline": {"default": [{"l": 1, "k": 2, "m": 0, "c": 0.75}]}}
"""Of the releases that are compared: the skyline's kernels are compiled on executors."""


@dataclass(frozen=True)
class Cluster:
    """Where the master listens, and the folder in which workers keep what executors leave."""

    url: str
    work: Path


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def await_line(log: Path, process: subprocess.Popen[bytes], text: str) -> None:
    for _ in range(3_000):
        if log.exists() and text in log.read_text(errors="replace"):
            return
        assert process.poll() is None, log.read_text(errors="replace")[-2000:]
        time.sleep(0.1)
    raise AssertionError(f"no {text!r} within five minutes: {log.read_text(errors='replace')[-2000:]}")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    """Workers whose users have no home: nothing may be written there."""
    folder = tmp_path_factory.mktemp("standalone")
    environment = {**os.environ, "SPARK_HOME": str(SPARK_HOME), "SPARK_DAEMON_MEMORY": "256m"}
    environment |= {"HOME": "/dev/null", "SPARK_LOCAL_IP": "127.0.0.1"}
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *command: str) -> tuple[Path, subprocess.Popen[bytes]]:
        log = folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(SPARK_HOME / "bin/spark-class"), *command], stdout=output, stderr=output, env=environment
            )
        started.append(process)
        return log, process

    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    try:
        place = ["--host", "127.0.0.1", "--webui-port", "0"]
        master = start("master", MASTER, *place, "--port", str(port))
        await_line(*master, "I have been elected leader")
        size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work")]
        workers = [start(f"worker{i}", WORKER, *place, *size, url) for i in range(2)]
        for worker in workers:
            await_line(*worker, "Successfully registered with master")
        yield Cluster(url, folder / "work")
    finally:
        for process in reversed(started):
            end(process)


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """The zip that scripts/package makes."""
    folder = tmp_path_factory.mktemp("dist")
    made = run([sys.executable, ROOT / "scripts/package", "--no-environment", "--out", folder])
    assert made.returncode == 0, made.stdout + made.stderr
    return folder / "ppdp_spark.zip"


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory) -> Path:
    """A Python with what the package needs, but without the package: paths in a .pth are not followed."""
    folder = tmp_path_factory.mktemp("bare")
    assert run([sys.executable, "-m", "venv", "--without-pip", folder]).returncode == 0
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "needed.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    python = folder / "bin/python"
    assert "No module named 'ppdp_spark'" in run([python, "-c", "import ppdp_spark"], cwd=folder).stderr
    assert run([python, "-c", "import numba, pyarrow, pyspark"], cwd=folder).returncode == 0
    return python


@pytest.fixture(scope="module")
def submit(cluster, package, bare_python, tmp_path_factory):
    """Submits a job to the cluster, or to `master`; returns the finished process."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    small = {"spark.executor.memory": "1g", "spark.executor.cores": 1, "spark.driver.memory": "1g"}
    small |= {"spark.sql.shuffle.partitions": 4, "spark.ui.enabled": "false"}
    small |= {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    # Jobs of seconds: the second compiler would take more time than it saves.
    brief = "-XX:TieredStopAtLevel=1 -Xss8m"
    small |= {"spark.driver.extraJavaOptions": brief, "spark.executor.extraJavaOptions": brief}

    def submitted(job: Path, *arguments: object, master: str = cluster.url, more: tuple = ()):
        options = [part for key, value in small.items() for part in ("--conf", f"{key}={value}")]
        command = [SPARK_HOME / "bin/spark-submit", "--master", master, "--py-files", package]
        command += ["--properties-file", ROOT / "conf/spark/cluster.conf", *options, *more]
        environment = {"PYSPARK_PYTHON": str(bare_python), "PYSPARK_DRIVER_PYTHON": str(bare_python)}
        environment |= {"SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": "127.0.0.1"}
        return run([*command, job, *map(str, arguments)], environment=environment, cwd=elsewhere)

    return submitted


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    write_people(folder)
    return folder


@pytest.fixture(scope="module")
def release(submit, home) -> Path:
    """A release made on the cluster."""
    out = home / "on-cluster"
    done = submit(ANONYMIZE, home / "spec.yaml", *sets(output__path=out, privacy=PRIVACY), "--quiet")
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def test_the_release_is_the_local_one(release, submit, home, cluster):
    assert json.loads((release / "private/verdict.json").read_text())["publishable"] is True
    ran = sorted(path.parent.name for path in cluster.work.glob("app-*/*/stderr"))
    assert {"0", "1"} <= set(ran), "both workers ran executors"
    local = home / "local"
    options = sets(output__path=local, privacy=PRIVACY)
    done = submit(ANONYMIZE, home / "spec.yaml", *options, "--quiet", master="local[2]")
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-3000:]
    assert same_content(local, release)
    assert json.loads((local / "private/verdict.json").read_text())["publishable"] is True


def test_executors_cache_compiled_code_in_their_own_folder(release, cluster):
    assert list(cluster.work.glob("app-*/*/numba-cache/**/*.nbi"))


JOBS = """
import contextlib, io, json, runpy, sys
jobs, runs = sys.argv[1:]
found = {}
for name, job, *arguments in json.load(open(runs)):
    sys.argv, ended = [job, *arguments], {"code": None}
    said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said[0]), contextlib.redirect_stderr(said[1]):
        try:
            runpy.run_path(f"{jobs}/{job}.py", run_name="__main__")
        except SystemExit as end:
            ended["code"] = end.code
    found[name] = ended | {"stdout": said[0].getvalue(), "stderr": said[1].getvalue()}
json.dump(found, open(runs, "w"))
"""
"""Runs files of jobs/ in one application, and writes down how each of them ended."""


@pytest.fixture(scope="module")
def ended(submit, home, release, tmp_path_factory) -> dict[str, Any]:
    """How jobs ended that ran one after the other in one application on the cluster."""
    spec, folder = home / "spec.yaml", tmp_path_factory.mktemp("jobs")
    columns = {"group": "group_id", "quasi_identifiers": {"age": {}}, "sensitive": "job"}
    found = {"input": {"path": str(release / "release/data"), "format": "parquet"}, "columns": columns}
    cure, never = {"method": "r", "l": 4, "budget": 0.9}, home / "never"
    (release / "private/report.html").unlink()
    runs = [
        ["check", "check", spec, *sets(**found, output__path=home / "check"), "--json"],
        ["explore", "explore", spec, *sets(**found, output__path=home / "explore"), "--json"],
        ["suppress", "suppress", spec, *sets(suppression=cure, output__path=home / "kept"), "--quiet"],
        ["verify", "verify", release, "--quiet"],
        ["report", "report", release],
        ["eligibility", "eligibility", spec, *sets(output__path=never)],
        ["ineligible", "eligibility", spec, *sets(output__path=never, privacy__k_anonymity=5_000)],
        ["generate", "generate", home / "census.parquet", "--rows", "2000"],
    ]
    (folder / "jobs.py").write_text(JOBS)
    (folder / "runs.json").write_text(json.dumps(runs, default=str))
    done = submit(folder / "jobs.py", ROOT / "jobs", folder / "runs.json")
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "runs.json").read_text())


@pytest.mark.parametrize("command", ["check", "explore"])
def test_findings_on_a_release(command, ended, home):
    assert ended[command]["code"] == 0, ended[command]
    assert json.loads(ended[command]["stdout"])["verdict"]["status"] == "pass"
    assert (home / command / "private" / command / "report.html").exists()


def test_suppress(ended, home):
    assert ended["suppress"]["code"] == 0, ended["suppress"]
    assert 0 < pq.read_table(home / "kept/private/kept").num_rows <= 4_000


def test_verify_and_report(ended, release):
    assert ended["verify"]["code"] == 0, ended["verify"]
    assert ended["report"]["code"] == 0, ended["report"]
    assert "<html" in (release / "private/report.html").read_text()


def test_eligibility_and_failing_jobs_end_with_their_exit_codes(ended, submit, home):
    """A failing `anonymize` by spark-submit of its own, whose exit code is that of the command."""
    spec, out = home / "spec.yaml", home / "never"
    assert ended["eligibility"]["code"] == 0, ended["eligibility"]
    assert ended["ineligible"]["code"] == 4, ended["ineligible"]
    done = submit(ANONYMIZE, spec, *sets(output__path=out, privacy__k_anonymity=5_000))
    assert done.returncode == 4, done.stderr[-3000:]
    for stdout, stderr in (
        (done.stdout, done.stderr),
        (ended["ineligible"][s] for s in ("stdout", "stderr")),
    ):
        assert "Traceback" not in stderr and "CANARY" not in stdout + stderr
    assert not (out / "release").exists()
    assert json.loads((out / "private/verdict.json").read_text())["publishable"] is False


def test_generate(ended, home):
    assert ended["generate"]["code"] == 0, ended["generate"]
    assert pq.read_table(home / "census.parquet").num_rows == 2_000


@pytest.mark.slow
def test_executors_run_from_the_packed_environment(submit, home, release, bare_python, tmp_path):
    """Executors have nothing but the archive: neither the zip's path nor the driver's packages."""
    made = run([sys.executable, ROOT / "scripts/package", "--out", tmp_path])
    assert made.returncode == 0, made.stdout + made.stderr
    archive = ["--archives", f"{tmp_path / 'environment.tar.gz'}#environment"]
    archive += ["--conf", "spark.pyspark.python=./environment/bin/python"]
    # In client mode the archive is not unpacked for the driver.
    archive += ["--conf", f"spark.pyspark.driver.python={bare_python}"]
    out = home / "packed"
    options = sets(output__path=out, privacy=PRIVACY)
    done = submit(ANONYMIZE, home / "spec.yaml", *options, "--quiet", more=tuple(archive))
    assert done.returncode == 0, done.stderr[-3000:]
    assert same_content(out, release)
