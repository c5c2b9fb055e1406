"""Tasks write what Spark's own writer would, for every type, and nothing that is not published."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from ppdp_spark import ReleaseSpec, anonymize, verify
from ppdp_spark.spark import columns as C
from ppdp_spark.spark import writing
from ppdp_spark.spark.writing import GroupColumns, WriteRows, chunks

ROWS = 600
FIRST = "DATE'0001-01-03'"


def kinds_of_columns(spark):
    """One column of every type that a quasi-identifier, a value or a column kept as it is can have."""
    rows = spark.range(0, ROWS, 1, 3).withColumn("n", (F.col("id") * 7919 % 601).cast("int"))
    n = F.col("n")
    days = F.date_add(F.expr(FIRST), (n * 1200).cast("int"))
    moments = F.timestamp_micros(n.cast("bigint") * 10**14 - 6 * 10**16 + n)
    return rows.select(
        "id",
        F.when(n % 11 != 0, (n % 50).cast("byte")).alias("tiny"),
        (n.cast("bigint") * 10**12).alias("long"),
        F.when(n % 13 != 0, n / 7).alias("double"),
        (n / 3).cast("float").alias("float"),
        (n / 100).cast("decimal(9,2)").alias("small decimal"),
        (n.cast("decimal(18,0)") * 10**11).cast("decimal(18,4)").alias("large `decimal`"),
        days.alias("day"),
        moments.alias("moment"),
        moments.cast("timestamp_ntz").alias("local.moment"),
        F.when(n % 17 != 0, F.concat(F.lit("Ä"), (n % 9).cast("string"))).alias("text"),
        (n % 4 == 0).alias("flag"),
        F.array(n, (n + 1)).alias("list"),
        F.struct(n.alias("a"), moments.alias("b")).alias("struct"),
        F.encode(n.cast("string"), "utf-8").alias("bytes"),
        F.when(n % 3 == 0, F.array(F.lit("x"))).otherwise(F.array(F.lit("y"), F.lit("z"))).alias("set"),
    )


QUASI = ["tiny", "long", "double", "float", "small decimal", "large `decimal`", "day", "moment",
         "local.moment", "text"]  # fmt: skip


def spec_of(folder: Path, sensitive: dict | str | None, kept: list[str]) -> ReleaseSpec:
    columns = {"quasi_identifiers": {name: {} for name in QUASI}, "publish_as_is": kept}
    if sensitive is not None:
        columns["sensitive"] = sensitive
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "kinds",
            "input": {"path": "unused.parquet"},
            "columns": columns,
            "privacy": {"k_anonymity": 4},
            "output": {"path": str(folder)},
        }
    )


@pytest.mark.parametrize(
    ("sensitive", "kept"),
    [
        (None, []),
        ("flag", []),
        ("flag", ["list", "struct", "bytes"]),
        ({"column": "set", "case": "mvpi-set"}, []),
        ({"column": "set", "case": "mvpi-set"}, ["flag", "list"]),
    ],
)
def test_both_writers_agree(spark, tmp_path, monkeypatch, sensitive, kept):
    monkeypatch.setattr("ppdp_spark.spark.publish.FILE_ROWS", 250)
    table = kinds_of_columns(spark)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    assert anonymize(spec_of(ours, sensitive, kept), table=table).ok
    monkeypatch.setattr(import_module("ppdp_spark.pipeline.anonymize"), "writable", lambda *_: False)
    assert anonymize(spec_of(theirs, sensitive, kept), table=table).ok
    files = sorted(path.name for path in (ours / "release/data").iterdir())
    assert files == sorted(path.name for path in (theirs / "release/data").iterdir())
    assert len(files) > 1 and files[0] == "part-00000.parquet"
    for name in files:
        left, right = (spark.read.parquet(str(out / "release/data" / name)) for out in (ours, theirs))
        assert left.schema == right.schema
        assert left.collect() == right.collect()
    assert verify(ours, spark=spark).ok


@pytest.mark.parametrize(
    "values",
    [
        [dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(9999, 12, 31)],
        [Decimal("1.50"), Decimal("-2.25"), None],
        ["b", "a", None],
        [3, 1, 2],
        [0.1, 2.5, None],
    ],
    ids=["date", "decimal", "text", "integer", "double"],
)
def test_sensitive_values_of_every_type_come_back(spark, tmp_path, values):
    rows = [(i, values[i % 3]) for i in range(60)]
    table = spark.createDataFrame(rows, ["age", "value"])
    spec = ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "values",
            "input": {"path": "unused.parquet"},
            "columns": {"quasi_identifiers": {"age": {}}, "sensitive": "value"},
            "privacy": {"k_anonymity": 3},
            "output": {"path": str(tmp_path / "out")},
        }
    )
    assert anonymize(spec, table=table).ok
    out = spark.read.parquet(str(tmp_path / "out/release/data"))
    assert out.schema["value"].dataType == table.schema["value"].dataType
    found = sorted((row.value for row in out.collect()), key=str)
    assert found == sorted((row.value for row in table.collect()), key=str)


def test_types_that_tasks_cannot_write_go_through_spark(spark, tmp_path):
    table = kinds_of_columns(spark).withColumn("span", F.expr("INTERVAL '1' DAY"))
    assert not writing.writable(table.select("span").schema, writing.Folder.at(tmp_path))
    assert writing.writable(table.drop("span").schema, writing.Folder.at(tmp_path))
    assert anonymize(spec_of(tmp_path / "out", "flag", ["span"]), table=table).ok
    assert verify(tmp_path / "out", spark=spark).ok


def groups_of(sizes: list[int], first: int = 0) -> pa.RecordBatch:
    """Groups with a label and codes of values; people of group g have the code g."""
    numbers = np.arange(first, first + len(sizes))
    codes = pa.array(np.repeat(numbers % 5, sizes), pa.int32())
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32())
    return pa.RecordBatch.from_pydict(
        {
            C.FRAGMENT: pa.array([3] * len(sizes), pa.int32()),
            C.SIZE: pa.array(sizes, pa.int32()),
            "label": pa.array([f"group {n}" for n in numbers]),
            C.SENSITIVE: pa.ListArray.from_arrays(offsets, codes),
        }
    )


COLUMNS = GroupColumns(
    {"label": "place"},
    {C.SENSITIVE: "illness"},
    {C.SENSITIVE: pa.array(["a", "b", "unused", "c", None, "d"])},
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=40), st.lists(st.integers(1, 40), max_size=4))
def test_chunks_do_not_depend_on_batches(sizes, cuts):
    known, writing.CHUNK_ROWS = writing.CHUNK_ROWS, 20
    try:
        whole = groups_of(sizes)
        borders = sorted({0, *(c for c in cuts if c < len(sizes)), len(sizes)})
        parts = [whole.slice(a, b - a) for a, b in pairwise(borders)]
        once, again = list(chunks([whole])), list(chunks([parts[0].slice(0, 0), *parts]))
        assert [part.num_rows for part in once] == [part.num_rows for part in again]
        assert pa.concat_tables(again).combine_chunks().equals(pa.Table.from_batches([whole]))
        people = [int(sum(part.column(C.SIZE).to_pylist())) for part in once]
        assert all(20 <= number < 20 + 9 for number in people[:-1]) and sum(people) == sum(sizes)
    finally:
        writing.CHUNK_ROWS = known


def test_a_task_that_runs_twice_writes_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "CHUNK_ROWS", 7)
    folder, scratch = tmp_path / "data", tmp_path / "scratch"
    folder.mkdir(), scratch.mkdir()
    whole = groups_of([3, 1, 5, 2, 8])
    task = WriteRows(COLUMNS, str(folder), str(scratch))
    (found,) = task([whole])
    before = (folder / "part-00003.parquet").read_bytes()
    (again,) = task([whole.slice(0, 2), whole.slice(2)])
    assert (folder / "part-00003.parquet").read_bytes() == before
    assert found.equals(again) and found.to_pydict() == {"file": ["part-00003.parquet"], "people": [19]}
    assert not list(scratch.iterdir()) and list(task([])) == []
    table = pq.read_table(folder)
    assert (
        table.column("place").to_pylist()
        == np.repeat([f"group {n}" for n in range(5)], [3, 1, 5, 2, 8]).tolist()
    )
    values = ["a", "b", "unused", "c", None]
    assert table.column("illness").to_pylist() == np.repeat(values, [3, 1, 5, 2, 8]).tolist()
    assert pq.ParquetFile(folder / "part-00003.parquet").num_row_groups == 2


def test_dictionaries_hold_what_occurs_and_nothing_else(tmp_path):
    folder, scratch = tmp_path / "data", tmp_path / "scratch"
    folder.mkdir(), scratch.mkdir()
    list(WriteRows(COLUMNS, str(folder), str(scratch))([groups_of([2, 2])]))
    content = (folder / "part-00003.parquet").read_bytes()
    assert b"unused" not in content and b"group 1" in content
    known = pq.read_table(folder, read_dictionary=["illness"]).column("illness").chunk(0)
    assert known.dictionary.to_pylist() == ["a", "b"]
