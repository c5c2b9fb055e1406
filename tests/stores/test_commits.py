"""Commits on real stores: crashes at every step, rivals, readers that look all the time, failures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import pytest

from ppdp_spark.errors import BusyError, InfeasibleError, SpecError, StorageError
from ppdp_spark.run.claim import Claim, Pace
from ppdp_spark.run.commit.staging import Staging
from ppdp_spark.run.commit.steady_reading import steadily
from ppdp_spark.run.storage import MANIFEST, RELEASE, Folder
from support.places import ROOT
from support.stores.stored_texts import content, publish, published, spec_at, state

pytestmark = pytest.mark.stores

CRASH = """
import os, sys
sys.path.insert(0, sys.argv[1])
from support.stores import stored_texts as test
import hdfs_native, obstore
root, points = sys.argv[2], 0

def crashing(owner, name):
    real = getattr(owner, name)
    def step(*args, **more):
        global left
        if left == 0:
            os._exit(9)
        left -= 1
        return real(*args, **more)
    setattr(owner, name, step)

def run(point):
    global left
    test.published(f"{root}/{point}/out", "one")
    left = point
    for name in ("put", "copy", "delete"):
        crashing(obstore, name)
    for name in ("create", "rename", "delete", "mkdirs"):
        crashing(hdfs_native.Client, name)
    test.published(f"{root}/{point}/out", "two")

ended = False
while not ended:
    batch = {}
    for point in range(points, points + 24):
        child = os.fork()
        if child == 0:
            run(point)
            os._exit(0)
        batch[child] = point
    codes = {}
    for child, point in batch.items():
        codes[point] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert set(codes.values()) <= {0, 9}, codes
    ended = 0 in codes.values()
    points += sum(code == 9 for code in codes.values())
print(points)
"""


def test_a_crash_before_any_step_leaves_one_whole_release_or_is_mended(root, kind):
    """The parent never speaks to a store: its children fork without threads of a library."""
    command = [sys.executable, "-c", CRASH, str(ROOT / "tests"), root]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    points = int(done.stdout)
    assert points > 20
    with ThreadPoolExecutor(8) as threads:
        seen = set(threads.map(lambda point: mended(f"{root}/{point}/out", kind), range(points)))
    assert {("one", "one", "one"), ("two", None, "two"), ("two", "two", "two")} <= seen


def mended(place: str, kind: str) -> tuple[str | None, str | None, str | None]:
    """What a crash left of release and verdict, and the release after the next run has looked."""
    out = Folder.at(place)
    found, judged = state(out)
    assert found is None or judged in (None, found), "a verdict beside the release of another run"
    assert found is not None or kind == "hdfs", "where one put decides there is always a release"
    with pytest.raises(SpecError, match="already holds"), Staging.open(spec_at(place)):
        pass
    assert out.children() == ["private", "release"], "what the crashed run left is cleared"
    after, told = state(out)
    assert (after, told) in {("one", "one"), ("two", "two")}
    if after == "two":
        assert len([name for name, _ in (out / RELEASE).files()]) == 2, "what was replaced is gone"
    records = [name for name in (out.parent / ".releases").children() if name.endswith(".json")]
    assert len(records) == (2 if after == "two" else 1)
    return found, judged, after


def test_a_failed_run_leaves_the_release_and_no_other(root):
    published(f"{root}/out", "one")
    out = Folder.at(f"{root}/out")
    before = [name for name, _ in (out / RELEASE).files()]
    with pytest.raises(InfeasibleError), Staging.open(spec_at(f"{root}/out", overwrite=True)) as staging:
        publish(staging, "two", "fail")
    assert content(out / RELEASE) == "one" and [name for name, _ in (out / RELEASE).files()] == before
    assert out.children() == ["private", "release"]
    judged = (out / "private").read_json("verdict.json")
    assert judged["status"] == "fail" and judged["manifest"] is None


def test_what_was_replaced_is_gone(root):
    for text in ("one", "two", "three"):
        published(f"{root}/out", text)
        assert state(Folder.at(f"{root}/out")) == (text, text)
    names = [name for name, _ in (Folder.at(f"{root}/out") / RELEASE).files()]
    assert len(names) == 2 and MANIFEST in names


def test_a_second_run_at_once_touches_nothing(root):
    published(f"{root}/out", "one")
    out = Folder.at(f"{root}/out")
    with Staging.open(spec_at(f"{root}/out", overwrite=True)) as staging:
        before = [name for name, _ in out.files()]
        with pytest.raises(BusyError, match=staging.run_id):
            published(f"{root}/out", "two")
        assert [name for name, _ in out.files()] == before
        publish(staging, "three")
    assert state(out) == ("three", "three")


def test_of_two_that_start_at_once_one_wins(root):
    told: list[str] = []
    folder, together = Folder.at(f"{root}/out"), Event()

    def start(run_id: str) -> None:
        together.wait()
        try:
            with Claim.held(folder, run_id, Pace(patience=1.0)):
                told.append("held")
                time.sleep(1.5)
        except BusyError:
            told.append("busy")

    runs = [Thread(target=start, args=(name,)) for name in ("1", "2")]
    for run in runs:
        run.start()
    together.set()
    for run in runs:
        run.join()
    assert sorted(told) == ["busy", "held"] and folder.children() == []


def test_a_heartbeat_that_does_not_bring_a_claim_back(root):
    folder = Folder.at(f"{root}/out")
    with Claim.held(folder, "1", Pace(beat=0.1)) as claim:
        until = time.monotonic() + 10
        while not claim.beat.exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert claim.beat.exists()
        claim.file.delete()
        time.sleep(0.5)
        assert not claim.file.exists()
        with pytest.raises(BusyError, match="taken over"):
            claim.require()


def taken_for_dead(staging: Staging) -> None:
    """The claim of a run that was taken for dead by one on another machine, and removed."""
    staging.claim.file.delete()


def test_a_run_that_was_taken_over_publishes_nothing(root):
    with pytest.raises(BusyError, match="taken over"), Staging.open(spec_at(f"{root}/out")) as paused:
        taken_for_dead(paused)
        published(f"{root}/out", "two")
        paused.release.create()
        publish(paused, "one")
    assert state(Folder.at(f"{root}/out")) == ("two", "two")


def test_a_run_that_stopped_in_the_middle_of_its_commit_cannot_undo_what_followed(root, monkeypatch):
    """It looked at its claim, was taken over, and goes on when the other has published."""
    published(f"{root}/out", "old")
    real = Claim.require

    def stopped(self: Claim) -> None:
        real(self)
        if self.run_id == paused.run_id:
            monkeypatch.setattr(Claim, "require", real)
            taken_for_dead(paused)
            published(f"{root}/out", "two")

    spec = spec_at(f"{root}/out", overwrite=True)
    with pytest.raises(BusyError, match="taken over"), Staging.open(spec) as paused:
        monkeypatch.setattr(Claim, "require", stopped)
        publish(paused, "one")
    found, judged = state(Folder.at(f"{root}/out"))
    assert (found, judged) == ("two", "two")


def test_a_reader_sees_the_old_or_the_new_release_and_never_a_mixture(root):
    published(f"{root}/out", "0")
    out, ended = Folder.at(f"{root}/out"), Event()
    seen: list[int] = []
    wrong: list[BaseException] = []

    def look() -> None:
        try:
            while not ended.is_set():
                seen.append(int(steadily(out, content)))
        except BaseException as error:
            wrong.append(error)

    readers = [Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(1, 13):
        published(f"{root}/out", str(number))
    ended.set()
    for reader in readers:
        reader.join()
    assert not wrong and len(set(seen)) > 3


def test_a_store_that_throttles_and_fails_is_asked_again(faults):
    before, faults.every = faults.told, 4
    try:
        for text in ("one", "two"):
            published("s3://bucket/throttled/out", text)
    finally:
        faults.every = 0
    assert faults.told > before + 5
    assert state(Folder.at("s3://bucket/throttled/out")) == ("two", "two")


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("s3://nobody-has-this/out", "make the bucket"),
        ("hdfs://127.0.0.1:1/out", "the NameNode does not answer"),
        ("ftp://somewhere/out", "is no kind of store"),
    ],
)
def test_what_a_store_refuses_is_told_with_its_name_and_the_fix(faults, place, told):
    with pytest.raises(StorageError, match=told) as caught, Staging.open(spec_at(place)):
        pass
    assert place.split(":")[0] in str(caught.value)


def test_without_credentials_the_error_says_where_they_are_looked_for(faults):
    script = """
import sys
sys.path.insert(0, sys.argv[1])
from support.stores.stored_texts import published
try:
    published("s3://bucket/out", "one")
except Exception as error:
    print(type(error).__name__, error)
"""
    secret = {name: value for name, value in os.environ.items() if name != "AWS_ACCESS_KEY_ID"}
    command = [sys.executable, "-c", script, str(ROOT / "tests")]
    done = subprocess.run(command, capture_output=True, text=True, env=secret, timeout=120)
    assert "StorageError" in done.stdout and "AWS_ACCESS_KEY_ID" in done.stdout, done.stdout + done.stderr
    assert "hush" not in done.stdout + done.stderr


def test_a_library_that_is_missing_is_told_in_one_line(monkeypatch):
    monkeypatch.setattr("ppdp_spark.stores.object_store.find_spec", lambda name: None)
    monkeypatch.setattr("ppdp_spark.stores.hdfs.find_spec", lambda name: None)
    for place, extra in (
        ("s3://b/o", "s3"),
        ("gs://b/o", "gcs"),
        ("abfss://c@a/o", "azure"),
        ("hdfs://n/o", "hdfs"),
    ):
        with pytest.raises(StorageError) as caught:
            Folder.at(place)
        assert f"pip install 'ppdp-spark[{extra}]'" in str(caught.value) and "\n" not in str(caught.value)


def test_a_manifest_cannot_name_tables_elsewhere(root):
    published(f"{root}/out", "one")
    release = Folder.at(f"{root}/out") / RELEASE
    manifest = release.read_json(MANIFEST)
    release.write_text(MANIFEST, json.dumps({**manifest, "data": "../private"}))
    with pytest.raises(Exception, match="not the name of a folder of tables"):
        content(release)
