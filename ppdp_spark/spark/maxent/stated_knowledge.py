"""From the knowledge of a spec to statements on a release, every one checked against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppdp_spark.core.maxent.rules import Rule
from ppdp_spark.core.maxent.statements.codes import NUMBER, Question
from ppdp_spark.core.maxent.statements.kinds import (
    Between,
    Condition,
    Statement,
    Term,
    comparison,
)
from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.spark.maxent.survey import Survey
from ppdp_spark.spec import AttackSpec, KnowledgeSpec, SubjectSpec


@dataclass(frozen=True)
class Words:
    """What a spec may speak of.

    where
        kinds   quasi-identifier -> `number` or `text`
        labels  sensitive values
    """

    kinds: Mapping[str, str]
    labels: tuple[str, ...]

    def where(self, given: Mapping[str, Any], problems: list[str]) -> tuple[tuple[str, Condition], ...]:
        """Conditions on quasi-identifiers; what is wrong with them goes to `problems`."""
        found: list[tuple[str, Condition]] = []
        for name, condition in given.items():
            if name not in self.kinds:
                there = ", ".join(f"`{known}`" for known in self.kinds)
                problems.append(f"speaks of `{name}`, which is no quasi-identifier of the release: {there}")
            elif isinstance(condition, Mapping):
                if self.kinds[name] == NUMBER:
                    found.append((name, Between(condition.get("from"), condition.get("to"))))
                else:
                    problems.append(f"gives a range of `{name}`, which holds no numbers: list its values")
            else:
                values = condition if isinstance(condition, list | tuple) else [condition]
                found.append((name, frozenset(self._value(name, each, problems) for each in values)))
        return tuple(sorted(found, key=lambda pair: pair[0]))

    def _value(self, name: str, value: Any, problems: list[str]) -> Any:
        if self.kinds[name] == NUMBER:
            if isinstance(value, bool | str):
                problems.append(f"compares `{name}`, which holds numbers, with something else")
                return 0.0
            return float(value)
        return text_of(value)

    def values(self, told: KnowledgeSpec | SubjectSpec, problems: list[str]) -> frozenset[str]:
        """The sensitive values of a statement, as the release writes them."""
        asked = told.values if told.values is not None else (told.value,)
        found = [self._label(value) for value in asked]
        unknown = [text_of(value) for value, label in zip(asked, found, strict=True) if label is None]
        if unknown:
            names = ", ".join(f"`{name}`" for name in unknown)
            problems.append(f"speaks of {names}, which no group of the release holds")
        return frozenset(label for label in found if label is not None)

    def _label(self, value: Any) -> str | None:
        if text_of(value) in self.labels:
            return text_of(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return next((label for label in self.labels if _number(label) == value), None)
        return None


def text_of(value: Any) -> str:
    """A scalar of a spec as tables write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class Stated:
    """The statements of a spec and the people they name.

    where
        statements  in the order of the spec, those with problems left out
        numbers     the place of each in `attack.knowledge`
        subjects    whom each named person's quasi-identifiers fit
        problems    what is wrong already, without a look at the release
    """

    statements: tuple[Statement, ...]
    numbers: tuple[int, ...]
    subjects: tuple[Term, ...]
    problems: tuple[str, ...]


def stated(attack: AttackSpec, words: Words) -> Stated:
    """What the spec says, in the words of the release."""
    found, numbers, problems, subjects = [], [], [], []
    for i, told in enumerate(attack.knowledge):
        wrong: list[str] = []
        statement = _statement(told, words, i, wrong)
        problems += [f"`attack.knowledge.{i}` {problem}" for problem in wrong]
        if not wrong:
            found.append(statement)
            numbers.append(i)
    for i, person in enumerate(attack.people):
        wrong = []
        subjects.append(Term(frozenset(words.labels), words.where(person.where, wrong)))
        problems += [f"`attack.people.{i}` {problem}" for problem in wrong]
    return Stated(tuple(found), tuple(numbers), tuple(subjects), tuple(problems))


def _statement(told: KnowledgeSpec, words: Words, number: int, problems: list[str]) -> Statement:
    if told.more is not None and told.than is not None:
        sides = [_term(side, words, problems) for side in (told.more, told.than)]
        made = comparison(sides[0], ">=", sides[1])
    else:
        subject = _term(told, words, problems)
        relation, bound, within = _bounds(told)
        counted = subject.people != () and told.probability is None
        made = Statement(((1.0, subject),), relation, bound, within=within, counted=counted)
    return Statement(
        made.terms,
        made.relation,
        made.bound,
        within=made.within,
        counted=made.counted,
        name=f"knowledge {number}: {made}",
    )


def _term(told: KnowledgeSpec | SubjectSpec, words: Words, problems: list[str]) -> Term:
    people = (told.people or ()) if isinstance(told, KnowledgeSpec) else ()
    where, unless = (words.where(conditions, problems) for conditions in (told.given, told.unless))
    return Term(words.values(told, problems), where, tuple(people), unless)


def _bounds(told: KnowledgeSpec) -> tuple[str, float, float]:
    """Relation, right side and ε."""
    if told.probability is not None:
        return "=", told.probability, told.within or 0.0
    if told.exactly is not None:
        return "=", told.exactly, 0.0
    if told.at_least is not None and told.at_most is not None:
        middle = (told.at_least + told.at_most) / 2
        return "=", middle, told.at_most - middle
    if told.at_least is not None:
        return ">=", told.at_least, 0.0
    assert told.at_most is not None
    return "<=", told.at_most, 0.0


def mined(
    rules: Sequence[Rule], names: Sequence[str], labels: Sequence[str], within: float
) -> list[Statement]:
    """Rules as statements; their names do not show whom they speak of."""
    made = []
    for number, rule in enumerate(rules, 1):
        codes = list(zip(rule.attributes, rule.codes, strict=True))
        where, unless = (
            tuple(
                sorted((names[j], frozenset([code])) for j, code in codes if (j == rule.negated) == negated)
            )
            for negated in (False, True)
        )
        subject = Term(frozenset([labels[rule.value]]), where, unless=unless)
        side = "positive" if rule.positive else "negative"
        but = "" if rule.negated is None else ", one of them negated"
        name = f"mined {side} rule {number} (on {len(rule.attributes)} quasi-identifiers{but})"
        made.append(Statement(((1.0, subject),), "=", rule.share, within=within, name=name))
    return made


def check_stated(found: Stated, attack: AttackSpec, question: Question, survey: Survey) -> None:
    """One error with everything in the spec that does not fit the release.

    The first statements of the question are those of the spec.
    """
    unknown = [*found.problems, *_absent(found, question, survey), *_people(attack, found, survey)]
    nobody = list(_empty(found, survey))
    if unknown:
        raise SpecError([*unknown, *nobody])
    if nobody:
        raise DataError(nobody)


def _absent(found: Stated, question: Question, survey: Survey) -> Iterator[str]:
    """Values of quasi-identifiers that nobody in the release has."""
    places = {name: j for j, name in enumerate(question.attributes)}
    for statement, number in zip(found.statements, found.numbers, strict=True):
        conditions = [pair for _, t in statement.terms for pair in t.conditions]
        for name, condition in conditions:
            if isinstance(condition, Between):
                continue
            j = places[name]
            if any(survey.mentioned[j][question.mentioned[j].index(value)] == 0 for value in condition):
                yield f"`attack.knowledge.{number}` names a value of `{name}` that nobody in the release has"


def _people(attack: AttackSpec, found: Stated, survey: Survey) -> Iterator[str]:
    for i, (person, fits) in enumerate(zip(attack.people, survey.fits, strict=True)):
        if any(problem.startswith(f"`attack.people.{i}`") for problem in found.problems):
            continue
        if not fits:
            yield f"`attack.people.{i}` ({person.name}): nobody in the release has these quasi-identifiers"
        elif len(fits) > 1:
            yield (
                f"`attack.people.{i}` ({person.name}) fits several combinations of quasi-identifiers: "
                "add attributes to `where`"
            )


def _empty(found: Stated, survey: Survey) -> Iterator[str]:
    """Terms that nobody matches."""
    at = 0
    for statement, number in zip(found.statements, found.numbers, strict=True):
        for _, t in statement.terms:
            if not t.people and survey.populations[at] <= 0:
                yield f"`attack.knowledge.{number}` speaks of people of whom the release has none"
            at += 1
