"""Privacy-MaxEnt: golden vectors, the paper's examples, people, scores, and how the solver is cut."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ppdp_spark.core.maxent import (
    Between,
    ContradictionError,
    Effort,
    Part,
    Person,
    Totals,
    Vocabulary,
    bucket_part,
    buckets_from_rows,
    buckets_from_tables,
    closed_form,
    comparison,
    compiled,
    estimation_accuracy,
    maximum_entropy,
    minimise,
    people_with,
    populations,
    posterior,
    posterior_of_people,
    probability,
    rows_of,
    score,
    system,
    targets_of,
    term,
    true_posterior,
    with_people,
)
from ppdp_spark.core.maxent.solve.presolve import propagated
from ppdp_spark.errors import DataError, NotConvergedError, SpecError
from support.maxent_reference import conic, from_golden, labels, pseudonym_posterior, true_masses
from support.places import golden

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
GOLDEN = golden("maxent")

# Figure 1 of the paper: Allen, Brian, … James; the order of rows is its column (a).
SEX = np.array(["male", "female", "male", "female", "female", "male"], dtype=object)
DEGREE = np.array(["college", "college", "high school", "junior", "graduate", "graduate"], dtype=object)
AGE = np.array([30, 25, 40, 20, 50, 60])
DISEASES = ["Breast Cancer", "Flu", "Pneumonia", "HIV", "Lung Cancer"]
BUCKET = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
QI = [0, 0, 1, 2, 0, 2, 3, 1, 4, 5]
SENSITIVE = [1, 2, 0, 1, 3, 2, 0, 3, 4, 1]
VOCABULARY = Vocabulary({"sex": SEX, "degree": DEGREE, "age": AGE}, DISEASES)


def figure_1(*people):
    return with_people(buckets_from_rows(BUCKET, QI, SENSITIVE), people)


def attacked(*statements, people=()):
    named = figure_1(*people)
    solution = maximum_entropy(named.buckets, compiled(statements, named, VOCABULARY))
    return named, solution


def by_name(table, subject, value):
    found = (table.subject == subject) & (table.value == DISEASES.index(value))
    return float(table.probability[found].sum())


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


def test_people_of_section_6():
    alice, bob, charlie = Person("Alice", 0), Person("Bob", 1), Person("Charlie", 4)
    statements = [
        probability(term("Breast Cancer", people="Alice"), "=", 0.2),
        people_with(["Alice", "Bob", "Charlie"], "HIV", "=", 1.5),
    ]
    named, solution = attacked(*statements, people=[alice, bob, charlie])
    said = [({(0, 0): 1.0}, "=", 0.2), ({(0, 3): 1.0, (2, 3): 1.0, (8, 3): 1.0}, "=", 1.5)]
    reference = pseudonym_posterior(BUCKET, QI, SENSITIVE, said)
    table = posterior_of_people(named.buckets, solution.x)
    for person, row in enumerate([0, 2, 8]):
        for value, name in enumerate(DISEASES):
            assert by_name(table, person, name) == pytest.approx(reference[row, value], abs=1e-6)
    overall = posterior(named.buckets, solution.x)
    assert by_name(overall, 0, "Flu") == pytest.approx(reference[[0, 1, 4], 1].mean(), abs=1e-6)
    assert table.people == pytest.approx(1.0)


def test_either_of_two_values_and_every_occurrence_named():
    people = [Person("Alice", 1), Person("Beth", 1), Person("Carl", 2)]
    statements = [
        probability(term(["Flu", "HIV"], people="Alice"), "=", 1),
        people_with(["Beth", "Carl"], "Flu", ">=", 1),
    ]
    named, solution = attacked(*statements, people=people)
    said = [({(2, 1): 1.0, (2, 3): 1.0}, "=", 1.0), ({(7, 1): 1.0, (3, 1): 1.0}, ">=", 1.0)]
    reference = pseudonym_posterior(BUCKET, QI, SENSITIVE, said)
    table = posterior_of_people(named.buckets, solution.x)
    for person, row in enumerate([2, 7, 3]):
        for value, name in enumerate(DISEASES):
            assert by_name(table, person, name) == pytest.approx(reference[row, value], abs=1e-6)


def test_a_person_in_a_known_bucket_is_a_row_of_one():
    named = figure_1(Person("Alice", 0, bucket=0), Person("Dora", 3))
    assert list(named.roaming) == []
    assert named.buckets.row_count.sum() == 10 and len(named.buckets.cell_qi) == 10
    x = closed_form(named.buckets)
    assert by_name(posterior_of_people(named.buckets, x), 0, "Flu") == pytest.approx(0.5)
    assert posterior(named.buckets, x).probability == pytest.approx(
        posterior(figure_1().buckets, closed_form(figure_1().buckets)).probability
    )


def test_naming_people_changes_nothing_by_itself():
    named, solution = attacked(people=[Person("Alice", 0), Person("Bob", 1), Person("Eve", 0)])
    plain = posterior(figure_1().buckets, closed_form(figure_1().buckets))
    assert posterior(named.buckets, solution.x).probability == pytest.approx(plain.probability, abs=1e-9)
    table = posterior_of_people(named.buckets, solution.x)
    assert by_name(table, 0, "Flu") == pytest.approx(by_name(plain, 0, "Flu"), abs=1e-9)


def test_people_that_do_not_fit_are_all_reported():
    with pytest.raises(DataError) as caught:
        figure_1(Person("A", 3, bucket=0), Person("B", 99), Person("C", 0), Person("C", 0))
    assert len(caught.value.problems) == 3
    with pytest.raises(DataError, match="more people are named"):
        figure_1(Person("A", 3), Person("B", 3))
    with pytest.raises(DataError, match="more people are named"):
        figure_1(*(Person(name, 0) for name in "ABCD"))


def test_wrong_statements_are_all_reported_at_once():
    wrong = [
        probability(term("Gout", {"sex": "male"}), "=", 0.1),
        probability(term("Flu", {"height": 3}), "=", 0.1),
        probability(term("Flu", {"sex": "both"}), "=", 1.1),
        probability(term("Flu", {"sex": Between(1, 2)}), "~", 0.1),
        probability(term("Flu", people="Zoe"), "<=", 0.1, within=0.1),
        probability(term("Flu", {"sex": "male"}, people="Zoe"), "=", float("nan")),
    ]
    with pytest.raises(SpecError) as caught:
        attacked(*wrong)
    assert len(caught.value.problems) == 11
    with pytest.raises(DataError, match="nobody in the release matches"):
        attacked(probability(term("Flu", {"sex": "female", "degree": "high school"}), "=", 0))


def test_statements_have_readable_names():
    assert str(probability(term("Flu", {"sex": "male"}), "=", 0.3, within=0.1)) == (
        "P(Flu | sex in {male}) = 0.3 ± 0.1"
    )
    left, right = term("Flu", {"age": Between(high=30)}), term(["HIV", "Flu"])
    assert str(comparison(left, "<=", right)) == "P(Flu | age in […, 30]) − P(Flu or HIV) <= 0"
    assert str(people_with(["A", "B"], "Flu", ">=", 1)) == "N(Flu | A, B) >= 1"


def test_a_bucket_must_have_as_many_people_as_values():
    with pytest.raises(DataError, match="bucket 7"):
        buckets_from_tables([3, 7], [0, 1], [3, 7, 7], [0, 0, 1])
    made = buckets_from_tables([3, 7], [0, 1], [3, 7, 7], [0, 0, 1], qi_count=[1, 2])
    assert made.records == 3 and made.variables == 3


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
