"""How a command runs: session, progress on the terminal, outcome; mistakes are messages and exit codes."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from ppdp_spark.errors import MachineError, PpdpError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ppdp_spark.run.inputs.released import Released
    from ppdp_spark.run.results import Comparison, Run, Sweep
    from ppdp_spark.spec import Command, ReleaseSpec


_OF_RELEASES = ("attack", "check", "explore")
"""Commands that take the output folder of a run in the place of a spec."""


def _load(place: str, overrides: list[str], command: Command) -> ReleaseSpec | Released:
    """The spec in a file, or a release of ours: mistakes are found before Spark starts."""
    with errors_as_messages():
        from ppdp_spark.cli.beforehand import require_files
        from ppdp_spark.run.inputs.released import Released
        from ppdp_spark.spec import ReleaseSpec

        released = Released.at(place, command, overrides) if command in _OF_RELEASES else None
        if released is not None:
            require_files(released.spec, command)
            return released
        spec = ReleaseSpec.load(place, overrides, input_needed=command != "attack")
        spec.require_for(command)
        require_files(spec, command)
        for warning in spec.warnings:
            typer.echo(f"warning: {warning}", err=True)
        return spec
    raise AssertionError("unreachable")


def run_spec(
    command: Command,
    place: str,
    overrides: list[str],
    *,
    master: str,
    as_json: bool,
    quiet: bool,
    **more: bool,
) -> None:
    """Run the command of that name on a spec or a release; `more` are arguments of its own."""
    given = _load(place, overrides, command)
    told = getattr(given, "warnings", ())

    def run(spark: SparkSession) -> Run:
        from ppdp_spark import commands

        outcome: Run = getattr(commands, command)(given, spark=spark, **more)
        for warning in outcome.summary.get("warnings", ()):
            if warning not in told:
                typer.echo(f"warning: {warning}", err=True)
        return outcome

    run_on_spark(run, master, as_json, quiet)


def run_on_spark(run: Callable[[Any], Run | Sweep], master: str, as_json: bool, quiet: bool) -> None:
    """Run on Spark, print the outcome, exit by the verdict."""
    with errors_as_messages(), session(master) as spark:
        with progress(spark, silent=quiet or as_json):
            outcome = run(spark)
        show(outcome, as_json=as_json, quiet=quiet)
        if not outcome.ok:
            raise typer.Exit(4)


def show(outcome: Run | Sweep | Comparison, *, as_json: bool, quiet: bool) -> None:
    """JSON or tables on the standard output, or nothing."""
    if as_json:
        typer.echo(json.dumps(outcome.to_dict(), indent=2, default=str))
    elif not quiet:
        from rich.console import Console

        Console().print(outcome)


@contextmanager
def progress(spark: SparkSession, *, silent: bool = False) -> Iterator[None]:
    """On a terminal a live line of what is being done, elsewhere one line a stage; on the error stream."""
    if silent:
        yield
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        _log_to_terminal()
        yield
        return
    from ppdp_spark.cli.progress_line import live
    from ppdp_spark.run.results import watched_by
    from ppdp_spark.spark.engine.progress import task_counter

    with live(console, task_counter(spark)) as display, watched_by(display):
        yield


@contextmanager
def session(master: str) -> Iterator[SparkSession]:
    """A Spark session of this process; a signal stops it in good order."""
    from ppdp_spark.cli.beforehand import require_startable
    from ppdp_spark.cli.java_notice import without_java_notice
    from ppdp_spark.run.installed_spark import require_spark

    require_spark()
    require_startable(master)
    from ppdp_spark.spark.engine.shutdown import stopped_by_signals
    from ppdp_spark.spark.session import local_session

    with without_java_notice():
        try:
            spark = local_session(master)
        except Exception as error:
            raise MachineError(
                f"Spark could not start ({_kind_of(error)}): `ppdp doctor` looks for causes"
            ) from None
    with stopped_by_signals(spark):
        yield spark


def _kind_of(error: Exception) -> str:
    """What went wrong in Spark's own short name; its texts are pages long."""
    from ppdp_spark.run.translated_errors import condition_of

    return condition_of(error) or type(error).__name__


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """A user's mistake is a message and an exit code, never a traceback."""
    try:
        yield
    except PpdpError as error:
        typer.echo(f"ppdp: {error}", err=True)
        raise typer.Exit(error.exit_code) from None


def _log_to_terminal() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
    logger = logging.getLogger("ppdp_spark")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
