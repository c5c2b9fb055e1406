"""The page of a whole summary, read back once."""

from __future__ import annotations

import pytest

from ppdp_spark.report import render
from support.report import examples
from support.report.reading import Page


@pytest.fixture(scope="module")
def whole() -> Page:
    return Page(render(examples.passing_summary(), examples.passing_verdict()))


@pytest.fixture(scope="module")
def markup() -> str:
    return render(examples.passing_summary(), examples.passing_verdict())
