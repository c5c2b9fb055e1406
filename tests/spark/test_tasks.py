"""What Python's workers keep from one task to the next is not looked through after each."""

from __future__ import annotations

import gc

import pyarrow as pa

from ppdp_spark.spark.engine import tasks
from ppdp_spark.spark.engine.tasks import in_tasks, one_task_each


def test_imports_of_a_worker_are_left_out_of_collections(spark):
    def frozen(batches):
        rows = sum(batch.num_rows for batch in batches)
        yield pa.RecordBatch.from_pydict({"frozen": pa.array([gc.get_freeze_count()] * rows, pa.int64())})

    found = in_tasks(spark.range(1).coalesce(1), frozen, "frozen bigint").toArrow()
    assert found.column(0).to_pylist()[0] > 10_000


def test_what_tasks_make_is_collected(monkeypatch):
    monkeypatch.setattr(tasks, "_seen", 0)

    class Knot:
        itself: object

    def tie(batches):
        for batch in batches:
            knot = Knot()
            knot.itself = knot
            yield batch

    batch = pa.RecordBatch.from_pydict({"n": [1]})
    try:
        for _ in range(3):
            assert list(tasks._Light(tie)(iter([batch]))) == [batch]
        gc.collect()
        assert not [each for each in gc.get_objects() if isinstance(each, Knot)]
    finally:
        gc.unfreeze()


def test_shares_of_several_tasks_are_apart(spark):
    rows = spark.createDataFrame(pa.table({"share": pa.array([0, 1, 2], pa.int32())}))

    def together(batches):
        shares = [share for batch in batches for share in batch.column(0).to_pylist()]
        yield pa.RecordBatch.from_pydict(
            {"shares": pa.array([shares] if shares else [], pa.list_(pa.int32()))}
        )

    found = {
        number: in_tasks(one_task_each(rows.limit(number), "share", number), together, "shares array<int>")
        for number in (1, 3)
    }
    assert found[1].toArrow().column(0).to_pylist() == [[0]]
    assert sorted(found[3].toArrow().column(0).to_pylist()) == [[0], [1], [2]]
