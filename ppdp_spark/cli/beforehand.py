"""What can be known before Spark starts: files that are not there, a machine or a master that will not do.

Spark takes ten seconds to start, and some of its errors are pages long.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ppdp_spark.cli.doctor import java
from ppdp_spark.core.data.hierarchy import Hierarchy
from ppdp_spark.errors import DataError, MachineError, ProblemsError, SpecError
from ppdp_spark.run.inputs.csv_header import file_problem
from ppdp_spark.run.storage import require_room

if TYPE_CHECKING:
    from ppdp_spark.spec import Command, ReleaseSpec

_LOCAL = re.compile(
    r"local(\[(\*|[1-9][0-9]*)(, *[1-9][0-9]*)?\])?|local-cluster\[[0-9]+, *[0-9]+, *[0-9]+\]"
)
_STANDALONE = re.compile(r"spark://[^:/,\s]+:[0-9]+(,[^:/,\s]+:[0-9]+)*")
_OTHER = re.compile(r"yarn|k8s://\S+")
_PATIENCE = 5.0
_ELSEWHERE = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE")
"""Set where Spark is started by somebody else: by spark-submit, or a Spark Connect server."""


def require_files(spec: ReleaseSpec, command: Command) -> None:
    """Raise where the spec names files that are not there, or an output that must not be replaced.

    Asked where a path can only mean this machine: elsewhere the file systems of a cluster answer.
    """
    if _remote_by_default():
        return
    missing = [] if command == "attack" else list(_hierarchy_problems(spec))
    for field, path in spec.files:
        if not field.endswith(".hierarchy") and not is_there(path):
            missing.append(f"`{field}` ({path}) does not exist")
    if missing:
        raise DataError(missing)
    if command != "attack" and spec.input is not None and spec.input.format == "csv":
        told = file_problem(spec.input, spec.columns.named)
        if told is not None:
            raise DataError(told)
    if command == "anonymize" and not spec.output.overwrite and _on_this_machine(str(spec.output.path)):
        require_room(str(spec.output.path))


def require_folder(location: str) -> None:
    """Raise if the output folder of a run is not there."""
    require_there(location, "the output folder of a run")


def require_there(location: str, what: str) -> None:
    """Raise if a file or folder is not there."""
    if not _remote_by_default() and not is_there(location):
        raise DataError(f"`{location}` does not exist: name {what}")


def named_files(pairs: list[str]) -> dict[str, str]:
    """Files by the name before `=`; mistakes are found before Spark starts."""
    parts = [pair.partition("=") for pair in pairs]
    if any(not equals for _, equals, _ in parts):
        raise SpecError("`--hierarchy` needs COLUMN=FILE, as in --hierarchy education=education.csv")
    for _, _, path in parts:
        require_there(path, "a CSV file with a hierarchy")
    return {name: path for name, _, path in parts}


def require_startable(master: str) -> None:
    """Raise if Spark could not start here, or would wait for a master that is not there."""
    if any(name in os.environ for name in _ELSEWHERE):
        return
    problems = list(_master_problems(master))
    found = java()
    if not found.ok:
        problems.append(f"Spark needs Java 17 or newer ({found.found}): {found.fix}")
    if problems:
        raise MachineError(problems)


def _remote_by_default() -> bool:
    """Whether a path without an address may mean a file system of a cluster."""
    return any(
        name in os.environ for name in (*_ELSEWHERE, "HADOOP_CONF_DIR", "SPARK_CONF_DIR", "SPARK_HOME")
    )


def is_there(path: str) -> bool:
    """Whether a local path or pattern has files; addresses of other file systems are not asked."""
    if not _on_this_machine(path) or Path(path).exists():
        return True
    absolute = Path(path).absolute()
    return any(Path(absolute.anchor).glob(str(absolute.relative_to(absolute.anchor))))


def _on_this_machine(path: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", path) is None


def _hierarchy_problems(spec: ReleaseSpec) -> Iterator[str]:
    for field, path in spec.files:
        if field.endswith(".hierarchy"):
            try:
                Hierarchy.read(path)
            except ProblemsError as error:
                yield from (f"`{field}`: {problem}" for problem in error.problems)


def _master_problems(master: str) -> Iterator[str]:
    if _LOCAL.fullmatch(master) or _OTHER.fullmatch(master):
        return
    if not _STANDALONE.fullmatch(master):
        yield f"`--master` ({master}) is none: use local[*], local[4], spark://host:7077, yarn or k8s://…"
        return
    hosts = [address.rsplit(":", 1) for address in master.removeprefix("spark://").split(",")]
    if not any(_answers(host, int(port)) for host, port in hosts):
        yield f"`--master` ({master}) does not answer: is it running, and can this machine reach it?"


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=_PATIENCE).close()
    except (OSError, OverflowError):
        return False
    return True
