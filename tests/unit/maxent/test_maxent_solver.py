"""How the solver is cut into parts, where it stops, and the scores of its answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ppdp_spark.core.maxent import (
    Effort,
    Part,
    Person,
    Totals,
    Vocabulary,
    bucket_part,
    buckets_from_rows,
    closed_form,
    compiled,
    estimation_accuracy,
    maximum_entropy,
    minimise,
    people_with,
    populations,
    posterior,
    probability,
    rows_of,
    score,
    targets_of,
    term,
    true_posterior,
    with_people,
)
from ppdp_spark.core.maxent.solve.presolve import propagated
from ppdp_spark.errors import NotConvergedError
from support.core.figure_1 import (
    DISEASES,
    QI,
    SENSITIVE,
    SEX,
    VOCABULARY,
    attacked,
    by_name,
    figure_1,
)
from support.core.maxent_reference import labels

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")


def test_parts_add_up_and_threads_change_nothing():
    rng = np.random.default_rng(5)
    bucket, qi, sensitive = np.repeat(np.arange(80), 5), rng.integers(0, 30, 400), rng.integers(0, 6, 400)
    named = with_people(buckets_from_rows(bucket, qi, sensitive), [])
    vocabulary = Vocabulary({"a": np.arange(30) % 5, "b": np.arange(30) // 5}, list(range(6)))
    statements = [
        probability(term(s, {"a": a}), "=", float(np.mean(sensitive[qi % 5 == a] == s)))
        for s, a in [(0, 0), (1, 1), (2, 1), (3, 4)]
    ]
    whole = compiled(statements, named, vocabulary)
    alone = maximum_entropy(named.buckets, whole)
    threaded = maximum_entropy(named.buckets, whole, Effort(workers=3))
    assert threaded.x == pytest.approx(alone.x, abs=1e-10)

    pieces = [with_people(named.buckets.take(chosen), []) for chosen in np.array_split(np.arange(80), 4)]
    counts = sum(populations(statements, piece, vocabulary) for piece in pieces)
    assert counts == pytest.approx(populations(statements, named, vocabulary))
    systems = [rows_of(statements, piece, vocabulary, counts) for piece in pieces]
    parts = [
        Part(p.buckets, sparse.csr_matrix(s.matrix.T), np.ones(p.buckets.variables, dtype=bool))
        for p, s in zip(pieces, systems, strict=True)
    ]
    end = minimise(
        lambda mu: Totals.of([bucket_part(part, mu) for part in parts]),
        targets_of(named.buckets, whole),
        tolerance=1e-9,
    )
    assert end.status == "converged"
    apart = np.concatenate([bucket_part(part, end.mu).p for part in parts])
    assert apart == pytest.approx(alone.x, abs=1e-7)


def test_components_and_buckets_out_of_touch():
    named, solution = attacked(
        probability(term("Lung Cancer", {"degree": "graduate"}), "=", 0.3),
        people_with(["Dora"], "HIV", "<=", 0.1),
        people=[Person("Dora", 3)],
    )
    assert solution.closed_buckets == 1
    first = slice(0, named.buckets.variable_start[1])
    assert np.array_equal(solution.x[first], closed_form(named.buckets)[first])


def test_too_few_iterations_are_an_error_not_a_result():
    named = figure_1()
    knowledge = compiled([probability(term("Flu", {"sex": "male"}), "=", 0.3)], named, VOCABULARY)
    with pytest.raises(NotConvergedError):
        maximum_entropy(named.buckets, knowledge, Effort(max_iterations=1))


def test_bounds_are_not_taken_for_statements():
    """A statement on one variable tightens its bounds to a point; it must still be solved for."""
    named, solution = attacked(probability(term("Flu", {"degree": "high school"}), "=", 0.25))
    _, qi, value = labels(named.buckets)
    assert solution.x[(qi == 2) & (value == 1)].sum() == pytest.approx(0.5, abs=1e-8)
    knowledge = compiled([probability(term("Flu", {"degree": "high school"}), "=", 0.25)], named, VOCABULARY)
    assert propagated(named.buckets, knowledge).open.all()


def test_large_buckets():
    rng = np.random.default_rng(2)
    bucket, qi, sensitive = np.repeat([0, 1], 400), rng.integers(0, 120, 800), rng.integers(0, 30, 800)
    named = with_people(buckets_from_rows(bucket, qi, sensitive), [])
    vocabulary = Vocabulary({"a": np.arange(120) % 4}, list(range(30)))
    statements = [probability(term([s, s + 1], {"a": s % 4}), "=", 0.1) for s in range(6)]
    solution = maximum_entropy(named.buckets, compiled(statements, named, vocabulary))
    assert solution.residual < 1e-8 and solution.count_residual < 1e-9


def test_posteriors_maxima_and_worst_linkages():
    named, solution = attacked(probability(term("Breast Cancer", {"sex": "male"}), "=", 0))
    table = posterior(named.buckets, solution.x)
    best = table.maxima()
    assert list(best.subject) == [0, 1, 2, 3, 4, 5]
    worst = table.worst(1)
    assert (int(worst.subject[0]), DISEASES[int(worst.value[0])]) == (3, "Breast Cancer")
    assert worst.probability[0] == 1.0
    found = score(table)
    assert found.highest == 1.0 and found.distance is None
    assert found.mean == pytest.approx(best.probability @ best.people / 10)


def test_estimation_accuracy_by_hand_and_where_it_is_infinite():
    truth = true_posterior(np.array(QI), np.array(SENSITIVE))
    buckets = figure_1().buckets
    table = posterior(buckets, closed_form(buckets))
    expected = 0.0
    for q in range(6):
        mine = [s for t, s in zip(QI, SENSITIVE, strict=True) if t == q]
        for s in set(mine):
            p = mine.count(s) / len(mine)
            expected += len(mine) / 10 * p * np.log(p / by_name(table, q, DISEASES[s]))
    assert estimation_accuracy(truth, table) == pytest.approx(expected, abs=1e-12)
    assert estimation_accuracy(truth, truth) == 0.0
    _, solution = attacked(probability(term("Flu", {"degree": "high school"}), "=", 0))
    assert estimation_accuracy(truth, posterior(buckets, solution.x)) == np.inf


@pytest.mark.parametrize(("p", "reached"), [(0.4, 0.35), (0.2, 0.25)])
def test_an_interval_binds_at_its_nearer_end(p, reached):
    named, solution = attacked(probability(term("Flu", {"sex": "male"}), "=", p, within=0.05))
    _, qi, value = labels(named.buckets)
    assert solution.x[(SEX[qi] == "male") & (value == 1)].sum() / 6 == pytest.approx(reached, abs=1e-8)
