"""Real stores for all tests of this folder, and a session of Spark that knows where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from support.sessions import INTERPRETED
from support.stores.hdfs_servers import Hdfs, hdfs
from support.stores.s3_server import Faults, s3

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory) -> Iterator[Hdfs]:
    with hdfs(tmp_path_factory.mktemp("hdfs")) as running:
        yield running


@pytest.fixture(scope="session")
def faults(tmp_path_factory) -> Iterator[Faults]:
    with s3(tmp_path_factory.mktemp("s3")) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def spark(hadoop, faults) -> Iterator[SparkSession]:
    """Local Spark on two cores, whose workers inherit where the S3 server is."""
    from ppdp_spark.spark.session import local_session

    settings = {"spark.sql.shuffle.partitions": 2, **INTERPRETED}
    session = local_session("local[2]", driver_memory="1g", app_name="stores", **settings)
    yield session
    session.stop()


@pytest.fixture(scope="session", params=["hdfs", "s3"])
def kind(request) -> str:
    """The kind of store."""
    return str(request.param)


@pytest.fixture
def root(request, kind) -> str:
    """The address of a folder of its own on a store."""
    if kind == "hdfs":
        return f"{request.getfixturevalue('hadoop').url}/{uuid4().hex}"
    request.getfixturevalue("faults")
    return f"s3://bucket/{uuid4().hex}"
