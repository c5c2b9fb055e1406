"""Which session a command gets: a running one, spark-submit's, or a local one of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ppdp_spark.spark import session as sessions
from ppdp_spark.spark.session import local_session


def test_the_fixture_has_the_settings(compiled: SparkSession) -> None:
    assert compiled.sparkContext.master == "local[2]"
    assert compiled.conf.get("spark.driver.memory") == "2g"
    assert compiled.conf.get("spark.sql.shuffle.partitions") == "3"
    assert compiled.conf.get("spark.ui.enabled") == "false"
    for key, value in sessions.SQL_DEFAULTS.items():
        assert compiled.conf.get(key) == value


def test_a_running_session_is_kept(spark: SparkSession) -> None:
    before = spark.conf.getAll
    found = local_session("local[1]", "1g", "another")
    assert found.sparkContext is spark.sparkContext
    assert found.conf.getAll == before


def test_settings_still_open_are_applied_to_a_running_session(spark: SparkSession) -> None:
    kept = spark.conf.get("spark.sql.ansi.enabled")
    try:
        local_session(**{"spark.sql.ansi.enabled": False, "spark.driver.memory": "9g"})
        assert spark.conf.get("spark.sql.ansi.enabled") == "false"
        assert spark.conf.get("spark.driver.memory") == "2g"
    finally:
        spark.conf.set("spark.sql.ansi.enabled", kept)


@pytest.mark.parametrize(
    ("gigabytes", "expected"), [(0.5, "1024m"), (8, "4096m"), (23, "11776m"), (512, "30720m")]
)
def test_memory_is_half_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, gigabytes: float, expected: str
) -> None:
    monkeypatch.setattr(sessions, "available_memory", lambda: int(gigabytes * sessions.GIB))
    assert sessions.default_driver_memory() == expected


def test_memory_is_at_most_the_machine() -> None:
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        total = int(meminfo.read_text().split()[1]) * 1024
        assert 0 < sessions.available_memory() <= total


SUBMITTED = """
from ppdp_spark.spark.session import local_session
spark = local_session("local[2]", "3g", "name in the job")
print(spark.sparkContext.master, *(spark.conf.get(k) for k in (
    "spark.driver.memory", "spark.sql.session.timeZone", "spark.sql.execution.arrow.maxRecordsPerBatch")))
"""


@pytest.mark.slow
def test_spark_submit_decides(tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text(SUBMITTED)
    submit = Path(sys.executable).with_name("spark-submit")
    options = [
        "--master",
        "local[1]",
        "--driver-memory",
        "1g",
        "--conf",
        "spark.sql.session.timeZone=Asia/Tokyo",
    ]
    run = subprocess.run([submit, *options, job], capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.split() == ["local[1]", "1g", "Asia/Tokyo", "200000"]
