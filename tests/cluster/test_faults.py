"""Real faults on real processes: what is published is what an undisturbed run publishes, or nothing is.

One driver process with two executors of its own takes the faults in turn, the last one being its own end.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ppdp_spark.commands import anonymize, verify
from ppdp_spark.errors import BusyError, StorageError
from ppdp_spark.run.results import watched_by
from ppdp_spark.spark.partition import fragments
from ppdp_spark.spark.release import numbering
from ppdp_spark.spec import ReleaseSpec
from support.places import ROOT
from support.released.releases import run, same_content, sets

pytestmark = pytest.mark.cluster

ROWS = 120_000
SIZES = {"fragments.FRAGMENT_ROWS": 15_000, "fragments.SAMPLE_ROWS": 20_000, "numbering.FILE_ROWS": 15_000}
"""Small enough for a table of seconds to go through many tasks and files."""

ATTEMPTS = 6

DRIVER = f"""
import logging, sys, threading, time
from ppdp_spark.spark.partition import fragments
from ppdp_spark.spark.release import numbering
{"; ".join(f"{name} = {value}" for name, value in SIZES.items())}
from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.spark.session import local_session
settings = {{"spark.executor.memory": "1g", "spark.sql.shuffle.partitions": 8, "spark.log.level": "WARN"}}
spark = local_session("local-cluster[2,1,1024]", driver_memory="1g", **settings)
logging.basicConfig(level=logging.INFO, format="STAGE %(message)s")

def watch(jobs=spark.sparkContext.statusTracker()):
    while True:
        found = [jobs.getStageInfo(stage) for stage in jobs.getActiveStageIds()]
        if any(stage is not None and stage.numActiveTasks >= 2 for stage in found):
            print("BUSY", file=sys.stderr, flush=True)
        time.sleep(0.01)

threading.Thread(target=watch, daemon=True).start()
for line in sys.stdin:
    spec = ReleaseSpec.load(sys.argv[1], [f"output.path={{line.strip()}}", "output.overwrite=true"])
    anonymize(spec, spark=spark)
    logging.info("done")
"""


class Driver:
    """A driver process that makes the same release wherever it is told to.

    It says when a stage ends, and whenever both of its executors are busy.
    """

    def __init__(self, spec: Path) -> None:
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(spec)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            env=environment,
            start_new_session=True,
        )
        self.lines: list[str] = []
        self.changed = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()

    def start(self, output: Path) -> None:
        assert self.process.stdin is not None
        self.lines.clear()
        self.process.stdin.write(f"{output}\n")
        self.process.stdin.flush()

    def has(self, text: str, *, after: str = "") -> bool:
        begun = next((i for i, line in enumerate(self.lines) if after in line), len(self.lines))
        return any(text in line for line in self.lines[begun:])

    def expect(self, text: str, *, after: str = "", seconds: float = 600) -> None:
        """Wait for a line with this text, after one with the other."""
        until = time.monotonic() + seconds
        with self.changed:
            while not self.has(text, after=after):
                said = "".join(line for line in self.lines if line != "BUSY\n")
                assert self.process.poll() is None and time.monotonic() < until, said[-4000:]
                self.changed.wait(0.2)

    def executors(self) -> list[int]:
        """Process numbers of the executors, youngest last."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                command = (place / "cmdline").read_bytes()
                group = int((place / "stat").read_text().rpartition(")")[2].split()[2])
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in command and group == self.process.pid:
                found.append(int(place.name))
        return sorted(found)

    def await_executors(self) -> None:
        until = time.monotonic() + 600
        while len(self.executors()) != 2:
            assert time.monotonic() < until
            time.sleep(0.1)

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture(scope="module")
def spec(tmp_path_factory) -> Path:
    """A skewed table and a spec that suppresses with a fixed seed, for the sake of comparison."""
    folder, rng = tmp_path_factory.mktemp("faults"), np.random.default_rng(0)
    shares = np.array([0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    table = pd.DataFrame(
        {
            "id": np.arange(ROWS),
            "age": rng.integers(0, 90, ROWS),
            "city": rng.choice(list("abcdefghij"), ROWS),
            "income": np.where(rng.random(ROWS) < 0.03, np.nan, rng.lognormal(10, 1, ROWS)),
            "job": rng.choice([f"job{i}" for i in range(6)], ROWS, p=shares),
        }
    )
    (folder / "people").mkdir()
    for part in range(8):
        table[part::8].to_parquet(folder / f"people/{part}.parquet")
    (folder / "spec.yaml").write_text(
        "version: 1\ndataset: people\ninput: {path: people, format: parquet}\n"
        "columns:\n  identifiers: [id]\n  quasi_identifiers: {age: {}, city: {}, income: {}}\n"
        "  sensitive: job\nprivacy: {k_anonymity: 5, l_diversity: {kind: distinct, l: 3}}\n"
        "suppression: {method: r, l: 3, budget: 0.5, unsafe_fixed_seed: 1}\n"
    )
    return folder / "spec.yaml"


@pytest.fixture(scope="module")
def driver(spec) -> Iterator[Driver]:
    started = Driver(spec)
    yield started
    started.kill()


@pytest.fixture(scope="module")
def undisturbed(driver, spec) -> Path:
    out = spec.parent / "undisturbed"
    driver.start(out)
    driver.expect("STAGE done")
    return out


@pytest.mark.parametrize(
    ("after", "stage", "busy"),
    [("read", "suppress", False), ("fragment", "partition", True), ("measure", "publish", True)],
)
def test_an_executor_killed_in_the_middle_of_a_stage_changes_nothing(
    driver, undisturbed, spec, after, stage, busy
):
    """With its tasks the results of earlier ones are lost; `busy` stages have a task on each executor.

    Tasks take a fraction of a second, so a blow may fall between two: then it is struck again.
    """
    out = spec.parent / f"killed-in-{stage}"
    for _ in range(ATTEMPTS):
        driver.await_executors()
        victim = driver.executors()[0]
        driver.start(out)
        driver.expect("BUSY" if busy else "", after=f"STAGE {after}:")
        os.kill(victim, signal.SIGKILL)
        in_time = not driver.has(f"STAGE {stage}:")
        driver.expect("STAGE done")
        assert same_content(undisturbed, out)
        if in_time and driver.has("Lost executor") and (driver.has("ExecutorLostFailure") or not busy):
            return
    pytest.fail(f"in {ATTEMPTS} runs no executor died in the middle of the stage")


def test_a_second_run_on_the_output_says_so_at_once_and_the_first_goes_on(driver, undisturbed, spec, spark):
    out = spec.parent / "contested"
    driver.start(out)
    driver.expect("BUSY", after="STAGE read:")
    before = sorted(path.name for path in out.iterdir())
    with pytest.raises(BusyError, match=f"process {driver.process.pid} on"):
        anonymize(loaded(spec, out), spark=spark)
    assert not driver.has("STAGE done"), "the first run still goes on"
    assert sorted(path.name for path in out.iterdir()) == before and len(before) == 2
    driver.expect("STAGE done")
    assert same_content(undisturbed, out)


def test_a_driver_killed_while_publishing_leaves_the_old_release(
    driver, undisturbed, spec, spark, monkeypatch
):
    """The driver, its executors and all their workers end at once, by the signal nobody can catch."""
    out = spec.parent / "replaced"
    shutil.copytree(undisturbed, out)
    before = content(out)
    driver.start(out)
    driver.expect("BUSY", after="STAGE measure:")
    driver.kill()
    assert not driver.has("STAGE publish:")
    left = {path.name.split("-")[0] for path in out.iterdir() if path.name.startswith(".")}
    assert left == {".claim", ".staging"} and list(out.glob(".staging-*/scratch/*"))
    kept = {name: data for name, data in content(out).items() if not name.startswith(".")}
    assert kept == before and verify(out, spark=spark).ok
    for name, value in SIZES.items():
        module, constant = name.split(".")
        monkeypatch.setattr({"fragments": fragments, "numbering": numbering}[module], constant, value)
    anonymize(loaded(spec, out), spark=spark)
    assert sorted(path.name for path in out.iterdir()) == ["private", "release"]
    assert same_content(undisturbed, out)


def loaded(spec: Path, out: Path) -> ReleaseSpec:
    return ReleaseSpec.load(spec, [f"output.path={out}", "output.overwrite=true"])


def content(folder: Path) -> dict[str, bytes]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """A file system of its own in memory, of that size."""
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


@pytest.fixture
def disk(tmp_path, spec, spark) -> Iterator[Path]:
    """A disk with a release of a few people and little room beside it."""
    with small_disk(tmp_path / "disk", "1500k") as place:
        table = pd.read_parquet(spec.parent / "people/0.parquet").head(500)
        anonymize(loaded(spec, place / "out"), table=spark.createDataFrame(table))
        yield place


def test_a_full_disk_leaves_the_old_release(disk, spec, spark):
    before = content(disk / "out")
    subprocess.run(["dd", "if=/dev/zero", f"of={disk / 'filler'}", "bs=1k", "count=1250"], check=True)
    with pytest.raises(StorageError, match="No space left on device") as caught:
        anonymize(loaded(spec, disk / "out"), spark=spark)
    assert caught.value.exit_code == 1
    assert content(disk / "out") == before and verify(disk / "out", spark=spark).ok
    assert sorted(path.name for path in (disk / "out").iterdir()) == ["private", "release"]


def test_a_disk_that_fills_up_at_the_very_end_leaves_the_old_release(disk, spec, spark):
    """Room for the tables, but not for manifest, summary and report."""
    before = content(disk / "out")

    class Filling:
        def begin(self, stage: str) -> None: ...

        def end(self, stage: str, told: str) -> None:
            if stage == "verify":
                subprocess.run(["dd", "if=/dev/zero", f"of={disk / 'filler'}"], capture_output=True)

    table = pd.read_parquet(spec.parent / "people/1.parquet").head(500)
    with watched_by(Filling()), pytest.raises(StorageError, match="No space left on device"):
        anonymize(loaded(spec, disk / "out"), table=spark.createDataFrame(table))
    assert content(disk / "out") == before
    assert sorted(path.name for path in (disk / "out").iterdir()) == ["private", "release"]


def test_an_output_that_cannot_be_written_is_told_plainly(disk, spec, spark):
    before = content(disk / "out")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for out in (disk / "out", disk / "new"):
        with pytest.raises(StorageError, match=r"output\.path.*cannot be written: Read-only file system"):
            anonymize(loaded(spec, out), spark=spark)
    assert content(disk / "out") == before


def test_an_output_that_is_a_file(tmp_path, spec):
    (tmp_path / "file").write_text("")
    command = [Path(sys.executable).parent / "ppdp", "anonymize", spec, "--quiet"]
    done = run([*command, *sets(output__path=tmp_path / "file/out")])
    assert done.returncode == 1 and "cannot be written: Not a directory" in done.stderr
    assert "Traceback" not in done.stderr and (tmp_path / "file").read_text() == ""
