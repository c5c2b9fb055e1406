"""One lazy Spark session for all tests, and where the Adult table is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from support.ready_made import java_options
from support.sessions import COMPILED, INTERPRETED, set_to

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ.setdefault("JAVA_TOOL_OPTIONS", java_options())

# No example has to be done within so many milliseconds: a slow machine is not a bug.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Local Spark on two cores, with plans interpreted; started by the first test that asks for it."""
    from ppdp_spark.spark.session import local_session

    settings = {"spark.sql.shuffle.partitions": 3, **INTERPRETED}
    session = local_session("local[2]", driver_memory="2g", app_name="tests", **settings)
    yield session
    session.stop()


@pytest.fixture
def compiled(spark) -> Iterator[SparkSession]:
    """The session with plans compiled, as users have it."""
    with set_to(spark, COMPILED):
        yield spark


@pytest.fixture(scope="session")
def adult_path() -> Path:
    """The UCI Adult table: PPDP_ADULT, else the shared folder beside the project."""
    given = os.environ.get("PPDP_ADULT")
    path = Path(given) if given else ROOT.parent / "shared" / "data" / "adult.csv"
    if not path.exists():
        pytest.skip("the Adult table is not here: set PPDP_ADULT to its path")
    return path
