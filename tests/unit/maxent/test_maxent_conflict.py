"""Knowledge that cannot be true: named by a minimal set of statements, whatever finds it first."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from ppdp_spark.core.maxent import (
    ContradictionError,
    Person,
    Vocabulary,
    buckets_from_rows,
    closed_form,
    compiled,
    maximum_entropy,
    minimal_conflict,
    people_with,
    probability,
    system,
    term,
    with_people,
)
from ppdp_spark.core.maxent.solve.dependence import independent
from ppdp_spark.core.maxent.solve.presolve import propagated
from ppdp_spark.errors import DataError
from support.core.maxent_reference import labels

BUCKET = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
QI = [0, 0, 1, 2, 0, 2, 3, 1, 4, 5]
SENSITIVE = [1, 2, 0, 1, 3, 2, 0, 3, 4, 1]
VOCABULARY = Vocabulary({"q": np.arange(6)}, list(range(5)))


def conflict_of(*statements, people=()):
    named = with_people(buckets_from_rows(BUCKET, QI, SENSITIVE), people)
    with pytest.raises(ContradictionError) as caught:
        maximum_entropy(named.buckets, compiled(statements, named, VOCABULARY))
    return caught.value


def says(value, q, p, relation="="):
    return probability(term(value, {"q": q}), relation, p)


def test_one_statement_against_the_release():
    error = conflict_of(says(2, 1, 0.1), says(0, 0, 0.9), says(3, 0, 0.2))
    assert error.statements == (1,)
    assert "cannot be true" in str(error) and "P(0 | q in {0}) = 0.9" in str(error)
    assert isinstance(error, DataError) and error.exit_code == 3


def test_what_would_be_possible_is_said_by_brute_force():
    """The range of P(0 | q = 0) over all ways to hand the values of each bucket to its people."""
    shares = set()
    for first in permutations([1, 2, 0, 1]):
        for second in permutations([3, 2, 0]):
            held = [*first[:2], second[0]]
            shares.add(held.count(0) / 3)
    error = conflict_of(says(0, 0, 0.9))
    assert error.ranges[0] == pytest.approx((min(shares), max(shares)), abs=1e-9)
    assert "; 0 to 0.6666 is possible" in str(error)


def test_what_is_possible_beside_the_other_statements():
    error = conflict_of(says(1, 0, 0.2), says(2, 0, 0.2), says([1, 2], 0, 0.5))
    assert error.ranges[2] == pytest.approx((0.4, 0.4), abs=1e-9)
    assert error.ranges[0] == pytest.approx((0.3, 0.3), abs=1e-9)
    assert "(beside the others, only 0.4 is possible)" in str(error)
    above = conflict_of(says(1, 2, 0.2), says(1, 2, 0.3, ">="))
    assert above.ranges[0][0] == pytest.approx(0.3) and above.ranges[1] == pytest.approx((0.2, 0.2))


def test_two_statements_against_each_other_among_harmless_ones():
    error = conflict_of(says(1, 2, 0.1), says(2, 3, 0.2, "<="), says(1, 2, 0.2), says(4, 5, 0.3))
    assert error.statements == (0, 2)
    assert "without any one of them" in str(error)


def test_a_sum_against_its_parts():
    error = conflict_of(says(1, 0, 0.2), says(2, 0, 0.2), says([1, 2], 0, 0.5), says(4, 4, 0.4))
    assert error.statements == (0, 1, 2)


def test_inequalities_and_an_interval():
    both = probability(term(1, {"q": 2}), "=", 0.2, within=0.05)
    assert conflict_of(both, says(1, 2, 0.3, ">=")).statements == (0, 1)


def test_a_value_that_no_bucket_of_theirs_has():
    assert conflict_of(says(4, 0, 0.1)).statements == (0,)


def test_true_nothings_are_no_contradiction():
    named = with_people(buckets_from_rows(BUCKET, QI, SENSITIVE), [])
    solution = maximum_entropy(named.buckets, compiled([says(4, 0, 0.0)], named, VOCABULARY))
    assert np.array_equal(solution.x, closed_form(named.buckets))


def test_people_who_are_one_person_each():
    people = [Person("Alice", 0), Person("Bob", 1)]
    error = conflict_of(
        probability(term(1, people="Alice"), "=", 0.7),
        probability(term(0, people="Bob"), "=", 0.1),
        probability(term(3, people="Alice"), "=", 0.6),
        people=people,
    )
    assert error.statements == (0, 2)


def test_more_people_with_a_value_than_there_are():
    people = [Person("Alice", 0), Person("Bob", 1), Person("Carl", 2), Person("Dora", 3)]
    assert conflict_of(
        people_with(["Alice", "Bob", "Carl", "Dora"], 3, ">=", 2.5), people=people
    ).statements == (0,)


def test_the_conflict_of_one_component_is_found_among_many():
    bucket, qi, sensitive = np.repeat(np.arange(200), 4), np.arange(800), np.tile(np.arange(4), 200)
    buckets = buckets_from_rows(bucket, qi, sensitive)
    owner, _, _ = labels(buckets)
    first = np.searchsorted(owner, np.arange(200))
    matrix = sparse.csr_matrix(
        (np.ones(201), (np.arange(201), np.append(first, first[77]))), shape=(201, buckets.variables)
    )
    x = closed_form(buckets)
    right = np.append(x[first], x[first[77]] * 0.5) * 0.9
    with pytest.raises(ContradictionError) as caught:
        maximum_entropy(buckets, system(matrix, ["="] * 201, right))
    assert caught.value.statements == (77, 200)


def test_no_conflict_is_an_empty_answer():
    named = with_people(buckets_from_rows(BUCKET, QI, SENSITIVE), [])
    assert minimal_conflict(named.buckets, compiled([says(1, 2, 0.2)], named, VOCABULARY)) == ()


def test_propagation_alone_sees_what_it_can():
    named = with_people(buckets_from_rows(BUCKET, QI, SENSITIVE), [])
    assert propagated(named.buckets, compiled([says(0, 0, 0.9)], named, VOCABULARY)).impossible
    bounds = propagated(named.buckets, compiled([says(0, [0, 2, 5], 0.0)], named, VOCABULARY))
    _, qi, value = labels(named.buckets)
    assert (bounds.lower[(qi == 3) & (value == 0)] == 1.0).all()
    assert not bounds.impossible


def test_repeated_statements_are_left_out_and_must_agree():
    schur = np.array([[2.0, 1.0, 3.0, 0.0], [1.0, 2.0, 3.0, 0.0], [3.0, 3.0, 6.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    equal, scale = np.zeros(4, dtype=bool), np.ones(4)
    kept = independent(schur, np.array([0.1, 0.2, 0.3, 0.0]), equal, scale)
    assert kept is not None and len(kept) == 2 and 3 not in kept
    assert independent(schur, np.array([0.1, 0.2, 0.4, 0.0]), equal, scale) is None
    assert independent(schur, np.array([0.1, 0.2, 0.3, 0.1]), equal, scale) is None
    third = np.array([False, False, True, False])
    assert list(independent(schur, np.array([0.1, 0.2, 0.2, 0.0]), third, scale)) == [0, 1]
    assert independent(schur, np.array([0.1, 0.2, 0.4, 0.0]), third, scale) is None
