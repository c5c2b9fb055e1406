"""Classes of quasi-identifiers: few, of about as many people, and none for what nobody has seen."""

from __future__ import annotations

import numpy as np
import pytest

from ppdp_spark.core.attacks.attribute_codes import (
    MOST_PARAMETERS,
    NameClasses,
    NumberClasses,
    most_classes,
)


def test_few_numbers_have_a_class_each():
    classes = NumberClasses.of(np.array([1.0, 2.0, 5.0]), np.array([9, 1, 1]), 8)
    assert classes.codes(np.array([0.0, 1.0, 2.0, 4.9, 5.0, 9.0, np.nan])).tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert classes.size == 4


@pytest.mark.parametrize("most", [2, 7, 32])
def test_many_numbers_share_classes_of_about_as_many_people(most):
    rng = np.random.default_rng(most)
    values, people = np.arange(1000.0), rng.integers(1, 9, 1000)
    classes = NumberClasses.of(values, people, most)
    sizes = np.bincount(classes.codes(values), weights=people, minlength=classes.size)
    assert len(classes.edges) == most - 1 and sizes[-1] == 0
    assert abs(sizes[:most] - people.sum() / most).max() <= 9


def test_a_number_of_most_people_is_alone():
    classes = NumberClasses.of(np.arange(100.0), np.where(np.arange(100) == 40, 9_000, 1), 10)
    codes = classes.codes(np.arange(100.0))
    assert classes.size <= 12 and len(set(codes[41:])) <= 2 and codes[40] != codes[41]


def test_nobody_has_a_number():
    classes = NumberClasses.of(np.zeros(0), np.zeros(0, dtype=np.int64), 32)
    assert classes.codes(np.array([np.nan, np.nan])).tolist() == [1, 1]


def test_rare_names_share_a_class():
    classes = NameClasses.of(["a", "b", "c", "d"], 4)
    assert classes.names == (None, "a", "b") and classes.size == 4
    assert classes.codes(np.array([0, 1, 2, -1])).tolist() == [1, 2, 3, 0]


def test_a_model_stays_small():
    assert most_classes(8, 14) > 256
    assert 10 * 5000 * most_classes(10, 5000) <= MOST_PARAMETERS
    assert most_classes(100, 10**6) == 2
