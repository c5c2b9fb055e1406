"""Privacy-MaxEnt: golden vectors, the examples of the paper, and what statements mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ppdp_spark.core.maxent import (
    Between,
    ContradictionError,
    buckets_from_rows,
    closed_form,
    comparison,
    compiled,
    maximum_entropy,
    posterior,
    probability,
    score,
    system,
    term,
    true_posterior,
)
from support.core.figure_1 import (
    AGE,
    DEGREE,
    DISEASES,
    QI,
    SEX,
    VOCABULARY,
    attacked,
    by_name,
)
from support.core.maxent_reference import conic, from_golden, labels, true_masses
from support.places import golden

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
GOLDEN = golden("maxent")


@pytest.mark.parametrize("case", GOLDEN, ids=[c["name"] for c in GOLDEN])
def test_golden(case):
    buckets, knowledge = from_golden(case)
    if case["status"] == "infeasible":
        with pytest.raises(ContradictionError):
            maximum_entropy(buckets, knowledge)
        return
    solution = maximum_entropy(buckets, knowledge)
    table = posterior(buckets, solution.x)
    found = {f"q{q}|s{s}": p for q, s, p in zip(table.subject, table.value, table.probability, strict=True)}
    assert found.keys() == case["conditional"].keys()
    assert found == pytest.approx(case["conditional"], abs=1e-6)
    assert solution.entropy() == pytest.approx(case["entropy_nats"], abs=1e-6)
    assert solution.converged and solution.count_residual < 1e-8 and solution.residual < 1e-7
    assert solution.duality_gap < 1e-7


def test_without_knowledge_the_closed_form_exactly():
    named, solution = attacked()
    assert np.array_equal(solution.x, closed_form(named.buckets))
    assert (solution.iterations, solution.closed_buckets) == (0, 3)
    assert by_name(posterior(named.buckets, solution.x), 2, "Flu") == pytest.approx(1 / 4)


def test_the_breast_cancer_example_of_the_introduction():
    named, solution = attacked(probability(term("Breast Cancer", {"sex": "male"}), "=", 0))
    table = posterior(named.buckets, solution.x)
    assert by_name(table, 3, "Breast Cancer") == 1.0
    assert by_name(table, 1, "Breast Cancer") == pytest.approx(0.5)
    assert solution.zeros == 8 and solution.iterations == 0


def test_the_zeros_of_section_3_1_are_propagated():
    never = [
        probability(term("Breast Cancer", {"sex": "female", "degree": "college"}), "=", 0),
        probability(term(["Breast Cancer", "Flu"], {"sex": "male", "degree": "high school"}), "=", 0),
    ]
    named, solution = attacked(*never)
    _, qi, value = labels(named.buckets)
    first = slice(0, named.buckets.variable_start[1])
    assert solution.x[first][(qi[first] == 2) & (value[first] == 2)] == pytest.approx(1.0)
    assert solution.x[first][(qi[first] == 1) & (value[first] == 1)] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("subject", "relation", "p"),
    [
        (term("Flu", {"sex": "male"}), "=", 0.3),
        (term("Flu", {"sex": "male"}), "<=", 0.2),
        (term(["Flu", "HIV"], {"degree": ["college", "graduate"]}), ">=", 0.7),
        (term("HIV", {"age": Between(20, 35)}), "=", 0.2),
        (term("HIV", {"age": Between(high=30), "sex": "female"}), ">=", 0.5),
    ],
)
def test_a_statement_means_what_it_says(subject, relation, p):
    named, solution = attacked(probability(subject, relation, p))
    conditions = {"sex": SEX, "degree": DEGREE, "age": AGE}
    chosen = np.ones(6, dtype=bool)
    for name, c in subject.where:
        column = conditions[name]
        if isinstance(c, Between):
            chosen &= (column >= (c.low or 0)) & (column <= c.high)
        else:
            chosen &= np.isin(column, list(c))
    _, qi, value = labels(named.buckets)
    people = np.isin(QI, np.flatnonzero(chosen)).sum()
    values = [DISEASES.index(v) for v in subject.values]
    share = solution.x[chosen[qi] & np.isin(value, values)].sum() / people
    assert share == pytest.approx(p, abs=1e-8)
    reference = conic(named.buckets, compiled([probability(subject, relation, p)], named, VOCABULARY))
    assert solution.x == pytest.approx(reference, abs=1e-6)


def test_p_plus_minus_epsilon_and_comparisons():
    flu = term("Flu", {"sex": "male"})
    named, solution = attacked(
        probability(flu, "=", 0.2, within=0.05),
        comparison(term("HIV", {"sex": "male"}), ">=", term("HIV", {"sex": "female"}), margin=0.1),
    )
    _, qi, value = labels(named.buckets)
    male = SEX[qi] == "male"
    assert 0.15 - 1e-9 <= solution.x[male & (value == 1)].sum() / 6 <= 0.25 + 1e-9
    difference = solution.x[male & (value == 3)].sum() / 6 - solution.x[~male & (value == 3)].sum() / 4
    assert difference == pytest.approx(0.1, abs=1e-8)


def test_complete_true_knowledge_recovers_the_data():
    rng = np.random.default_rng(3)
    bucket, qi, sensitive = np.repeat(np.arange(60), 5), rng.integers(0, 40, 300), rng.integers(0, 6, 300)
    buckets = buckets_from_rows(bucket, qi, sensitive)
    truth = true_masses(buckets, bucket, qi, sensitive)
    everything = system(sparse.eye(buckets.variables), ["="] * buckets.variables, truth)
    solution = maximum_entropy(buckets, everything)
    assert solution.x == pytest.approx(truth, abs=1e-9)
    found = score(posterior(buckets, solution.x), true_posterior(qi, sensitive))
    assert found.distance == pytest.approx(0.0, abs=1e-9)
