"""Independent short jobs at the same time: while one is planned on the driver, another one runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pyspark.sql import SparkSession

from ppdp_spark.spark.engine.versions import in_thread

Found = TypeVar("Found")

JOBS_AT_ONCE = 4


def all_at_once(session: SparkSession, jobs: Sequence[Callable[[], Found]]) -> list[Found]:
    """What each job finds, in their order; all have ended when an error of one is raised.

    Jobs inherit what their caller has set for its own, such as a job group.
    """
    with ThreadPoolExecutor(JOBS_AT_ONCE) as pool:
        begun = [pool.submit(in_thread(session, job)) for job in jobs]
    return [each.result() for each in begun]
