"""ART and Anatomy on fragments with known answers, edge cases, and what they refuse."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from ppdp_spark.core.criteria.robustness import RRobustness
from ppdp_spark.core.data.groups import GroupSummaries, PriorExtrema
from ppdp_spark.core.partition.art import anatomy, pack
from ppdp_spark.core.partition.art.classes import signatures
from ppdp_spark.core.partition.art.condition import PlaceablePeople, Rules, Tally, allowed
from ppdp_spark.errors import DataError


def pack_codes(values, classes, priors, *, r=2.0, model="joint", smallest=2, width=None, codes=None):
    values = np.asarray(values, np.int32)
    width = int(values.max(initial=0)) + 1 if width is None else width
    codes = np.zeros((len(values), 1), np.int32) if codes is None else codes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return pack(
            values,
            np.asarray(classes, np.int32),
            tuple(np.asarray(p, float) for p in priors),
            codes,
            width=width,
            r=r,
            model=model,
            smallest=smallest,
        )


def sizes(packing):
    return sorted(np.bincount(packing.groups[packing.groups >= 0], minlength=packing.count).tolist())


def learned(keys, values, width):
    """Priors of each row's key, counted."""
    counts = np.zeros((keys.max() + 1, width))
    np.add.at(counts, (keys, values), 1.0)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)


@pytest.mark.parametrize("model", ["joint", "binary"])
@pytest.mark.parametrize("people", [0, 1])
def test_nobody_and_one_person(model, people):
    packing = pack_codes([0] * people, [0] * people, [[[0.5, 0.5]]], model=model, width=2)
    assert packing.count == 0 and packing.unplaced == people and len(packing.groups) == people


@pytest.mark.parametrize("model", ["joint", "binary"])
def test_one_value_cannot_be_hidden(model):
    assert pack_codes([0] * 9, [0] * 9, [[[1.0]]], model=model).unplaced == 9
    assert pack_codes([0] * 9, [0] * 9, [], model=model).unplaced == 9


@pytest.mark.parametrize("model", ["joint", "binary"])
def test_r_above_the_number_of_values_places_nobody(model):
    packing = pack_codes([0, 1, 2] * 5, [0] * 15, [[[0.3, 0.3, 0.3]]], r=3.5, model=model)
    assert packing.count == 0 and packing.unplaced == 15


@pytest.mark.parametrize("model", ["joint", "binary"])
def test_one_class_is_plain_diversity(model):
    values = np.arange(30) % 6
    packing = pack_codes(values, [0] * 30, [np.full((1, 6), 1 / 6)], r=3, model=model)
    assert sizes(packing) == [3] * 10


def test_smallest_size_counts():
    assert sizes(pack_codes(np.arange(30) % 6, [0] * 30, [], r=2, smallest=5)) == [5] * 6


def test_a_value_with_too_many_rows_leaves_its_excess():
    values = [0] * 20 + [1] * 5 + [2] * 5
    packing = pack_codes(values, [0] * 30, [[[0.6, 0.2, 0.2]]], r=3, model="binary")
    left = np.asarray(values)[packing.groups < 0]
    assert packing.count == 5 and set(left) == {0} and len(left) == 15


@pytest.mark.parametrize("model", ["joint", "binary"])
def test_neighbours_leave_what_all_groups_of_their_class_need(model):
    """Ten of forty have 0 and live apart: groups of the others alone would leave them nobody to be with."""
    values = [0] * 10 + [1, 2, 3, 4, 5] * 6
    codes = np.array([[9]] * 10 + [[1 + i // 10] for i in range(30)], np.int32)
    packing = pack_codes(values, [0] * 40, [np.full((1, 6), 1 / 6)], r=4, model=model, codes=codes)
    assert packing.unplaced == 0 and sizes(packing) == [4] * 10


def test_without_attribute_sets_classes_do_not_matter():
    assert sizes(pack_codes([0, 1, 2, 3], [0, 1, 2, 3], [], r=2)) == [2, 2]


def test_classes_too_far_apart_are_not_mixed():
    priors = [[[0.9, 0.1], [0.1, 0.9]]]
    for model in ("joint", "binary"):
        assert pack_codes([0, 1], [0, 1], priors, r=1.9, model=model).count == 0


def test_larger_groups_admit_other_classes():
    """With N = r priors must be equal; ten distinct values allow them to differ."""
    base = np.full(10, 0.1)
    priors = [np.stack([base * (1 + 0.01 * c) for c in range(10)])]
    for model in ("joint", "binary"):
        packing = pack_codes(np.arange(10), np.arange(10), priors, r=3, model=model)
        assert packing.unplaced == 0 and packing.count < 4


@pytest.mark.parametrize("model", ["joint", "binary"])
def test_people_who_contradict_the_prior_stay_out(model):
    values, classes = [0, 1, 2, 2, 0, 1], [0, 0, 0, 1, 1, 1]
    priors = [[[0.5, 0.5, 0.0], [0.4, 0.3, 0.3]]]
    packing = pack_codes(values, classes, priors, r=2, model=model)
    assert packing.groups[2] == -1
    assert packing.groups[0] == packing.groups[1] >= 0


@pytest.mark.parametrize("model", ["joint", "binary"])
def test_priors_of_zero_and_one_everywhere(model):
    rng = np.random.default_rng(1)
    values, classes = rng.integers(0, 4, 200), rng.integers(0, 6, 200)
    packing = pack_codes(values, classes, [rng.integers(0, 2, (6, 4))], r=2, model=model)
    assert packing.groups.min() >= -1


def test_a_repeat_joins_when_the_bound_still_holds():
    """Nobody else can take the third 0: 2/5 <= 1/2 holds, the distinct form has to leave it."""
    values, priors = [0, 0, 0, 1, 2, 3], [np.full((1, 4), 0.25)]
    joint = pack_codes(values, [0] * 6, priors, r=2, smallest=4)
    binary = pack_codes(values, [0] * 6, priors, r=2, smallest=4, model="binary")
    assert joint.unplaced == 0 and binary.unplaced == 2


def test_the_published_condition_and_the_joint_one_differ():
    """The Δ condition holds for x, y, z, and p(t1 : x) = 0.6435 > 1/2 in the joint model."""
    low = 0.1 - 9 / 190 + 1e-9
    table = np.array([[0.1, low, low], [low, 0.1, 0.1], [low, 0.1, 0.1]])
    found = signatures(np.arange(3), (table,))
    values, all_protected = np.arange(3, dtype=np.int32), np.ones(3, np.bool_)
    ranks = found.ranks.astype(np.int32)
    people = PlaceablePeople(values, found.stacked_rows[found.ranks], ranks, values)
    members = np.arange(3, dtype=np.int32)
    assert not allowed(Rules(2.0, True, found.stacked, all_protected), people, members, Tally.of(3))
    assert allowed(Rules(2.0, False, found.stacked, all_protected), people, members, Tally.of(3))


def fragment(seed, people, width, strength, nested):
    rng = np.random.default_rng(seed)
    fine = rng.integers(0, 100, people)
    keys = (fine // 50, fine // 10, fine) if nested else (fine // 50, rng.integers(0, 5, people), fine)
    logs = sum(rng.normal(0, strength, (key.max() + 1, width))[key] for key in keys)
    shares = np.exp(logs)
    shares /= shares.sum(axis=1, keepdims=True)
    values = (shares.cumsum(axis=1) < rng.random((people, 1))).sum(axis=1).clip(0, width - 1)
    combinations, classes = np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)
    priors = tuple(learned(key, values, width)[combinations[:, s]] for s, key in enumerate(keys))
    codes = np.stack([fine, rng.integers(0, 50, people)], axis=1).astype(np.int32)
    return values.astype(np.int32), classes.reshape(-1).astype(np.int32), priors, codes


@pytest.mark.parametrize("model", ["joint", "binary"])
@pytest.mark.parametrize("nested", [True, False])
def test_learned_priors_leave_less_than_one_in_a_hundred(model, nested):
    values, classes, priors, codes = fragment(3, 20_000, 15, 0.15, nested)
    assert np.bincount(values).max() * 2 * 3 <= len(values)
    packing = pack(values, classes, priors, codes, width=15, r=3.0, model=model)
    assert packing.unplaced < 0.01 * len(values)


def summaries(packing, values, classes, priors, width):
    """What a criterion sees of the packed groups."""
    placed = packing.groups >= 0
    groups, shape = packing.groups[placed], (packing.count, width)
    counts = np.zeros(shape, np.int64)
    np.add.at(counts, (groups, values[placed]), 1)
    extrema = []
    for table in priors:
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        np.minimum.at(low, groups, table[classes[placed]])
        np.maximum.at(high, groups, table[classes[placed]])
        extrema.append(PriorExtrema(low, high))
    return GroupSummaries(counts.sum(axis=1), counts, tuple(extrema))


@pytest.mark.parametrize("r", [2.0, 2.2, 3.0])
@pytest.mark.parametrize("model", ["joint", "binary"])
def test_every_group_passes_the_criterion_of_core_robustness(model, r):
    values, classes, priors, codes = fragment(4, 5_000, 10, 0.3, False)
    packing = pack(values, classes, priors, codes, width=10, r=r, model=model)
    criterion = RRobustness(r, model, ("a", "b", "c"), unique=model == "binary")
    groups = summaries(packing, values, classes, priors, 10)
    assert packing.count > 500 and criterion.allowed(groups).all()


def test_every_problem_is_named_at_once():
    with pytest.raises(DataError) as caught:
        pack(
            np.array([0, 5]),
            np.array([0, 0]),
            (np.array([[2.0, 0.0]]),),
            np.zeros((2, 1), np.int32),
            width=2,
            r=1.0,
            model="other",
            smallest=0,
        )
    assert len(caught.value.problems) == 5


def test_anatomy_on_eligible_values_places_everybody():
    values = np.repeat(np.arange(5), [7, 6, 4, 3, 1]).astype(np.int32)
    packing = anatomy(values, 5, 3, np.arange(len(values)))
    assert packing.count == 7 and packing.unplaced == 0
    assert min(sizes(packing)) >= 3


def test_anatomy_edges():
    assert anatomy(np.zeros(0, np.int32), 3, 2, np.zeros(0, np.int64)).count == 0
    assert anatomy(np.zeros(4, np.int32), 1, 2, np.arange(4)).unplaced == 4
    assert anatomy(np.arange(3), 3, 4, np.arange(3)).count == 0
    with pytest.raises(DataError) as caught:
        anatomy(np.array([3]), 2, 0, np.array([1]))
    assert len(caught.value.problems) == 3
