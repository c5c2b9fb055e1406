"""Releases judged by tasks that read the files themselves: the same verdict as the engine's, or its error."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import ReleaseSpec, anonymize, verify
from ppdp_spark.errors import DataError
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.data.encode import typed_values
from ppdp_spark.spark.judge import generalized_files as files
from ppdp_spark.spark.judge.adjacent_groups import ReduceRuns
from ppdp_spark.spark.judge.generalized_files import ReduceFiles, ReleaseFiles

VALUES = {
    "text": ["b", "a", None, "c"],
    "double": [0.5, -2.25, 1e300, None],
    "decimal": [Decimal("1.50"), Decimal("-2.25"), Decimal("0.00"), None],
    "date": [dt.date(1, 1, 2), dt.date(1969, 12, 31), dt.date(9999, 12, 31), dt.date(2000, 1, 1)],
}


def release(spark, out: Path, kind: str, rows: int = 400) -> None:
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "age": pa.array(np.where(rng.random(rows) < 0.05, None, rng.integers(0, 90, rows)), pa.int32()),
            "born": pa.array(
                [dt.date(1900, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 9e4, rows)]
            ),
            "city": pa.array(rng.choice(["Ulm", "Köln", "Aachen"], rows)),
            "value": pa.array([VALUES[kind][i] for i in rng.integers(0, 4, rows)]),
        }
    )
    spec = {
        "version": 1,
        "dataset": "people",
        "input": {"path": "unused.parquet"},
        "columns": {"quasi_identifiers": {"age": {}, "born": {}, "city": {}}, "sensitive": "value"},
        "privacy": {
            "k_anonymity": 4,
            "l_diversity": {"kind": "distinct", "l": 2},
            "skyline": {"default": [{"l": 1, "k": 2, "m": 0, "c": 0.9}]},
        },
        "output": {"path": str(out)},
    }
    assert anonymize(ReleaseSpec.parse(spec), table=spark.createDataFrame(table)).ok


@pytest.fixture(scope="module")
def released(spark, tmp_path_factory) -> Callable[..., None]:
    """Copies a release of 400 people to a folder; it is made once for each kind of value."""
    made: dict[str, Path] = {}

    def copied(out: Path, kind: str = "text") -> None:
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp("released")
            release(spark, made[kind], kind)
        shutil.copytree(made[kind], out, dirs_exist_ok=True)

    return copied


def verdict(spark, out: Path) -> list[dict]:
    """What is decided, the hashes of files aside."""
    rows = verify(out, spark=spark).verdict.to_dict()["criteria"]
    return [row for row in rows if row["criterion"] != "files"]


def by_the_engine(spark, out: Path, monkeypatch) -> list[dict]:
    with monkeypatch.context() as without:
        without.setattr(ReleaseFiles, "of", classmethod(lambda *_: None))
        return verdict(spark, out)


@pytest.fixture
def only_files(monkeypatch):
    """Nothing but the files may be asked."""

    def refused(*_):
        raise AssertionError("the tasks could not read the release")

    monkeypatch.setattr("ppdp_spark.spark.judge.grouped_tables.reduce_runs", refused)


@pytest.mark.parametrize("kind", VALUES)
def test_the_same_verdict_as_the_engine(spark, released, tmp_path, monkeypatch, kind):
    released(tmp_path, kind)
    expected = by_the_engine(spark, tmp_path, monkeypatch)
    monkeypatch.setattr("ppdp_spark.spark.judge.grouped_tables.reduce_runs", None)
    assert verdict(spark, tmp_path) == expected and len(expected) > 3


@pytest.mark.parametrize("dictionaries", [True, False])
def test_however_the_files_are_cut(spark, released, tmp_path, monkeypatch, only_files, dictionaries):
    """Groups that go on in the next row group, in the next share and in the next file."""
    monkeypatch.setattr(files, "_SHARE", 2)
    released(tmp_path)
    expected = verdict(spark, tmp_path)
    data = tmp_path / "release/data"
    whole = pq.read_table(data)
    for path in data.iterdir():
        path.unlink()
    for number, (first, size) in enumerate([(0, 101), (101, 2), (103, 400)]):
        part, path = whole.slice(first, size), data / f"part-{number:05d}.parquet"
        pq.write_table(part, path, row_group_size=7, use_dictionary=dictionaries)
    assert verdict(spark, tmp_path) == expected


def test_a_cell_that_differs_within_its_group_is_found(spark, released, tmp_path, only_files):
    released(tmp_path)
    (path,) = (tmp_path / "release/data").iterdir()
    whole = pq.read_table(path)
    for name in ("age", "age_max", "born_min", "city"):
        column = whole.column(name).to_pylist()
        column[5] = {"age": "7", "age_max": 1000, "born_min": dt.date(1800, 1, 1), "city": "Rom"}[name]
        place = whole.schema.get_field_index(name)
        changed = whole.set_column(place, name, pa.array(column, whole.schema.field(name).type))
        pq.write_table(changed, path)
        with pytest.raises(DataError, match="two ways"):
            verify(tmp_path, spark=spark)


def test_what_tasks_cannot_read_is_left_to_the_engine(spark, released, tmp_path):
    released(tmp_path)
    data = Folder.at(tmp_path / "release/data")
    values = typed_values(spark, VALUES["text"], "string")
    assert ReleaseFiles.of(spark, data, ["age"], "value", values) is not None
    gone = ReduceFiles(ReduceRuns((), 4), data.store, ("age",), "value", values)
    share = pa.RecordBatch.from_pydict(
        {"share": [0], "path": [str(tmp_path / "no.parquet")], "first": [0], "end": [1]}
    )
    assert [batch.column(0).to_pylist() for batch in gone([share])] == [[b""]]
    unknown = ReleaseFiles.of(spark, data, ["age"], "value", values.slice(1))
    assert unknown is not None and unknown.reduce([], 3) is None
    (path,) = (tmp_path / "release/data").iterdir()
    path.write_bytes(path.read_bytes()[:-20])
    assert ReleaseFiles.of(spark, data, ["age"], "value", values) is None
    with pytest.raises(DataError, match="cannot be read"):
        verify(tmp_path, spark=spark)
