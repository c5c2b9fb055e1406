"""Every exception of ppdp-spark, and the exit code each one ends a command with."""

from __future__ import annotations

from collections.abc import Sequence


class PpdpError(Exception):
    """Base of all errors a user may see. The message never contains a value of a row."""

    exit_code = 1


class ProblemsError(PpdpError):
    """An error that lists every problem found, not the first one only."""

    heading = "found"

    def __init__(self, problems: Sequence[str] | str) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
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


class InfeasibleError(PpdpError):
    """No release can satisfy the criteria, or a check of one failed."""

    exit_code = 4


class BudgetError(PpdpError):
    """More rows would have to be suppressed than the budget allows."""

    exit_code = 5


class NotConvergedError(PpdpError):
    """A solver stopped before its tolerance: there is no result to use."""


class InternalError(PpdpError):
    """An invariant of the program broke. Nothing was published."""
