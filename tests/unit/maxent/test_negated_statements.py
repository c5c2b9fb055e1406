"""P(s | Q ∧ ¬Q'): against rows found person by person, and a conic solver on those."""

from __future__ import annotations

import numpy as np
import pytest

from ppdp_spark.core.maxent import (
    Between,
    Vocabulary,
    buckets_from_rows,
    compiled,
    maximum_entropy,
    probability,
    system,
    term,
    with_people,
)
from ppdp_spark.core.maxent.statements.codes import question_of
from support.core.maxent_reference import conic, labels, random_release, true_masses

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")

NAMES = ("job", "age")


def meets(conditions, person) -> bool:
    """Whether somebody meets every one of these conditions."""
    for name, condition in conditions:
        value = person[NAMES.index(name)]
        if isinstance(condition, Between):
            inside = value is not None and (condition.low or 0) <= value <= (condition.high or 99)
        else:
            inside = value in condition
        if not inside:
            return False
    return True


def told(rng, people, *, values):
    """A term on some of the people, those who meet all of some other conditions left out."""
    sides = []
    for _ in range(2):
        wanted = {}
        if rng.random() < 0.7:
            wanted["job"] = [str(job) for job in rng.choice([p[0] for p in people], rng.integers(1, 3))]
        if rng.random() < 0.6:
            wanted["age"] = Between(float(rng.integers(0, 4)), float(rng.integers(4, 9)))
        sides.append(wanted)
    chosen = [f"s{value}" for value in rng.choice(values, rng.integers(1, 3))]
    return term(chosen, sides[0], unless=sides[1] or {"job": people[0][0]})


@pytest.mark.parametrize("seed", range(25))
def test_negated_statements_are_rows_on_those_people_alone(seed):
    rng = np.random.default_rng(seed)
    bucket, qi, sensitive = random_release(rng)
    people = [
        (rng.choice(["a", "b", "c"]), None if rng.random() < 0.2 else float(rng.integers(0, 9)))
        for _ in range(6)
    ]
    buckets = buckets_from_rows(bucket, qi, sensitive)
    truth = true_masses(buckets, bucket, qi, sensitive)
    ages = np.array([np.nan if age is None else age for _, age in people])
    vocabulary = Vocabulary(
        {"job": np.array([job for job, _ in people], dtype=object), "age": ages}, [f"s{i}" for i in range(5)]
    )
    _, of_tuple, of_value = labels(buckets)
    statements, rows, right = [], [], []
    for subject in (told(rng, people, values=5) for _ in range(4)):
        spoken = [meets(subject.where, person) and not meets(subject.unless, person) for person in people]
        number = sum(spoken[q] for q in qi)
        if not number:
            continue
        row = np.array(
            [spoken[q] and f"s{v}" in subject.values for q, v in zip(of_tuple, of_value, strict=True)]
        )
        statements.append(probability(subject, "=", float(row @ truth) / number))
        rows.append(row / number)
        right.append(float(row @ truth) / number)
    if not rows:
        pytest.skip("nobody is spoken of")
    named = with_people(buckets, ())
    knowledge = system(np.array(rows), ["="] * len(rows), right)
    made = compiled(statements, named, vocabulary)
    assert made.matrix.toarray() == pytest.approx(knowledge.matrix.toarray(), abs=1e-15)
    assert made.rhs == pytest.approx(knowledge.rhs, abs=1e-15)
    solution = maximum_entropy(buckets, made)
    assert solution.x == pytest.approx(conic(buckets, knowledge), abs=1e-5)


def test_codes_for_tasks_keep_what_is_negated():
    subject = term("s1", {"job": "a"}, unless={"job": ["b", "c"], "age": Between(1, 2)})
    question = question_of([probability(subject, "=", 0.5)], [], {"job": "text", "age": "number"}, ["s1"])
    ((_, coded),) = question.statements[0].terms
    assert question.mentioned == (("a", "b", "c"), ())
    assert coded.where == (("0", frozenset([0])),)
    assert coded.unless == (("1~", Between(1, 2)), ("0", frozenset([1, 2])))
    assert str(subject) == "P(s1 | job in {a} and not (age in [1, 2], job in {b, c}))"
