"""Choosing groups from a tree: nothing is lost that a node could publish, groups are small."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from ppdp_spark.core.criteria import KAnonymity
from ppdp_spark.core.data.coded_people import Axis, Sensitive
from ppdp_spark.core.partition.mondrian import partition
from ppdp_spark.core.partition.tree_choice import settle


def tree_of(people, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(1, 40, (people, 2)).astype(np.int32)
    sensitive = Sensitive.single(np.zeros(people, np.int32), 1)
    return partition(codes, sensitive, [Axis(1 / 40, -1.0)] * 2, [KAnonymity(3)])


def best(tree, good):
    """Least people lost and, at that, most groups, by trying every way to publish nodes of the tree."""
    cuts = {(s, e): m for s, m, e in zip(tree.cuts.start, tree.cuts.middle, tree.cuts.end, strict=True)}

    @cache
    def node(start, end):
        ways = [(0, -1)] if good(start, end) else [(end - start, 0)]
        if (start, end) in cuts:
            middle = cuts[start, end]
            left, right = node(start, middle), node(middle, end)
            ways.append((left[0] + right[0], left[1] + right[1]))
        return min(ways)

    return node(0, len(tree.order))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("share", [0.0, 0.2, 0.7, 1.0])
def test_settle_loses_the_fewest_people(seed, share):
    tree = tree_of(90, seed)

    def good(start, end):
        return bool(np.random.default_rng((seed, int(start), int(end))).random() < share)

    starts, ends, held = settle(
        tree, lambda s, e: np.array([good(a, b) for a, b in zip(s, e, strict=True)], bool)
    )
    assert starts[0] == 0 and ends[-1] == 90 and (starts[1:] == ends[:-1]).all()
    assert all(good(s, e) for s, e in zip(starts[held], ends[held], strict=True))
    lost = int((ends - starts)[~held].sum())
    least, groups = best(tree, good)
    assert lost == least
    if least == 0:
        assert len(starts) <= -groups


def test_all_leaves_stay_when_all_are_allowed():
    tree = tree_of(200, 1)
    starts, ends, held = settle(tree, lambda s, e: np.ones(len(s), bool))
    np.testing.assert_array_equal(starts, tree.starts[:-1])
    np.testing.assert_array_equal(ends, tree.starts[1:])
    assert held.all()
