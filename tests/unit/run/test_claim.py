"""One run at a time on an output: who wins, who withdraws, whose claim is dead."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Timer

import pytest

from ppdp_spark.errors import BusyError, StorageError
from ppdp_spark.run import claim as claims
from ppdp_spark.run.claim import CLAIM, Claim, Pace
from ppdp_spark.run.storage import Folder


def write_claim(folder: Path, run_id: str, *, age: float = 0.0, **content: object) -> Path:
    """A claim as another run left it."""
    path = folder / f"{CLAIM}{run_id}"
    plain = {"run_id": run_id, "host": "elsewhere", "pid": 1, "since": "2026-01-01", "place": "elsewhere"}
    path.write_text(json.dumps({**plain, **content}))
    os.utime(path, (time.time() - age,) * 2)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def eventually(holds) -> None:
    """Wait until a condition holds; a minute on a machine that is busy with other things."""
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_claim_lives_as_long_as_its_run(tmp_path):
    with Claim.held(Folder.at(tmp_path / "out"), "1") as claim:
        claim.require()
        assert names(tmp_path / "out") == [".claim-1"]
        content = json.loads((tmp_path / "out/.claim-1").read_text())
        assert content["pid"] == os.getpid() and content["process"]
    assert names(tmp_path / "out") == []


@pytest.mark.parametrize("later", ["2", "0"])
def test_the_second_run_is_told_who_has_the_output_and_touches_nothing(tmp_path, later):
    folder = Folder.at(tmp_path)
    with Claim.held(folder, "1") as claim:
        with (
            pytest.raises(BusyError, match=rf"run 1, process {os.getpid()} on .*, since 20"),
            Claim.held(folder, later, Pace(patience=0.3)),
        ):
            pass
        assert names(tmp_path) == [".claim-1"]
        claim.require()


def test_of_runs_that_start_at_once_exactly_one_wins(tmp_path):
    folder, runs = Folder.at(tmp_path), 8
    together, ended = Barrier(runs), Barrier(runs)

    def start(number: int) -> bool:
        together.wait()
        try:
            with Claim.held(folder, f"{number}"):
                ended.wait()
                return True
        except BusyError:
            ended.wait()
            return False

    for _ in range(10):
        with ThreadPoolExecutor(runs) as threads:
            assert sum(threads.map(start, range(runs))) == 1
        assert names(tmp_path) == []


def test_the_first_of_two_that_start_at_once_waits_until_the_other_withdraws(tmp_path):
    other = write_claim(tmp_path, "2", held=False)
    Timer(0.3, other.unlink).start()
    with Claim.held(Folder.at(tmp_path), "1"):
        assert names(tmp_path) == [".claim-1"]


@pytest.mark.parametrize(
    ("content", "age", "alive"),
    [
        ({}, 10.0, True),
        ({}, 1_000.0, False),
        ({"place": claims.process_space(), "pid": os.getpid(), "process": "0"}, 0.0, False),
        ({"place": claims.process_space(), "pid": 2**22 + 1, "process": "1"}, 0.0, False),
        (
            {
                "place": claims.process_space(),
                "pid": os.getpid(),
                "process": claims.process_mark(os.getpid()),
            },
            1_000.0,
            True,
        ),
    ],
    ids=["beats elsewhere", "silent elsewhere", "number used again", "process gone", "lives here, silent"],
)
def test_which_claims_are_dead(tmp_path, content, age, alive):
    other = write_claim(tmp_path, "0", age=age, **content)
    if alive:
        with pytest.raises(BusyError), Claim.held(Folder.at(tmp_path), "1"):
            pass
        assert names(tmp_path) == [other.name]
    else:
        with Claim.held(Folder.at(tmp_path), "1"):
            assert names(tmp_path) == [".claim-1"]


def test_a_half_written_claim_counts_while_it_is_young(tmp_path):
    other = write_claim(tmp_path, "0")
    other.write_text('{"run_id": "0"')
    with pytest.raises(BusyError, match="process unknown"), Claim.held(Folder.at(tmp_path), "1"):
        pass
    os.utime(other, (time.time() - 1_000,) * 2)
    with Claim.held(Folder.at(tmp_path), "1"):
        assert names(tmp_path) == [".claim-1"]


HOLD = """
import sys
from ppdp_spark.run.claim import Claim
from ppdp_spark.run.storage import Folder
with Claim.held(Folder.at(sys.argv[1]), "0"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_killed_process_loses_its_claim_and_a_stopped_one_keeps_it(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        process.send_signal(signal.SIGSTOP)
        os.utime(tmp_path / ".claim-0", (0, 0))
        with pytest.raises(BusyError, match=f"process {process.pid}"), Claim.held(Folder.at(tmp_path), "1"):
            pass
        process.kill()
        process.wait()
        assert names(tmp_path) == [".claim-0"]
        with Claim.held(Folder.at(tmp_path), "1"):
            assert names(tmp_path) == [".claim-1"]


def test_two_that_take_over_a_dead_claim(tmp_path):
    """Both remove it, and it is the same race as without it."""
    folder = Folder.at(tmp_path)
    for _ in range(10):
        write_claim(tmp_path, "0", age=1_000.0)
        together, ended = Barrier(2), Barrier(2)

        def start(run_id: str, together: Barrier = together, ended: Barrier = ended) -> bool:
            together.wait()
            try:
                with Claim.held(folder, run_id):
                    ended.wait()
                    return True
            except BusyError:
                ended.wait()
                return False

        with ThreadPoolExecutor(2) as threads:
            assert sum(threads.map(start, ["1", "2"])) == 1
        assert names(tmp_path) == []


def test_a_heartbeat_renews_the_claim_but_never_brings_it_back(tmp_path):
    with Claim.held(Folder.at(tmp_path), "1", Pace(beat=0.02)) as claim:
        file = tmp_path / ".claim-1"
        os.utime(file, (0, 0))
        eventually(lambda: file.stat().st_mtime > 0)
        file.unlink()
        time.sleep(0.2)
        assert names(tmp_path) == []
        with pytest.raises(BusyError, match="taken over"):
            claim.require()


def test_an_output_that_is_a_file_or_below_one(tmp_path):
    (tmp_path / "file").write_text("")
    for place, reason in (("file", "File exists"), ("file/out", "Not a directory")):
        with pytest.raises(StorageError, match=reason), Claim.held(Folder.at(tmp_path / place), "1"):
            pass
