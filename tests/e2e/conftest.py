"""Commands in the session of the tests: what is printed and how they end, without a process for each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ppdp_spark.cli.app import app


@pytest.fixture
def called(spark, monkeypatch) -> Iterator[Callable[..., Result]]:
    """Runs a command in a folder; how it logs is forgotten afterwards.

    Spark, which runs already, is in another folder: what it reads is named by whole paths.
    """
    logger = logging.getLogger("ppdp_spark")
    handlers, level = list(logger.handlers), logger.level

    def call(*arguments: str, cwd: Path) -> Result:
        monkeypatch.chdir(cwd)
        return CliRunner().invoke(app, arguments, env={"COLUMNS": "120"})

    yield call
    logger.handlers[:] = handlers
    logger.setLevel(level)
