"""What the first line of a CSV file says: seen without Spark where the file lies on this machine."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ppdp_spark.spec import InputSpec

_SEPARATORS = {";": "`;`", "\t": 'a tab, written "\\t"', "|": "`|`", ",": "`,`"}
_LONGEST = 1_000_000
"""Characters of a first line that are looked at."""


def separator_of(source: InputSpec) -> str:
    """What stands between cells: as the spec says, in its own field or among Spark's options."""
    given = {key.casefold(): value for key, value in source.options.items()}
    return source.separator or given.get("sep", given.get("delimiter", ","))


def header_problem(names: Sequence[str], source: InputSpec, expected: Iterable[str]) -> str | None:
    """What is wrong with a first line that names none of the columns; it may be a row, and is not shown."""
    if not names:
        return f"`input` ({source.path}) is empty: it has no header and no rows"
    wanted = set(expected)
    if wanted & set(names) or not wanted:
        return None
    used = separator_of(source)
    counts = {mark: sum(name.count(mark) for name in names) for mark in _SEPARATORS if mark != used}
    likely = max(counts, key=lambda mark: counts[mark])
    columns = f"{len(names):,} column{'s' if len(names) > 1 else ''}"
    if len(names) == 1 and counts[likely]:
        return (
            f"`input` ({source.path}): the header has one column; did you mean {_SEPARATORS[likely]}? "
            "Say so with `input: {separator: ...}`"
        )
    return (
        f"`input` ({source.path}): its first line has {columns}, none of them named in the spec: "
        "the first line must hold the names of the columns"
    )


def file_problem(source: InputSpec, expected: Iterable[str]) -> str | None:
    """What a single CSV file of this machine lacks: content, columns, rows; None if Spark has to look.

    Files that are compressed, or whose first cell is quoted over several lines, are left to Spark.
    """
    path = Path(str(source.path))
    if (
        path.suffix.lower() != ".csv"
        or not path.is_file()
        or source.options
        or len(separator_of(source)) != 1
    ):
        return None
    try:
        with path.open(encoding=source.encoding or "utf-8-sig", errors="replace", newline="") as stream:
            line = stream.readline(_LONGEST)
            rows = any(each.strip() for each in iter(lambda: stream.readline(_LONGEST), ""))
    except (OSError, LookupError):
        return None
    if len(line) == _LONGEST or line.count('"') % 2:
        return None
    names = next(csv.reader([line], delimiter=separator_of(source)), []) if line.strip() else []
    problem = header_problem(names, source, expected)
    if problem is None and not rows:
        return f"`input` ({source.path}) has a header and no rows: there is nobody to publish"
    return problem
