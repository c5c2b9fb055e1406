"""Groups that overlap, against every pair looked at by itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ppdp_spark.core.composition import overlapping_boxes
from ppdp_spark.core.composition.overlapping_boxes import OverlappingBoxes, readable_values
from ppdp_spark.core.data.attributes import Categorical
from ppdp_spark.core.maxent.matching import category_side, ordered_side


def ranges(rng, number):
    low = rng.integers(0, 30, number)
    high = low + rng.integers(0, 9, number)
    null = rng.random(number) < 0.2
    labels = ["null" if missing else f"[{a}-{b}]" for a, b, missing in zip(low, high, null, strict=True)]
    told = [None if missing else float(a) for a, missing in zip(low, null, strict=True)]
    ends = [None if missing else float(b) for b, missing in zip(high, null, strict=True)]
    return told, ends, [None if label == "null" else label for label in labels]


def sets(rng, number):
    chosen = [sorted(rng.choice(list("abcdef"), rng.integers(1, 4), replace=False)) for _ in range(number)]
    return [f"{{{', '.join(each)}}}" if len(each) > 1 else each[0] for each in chosen]


@pytest.mark.parametrize("held", [1 << 22, 50])
def test_pairs_are_those_with_something_in_common_everywhere(monkeypatch, held):
    monkeypatch.setattr(overlapping_boxes, "HELD_PAIRS", held)
    rng = np.random.default_rng(1)
    sides, plain = [], []
    for number in (40, 30):
        low, high, labels = ranges(rng, number)
        texts = sets(rng, number)
        attribute = Categorical("", tuple("abcdef"))
        ordered = ordered_side(pa.array(low, pa.float64()), pa.array(high, pa.float64()), pa.array(labels))
        sides.append((ordered, category_side(attribute, pa.array(texts))))
        plain.append((low, high, [set(text.strip("{}").split(", ")) for text in texts]))
    found = OverlappingBoxes(sides[0], sides[1], 30).pairs(np.arange(40))
    wanted = set()
    for i in range(40):
        for j in range(30):
            (a, b, s), (c, d, t) = (
                [column[k] for column in one] for one, k in zip(plain, (i, j), strict=True)
            )
            both_null = a is None and c is None
            crossing = both_null or (a is not None and c is not None and a <= d and b >= c)
            if crossing and s & t:
                wanted.add((i, j))
    assert set(zip(*map(np.ndarray.tolist, found), strict=True)) == wanted and 0 < len(wanted) < 1_000


def test_labels_are_values_only_where_sets_say_that_there_is_no_hierarchy():
    assert readable_values([["a", "{b, c} or null"], ["{a, d}", None]]) == ("a", "b", "c", "d")
    assert readable_values([["a", "b"], ["{a, d}"]]) is None
    assert readable_values([["{a\\, b, c}"], ["{a, d}"]]) is None
