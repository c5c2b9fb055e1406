"""The session of the oracle's tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.sessions import QUICK, set_to


@pytest.fixture(scope="module")
def quick(spark) -> Iterator[Any]:
    """The session with settings for tables of a few rows."""
    with set_to(spark, QUICK):
        yield spark
