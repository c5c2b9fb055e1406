"""The attack of somebody who knows nothing but the release and learns from it [Kifer 2009], on Spark."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame

from ppdp_spark.core.attacks.attribute_codes import NameClasses
from ppdp_spark.core.attacks.learning import Learned, learned
from ppdp_spark.core.maxent.statements.codes import Question
from ppdp_spark.spark.attacks.calibration import calibration
from ppdp_spark.spark.attacks.coded_attributes import coded_attributes
from ppdp_spark.spark.attacks.conclusions import KnowledgeStep, concluded
from ppdp_spark.spark.attacks.learned_chunks import CodeGroups, LearnedChunks
from ppdp_spark.spark.maxent.attacked_release import Attacked
from ppdp_spark.spark.maxent.solvers import Attacking, Solved
from ppdp_spark.spark.maxent.survey import Survey
from ppdp_spark.spec import AttackSpec

HALF = 0.5
"""The confidence that people are counted at where the spec has no threshold."""


@dataclass(frozen=True, eq=False)
class LearnedAttack:
    """What was learned from a release.

    where
        found    the model and how learning went
        chunks   the groups it was learned from, kept in memory
        classes  classes of each quasi-identifier
        seconds  that learning took
    """

    found: Learned
    chunks: LearnedChunks
    classes: tuple[int, ...]
    seconds: float

    def masses(self) -> DataFrame:
        """Expected records of everybody."""
        return self.chunks.masses(self.found.model)

    def facts(self) -> dict[str, Any]:
        """As of a solver: rounds of learning as iterations, and the last gain in nats per person as gap."""
        return {
            "form": "learned",
            "iterations": self.found.rounds,
            "residual": self.found.residual,
            "gap": self.found.gain,
            "converged": self.found.converged,
            "seconds": round(self.seconds, 3),
        }


def open_question(kinds: Mapping[str, str], labels: Sequence[str]) -> Question:
    """All quasi-identifiers are asked for, and nothing is stated of them."""
    nothing = tuple(() for _ in kinds)
    return Question(tuple(kinds), tuple(kinds.values()), nothing, (), (), tuple(labels))


def learn(rows: DataFrame, question: Question, survey: Survey) -> LearnedAttack:
    """Learn who has what from bucket `rows`, which have every quasi-identifier of the open `question`."""
    began = time.perf_counter()
    attributes = coded_attributes(rows, question.kinds, len(question.values))
    named = tuple(codes.names if isinstance(codes, NameClasses) else () for codes in attributes)
    chunks = LearnedChunks(rows, CodeGroups(replace(question, mentioned=named), attributes), survey.variables)
    sizes = tuple(codes.size for codes in attributes)
    found = learned(chunks.evidence, sizes, len(question.values), survey.people)
    return LearnedAttack(found, chunks, sizes, time.perf_counter() - began)


def learned_step(
    wanted: AttackSpec,
    release: Attacked,
    *,
    attacking: Attacking,
    survey: Survey,
    found: list[KnowledgeStep],
) -> dict[str, Any]:
    """Adds a step to `found`, which has the shares of the groups: what is learned from all of them together.

    Returns how often both are right.
    """
    learned = learn(attacking.rows, attacking.question, survey)
    nothing = {"positive": 0, "negative": 0, "within": 0.0, "statements": 0, "kept_statements": 0}
    solved = Solved(learned.masses(), 0, survey.buckets, learned.facts())
    found.append(concluded(wanted, release, survey, solved, nothing))
    learned.chunks.release()
    if not learned.found.converged:
        release.warnings.append(
            f"learning ended after {learned.found.rounds} rounds, before it had settled: somebody who goes "
            "on may conclude a little more"
        )
    truth, confidence = release.truth(round(survey.people)), wanted.threshold or HALF
    by_share, by_model = (calibration(step.posterior, truth, confidence=confidence) for step in found)
    found[0].posterior.unpersist()
    return {
        "model": wanted.learn,
        "classes": sum(learned.classes),
        "confidence": confidence,
        "shares": by_share.to_dict(),
        "learned": by_model.to_dict(),
    }
