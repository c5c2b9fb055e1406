"""Tasks write what Spark's own writer would, for every type, and nothing that is not published."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
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
from ppdp_spark.core.data.packing import Packing
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.data.profile import SensitiveDomain
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.release import write_files as writing
from ppdp_spark.spark.release.described_rows import PeopleRows, ValueCounts, Values
from ppdp_spark.spark.release.write_files import WriteTables, chunks

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
        F.when(n % 5 != 0, F.concat(F.lit("v"), (n % 3).cast("string"))).alias("text value"),
        F.array(n, (n + 1)).alias("list"),
        F.struct(n.alias("a"), moments.alias("b")).alias("struct"),
        F.encode(n.cast("string"), "utf-8").alias("bytes"),
        F.when(n % 3 == 0, F.array(F.lit("x"))).otherwise(F.array(F.lit("y"), F.lit("z"))).alias("set"),
    )


QUASI = ["tiny", "long", "double", "float", "small decimal", "large `decimal`", "day", "moment",
         "local.moment", "text"]  # fmt: skip


def spec_of(folder: Path, sensitive: dict | str | None, kept: list[str], form: str) -> ReleaseSpec:
    columns = {
        "quasi_identifiers": {name: {} for name in QUASI},
        "publish_as_is": kept,
        "may_single_out": kept,
    }
    if sensitive is not None:
        columns["sensitive"] = sensitive
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "kinds",
            "input": {"path": "unused.parquet"},
            "columns": columns,
            "privacy": {"k_anonymity": 4},
            "output": {"path": str(folder), "form": form},
        }
    )


SET = {"column": "set", "case": "mvpi-set"}


@pytest.mark.parametrize(
    ("sensitive", "kept", "form"),
    [
        ("text value", ["list", "struct", "bytes"], "generalized"),
        (SET, ["flag", "list"], "bucketized"),
        pytest.param(None, [], "generalized", marks=pytest.mark.slow),
        pytest.param(SET, [], "generalized", marks=pytest.mark.slow),
        pytest.param("flag", [], "bucketized", marks=pytest.mark.slow),
        pytest.param("text value", ["list", "bytes"], "bucketized", marks=pytest.mark.slow),
    ],
)
def test_both_writers_agree(spark, tmp_path, monkeypatch, sensitive, kept, form):
    monkeypatch.setattr("ppdp_spark.spark.release.numbering.FILE_ROWS", 250)
    table = kinds_of_columns(spark).cache()
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    assert anonymize(spec_of(ours, sensitive, kept, form), table=table).ok
    monkeypatch.setattr("ppdp_spark.spark.release.publication.writable", lambda *_: False)
    assert anonymize(spec_of(theirs, sensitive, kept, form), table=table.repartition(2)).ok
    files = written(ours)
    assert files == written(theirs)
    assert len(files) > 1 and files[0].endswith("part-00000.parquet")
    for name in files:
        left, right = (spark.read.parquet(str(out / "release/data" / name)) for out in (ours, theirs))
        assert left.schema == right.schema
        assert left.collect() == right.collect()
    assert verify(ours, spark=spark).ok


def written(out: Path) -> list[str]:
    data = out / "release/data"
    return sorted(str(path.relative_to(data)) for path in data.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "values",
    [
        [dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(9999, 12, 31)],
        [Decimal("1.50"), Decimal("-2.25"), None],
        pytest.param(["b", "a", None], marks=pytest.mark.slow),
        pytest.param([3, 1, 2], marks=pytest.mark.slow),
        pytest.param([0.1, 2.5, None], marks=pytest.mark.slow),
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
    types = {field.name: field.dataType for field in table.schema}
    span = types.pop("span")
    assert not writing.writable([span, *types.values()])
    assert writing.writable(types.values())
    assert anonymize(spec_of(tmp_path / "out", "flag", ["span"], "generalized"), table=table).ok
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


VALUES = ("a", "b", "unused", "c", None, "d")
READ = Values(pa.array(VALUES))
PEOPLE = PeopleRows(
    {"label": "place"}, (C.SENSITIVE,), Packing(()), {C.SENSITIVE: "illness"}, {C.SENSITIVE: READ}
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


def tables_in(tmp_path: Path, **tables) -> WriteTables:
    """A task that writes each table to a folder of its name."""
    folders = {Folder.at(tmp_path / name).create(): table for name, table in tables.items()}
    return WriteTables(folders, Folder.at(tmp_path / "scratch").create())


def test_a_task_that_runs_twice_writes_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "CHUNK_ROWS", 7)
    sizes, whole = [3, 1, 5, 2, 8], groups_of([3, 1, 5, 2, 8])
    task = tables_in(tmp_path, people=PEOPLE)
    (found,) = task([whole])
    file = tmp_path / "people/part-00003.parquet"
    before = file.read_bytes()
    (again,) = task([whole.slice(0, 2), whole.slice(2)])
    assert file.read_bytes() == before and found.equals(again)
    assert found.to_pylist() == [{"folder": str(tmp_path / "people"), "file": file.name, "rows": 19}]
    assert not list((tmp_path / "scratch").iterdir()) and list(task([])) == []
    table = pq.read_table(file)
    labels = [f"group {n}" for n in range(5)]
    assert table.column("place").to_pylist() == np.repeat(labels, sizes).tolist()
    assert table.column("illness").to_pylist() == np.repeat(VALUES[:5], sizes).tolist()
    assert pq.ParquetFile(file).num_row_groups == 2


def test_dictionaries_hold_what_occurs_and_nothing_else(tmp_path):
    list(tables_in(tmp_path, people=PEOPLE)([groups_of([2, 2])]))
    file = tmp_path / "people/part-00003.parquet"
    assert b"unused" not in file.read_bytes() and b"group 1" in file.read_bytes()
    known = pq.read_table(file, read_dictionary=["illness"]).column("illness").chunk(0)
    assert known.dictionary.to_pylist() == ["a", "b"]


def test_counts_of_values_that_people_have_several_of(tmp_path):
    texts = pa.array([["b", "b"], None, ["a"], ["c", "b"]], pa.list_(pa.string()))
    held = pa.ListArray.from_arrays(pa.array([0, 3, 4], pa.int32()), texts)
    groups = pa.RecordBatch.from_pydict(
        {
            C.FRAGMENT: pa.array([3, 3], pa.int32()),
            C.SIZE: pa.array([3, 1], pa.int32()),
            C.GROUP_ID: pa.array([7, 8], pa.int64()),
            C.SENSITIVE: held,
        }
    )
    domain = SensitiveDomain("illness", "mvpi-multiset", "string", VALUES, (1, 3, 0, 1, 0, 0))
    list(tables_in(tmp_path, counts=ValueCounts(domain, READ))([groups]))
    assert pq.read_table(tmp_path / "counts").to_pydict() == {
        "group_id": [7, 7, 8, 8],
        "illness": ["a", "b", "b", "c"],
        "count": [1, 2, 1, 1],
    }
