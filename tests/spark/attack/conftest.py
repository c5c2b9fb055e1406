"""The table that is attacked."""

from __future__ import annotations

import pytest

from support.released.attacks import PEOPLE


@pytest.fixture(scope="module")
def people(spark):
    return spark.createDataFrame(PEOPLE).repartition(4).cache()
