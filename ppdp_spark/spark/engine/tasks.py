"""Tasks of ours in Python's workers, and what they leave behind there."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.spark.engine.versions import one_partition_each

Task: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What a task makes of the batches of a partition."""


def in_tasks(rows: DataFrame, task: Task, schema: T.StructType | str) -> DataFrame:
    """What a task makes of each partition, as a table of the schema."""
    return rows.mapInArrow(_Light(task), schema)


def one_task_each(rows: DataFrame, number: str, tasks: int) -> DataFrame:
    """Rows with the numbers 0, 1, … of so many tasks, each where its task is; of one task, where they are."""
    return one_partition_each(rows, tasks, F.col(number)) if tasks > 1 else rows.coalesce(1)


@dataclass(frozen=True)
class _Light:
    """A task after which there is little garbage to look for.

    Spark's workers collect garbage after every task. They then look through all that was ever imported,
    which takes longer than most tasks of small tables. What is there when a task begins, in a worker that
    has imported something since the last one, is therefore left out from then on.
    """

    task: Task

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _leave_out_imports()
        yield from self.task(batches)


_seen = 0
"""How many modules there were when they were last left out."""


def _leave_out_imports() -> None:
    global _seen
    if len(sys.modules) != _seen:
        _seen = len(sys.modules)
        gc.freeze()
