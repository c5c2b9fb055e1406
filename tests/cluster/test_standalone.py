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

import pyarrow.parquet as pq
import pytest
from pyspark.find_spark_home import _find_spark_home

from support.places import ROOT
from support.released.releases import run, same_content, sets, write_people

pytestmark = pytest.mark.cluster

SPARK_HOME = Path(_find_spark_home())
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
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def await_line(log: Path, process: subprocess.Popen[bytes], text: str) -> None:
    for _ in range(600):
        if log.exists() and text in log.read_text(errors="replace"):
            return
        assert process.poll() is None, log.read_text(errors="replace")[-2000:]
        time.sleep(0.1)
    raise AssertionError(f"no {text!r} within a minute: {log.read_text(errors='replace')[-2000:]}")


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
    # Jobs of seconds: the second compiler would take more time than it saves.
    brief = "-XX:TieredStopAtLevel=1 -Xss8m"
    small |= {"spark.driver.extraJavaOptions": brief, "spark.executor.extraJavaOptions": brief}

    def submitted(job: str, *arguments: object, master: str = cluster.url, more: tuple = ()):
        options = [part for key, value in small.items() for part in ("--conf", f"{key}={value}")]
        command = [SPARK_HOME / "bin/spark-submit", "--master", master, "--py-files", package]
        command += ["--properties-file", ROOT / "conf/spark/cluster.conf", *options, *more]
        environment = {"PYSPARK_PYTHON": str(bare_python), "PYSPARK_DRIVER_PYTHON": str(bare_python)}
        environment |= {"SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": "127.0.0.1"}
        job_file = ROOT / f"jobs/{job}.py"
        return run([*command, job_file, *map(str, arguments)], environment=environment, cwd=elsewhere)

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
    done = submit("anonymize", home / "spec.yaml", *sets(output__path=out, privacy=PRIVACY), "--quiet")
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def test_the_release_is_the_local_one(release, submit, home, cluster):
    assert json.loads((release / "private/verdict.json").read_text())["publishable"] is True
    ran = sorted(path.parent.name for path in cluster.work.glob("app-*/*/stderr"))
    assert {"0", "1"} <= set(ran), "both workers ran executors"
    local = home / "local"
    options = sets(output__path=local, privacy=PRIVACY)
    done = submit("anonymize", home / "spec.yaml", *options, "--quiet", master="local[2]")
    assert done.returncode == 0, done.stderr[-3000:]
    assert same_content(local, release)


def test_executors_cache_compiled_code_in_their_own_folder(release, cluster):
    assert list(cluster.work.glob("app-*/*/numba-cache/**/*.nbi"))


@pytest.mark.parametrize("command", ["check", "explore"])
def test_findings_on_a_release(command, release, submit, home):
    columns = {"group": "group_id", "quasi_identifiers": {"age": {}}, "sensitive": "job"}
    table = {"path": str(release / "release/data"), "format": "parquet"}
    changes = sets(input=table, columns=columns, output__path=home / command)
    done = submit(command, home / "spec.yaml", *changes, "--json")
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["verdict"]["status"] == "pass"
    assert (home / command / "private" / command / "report.html").exists()


def test_suppress(submit, home):
    changes = sets(suppression={"method": "r", "l": 4, "budget": 0.9}, output__path=home / "kept")
    done = submit("suppress", home / "spec.yaml", *changes, "--quiet")
    assert done.returncode == 0, done.stderr[-3000:]
    assert 0 < pq.read_table(home / "kept/private/kept").num_rows <= 4_000


def test_verify_and_report(release, submit):
    assert submit("verify", release, "--quiet").returncode == 0
    (release / "private/report.html").unlink()
    done = submit("report", release)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "<html" in (release / "private/report.html").read_text()


def test_eligibility_and_failing_jobs_end_with_their_exit_codes(submit, home):
    spec, out = home / "spec.yaml", home / "never"
    assert submit("eligibility", spec, *sets(output__path=out)).returncode == 0
    impossible = sets(output__path=out, privacy__k_anonymity=5_000)
    for job in ("eligibility", "anonymize"):
        done = submit(job, spec, *impossible)
        assert done.returncode == 4, done.stderr[-3000:]
        assert "Traceback" not in done.stderr and "CANARY" not in done.stdout + done.stderr
    assert not (out / "release").exists()


def test_generate(submit, home):
    done = submit("generate", home / "census.parquet", "--rows", "2000")
    assert done.returncode == 0, done.stderr[-3000:]
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
    done = submit("anonymize", home / "spec.yaml", *options, "--quiet", more=tuple(archive))
    assert done.returncode == 0, done.stderr[-3000:]
    assert same_content(out, release)
