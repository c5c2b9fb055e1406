"""Releases of the same people compose: the next run knows of the earlier ones."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ppdp_spark.run.commit.by_rename import RenameCommit
from ppdp_spark.run.commit.staging import Staging
from ppdp_spark.run.registry import LISTED, Registry, tries_told
from ppdp_spark.run.storage import Folder
from support.released.text_releases import published, spec_for, state, verdict


def record(run_id: str = "1", **changes: str) -> dict[str, str]:
    plain = {"run_id": run_id, "dataset": "d", "created": "2026-01-01", "path": "out/release/release.json"}
    return {**plain, "manifest": f"{run_id:0>64}", "spec": "f", **changes}


def test_a_second_release_of_a_dataset_is_warned_about_and_the_first_listed(tmp_path):
    first = published(tmp_path / "a", "one")
    assert first.summary["warnings"] == ["of the spec"]
    second = published(tmp_path / "b", "two")
    _, warning = second.summary["warnings"]
    assert "dataset “d” was released once before" in warning
    manifest = tmp_path / "a/release/release.json"
    assert f"{manifest} of {first.summary['created']} (run {first.summary['run_id']}, SHA-256 " in warning
    written = json.loads(Path(second.paths["summary"]).read_text())
    assert written["warnings"] == second.summary["warnings"]
    assert "was released once before" in Path(second.paths["report"]).read_text()
    third = published(tmp_path / "b", "two")
    assert "was released 2 times before" in third.summary["warnings"][1]
    assert third.summary["warnings"][1].count("identical to this one") == 1


def test_a_record_tells_where_and_what_but_nothing_of_the_data(tmp_path):
    run = published(tmp_path / "out", "one")
    (found,) = Registry.beside(Folder.at(tmp_path / "out")).earlier("d")
    assert found == {
        "run_id": run.summary["run_id"],
        "dataset": "d",
        "created": run.summary["created"],
        "path": str(tmp_path / "out/release/release.json"),
        "manifest": json.loads((tmp_path / "out/private/verdict.json").read_text())["manifest"],
        "spec": "f",
    }


def test_the_same_tables_under_names_of_their_runs_are_one_release(tmp_path):
    """Where folders cannot be renamed, every manifest names a folder of its own."""
    registry = Registry.beside(Folder.at(tmp_path / "out"))
    for run, content in (("1", "a" * 64), ("2", "a" * 64), ("3", "b" * 64)):
        registry.add(record(run, content=content))
    assert [each["run_id"] for each in registry.others(record("4", content="c" * 64))] == ["3", "2"]
    assert [each["run_id"] for each in registry.others(record("4", manifest="a" * 64))] == ["3"]
    assert "identical to this one" in registry.warnings(record("4", content="a" * 64))[0]


def test_trials_and_releases_not_for_publication_are_not_registered(tmp_path):
    published(tmp_path / "a", "one", trial=True)
    with Staging.open(spec_for(tmp_path / "b")) as staging:
        facts = {"run_id": staging.run_id, "dataset": "d", "spec_fingerprint": "f", "created": "now"}
        facts |= {"command": "anonymize", "version": "1"}
        staging.finish(verdict(publishable=False), facts, {"content": "two"})
    assert not (tmp_path / ".releases").exists()
    assert published(tmp_path / "c", "three").summary["warnings"] == ["of the spec"]


def test_other_datasets_are_not_warned_about_whatever_their_names(tmp_path):
    registry = Registry(Folder.at(tmp_path / ".releases"))
    for number, dataset in enumerate(["../d", "d/e", "D", "d\n", "é" * 200, "\ud800"[:0] + "x"]):
        registry.add(record(f"{number}", dataset=dataset))
        assert len(registry.earlier(dataset)) == 1
    assert registry.warnings(record("9")) == []
    assert len(list((tmp_path / ".releases").iterdir())) == 6
    (warning,) = registry.warnings(record("9", dataset="d\n"))
    assert "“d\\n”" in warning and "\n" not in warning


def test_a_long_history_is_cut_short(tmp_path):
    registry = Registry(Folder.at(tmp_path))
    for number in range(LISTED + 3):
        registry.add(record(f"r{number}"))
    (warning,) = registry.warnings(record("last"))
    assert f"released {LISTED + 3} times" in warning and "and 3 older in" in warning
    assert "run r7" in warning and "run r2" not in warning


def test_runs_on_different_outputs_register_at_the_same_time(tmp_path):
    with ThreadPoolExecutor(8) as threads:
        runs = list(threads.map(lambda n: published(tmp_path / f"{n}", f"{n}"), range(24)))
    found = Registry.beside(Folder.at(tmp_path / "0")).earlier("d")
    assert {each["run_id"] for each in found} == {run.summary["run_id"] for run in runs}


def test_a_registry_that_cannot_be_written_is_loud_but_the_release_is_out(tmp_path):
    (tmp_path / ".releases").write_text("a file, not a folder")
    run = published(tmp_path / "out", "one")
    assert state(tmp_path / "out") == ("one", "one")
    unread, unwritten = run.summary["warnings"][1:]
    assert "cannot be read" in unread
    assert "is published, but could not be entered in" in unwritten
    assert json.loads(Path(run.paths["summary"]).read_text())["warnings"] == run.summary["warnings"]
    assert "could not be entered" in Path(run.paths["report"]).read_text()


def test_a_damaged_record_is_not_passed_over(tmp_path):
    published(tmp_path / "a", "one")
    (file,) = (tmp_path / ".releases").iterdir()
    file.write_text("{")
    assert "cannot be read" in published(tmp_path / "b", "two").summary["warnings"][1]


def test_the_root_of_a_store_holds_its_own_registry():
    assert str(Registry.beside(Folder.at("s3://bucket/out")).folder) == "s3://bucket/.releases"
    assert Registry.beside(Folder.at("/out")).folder.path == "/.releases"


def test_every_publication_passes_the_registry(tmp_path, monkeypatch):
    """The record is staged before the commit, so that a crash after it cannot lose it."""
    seen = []
    real = RenameCommit.publish

    def commit(self: RenameCommit, release: Folder, private: Folder) -> None:
        seen.append((release.parent / "record.json").exists())
        real(self, release, private)

    monkeypatch.setattr(RenameCommit, "publish", commit)
    published(tmp_path / "out", "one")
    assert seen == [True]


@pytest.mark.parametrize("name", ["a.json.part", "README"])
def test_other_files_in_the_registry_do_no_harm(tmp_path, name):
    (tmp_path / ".releases").mkdir()
    (tmp_path / ".releases" / name).write_text("{")
    assert published(tmp_path / "out", "one").summary["warnings"] == ["of the spec"]


def test_refusals_are_remembered_by_dataset_and_are_no_releases(tmp_path):
    registry, facts = (
        Registry(Folder.at(tmp_path / ".releases")),
        {"created": "2026-01-01", "spec_fingerprint": "f"},
    )
    assert registry.refusals("d") == [] and tries_told([]) == []
    registry.refused("d", {**facts, "run_id": "1", "spec": {"secret": 1}})
    registry.refused("d", {**facts, "run_id": "2"})
    registry.refused("e", {**facts, "run_id": "3"})
    assert [set(found) for found in registry.refusals("d")] == [
        {"dataset", "run_id", "created", "spec_fingerprint"}
    ] * 2
    assert "refused 2 times before" in tries_told(registry.refusals("d"))[0]
    assert "refused once before" in tries_told(registry.refusals("e"))[0]
    assert registry.earlier("d") == [] and registry.warnings(record()) == []
