"""What an attack concludes after each step, and the verdict on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.protected_values import Mask, counted, told
from ppdp_spark.spark.maxent.attacked_release import Attacked
from ppdp_spark.spark.maxent.posteriors import Scores, distance, posterior_rows, scores, worst_linkages
from ppdp_spark.spark.maxent.solvers import Solved
from ppdp_spark.spark.maxent.survey import Survey
from ppdp_spark.spec import AttackSpec

SOLVED = 1e-7
"""How far a solved posterior may be from the exact one: thresholds are compared on the unsafe side."""

KNOWN = ("max_posterior", "largest P*(value | quasi-identifiers)")
LEARNED = ("learned_posterior", "largest P*(value | quasi-identifiers), learned from the release")
"""Criterion and level of the row on the largest posterior."""


@dataclass(frozen=True, eq=False)
class KnowledgeStep:
    """One step of the curve."""

    facts: dict[str, Any]
    posterior: DataFrame
    scores: Scores
    worst: Sequence[dict[str, Any]]
    touched: int


def concluded(
    wanted: AttackSpec, release: Attacked, survey: Survey, solved: Solved, facts: dict[str, Any]
) -> KnowledgeStep:
    """What is believed of everybody after a step, in numbers."""
    posterior = release.keep(posterior_rows(solved.masses))
    protected = release.source.domain.protected
    score = scores(posterior, limit=_limit(wanted.threshold, solved.facts["form"]), protected=protected)
    truth = release.truth(round(survey.people))
    told = {
        **facts,
        "max_posterior": score.highest,
        "mean_posterior": score.mean,
        "certain_people": round(score.certain),
        "accuracy": None if truth is None else distance(truth, posterior),
        "solver": solved.facts,
    }
    worst = worst_linkages(posterior, release.source.labels, protected)
    return KnowledgeStep(told, posterior, score, worst, solved.touched)


def _limit(threshold: float | None, form: str) -> float:
    """What posteriors must not be above: a solved one counts as large as it may be."""
    if threshold is None or threshold >= 1.0:
        return 1.0
    return threshold if form == "closed" else threshold - SOLVED


def verdict_rows(
    found: Sequence[KnowledgeStep],
    learning: Mapping[str, Any] | None,
    threshold: float | None,
    *,
    survey: Survey,
    protected: Mask | None = None,
) -> tuple[VerdictRow, ...]:
    """The verdict on all steps, and on what was learned if anything was."""
    words = KNOWN if learning is None else LEARNED
    row = about_some(verdict_row(found, threshold, groups=survey.buckets, words=words), protected)
    if learning is None:
        return (row,)
    return (
        row,
        confident_people(learning, groups=survey.buckets, people=survey.people),
    )


def verdict_row(
    found: Sequence[KnowledgeStep],
    threshold: float | None,
    *,
    groups: int,
    words: tuple[str, str] = KNOWN,
) -> VerdictRow:
    """The verdict on all steps: the largest posterior of any, and people beyond the limit where most are."""
    worst = max(found, key=lambda step: (step.scores.highest, step.scores.beyond))
    witness = {key: worst.worst[0][key] for key in ("group", "value", "people")} if worst.worst else {}
    demanded = threshold is not None
    beyond = max(step.scores.beyond for step in found) if demanded else 0
    return VerdictRow(
        criterion=words[0],
        level=words[1],
        value=worst.scores.highest,
        threshold=threshold,
        relation="<=",
        groups=groups,
        violations=beyond,
        status="fail" if beyond else "pass" if demanded else "measured",
        witness=witness,
    )


def about_some(row: VerdictRow, protected: Mask | None) -> VerdictRow:
    """The row, saying how many values it is about, if not all need protection."""
    if protected is None:
        return row
    level = f"{row.level}, {told(protected)}"
    return replace(row, level=level, parameters={**row.parameters, **counted(protected)})


def confident_people(learning: Mapping[str, Any], *, groups: int, people: float) -> VerdictRow:
    """For how many people somebody who learned is more confident than asked, and how often that is right.

    It counts guesses at any value, also at one that needs no protection.
    """
    confidence, learned = learning["confidence"], learning["learned"]
    witness = {
        "people": learned["beyond"],
        "right": learned["right"],
        "people by group shares alone": learning["shares"]["beyond"],
    }
    return VerdictRow(
        criterion="learned_people",
        level=f"share of people with a value that is more than {confidence:g} likely",
        value=learned["beyond"] / people,
        threshold=None,
        relation="<=",
        groups=groups,
        violations=0,
        status="measured",
        witness={key: value for key, value in witness.items() if value is not None},
        parameters={"confidence": confidence},
    )
