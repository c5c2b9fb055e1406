"""People who are left out: their values against all ways to hand out values and to leave people out."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

from ppdp_spark.core.suppression.r import safe_d, unsafe_d
from ppdp_spark.report import guarantees
from ppdp_spark.run.criteria.absent_people import absent_people, values_left_out


def worlds(counts: tuple[int, ...]):
    """Every way to hand out the values to people."""
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    return set(permutations(values))


def drawn(assignment: tuple[int, ...], removed: tuple[int, ...]):
    """Every choice of the people who go, so many of each value: all are equally likely."""
    each = [
        combinations([i for i, v in enumerate(assignment) if v == value], number)
        for value, number in enumerate(removed)
    ]
    for chosen in product(*each):
        yield frozenset(i for some in chosen for i in some)


@pytest.mark.parametrize("method", [safe_d, unsafe_d])
@pytest.mark.parametrize("counts", [(4, 1, 1), (4, 2, 1), (4, 1, 1, 1), (5, 2, 1)])
def test_the_share_is_the_posterior_of_whoever_knows_the_counts(method, counts):
    """A reader sees who is there and how often each value is published, and knows the input's counts."""
    people = sum(counts)
    decided = method(np.array(counts), 2 if people < 8 else 3)
    removed = tuple(int(n) for n in decided.removed)
    assert sum(removed) > 0
    weight: dict[Any, Fraction] = defaultdict(Fraction)
    having: dict[Any, Fraction] = defaultdict(Fraction)
    for assignment in worlds(counts):
        ways = list(drawn(assignment, removed))
        for gone in ways:
            weight[gone] += Fraction(1, len(ways))
            for i in gone:
                having[gone, i, assignment[i]] += Fraction(1, len(ways))
    before = {str(v): n for v, n in enumerate(counts)}
    published = {str(v): n - removed[v] for v, n in enumerate(counts) if n > removed[v]}
    (row,) = absent_people(before, published)
    worst = max(chance / weight[gone] for (gone, _, _), chance in having.items())
    assert row.value == float(worst) and row.status == "measured" and row.ok
    assert row.witness["people"] == sum(removed) and row.witness["with this value"] == max(removed)
    assert values_left_out(before, published) == {str(v): n for v, n in enumerate(removed)}


def test_a_value_that_is_gone_altogether_and_people_without_one_count():
    (row,) = absent_people({"a": 5, "b": 3}, {"a": 4}, without_value=4)
    assert row.value == 4 / 8 and row.witness == {"people": 8, "with this value": 4, "value": "no value"}
    (row,) = absent_people({"a": 5, None: 3}, {"a": 5})
    assert row.value == 1.0 and row.witness["value"] == "(null)"


def test_nobody_is_absent_and_nothing_is_said():
    assert absent_people({"a": 5}, {"a": 5}) == [] and absent_people({}, {}) == []


def test_values_that_are_written_differently_are_no_number():
    (row,) = absent_people({"1": 5}, {"1.0": 4})
    assert row.value is None and "reason" in row.witness and row.status == "measured"


def test_the_report_says_who_concludes_it():
    (row,) = absent_people(dict(Counter("aaaaaaaabbc")), {"a": 1, "b": 1, "c": 1})
    summary = {"sensitive": {"column": "disease", "case": "svpi"}}
    verdict = {"status": "pass", "publishable": True, "criteria": [row.to_dict()]}
    (told,) = guarantees(summary, verdict)
    assert told.status == "measured" and told.claim == (
        "Of the 8 people who are left out, 7 have the same value of disease: somebody who misses one of "
        "them in the release is 87.5 % sure of it."
    )
    assert "knows how often each value occurs" in told.holds
    unknown = {**row.to_dict(), "value": None, "witness": {"reason": "x"}}
    (told,) = guarantees(summary, {**verdict, "criteria": [unknown]})
    assert told.claim.startswith("It is not known") and told.status == "measured"
