"""Every exception of ppdp-spark, and the exit code each one ends a command with."""

from __future__ import annotations

import os
from collections.abc import Sequence


class PpdpError(Exception):
    """Base of all errors a user may see. The message never contains a value of a row.

    It does contain names from specs and tables: what could act on a terminal in them is spelled out.
    """

    exit_code = 1

    def __str__(self) -> str:
        return _printable(super().__str__())


class ProblemsError(PpdpError):
    """An error that lists every problem found, not the first one only."""

    heading = "found"

    def __init__(self, problems: Sequence[str] | str) -> None:
        listed = (problems,) if isinstance(problems, str) else problems
        self.problems: tuple[str, ...] = tuple(_printable(problem) for problem in listed)
        super().__init__(self.problems)

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return self.problems[0]
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        return f"{len(self.problems)} problems {self.heading}:\n{lines}"


class SpecError(ProblemsError):
    """The release spec is wrong: a field, its kind, or a combination of fields."""

    exit_code = 2
    heading = "in the spec"


class DataError(ProblemsError):
    """The table does not fit the spec: a column, a type, nulls, a hierarchy's coverage."""

    exit_code = 3
    heading = "in the data"


class MachineError(ProblemsError):
    """Spark cannot run here: no Java, no such master, workers that lack what they need."""

    heading = "with this machine or cluster; `ppdp doctor` looks further"


class InfeasibleError(PpdpError):
    """No release can satisfy the criteria, or a check of one failed."""

    exit_code = 4


class BudgetError(PpdpError):
    """More rows would have to be suppressed than the budget allows."""

    exit_code = 5


class NotConvergedError(PpdpError):
    """A solver stopped before its tolerance: there is no result to use."""


class StorageError(PpdpError):
    """The output cannot be written: the disk is full, the place is read-only, or not a folder."""

    @classmethod
    def of(cls, place: object, error: OSError) -> StorageError:
        """A place that cannot be written, and the system's reason without its own text."""
        return cls(f"`output.path` ({place}) cannot be written: {reason_of(error)}")


class BusyError(PpdpError):
    """Another run works on the same output, or took it over. Nothing of that run was touched."""


class InternalError(PpdpError):
    """An invariant of the program broke. Nothing was published."""


def reason_of(error: OSError) -> str:
    """The system's reason without its own text; what our own stores say as they say it."""
    if type(error).__module__.startswith("ppdp_spark."):
        return str(error)
    return os.strerror(error.errno) if error.errno else type(error).__name__


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


CHANGED = "the input changed while it was being read; run again on a stable copy"
TWO_WAYS = "a group of the release is described in two ways, or its tables disagree about its size"
FORGED = "two groups have different keys and nearly the same name: the table was made to deceive"
TOO_MANY_PRIORS = (
    "an attribute set of `privacy.robustness.priors` has more combinations of values than a task can hold: "
    "name fewer attributes in it, or columns with fewer values"
)

MISPLACED = (
    "Spark did not send rows to the partitions that their keys name: an engine in the place of its own hashes"
    " keys in another way. Use Spark 4.1 or newer, or turn that engine off"
)

TOLD_BY_TASKS = (CHANGED, TWO_WAYS, FORGED, TOO_MANY_PRIORS)
"""Problems of the data that tasks find: Spark passes their text on, and the driver knows it again."""
