"""Which groups may hold whom: against every pair looked at by itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ppdp_spark.core.data.attributes import NULL_SUFFIX, Categorical
from ppdp_spark.core.maxent.matching import Boxes, category_side, ordered_side

VALUES = ("a", "b", "c, d", "e")


def groups(rng, number):
    """Bounds with their label, and sets with theirs; null alone and null among values included."""
    ranges, sets = [], []
    for _ in range(number):
        low = float(rng.integers(0, 80))
        mark = NULL_SUFFIX if rng.random() < 0.1 else ""
        ranges.append(
            (None, None, None) if rng.random() < 0.1 else (low, low + rng.integers(0, 9), f"r{mark}")
        )
        chosen = sorted(rng.choice(4, rng.integers(0, 5), replace=False))
        names = [VALUES[i] for i in chosen]
        shown = [name.replace(",", r"\,") for name in names]
        text = shown[0] if len(names) == 1 else "{" + ", ".join(shown) + "}"
        mark = NULL_SUFFIX if rng.random() < 0.2 else ""
        sets.append((None, []) if not names else (text + mark, names))
    return ranges, sets


def inside(person, bounds, members):
    age, letter = person
    low, high, label = bounds
    text, names = members
    if age is None:
        fits = low is None or label.endswith(NULL_SUFFIX)
    else:
        fits = low is not None and low <= age <= high
    if letter is None:
        return fits and (text is None or text.endswith(NULL_SUFFIX))
    return fits and letter in names


@pytest.mark.parametrize("seed", range(5))
def test_candidates_are_exactly_the_groups_whose_box_contains_them(seed):
    rng = np.random.default_rng(seed)
    ranges, sets = groups(rng, 150)
    low, high, labels = (list(column) for column in zip(*ranges, strict=True))
    boxes = Boxes.of(
        (
            ordered_side(
                pa.array(low, pa.float64()), pa.array(high, pa.float64()), pa.array(labels, pa.string())
            ),
            category_side(Categorical("x", VALUES), pa.array([text for text, _ in sets], pa.string())),
        )
    )
    people = [
        (
            None if rng.random() < 0.1 else float(rng.integers(-5, 99)),
            None if rng.random() < 0.1 else str(rng.choice([*VALUES, "elsewhere"])),
        )
        for _ in range(200)
    ]
    ages, letters = (list(column) for column in zip(*people, strict=True))
    person, group = boxes.candidates([pa.array(ages, pa.float64()), pa.array(letters, pa.string())])
    found = sorted(zip(person.tolist(), group.tolist(), strict=True))
    assert found == [
        (i, g) for i, p in enumerate(people) for g in range(150) if inside(p, ranges[g], sets[g])
    ]
