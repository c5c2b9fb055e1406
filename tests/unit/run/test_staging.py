"""A commit is whole or not at all: crashes at any step of it are mended by the next run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ppdp_spark.errors import BusyError, InfeasibleError, SpecError
from ppdp_spark.run.commit.staging import Staging, write_findings
from ppdp_spark.run.results import Stages
from ppdp_spark.run.storage import Folder
from ppdp_spark.run.summary import run_facts
from support.places import ROOT
from support.released.text_releases import publish, published, spec_for, state, verdict


def release(folder: Path, name: str, *, finished: bool = True) -> None:
    (folder / name / "data").mkdir(parents=True)
    (folder / name / "data/part-00000.parquet").write_text(name)
    if finished:
        (folder / name / "release.json").write_text("{}")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def registered(output: Path) -> list[str]:
    records = [json.loads(path.read_text()) for path in (output.parent / ".releases").glob("*.json")]
    return sorted(record["manifest"] for record in records)


def test_a_release_and_its_verdict_are_of_one_run(tmp_path):
    out = tmp_path / "out"
    first = published(out, "one")
    assert state(out) == ("one", "one") and names(out) == ["private", "release"]
    assert (out / "private").stat().st_mode & 0o077 == 0
    second = published(out, "two")
    assert state(out) == ("two", "two") and names(out) == ["private", "release"]
    assert names(out / "private") == ["kept", "report.html", "summary.json", "verdict.json"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in (out / "private").glob("*.*"))
    assert first.paths == second.paths and all(Path(path).exists() for path in second.paths.values())


def test_a_failed_verdict_replaces_nothing_and_is_not_taken_for_the_earlier_one(tmp_path):
    out = tmp_path / "out"
    published(out, "one")
    with (
        pytest.raises(InfeasibleError, match="k_anonymity"),
        Staging.open(spec_for(out, overwrite=True)) as staging,
    ):
        publish(staging, "two", judged=verdict("fail"))
    judged = json.loads((out / "private/verdict.json").read_text())
    assert (judged["status"], judged["manifest"], judged["run_id"]) == ("fail", None, staging.run_id)
    assert json.loads((out / "release/release.json").read_text()) == {"content": "one"}


CRASH = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.released import text_releases as test
from ppdp_spark.run.storage import Folder
root, points = Path(sys.argv[2]), 0

def crashing_after(steps):
    for name in ("move", "delete", "write_text"):
        real = getattr(Folder, name)
        def step(*args, real=real, **more):
            global left
            if left == 0:
                os._exit(9)
            left -= 1
            return real(*args, **more)
        setattr(Folder, name, step)

while True:
    out = root / str(points) / "out"
    test.published(out, "one")
    if os.fork() == 0:
        left = points
        crashing_after(points)
        test.published(out, "two")
        os._exit(0)
    _, status = os.wait()
    if status == 0:
        break
    points += 1
print(points)
"""


def test_a_crash_at_any_step_leaves_one_whole_release_or_is_mended(tmp_path):
    """A process of its own dies before each write, rename and removal in turn."""
    command = [sys.executable, "-c", CRASH, str(ROOT / "tests"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    points, seen, mended = int(done.stdout), set(), []
    assert points > 20
    for point in range(points):
        out = tmp_path / f"{point}/out"
        found, judged = state(out)
        assert found is None or judged in (None, found), "a verdict beside the release of another run"
        with pytest.raises(SpecError, match="already holds"), Staging.open(spec_for(out)):
            pass
        assert names(out) == ["private", "release"], "what the crashed run left is cleared"
        after = state(out)
        assert after in {("one", "one"), ("two", "two")}
        assert len(registered(out)) == (2 if after[0] == "two" else 1)
        seen.add((found, judged, after[0]))
        mended.append(found != judged)
    assert {("one", "one", "one"), ("two", "two", "two"), ("two", None, "two")} <= seen and any(mended)


def test_a_release_set_aside_comes_back(tmp_path):
    release(tmp_path, ".replaced-1")
    (tmp_path / ".staging-1").mkdir()
    with Staging.open(spec_for(tmp_path, overwrite=True)) as staging:
        assert (tmp_path / "release/data/part-00000.parquet").read_text() == ".replaced-1"
        assert not (tmp_path / ".staging-1").exists() and staging.folder.exists()
    assert names(tmp_path) == ["release"]


def test_a_half_moved_release_gives_way_to_the_old_one(tmp_path):
    release(tmp_path, ".replaced-1")
    release(tmp_path, "release", finished=False)
    with pytest.raises(SpecError, match="already holds"), Staging.open(spec_for(tmp_path)):
        pass
    assert (tmp_path / "release/data/part-00000.parquet").read_text() == ".replaced-1"


def test_what_a_finished_commit_left_is_cleared(tmp_path):
    release(tmp_path, ".replaced-1")
    release(tmp_path, "release")
    with pytest.raises(SpecError), Staging.open(spec_for(tmp_path)):
        pass
    assert (tmp_path / "release/data/part-00000.parquet").read_text() == "release"
    assert names(tmp_path) == ["release"]


def test_the_run_folder_is_private_and_goes_also_on_failure(tmp_path):
    with pytest.raises(RuntimeError), Staging.open(spec_for(tmp_path)) as staging:
        assert Path(staging.folder.path).stat().st_mode & 0o077 == 0
        raise RuntimeError
    assert names(tmp_path) == []


def test_a_second_run_on_the_same_output_touches_nothing_of_the_first(tmp_path):
    out = tmp_path / "out"
    published(out, "one")
    with Staging.open(spec_for(out, overwrite=True)) as staging:
        before = sorted(out.rglob("*"))
        with pytest.raises(BusyError, match=staging.run_id):
            published(out, "two")
        assert sorted(out.rglob("*")) == before
        publish(staging, "three")
    assert state(out) == ("three", "three")


def taken_for_dead(staging: Staging) -> None:
    """The claim of a run that has given no sign of life for long, seen from another machine."""
    file = Path(staging.claim.file.path)
    file.write_text(json.dumps({"place": "elsewhere"}))
    os.utime(file, (time.time() - 1_000,) * 2)


def test_a_run_that_was_taken_over_publishes_nothing(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(BusyError, match="taken over"), Staging.open(spec_for(out)) as paused:
        taken_for_dead(paused)
        published(out, "two")
        for folder in (paused.release, paused.scratch):
            folder.create()
        publish(paused, "one")
    assert state(out) == ("two", "two") and names(out) == ["private", "release"]
    assert len(registered(out)) == 1


def test_a_verdict_of_a_run_that_was_taken_over_is_not_written(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(BusyError), Staging.open(spec_for(out)) as paused:
        taken_for_dead(paused)
        published(out, "two")
        paused.fail(verdict("fail"), run_facts("anonymize", "d", Stages(), paused.run_id))
    assert state(out) == ("two", "two")


def test_a_run_taken_over_in_the_middle_of_its_commit_puts_back_what_it_moved(tmp_path, monkeypatch):
    """Stopped after it looked at its claim, it goes on when another run has published and ended."""
    out = tmp_path / "out"
    published(out, "old")
    real = Folder.move

    def stopped(self: Folder, target: Folder) -> None:
        if target.path.endswith(f".replaced-{paused.run_id}"):
            monkeypatch.setattr(Folder, "move", real)
            taken_for_dead(paused)
            published(out, "two")
        real(self, target)

    with pytest.raises(BusyError, match="taken over"), Staging.open(spec_for(out, overwrite=True)) as paused:
        monkeypatch.setattr(Folder, "move", stopped)
        publish(paused, "one")
    assert state(out) == ("two", "two") and names(out) == ["private", "release"]


def test_findings_of_two_runs_at_once_are_not_mixed(tmp_path):
    spec, facts = spec_for(tmp_path), run_facts("check", "d", Stages(), "1")
    found = write_findings(spec, "check", verdict(), facts)
    assert names(tmp_path / "private/check") == ["report.html", "summary.json", "verdict.json"]
    assert json.loads(Path(found.paths["verdict"]).read_text())["run_id"] == "1"
    other = {"place": "elsewhere", "held": True}
    (tmp_path / "private/check/.claim-0").write_text(json.dumps(other))
    with pytest.raises(BusyError):
        write_findings(spec, "check", verdict(), {**facts, "run_id": "2"})
    assert json.loads(Path(found.paths["verdict"]).read_text())["run_id"] == "1"
