"""Why a release is not made: the rows of its verdict, and the error that says what to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.partition.least_size import LeastSize
from ppdp_spark.errors import BudgetError, InfeasibleError, PpdpError
from ppdp_spark.spec import ReleaseSpec

LISTED_FAILURES = 5

TOO_FREQUENT = "; a sensitive value is too frequent: set `suppression: {method: r, l: ...}`"
"""Advice where people cannot be placed."""

LINKED = (
    "; rows that keep sensitive values together tell whoever knows one of them about the others: remove "
    "`columns.sensitive_linked`, or declare fewer of them as `known`"
)
"""Advice where several attributes are linked."""

NOT_FOUND = "no release was found; with several values per person that does not prove that there is none"


@dataclass(frozen=True)
class Refusal:
    """Nothing is published, because of these rows."""

    rows: tuple[VerdictRow, ...]
    error: PpdpError


def infeasible(rows: Sequence[VerdictRow], case: str, advice: str = "") -> Refusal | None:
    """The refusal of a table that fails as one group, by the rows of the verdict on it.

    Partitioning starts from the undivided table; where it fails, there is no way to begin. With one value a
    person it is also the safest release there is. With sets of values (`case`) it need not be: a union of
    groups that are safe from a skyline may not be, so a safe release may exist that was not looked for.
    """
    failing = [row for row in rows if not row.ok]
    if not failing:
        return None
    follows = "so nothing can be published" if case == "svpi" else "and groups are cut from it"
    reason = f"the whole table as one group already fails, {follows}: {_shortfalls(failing)}"
    unproven = "" if case == "svpi" else f"; {NOT_FOUND}"
    return Refusal(tuple(rows), InfeasibleError(f"{reason}{unproven}{advice}"))


def nobody(people: int) -> Refusal | None:
    """The refusal of a release of no people."""
    if people:
        return None
    row = VerdictRow("people", "at least 1 is published", 0.0, 1.0, ">=", 0, 1, "fail")
    return Refusal((row,), InfeasibleError("every row would be suppressed: there is nothing to publish"))


def blindly(rows: Sequence[VerdictRow], least: LeastSize | None) -> Refusal | None:
    """The refusal of blind groups of which one fails a criterion: nothing is mended, nothing tried again."""
    failing = [row for row in rows if not row.ok]
    if least is None or not failing:
        return None
    return Refusal(
        tuple(rows),
        InfeasibleError(
            f"the blind groups of at least {least.size:,} people ({least.chosen}) do not satisfy every "
            f"criterion, so nothing is published: {_shortfalls(failing)}. Refusing tells whoever hears of it "
            "only that a group fails. Another try with a larger `least_size` may succeed, and tells whoever "
            "knows the program that this one failed, which no guarantee covers: choose a `least_size` with "
            "room to spare, once (`ppdp plan` shows the chance of each without a look at who has which value)"
        ),
    )


def too_sure(rows: Sequence[VerdictRow]) -> Refusal | None:
    """The refusal of groups that tell too much to a reader who knows how they were made."""
    failing = [row for row in rows if not row.ok]
    if not failing:
        return None
    row = failing[0]
    return Refusal(
        tuple(rows),
        InfeasibleError(
            f"a reader who knows the program may learn more than `audit.at_most` ({row.threshold:g}) allows "
            f"in {row.violations:,} of {row.groups:,} groups, those without an answer among them, so nothing "
            "is published: use `partitioner: blind`, which tells such a reader nothing, or ask more of groups"
        ),
    )


def composing(rows: Sequence[VerdictRow]) -> Refusal | None:
    """The refusal of a release that tells too much to whoever holds earlier ones of the same dataset."""
    failing = [row for row in rows if not row.ok]
    if not failing:
        return None
    return Refusal(
        tuple(rows),
        InfeasibleError(
            "together with earlier releases of this dataset this one tells more than it may, so nothing "
            f"is published: {_shortfalls(failing)}. Publish it with the earlier groups or coarser ones; "
            "where its people are others, or nobody may hold both, declare `composition: {earlier: accept}`. "
            "`ppdp compose` shows where"
        ),
    )


def unread(reasons: Sequence[tuple[str, str]]) -> Refusal | None:
    """The refusal of a release that was to be judged together with earlier ones that cannot be."""
    if not reasons:
        return None
    row = VerdictRow(
        "composition_unread", "every earlier release is looked at", float(len(reasons)), 0.0, "<=", 0,
        len(reasons), "fail",
    )  # fmt: skip
    told = "; ".join(f"{place}: {reason}" for place, reason in reasons[:LISTED_FAILURES])
    return Refusal(
        (row,),
        InfeasibleError(
            f"{len(reasons):,} earlier releases of this dataset cannot be looked at, which "
            f"`composition.earlier` (require) asks for: {told}. Put them back, or use `earlier: audit`"
        ),
    )


def over_budget(spec: ReleaseSpec, *, unplaced: int, suppressed: int, people: int) -> Refusal | None:
    """The refusal of a release that too many people are left out of.

    where
        unplaced    how many find no place in a group
        suppressed  how many were left out before
        people      how many there are
    """
    share, budget = (suppressed + unplaced) / max(1, people), spec.suppression.budget
    if share <= budget:
        return None
    level, witness = f"partitioner {spec.partitioner}, people without a place", {"people": unplaced}
    row = VerdictRow("suppression_budget", level, share, budget, "<=", 0, 1, "fail", witness)
    error = BudgetError(
        f"{unplaced:,} people find no group that satisfies the criteria; with them {share:.2%} of the "
        f"rows would be suppressed, more than `suppression.budget` ({budget:.2%}): ask for less, use "
        "coarser attribute sets, or raise the budget"
    )
    return Refusal((row,), error)


def _shortfalls(failing: Sequence[VerdictRow]) -> str:
    """The first few rows that fail, and how many more do."""
    reasons = "; ".join(_shortfall(row) for row in failing[:LISTED_FAILURES])
    more = f" (and {len(failing) - LISTED_FAILURES} more)" if len(failing) > LISTED_FAILURES else ""
    return f"{reasons}{more}"


def _shortfall(row: VerdictRow) -> str:
    found = "no value" if row.value is None else f"{row.value:.6g}"
    return f"{row.criterion} {found}, needed {row.relation} {row.threshold:.6g} ({row.level})"
