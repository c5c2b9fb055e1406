"""What the downcoding reader concludes of a group that was not cut, against counting all ways to fill it."""

from __future__ import annotations

import importlib.util
import math
import sys
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script of the attack, which lies outside of every package."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        spec = importlib.util.spec_from_file_location("downcoding", SCRIPTS / "downcoding.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SCRIPTS))
    return module


def literal_shares(people: int, k: int, prior, children) -> np.ndarray:
    """Every way to give leaves to people, if no cut has k people on each side and one child has not all."""
    expected, weight = np.zeros(len(prior)), 0.0
    for leaves in product(range(len(prior)), repeat=people):
        counts = np.bincount(leaves, minlength=len(prior))
        sides = [(counts[: cut + 1].sum(), counts[cut + 1 :].sum()) for cut in range(len(prior) - 1)]
        if any(min(side) >= k for side in sides) or len({children[leaf] for leaf in leaves}) == 1:
            continue
        chance = np.prod([prior[leaf] for leaf in leaves])
        expected, weight = expected + chance * counts, weight + chance
    return expected / (people * weight)


@pytest.mark.parametrize(
    ("people", "k", "children"),
    [(4, 2, [0, 0, 1]), (5, 2, [0, 1, 2, 3]), (6, 2, [0, 0, 1, 1]), (7, 3, [0, 1, 1]), (6, 3, [0, 0, 0, 1])],
)
def test_shares_are_those_of_all_ways_to_fill_the_group(script, people, k, children):
    rng = np.random.default_rng(people)
    for _ in range(3):
        prior = rng.dirichlet(np.ones(len(children)))
        found = script.shares(people, k, prior, np.array(children))
        assert found == pytest.approx(literal_shares(people, k, prior, children), abs=1e-12)
        assert found.sum() == pytest.approx(1)
    assert script.shares(2 * k - 1, k, prior, np.array(children)) is prior


def test_known_people_are_placed_in_groups_by_their_sizes(script):
    """A node for the whole range stands for what no finer label holds: three of its people, and few 0s."""
    boxes = [np.array([[0], [0]]), np.array([[0], [2]])]
    groups = [
        script.Group(box, np.zeros((people, 1), int)) for box, people in zip(boxes, (6, 4), strict=True)
    ]
    known = np.array([[0]] * 7 + [[1]] * 2 + [[2]])
    weights = script.placed(known, groups).toarray()
    assert weights.sum(axis=0) == pytest.approx([6, 4])
    assert weights[:7].sum(axis=0) == pytest.approx([6, 1], abs=1e-3)
    assert (weights[7:, 0] == 0).all()
    reader = script.Reader.of((), known, groups)
    expected = np.array([1, 2, 1]) + script.LEAST_WEIGHT * np.array([0.7, 0.2, 0.1])
    assert reader.prior(0, 1, boxes[1]) == pytest.approx(expected / expected.sum(), abs=1e-3)


def ways(people: int, leaves: int) -> int:
    """Ways to spread people over leaves."""
    return math.comb(people + leaves - 1, leaves - 1) if leaves else int(people == 0)


@pytest.mark.parametrize(("leaves", "k"), [(2, 2), (2, 4), (3, 2), (3, 3), (4, 2)])
def test_counts_that_refused_cuts_leave_are_those_the_page_counts(leaves, k):
    """docs/theory/downcoding.md, without what is under one child."""
    for people in range(2 * k, 2 * k + 4):
        refused = [
            counts
            for counts in product(range(people + 1), repeat=leaves)
            if sum(counts) == people
            and all(min(sum(counts[:c]), sum(counts[c:])) < k for c in range(1, leaves))
        ]
        told = sum(
            ways(before, h) * ways(after, leaves - 1 - h)
            for h in range(leaves)
            for before, after in product(range(k), repeat=2)
        )
        assert len(refused) == told
        for leaf in range(leaves):
            held = {counts[leaf] for counts in refused}
            assert 0 in held and people in held
