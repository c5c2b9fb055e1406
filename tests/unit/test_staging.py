"""Crashes between the two renames of a commit are mended by the next run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdp_spark.errors import SpecError
from ppdp_spark.pipeline.staging import Staging
from ppdp_spark.spec import ReleaseSpec


def spec_for(folder: Path, overwrite: bool = False) -> ReleaseSpec:
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "d",
            "input": {"path": "x.parquet"},
            "columns": {"quasi_identifiers": {"age": {}}},
            "privacy": {"k_anonymity": 2},
            "output": {"path": str(folder), "overwrite": overwrite},
        }
    )


def release(folder: Path, name: str, *, finished: bool = True) -> None:
    (folder / name / "data").mkdir(parents=True)
    (folder / name / "data/part-00000.parquet").write_text(name)
    if finished:
        (folder / name / "release.json").write_text("{}")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


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
