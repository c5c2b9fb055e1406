"""One trial: what the program published, beside what the oracle finds in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.errors import BudgetError, DataError, InfeasibleError, SpecError

from .conserving import conserved, taking_part
from .criteria import Finding, findings
from .reading import Group, Objection, read_release
from .tables import Trial

REFUSED = (SpecError, DataError, InfeasibleError, BudgetError)


def judge(spark: Any, trial: Trial, folder: Path) -> str:
    """Run a trial; `passed` or the kind of refusal. Objects to a wrong release, verdict or refusal."""
    folder.mkdir(parents=True)
    try:
        spec = ReleaseSpec.parse(trial.spec(folder))
        run = anonymize(spec, table=spark.createDataFrame(trial.table))
    except REFUSED as error:
        if isinstance(error, InfeasibleError):
            rightly_refused(trial)
        elif isinstance(error, SpecError) and trial.document.get("nulls") != "suppress":
            # With nulls suppressed, a value that the spec names may be on no row that takes part.
            raise Objection(f"the spec is refused: {error}") from error
        return type(error).__name__
    if not run.ok:
        raise Objection("a release was published although its verdict fails")
    groups = examine(folder / "out", trial)
    agree(findings(groups, trial.document), run.verdict.rows)
    return "passed"


def examine(out: Path, trial: Trial) -> list[Group]:
    """Object to published files that lose people or break a criterion; the groups otherwise."""
    groups = read_release(out, trial.document)
    conserved(groups, taking_part(trial.lists, trial.document))
    broken = [found for found in findings(groups, trial.document) if not found.holds]
    if broken:
        raise Objection(f"published, but broken: {broken}")
    return groups


def agree(found: Sequence[Finding], rows: Sequence[Any]) -> None:
    """Object to a verdict that has not exactly the rows and values that the oracle finds."""
    told = [(row.criterion, row.level, row.value) for row in rows if row.criterion in {*NAMES}]
    wanted = [(one.criterion, one.level) for one in found]
    if sorted(wanted) != sorted(row[:2] for row in told):
        raise Objection(f"the verdict has rows {sorted(told)}, the oracle {sorted(wanted)}")
    left = list(told)
    for one in found:
        fitting = [row for row in left if row[:2] == (one.criterion, one.level) and _close(one, row[2])]
        if not fitting:
            raise Objection(f"the verdict says {told}, the oracle {one}")
        left.remove(fitting[0])


NAMES = (
    "k_anonymity", "alpha_k_anonymity", "distinct_l_diversity", "entropy_l_diversity",
    "recursive_l_diversity",
    "t_closeness", "basic_beta_likeness", "enhanced_beta_likeness", "delta_disclosure", "skyline",
)  # fmt: skip


def _close(one: Finding, told: float) -> bool:
    if one.bound:
        return one.value <= told + 1e-9
    return one.value == told or math.isclose(one.value, told, rel_tol=1e-9, abs_tol=1e-9)


def one_group(trial: Trial) -> list[Group]:
    """The coarsest release: everybody in one group, of whom nothing is said."""
    rows = taking_part(trial.lists, trial.document)
    records = tuple(row[-1] for row in rows)
    counts: dict[Any, int] = {}
    for value in (value for record in records for value in record):
        counts[value] = counts.get(value, 0) + 1
    bucketized = trial.document["output"]["form"] == "bucketized"
    return [Group(((),) * len(rows), None if bucketized else records, counts)]


def alone(group: Group) -> list[Group]:
    """Everybody in a group of their own."""
    return [Group(((),), ((value,),), {value: 1}) for value in group.occurrences]


def rightly_refused(trial: Trial) -> None:
    """Object to a refusal where one group of everybody would do; a release must promise something."""
    group = one_group(trial)
    if group[0].size == 0:
        return
    found = findings(group, trial.document)
    if all(one.holds for one in findings(alone(group[0]), trial.document)):
        return  # everybody may be shown alone: such a release promises nothing
    if all(one.holds and not one.bound for one in found):
        raise Objection(f"refused, though one group of everybody would do: {found}")
