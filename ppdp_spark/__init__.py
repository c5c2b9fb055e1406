"""Publish personal data with guarantees against adversaries who know things.

    from ppdp_spark import anonymize

    run = anonymize("spec.yaml", table=people)  # people: a Spark or pandas DataFrame
    run.release.show()

The commands, as functions of a spec and of a table, which may also be the input that the spec names:

    anonymize    publish a table as the spec says, verified from the written files, or publish nothing
    check        what any table of groups achieves, whoever made it
    eligibility  whether any release of a table can meet the spec
    discover     which columns single people out, before there is a spec; proposes one
    plan         what blind groups would come to, from public facts, before they are made
    explore      how much an adversary may know before a sensitive value is breached
    suppress     restore eligibility of skewed data; what is kept stays private
    attack       what an adversary with background knowledge infers from a release
    compose      what somebody infers who holds several releases about the same people
    verify       the verdict of a release, derived again from its files alone
    compare      several runs side by side
    sweep        variants of one release in a row
    render       the report of a run as one HTML page

A spec is a mapping, the path of a YAML file, or built from its parts:

    ReleaseSpec  the whole; `ReleaseSpec.load("spec.yaml")`, `ReleaseSpec.parse({...})`
    ColumnsSpec  what each column is for
    PrivacySpec  the criteria, every one of which must hold
    OutputSpec   where the release goes, and its form
    InputSpec    the table to read, where none is given

The other parts, such as `LDiversitySpec` and `SkylineSpec`, are in `ppdp_spark.spec`.

What the commands return:

    Run          `.ok`, `.verdict`, `.release`, `.metrics`, `.summary`, `.paths`
    Verdict      `.ok`, `.rows`, `.failures`, `.to_pandas()`
    VerdictRow   criterion, level, value, threshold, relation, groups, violations, status, witness
    Metrics      sizes of groups, information lost, query errors
    Comparison   what `compare` returns
    Discovery    what `discover` returns: `.sets`, `.columns`, `.spec`
    Sweep        what `sweep` returns

Errors, each with the exit code of the command line: PpdpError and below it SpecError, DataError,
InfeasibleError, BudgetError, BusyError, StorageError, NotConvergedError, InternalError.

Commands run on the Spark session of the table, the one passed as `spark=`, or the active one; none of
them starts one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ppdp_spark.commands import (
        anonymize,
        attack,
        check,
        compose,
        discover,
        eligibility,
        explore,
        plan,
        suppress,
        verify,
    )
    from ppdp_spark.commands.compare import compare
    from ppdp_spark.commands.sweep import sweep
    from ppdp_spark.core.criteria.base import VerdictRow
    from ppdp_spark.core.utility.metrics import Metrics
    from ppdp_spark.errors import (
        BudgetError,
        BusyError,
        DataError,
        InfeasibleError,
        InternalError,
        NotConvergedError,
        PpdpError,
        SpecError,
        StorageError,
    )
    from ppdp_spark.report import render
    from ppdp_spark.run.discovery import Discovery
    from ppdp_spark.run.results import Comparison, Run, Sweep, Verdict
    from ppdp_spark.spec import ColumnsSpec, InputSpec, OutputSpec, PrivacySpec, ReleaseSpec

    __version__: str

_ERRORS = (
    "BudgetError", "BusyError", "DataError", "InfeasibleError", "InternalError", "NotConvergedError",
    "PpdpError", "SpecError", "StorageError",
)  # fmt: skip
_HOME = {
    **dict.fromkeys(
        (
            "anonymize",
            "attack",
            "check",
            "compose",
            "discover",
            "eligibility",
            "explore",
            "plan",
            "suppress",
            "verify",
        ),
        "commands",
    ),
    "compare": "commands.compare",
    "sweep": "commands.sweep",
    **dict.fromkeys(("Comparison", "Run", "Sweep", "Verdict"), "run.results"),
    "Discovery": "run.discovery",
    "VerdictRow": "core.criteria.base",
    **dict.fromkeys(("ColumnsSpec", "InputSpec", "OutputSpec", "PrivacySpec", "ReleaseSpec"), "spec"),
    "Metrics": "core.utility.metrics",
    "render": "report",
    **dict.fromkeys(_ERRORS, "errors"),
}
"""Where each public name lives."""

__all__ = [
    "BudgetError",
    "BusyError",
    "ColumnsSpec",
    "Comparison",
    "DataError",
    "Discovery",
    "InfeasibleError",
    "InputSpec",
    "InternalError",
    "Metrics",
    "NotConvergedError",
    "OutputSpec",
    "PpdpError",
    "PrivacySpec",
    "ReleaseSpec",
    "Run",
    "SpecError",
    "StorageError",
    "Sweep",
    "Verdict",
    "VerdictRow",
    "__version__",
    "anonymize",
    "attack",
    "check",
    "compare",
    "compose",
    "discover",
    "eligibility",
    "explore",
    "plan",
    "render",
    "suppress",
    "sweep",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Names are looked up when used, so that `ppdp --help` does not load Spark."""
    if name == "__version__":
        from importlib.metadata import version

        return version("ppdp-spark")
    if name in _HOME:
        return getattr(import_module(f"ppdp_spark.{_HOME[name]}"), name)
    raise AttributeError(f"module 'ppdp_spark' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
