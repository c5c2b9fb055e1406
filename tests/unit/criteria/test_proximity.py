"""Proximity against its definition: every guess tried, in fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria.families import family_of
from ppdp_spark.core.criteria.proximity import Proximity
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.errors import SpecError


def build(labels, within, share, kind="double"):
    domain = ValueDomain(tuple(labels), tuple(1 for _ in labels), kind=kind)
    return family_of("proximity").build({"within": within, "share": share}, domain)


def groups_of(rows):
    counts = np.array(rows, np.int64)
    return GroupSummaries(counts.sum(axis=1), counts)


def largest_share(numbers, counts, within):
    """The largest share near a guess: at or half-way between any two numbers, and a little beside."""
    present = [number for number in numbers if number is not None]
    tiny = Fraction(1, 10**6)
    places = {(a + b) / 2 for a in present for b in present}
    places |= {number + sign * within for number in present for sign in (-1, 1)}
    guesses = {place + step for place in places for step in (-tiny, Fraction(0), tiny)}
    alone = [count for number, count in zip(numbers, counts, strict=True) if number is None]
    near = [
        sum(c for n, c in zip(numbers, counts, strict=True) if n is not None and abs(n - guess) <= within)
        for guess in guesses
    ]
    return Fraction(max([*near, *alone], default=0), max(1, sum(counts)))


def test_every_guess_is_tried():
    rng = random.Random(18)
    seen = set()
    for _ in range(200):
        texts = sorted(
            {rng.choice(["-1.5", "0.0", "0.1", "0.2", "0.30", "1e1", "7", "7.25", "9"]) for _ in range(6)}
        )
        labels = [*texts, *rng.choice([[], ["(null)"], ["Infinity"], ["-Infinity", "(null)"]])]
        rng.shuffle(labels)
        numbers = [None if "n" in label else Fraction(label) for label in labels]
        within, share = rng.choice([0.05, 0.1, 0.25, 2, 5]), rng.choice([0.2, 0.25, 0.4, 0.5, 1])
        criterion = build(labels, within, share)
        rows = [[rng.choice([0, 0, 1, 2, 3]) for _ in labels] for _ in range(5)]
        exact = [largest_share(numbers, row, Fraction(str(within))) for row in rows]
        groups = groups_of(rows)
        allowed = criterion.allowed(groups).tolist()
        assert allowed == [found <= Fraction(str(share)) for found in exact]
        assert criterion.achieved(groups) == pytest.approx([float(found) for found in exact])
        seen |= set(allowed)
    assert seen == {True, False}


def test_ends_of_an_interval_count_and_decimal_texts_decide():
    criterion = build(["0.1", "0.3", "0.30000001"], 0.1, 0.5)
    assert criterion.allowed(groups_of([[1, 1, 0], [1, 0, 1], [2, 0, 2], [2, 0, 3]])).tolist() == [
        False, True, True, False,
    ]  # fmt: skip


def test_a_share_exactly_at_the_limit_is_allowed():
    criterion = build(["1", "100", "200"], 1, 1 / 3)
    assert not criterion.allowed(groups_of([[1, 1, 1]]))[0], "0.3333333333333333 is less than a third"
    exact = Proximity(1, Fraction(1, 3), criterion.numbers)
    assert exact.allowed(groups_of([[1, 1, 1], [10**9, 10**9, 10**9], [2, 1, 1]])).tolist() == [
        True,
        True,
        False,
    ]


def test_unions_of_allowed_groups_are_allowed():
    rng = random.Random(19)
    criterion = build([str(n) for n in range(12)], 1.5, 0.5, kind="int")
    rows = np.array([[rng.choice([0, 0, 0, 1, 2]) for _ in range(12)] for _ in range(4000)])
    held = rows[criterion.allowed(groups_of(rows))]
    assert len(held) > 500
    assert criterion.allowed(groups_of(held[:-1] + held[1:])).all()


def test_what_is_no_number_is_refused():
    with pytest.raises(
        SpecError, match=r"`privacy.proximity` is about numbers, but the sensitive column is string"
    ):
        build(["1", "2"], 1, 0.5, kind="string")
    with pytest.raises(SpecError, match="`share`"):
        Proximity(1, 2, (Fraction(1),))
    with pytest.raises(SpecError, match="`within`"):
        Proximity(0, 1, (Fraction(1),))
