"""`attack`: what an adversary with background knowledge infers from a release [MaxEnt]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.maxent.statements.codes import question_of
from ppdp_spark.core.maxent.statements.kinds import Statement
from ppdp_spark.errors import DataError
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.commit.staging import write_findings
from ppdp_spark.run.commit.steady_reading import steadily
from ppdp_spark.run.inputs.released import Released
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.storage import PRIVATE, Folder
from ppdp_spark.run.summary import run_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.attacks.conclusions import KnowledgeStep, concluded, verdict_rows
from ppdp_spark.spark.attacks.learned_attack import learned_step, open_question
from ppdp_spark.spark.attacks.made_again import audited_program
from ppdp_spark.spark.input.given_tables import TableLike, source_of
from ppdp_spark.spark.maxent.attacked_release import Attacked, open_release
from ppdp_spark.spark.maxent.buckets import bucket_rows
from ppdp_spark.spark.maxent.posteriors import BINS
from ppdp_spark.spark.maxent.solvers import LOCAL_VARIABLES, Attacking, Known
from ppdp_spark.spark.maxent.stated_knowledge import Stated, Words, check_stated, mined, stated
from ppdp_spark.spark.maxent.survey import Survey, survey_buckets
from ppdp_spark.spec import AttackSpec, ReleaseSpec, SpecLike


@told_plainly
def attack(
    spec: SpecLike | Released,
    *,
    table: TableLike | None = None,
    spark: SparkSession | None = None,
    local_variables: int = LOCAL_VARIABLES,
) -> Run:
    """The posteriors of everyone under the spec's knowledge, and how they grow with mined rules.

    With `attack.audit` also what somebody concludes who knows the program that made the release.
    With `attack.threshold` the largest posterior of all steps decides the verdict. Touched buckets of
    up to `local_variables` variables are solved on the driver, more of them where they are; both give
    the same. With an `output.path` verdict, report and P*(s | q) are written below its `private/attack`.
    `spec` and `spark` are those of `anonymize`; `table` has the groups to attack, unless the spec names
    a release. In the place of a spec, the output folder of a run stands for its release.
    """
    released = Released.at(spec, "attack") if table is None else None
    if released is not None:
        spec = released.spec
    assert not isinstance(spec, Released)
    spec = ReleaseSpec.of(spec)
    spec.require_for("attack", table_given=table is not None)
    wanted, session = spec.attack or AttackSpec(), session_of(table, spark)
    if wanted.release is None:
        return _opened(spec, wanted, table, session, local_variables=local_variables)
    return steadily(
        Folder.at(wanted.release),
        lambda _: _opened(spec, wanted, table, session, local_variables=local_variables),
    )


def _opened(
    spec: ReleaseSpec,
    wanted: AttackSpec,
    table: TableLike | None,
    session: SparkSession,
    *,
    local_variables: int,
) -> Run:
    stages = Stages()
    with stages.stage("read"):
        release = open_release(spec, session, table)
    source = None if wanted.release is not None else source_of(spec, table)
    try:
        program = audited_program(wanted, session, stages)
        return _attacked(
            spec,
            wanted,
            release,
            program=program,
            stages=stages,
            local_variables=local_variables,
            source=source,
        )
    finally:
        release.close()


@dataclass(frozen=True, eq=False)
class _Plan:
    """All statements, and which of them each step uses."""

    statements: tuple[Statement, ...]
    steps: tuple[tuple[int, int, float], ...]
    stated: Stated
    positive: int
    negative: int

    def chosen(self, step: tuple[int, int, float]) -> list[int]:
        """Places of a step's statements: the stated ones, then those mined, curve by curve."""
        positive, negative, within = step
        curve = list(dict.fromkeys(step[2] for step in self.steps)).index(within)
        first = len(self.stated.statements) + curve * (self.positive + self.negative)
        second = first + self.positive
        return [
            *range(len(self.stated.statements)),
            *range(first, first + min(positive, self.positive)),
            *range(second, second + min(negative, self.negative)),
        ]


def _plan(wanted: AttackSpec, release: Attacked, words: Words) -> _Plan:
    found = stated(wanted, words)
    if wanted.mine is None:
        return _Plan(found.statements, ((0, 0, 0.0),), found, 0, 0)
    more, less = release.rules(wanted.mine)
    names, labels = list(words.kinds), words.labels
    statements = list(found.statements)
    for within in wanted.mine.within:
        statements += mined(more, names, labels, within) + mined(less, names, labels, within)
    return _Plan(tuple(statements), wanted.mine.steps, found, len(more), len(less))


def _attacked(
    spec: ReleaseSpec,
    wanted: AttackSpec,
    release: Attacked,
    *,
    program: Sequence[VerdictRow],
    stages: Stages,
    local_variables: int,
    source: str | None,
) -> Run:
    words = Words(release.source.attributes, release.source.labels)
    with stages.stage("knowledge"):
        plan = _plan(wanted, release, words)
        question = question_of(plan.statements, plan.stated.subjects, words.kinds, words.labels)
        if wanted.learn is not None:
            question = open_question(words.kinds, words.labels)
        rows = release.keep(bucket_rows(release.source, question))
        survey = survey_buckets(rows, question)
        if survey is None:
            raise DataError("the release has no groups: there is nothing to infer")
        check_stated(plan.stated, wanted, question, survey)
    people = _known(wanted, release, survey)
    attacking = Attacking(rows, question, survey.populations, people, local_variables)
    found = _steps(wanted, plan, release, attacking=attacking, survey=survey, stages=stages)
    learning = None
    if wanted.learn is not None:
        with stages.stage("learn"):
            learning = learned_step(wanted, release, attacking=attacking, survey=survey, found=found)
    release.warn_of_size(round(survey.people))
    protected = release.source.domain.protected
    told = verdict_rows(found, learning, wanted.threshold, survey=survey, protected=protected)
    if wanted.sensitive is not None:
        told = tuple(row.of_attribute(wanted.sensitive) for row in told)
    verdict = Verdict((*told, *program))
    with stages.stage("table"):
        if spec.output.path is not None:
            private = (Folder.at(spec.output.path) / PRIVATE).create(private=True)
            release.write(found[-1].posterior, private / "attack", people, spec.scratch)
    summary = {
        **run_facts("attack", spec.dataset, stages),
        "spec": spec.to_dict(),
        "warnings": [*spec.warnings, *release.warnings],
        **({} if source is None else {"input": {"source": source}}),
        "release": {"groups": survey.buckets},
        "attack": _findings(wanted, plan, release, survey=survey, found=found)
        | ({} if learning is None else {"learning": learning}),
    }
    return write_findings(spec, "attack", verdict, summary)


def _known(wanted: AttackSpec, release: Attacked, survey: Survey) -> tuple[Known, ...]:
    if wanted.people:
        release.require_certain()
    groups = release.groups([p.group for p in wanted.people if p.group is not None])
    pairs = iter(groups)
    return tuple(
        Known(p.name, next(iter(fits)), None if p.group is None else next(pairs))
        for p, fits in zip(wanted.people, survey.fits, strict=True)
    )


def _steps(
    wanted: AttackSpec,
    plan: _Plan,
    release: Attacked,
    *,
    attacking: Attacking,
    survey: Survey,
    stages: Stages,
) -> list[KnowledgeStep]:
    """Every step of the curve, as the spec orders them; mined rules on nobody in the release are left out."""
    found: list[KnowledgeStep] = []
    spoken_of = survey.populations[_starts(plan.statements)] > 0
    for number, step in enumerate(plan.steps, 1):
        with stages.stage(f"step {number}"):
            chosen = [i for i in plan.chosen(step) if i < len(plan.stated.statements) or spoken_of[i]]
            solved = attacking.solve(chosen)
            if found:
                found[-1].posterior.unpersist()
            facts = {
                **dict(zip(("positive", "negative", "within"), step, strict=True)),
                "statements": len(chosen),
                "kept_statements": solved.kept,
            }
            found.append(concluded(wanted, release, survey, solved, facts))
            solved.release()
    if not spoken_of[len(plan.stated.statements) :].all():
        release.warnings.append("some mined rules speak of people of whom the release has none: left out")
    return found


def _starts(statements: Sequence[Statement]) -> list[int]:
    """Place of each statement's first term."""
    starts, at = [], 0
    for statement in statements:
        starts.append(at)
        at += len(statement.terms)
    return starts


def _findings(
    wanted: AttackSpec, plan: _Plan, release: Attacked, *, survey: Survey, found: Sequence[KnowledgeStep]
) -> dict[str, Any]:
    """What the report reads."""
    mine, last = wanted.mine, found[-1]
    return {
        "source": {
            "kind": release.source.kind,
            "buckets": survey.buckets,
            "people": round(survey.people),
            "tuples": release.tuples(),
            "values": len(release.source.values),
            "variables": survey.variables,
            "touched_buckets": last.touched,
        },
        "knowledge": {
            "stated": [str(statement) for statement in plan.stated.statements],
            "mined": {
                "positive": plan.positive,
                "negative": plan.negative,
                "attributes": [] if mine is None else list(mine.attributes),
                "support": 0 if mine is None else mine.support,
            },
        },
        "steps": [step.facts for step in found],
        "histogram": [
            {"from": i / BINS, "to": (i + 1) / BINS, "people": round(people)}
            for i, people in enumerate(last.scores.histogram)
        ],
        "worst": list(last.worst),
        "threshold": wanted.threshold,
    }
