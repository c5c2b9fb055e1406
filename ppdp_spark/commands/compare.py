"""`compare`: several runs side by side, from their summaries and verdicts; never a row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.report import Compared
from ppdp_spark.run.results import Comparison
from ppdp_spark.run.storage import PRIVATE, SUMMARY, VERDICT, Folder


def compare(outputs: Sequence[str | Path]) -> Comparison:
    """The runs in these output folders; every folder that holds none is named."""
    if not outputs:
        raise SpecError("there is nothing to compare: name the output folders of runs")
    found = [_attempt(output, name) for name, output in zip(_names(outputs), outputs, strict=True)]
    problems = [problem for each in found if isinstance(each, DataError) for problem in each.problems]
    if problems:
        raise DataError(problems)
    return Comparison(tuple(each for each in found if isinstance(each, Compared)))


def _attempt(output: str | Path, name: str) -> Compared | DataError:
    try:
        return read_run(output, name)
    except DataError as error:
        return error


def read_run(output: str | Path, name: str) -> Compared:
    """Summary and verdict of an output folder, or of a folder that holds the two files itself."""
    folder = Folder.at(output)
    if not (folder / SUMMARY).exists():
        if not folder.exists():
            raise DataError(f"`{output}` does not exist: name the output folder of a run")
        folder = folder / PRIVATE
    summary, verdict = folder.read_json(SUMMARY), folder.read_json(VERDICT)
    if not isinstance(summary, dict) or not isinstance(verdict, dict):
        raise DataError(f"`{output}` has a summary or verdict of another kind: make the run again")
    if summary.get("run_id") != verdict.get("run_id"):
        raise DataError(f"`{output}` has the summary of one run and the verdict of another: run it again")
    return Compared(name, summary, verdict)


def _names(outputs: Sequence[str | Path]) -> list[str]:
    """The last part of each path where that tells them apart, else the whole path."""
    short = [Path(str(output)).name for output in outputs]
    return short if len(set(short)) == len(short) and all(short) else [str(output) for output in outputs]
