"""Knowledge about named people: what it changes, and how it is refused."""

from __future__ import annotations

import numpy as np
import pytest

from ppdp_spark.core.maxent import (
    Between,
    Buckets,
    Person,
    Vocabulary,
    buckets_from_tables,
    closed_form,
    comparison,
    compiled,
    maximum_entropy,
    people_with,
    populations,
    posterior,
    posterior_of_people,
    probability,
    term,
    with_people,
)
from ppdp_spark.errors import DataError, SpecError
from support.core.figure_1 import (
    BUCKET,
    DISEASES,
    QI,
    SENSITIVE,
    attacked,
    by_name,
    figure_1,
)
from support.core.maxent_reference import pseudonym_posterior

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")


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


def open_places():
    """Two people in a bucket for certain, and three candidates for the two places that they leave."""
    return Buckets(
        ids=np.array([7]),
        cell_start=np.array([0, 5]),
        cell_qi=np.arange(5, dtype=np.int32),
        cell_row=np.array([0, 1, 2, 2, 2], dtype=np.int32),
        cell_person=np.full(5, -1, dtype=np.int32),
        cell_weight=np.array([1.0, 1.0, 3.0, 1.0, 1.0]),
        row_start=np.array([0, 3]),
        row_count=np.array([1.0, 1.0, 2.0]),
        value_start=np.array([0, 2]),
        value_code=np.array([0, 1], dtype=np.int32),
        value_count=np.array([3.0, 1.0]),
    )


def test_candidates_share_the_places_that_others_leave():
    """Nobody is named: the places stay open, and a statement on candidates has an answer."""
    buckets = open_places()
    named = with_people(buckets, [])
    assert named.buckets.row_count.sum() == named.buckets.value_count.sum() == 4
    vocabulary = Vocabulary({"q": np.arange(5)}, ["a", "b"])
    told = probability(term("b", {"q": 2}), "=", 0.5)
    counts = populations([told], named, vocabulary)
    assert counts == pytest.approx([2 * 3 / 5])
    solution = maximum_entropy(named.buckets, compiled([told], named, vocabulary))
    x = solution.x.reshape(5, 2)
    assert x.sum(axis=0) == pytest.approx([3, 1]) and x[2:].sum() == pytest.approx(2)
    assert x[2, 1] == pytest.approx(0.5 * counts[0])


def test_nobody_is_named_where_places_are_open():
    with pytest.raises(DataError, match="only where it is certain"):
        with_people(open_places(), [Person("Alice", 0)])
