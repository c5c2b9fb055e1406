"""Input that is damaged, or that changes while a run reads it: exit code 3, nothing published."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ppdp_spark.commands import anonymize, suppress
from ppdp_spark.errors import DataError
from ppdp_spark.run.results import watched_by
from ppdp_spark.spark.input.input_files import InputFiles, _remote_state
from ppdp_spark.spec import ReleaseSpec


def write_table(folder: Path, *, files: int = 2, seed: int = 0) -> Path:
    """A folder with a table of people; another seed is another table of the same size and domains."""
    (folder / "in put").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for number in range(files):
        rows = 400
        table = pd.DataFrame({"age": np.arange(rows) % 50, "job": rng.choice(list("abcd"), rows)})
        table.to_parquet(folder / f"in put/part {number}.parquet")
    return folder / "in put"


def spec_for(table: Path, **changes: object) -> ReleaseSpec:
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "people",
            "input": {"path": str(table), "format": "parquet"},
            "columns": {"quasi_identifiers": {"age": {}}, "sensitive": "job"},
            "privacy": {"k_anonymity": 5},
            "output": {"path": str(table.parent / "out"), "overwrite": True},
            **changes,
        }
    )


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class After:
    """Does something to the input when a stage has ended."""

    def __init__(self, stage: str, change: Callable[[], object]) -> None:
        self.stage, self.change = stage, change

    def begin(self, stage: str) -> None: ...

    def end(self, stage: str, told: str) -> None:
        if stage == self.stage:
            self.change()


CHANGES = {
    "other values": lambda table: write_table(table.parent, seed=1),
    "the same file again": lambda table: (
        shutil.copy(table / "part 0.parquet", table / "copy")
        and (table / "copy").replace(table / "part 0.parquet")
    ),
    "a file gone": lambda table: (table / "part 1.parquet").unlink(),
    "a file cut off": lambda table: os.truncate(table / "part 1.parquet", 100),
}


@pytest.fixture(scope="module")
def released(spark, tmp_path_factory) -> Path:
    """The output of a run on the table."""
    table = write_table(tmp_path_factory.mktemp("released"))
    anonymize(spec_for(table), spark=spark)
    return table.parent / "out"


@pytest.mark.parametrize("change", CHANGES)
def test_input_that_changes_during_a_run_is_noticed(spark, released, tmp_path, change):
    table = write_table(tmp_path)
    spec = spec_for(table)
    shutil.copytree(released, tmp_path / "out")
    before = content(tmp_path / "out")
    with (
        watched_by(After("read", lambda: CHANGES[change](table))),
        pytest.raises(DataError, match=r"changed while|a file is damaged, gone"),
    ):
        anonymize(spec, spark=spark)
    assert content(tmp_path / "out") == before
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["private", "release"]


def test_input_that_changes_under_suppress_is_noticed(spark, tmp_path):
    table = write_table(tmp_path)
    spec = spec_for(table, suppression={"method": "r", "l": 3, "budget": 0.9})
    with (
        watched_by(After("read", lambda: write_table(tmp_path, seed=0))),
        pytest.raises(DataError, match="changed while"),
    ):
        suppress(spec, spark=spark)
    assert not (tmp_path / "out/private").exists()


def test_files_elsewhere_are_compared_by_what_spark_lists(spark, tmp_path):
    """Sizes, names and times through Spark itself, as for any file system that only Spark can reach."""
    table = write_table(tmp_path)
    paths = spark.read.parquet(str(table)).inputFiles()
    before = _remote_state(spark, paths)
    assert _remote_state(spark, paths) == before
    os.utime(table / "part 0.parquet", (1, 1))
    assert _remote_state(spark, paths) != before
    (table / "part 0.parquet").unlink()
    assert _remote_state(spark, paths).startswith("absent")


def test_tables_without_files_have_nothing_to_compare(spark):
    files = InputFiles.of(spark.range(3).toDF("x"))
    assert files.paths == ()
    files.require_same()


DAMAGE = {
    "cut off": lambda data: data[: len(data) // 2],
    "another format": lambda data: b"age,job\n1,a\n" * 100,
    "empty": lambda data: b"",
    "wrong pages": lambda data: data[:4] + b"\xff" * (len(data) // 2) + data[4 + len(data) // 2 :],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_named(spark, tmp_path, damage):
    table = write_table(tmp_path)
    bad = table / "part 1.parquet"
    bad.write_bytes(DAMAGE[damage](bad.read_bytes()))
    with pytest.raises(DataError, match=r"part 1\.parquet") as caught:
        anonymize(spec_for(table), spark=spark)
    assert caught.value.exit_code == 3 and str(tmp_path) not in str(caught.value)
    assert not (tmp_path / "out/release").exists()
