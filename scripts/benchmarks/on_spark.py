"""What scenarios on Spark share: the session, counts of jobs and bytes, the floor, the spec of a release."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.bench import Action, Bench
from benchmarks.tables import CATEGORICAL, GROUP, QUASI_IDENTIFIERS, SENSITIVE, VALUE
from ppdp_spark.spark.session import local_session
from ppdp_spark.spec import ReleaseSpec

RANGE_COLUMN = "income"
"""The quasi-identifier by which the floor spreads rows: the one with most values."""


@contextmanager
def spark_session(bench: Bench) -> Iterator[SparkSession]:
    """The session of the package, on so many cores; its scratch files go with the measurement."""
    memory = bench.parameters["driver_memory"]
    begun = time.perf_counter()
    with bench.phase("starting Spark"):
        spark = local_session(
            f"local[{bench.parameters['cores']}]",
            driver_memory=None if memory == "default" else memory,
            app_name="bench",
            **{"spark.local.dir": str(bench.scratch / "spark")},
        )
    bench.note(
        session_seconds=round(time.perf_counter() - begun, 3), heap=spark.conf.get("spark.driver.memory")
    )
    try:
        yield spark
    finally:
        spark.stop()


class JobCount:
    """Counts jobs, stages that ran, and bytes written to shuffles, run by run."""

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext
        self._runs = 0

    @contextmanager
    def __call__(self, record: dict[str, Any]) -> Iterator[None]:
        self._runs += 1
        group = f"bench {self._runs}"
        self._context.setJobGroup(group, group)
        before = self._shuffled()
        yield
        written = self._shuffled()
        tracker = self._context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
        stages = {stage for job in jobs if job is not None for stage in job.stageIds}
        ran = [info for info in map(tracker.getStageInfo, stages) if info and info.numCompletedTasks]
        record |= {"jobs": len(jobs), "stages": len(ran)}
        if before is not None and written is not None:
            record["shuffle_bytes"] = written - before

    def _shuffled(self) -> int | None:
        """Bytes written to shuffles so far, if this version of Spark tells."""
        try:
            scala = self._context._jsc.sc()
            scala.listenerBus().waitUntilEmpty()
            # The store takes up events of running tasks ten times a second.
            time.sleep(0.3)
            executors = scala.statusStore().executorList(False)
            return sum(int(executors.apply(i).totalShuffleWrite()) for i in range(executors.size()))
        except Exception:
            return None


def floor_action(spark: SparkSession, bench: Bench, kind: str = "census") -> Action:
    """The least that any distributed anonymization does: read, one range shuffle, write."""

    def floor(rows: int, target: Path) -> None:
        table = spark.read.parquet(bench.table(kind, rows)).select(*QUASI_IDENTIFIERS, SENSITIVE)
        table.repartitionByRange(RANGE_COLUMN).write.parquet(str(target))

    return floor


def scan(spark: SparkSession, path: str, columns: tuple[str, ...]) -> None:
    """Read the columns and throw them away."""
    spark.read.parquet(path).select(*columns).write.format("noop").mode("overwrite").save()


def bring_into_cache(spark: SparkSession, bench: Bench, kind: str, columns: tuple[str, ...]) -> None:
    """Read the input once, so that no timed run is the first to fetch it from the disk."""
    if not bench.cold:
        with bench.phase("reading the input once"):
            scan(spark, bench.table(kind, bench.rows), columns)


def count_action(spark: SparkSession, bench: Bench, kind: str = "grouped") -> Action:
    """The least that any check does: count the rows of every group and value."""

    def count(rows: int, target: Path) -> None:
        pairs = spark.read.parquet(bench.table(kind, rows)).groupBy(GROUP, VALUE).count()
        pairs.write.format("noop").mode("overwrite").save()

    return count


def release_spec(source: str, target: Path, **sections: Any) -> ReleaseSpec:
    """A release of the census: eight quasi-identifiers, occupation sensitive."""
    kinds = {name: "categorical" if name in CATEGORICAL else "numeric" for name in QUASI_IDENTIFIERS}
    columns = {"quasi_identifiers": kinds, "sensitive": SENSITIVE, **sections.pop("columns", {})}
    output = {"path": str(target), **sections.pop("output", {})}
    return _spec(source, columns=columns, output=output, **sections)


def grouped_spec(source: str, **sections: Any) -> ReleaseSpec:
    """What is asked of a finished table of groups with one sensitive value a person."""
    columns = {"group": GROUP, "sensitive": VALUE, **sections.pop("columns", {})}
    return _spec(source, columns=columns, **sections)


def _spec(source: str, **sections: Any) -> ReleaseSpec:
    plain = {"version": 1, "dataset": "bench", "input": {"path": source, "format": "parquet"}}
    return ReleaseSpec.parse({**plain, **sections})
