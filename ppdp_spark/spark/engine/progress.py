"""How far Spark is with what it is doing, where the session can say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession


class Tasks(NamedTuple):
    """Tasks of the stages that Spark is working on now."""

    done: int
    total: int


def task_counter(spark: SparkSession) -> Callable[[], Tasks | None]:
    """A function that counts tasks; on Spark Connect, which does not tell, it always says None."""
    try:
        tracker = spark.sparkContext.statusTracker()
    except (AttributeError, PySparkException):
        return lambda: None

    def count() -> Tasks | None:
        found = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        stages = [info for info in found if info is not None]
        if not stages:
            return None
        return Tasks(sum(s.numCompletedTasks for s in stages), sum(s.numTasks for s in stages))

    return count
