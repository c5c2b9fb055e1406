"""The session of the oracle's tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

QUICK = {"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"}


@pytest.fixture(scope="module")
def quick(spark) -> Iterator[Any]:
    """The session with settings for tables of a few rows."""
    before = {key: spark.conf.get(key) for key in QUICK}
    for key, value in QUICK.items():
        spark.conf.set(key, value)
    yield spark
    for key, value in before.items():
        spark.conf.set(key, value)
