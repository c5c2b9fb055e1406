"""What a reader infers about protected values, by enumeration of worlds; no formula of the package is used.

A world hands the values of a group to its people. Everything is counted in exact fractions, person by person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, permutations
from math import inf, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.families import family_of
from ppdp_spark.core.criteria.robustness.posterior_audit import PosteriorAudit
from ppdp_spark.core.criteria.robustness.priors import PeoplePriors
from ppdp_spark.core.data.groups import GroupSummaries, PriorExtrema
from ppdp_spark.core.data.value_names import Sensitivity, ValueDomain
from ppdp_spark.errors import SpecError

LABELS = ("10", "20", "35", "80")
TABLE = (9, 6, 5, 2)
World = tuple[int, ...]


@cache
def worlds(held: World) -> tuple[World, ...]:
    """All ways to hand out the values, each as often as it arises; person i has world[i]."""
    return tuple(permutations(held))


def held(counts: Iterable[int]) -> World:
    return tuple(value for value, count in enumerate(counts) for _ in range(count))


def chance(some: Iterable[World], event: Callable[[World], bool], known: Callable[[World], bool]) -> Fraction:
    """P(event | known), every world equally likely; 0 where nothing is left."""
    left = [world for world in some if known(world)]
    return Fraction(sum(map(event, left)), len(left)) if left else Fraction(0)


def belief(
    counts: Iterable[int], value: int, known: Callable[[World], bool] = lambda world: True
) -> Fraction:
    """P(the first person has the value | known)."""
    return chance(worlds(held(counts)), lambda world: world[0] == value, known)


def subsets(values: Iterable[int], size: int) -> Iterator[tuple[int, ...]]:
    return combinations(list(values), size)


def domain(protected: tuple[bool, ...]) -> ValueDomain:
    names = tuple(label for label, own in zip(LABELS, protected, strict=True) if own)
    return ValueDomain(LABELS, TABLE, "svpi", "int", Sensitivity(names, only=True))


def criterion(field: str, stated: dict[str, Any], protected: tuple[bool, ...]) -> LocalCriterion:
    found = family_of(field).criterion(stated, domain(protected))
    assert isinstance(found, LocalCriterion)
    return found


def allows(asked: LocalCriterion, counts: tuple[int, ...]) -> bool:
    return bool(asked.allowed(GroupSummaries(np.array([sum(counts)]), np.array([counts])))[0])


def without(out: tuple[int, ...]) -> Callable[[World], bool]:
    """That the first person has none of the values."""
    return lambda world: world[0] not in out


def near(guess: float, within: float, protected: tuple[bool, ...]) -> Callable[[World], bool]:
    """That the first person has a protected number that the guess is near."""
    return lambda world: protected[world[0]] and abs(int(LABELS[world[0]]) - guess) <= within


counts_of_a_group = st.tuples(*[st.integers(0, 3)] * 4).filter(lambda counts: 1 <= sum(counts) <= 6)
masks = st.tuples(*[st.booleans()] * 4).filter(lambda mask: any(mask) and not all(mask))
examples = settings(max_examples=40, deadline=None)


def own(protected: tuple[bool, ...]) -> list[int]:
    return [value for value, needs in enumerate(protected) if needs]


def among_own(counts: tuple[int, ...], protected: tuple[bool, ...]) -> tuple[int, ...]:
    """The values of those of whom somebody does not know already that theirs needs no protection."""
    return tuple(count if needs else 0 for count, needs in zip(counts, protected, strict=True))


@examples
@given(counts_of_a_group, masks, st.sampled_from(["0.2", "0.25", "0.5", "1"]), st.integers(2, 4))
def test_alpha_bounds_the_belief_in_each_protected_value(counts, mask, alpha, k):
    asked = criterion("alpha_k", {"alpha": float(alpha), "k": k}, mask)
    sure = max(belief(counts, value) for value in own(mask))
    assert allows(asked, counts) == (sum(counts) >= k and sure <= Fraction(alpha))


@examples
@given(counts_of_a_group, masks, st.integers(2, 4))
def test_distinct_leaves_doubt_to_who_knows_the_unprotected_and_rules_out_two_less(counts, mask, l):
    """The reader knows who has which unprotected value, and ℓ − 2 values that the person does not have."""
    left, asked = among_own(counts, mask), criterion("l_diversity", {"kind": "distinct", "l": l}, mask)
    certain = sum(left) > 0 and any(
        belief(left, value, without(out)) == 1
        for value in own(mask)
        for out in subsets(set(own(mask)) - {value}, min(l - 2, sum(mask) - 1))
    )
    assert allows(asked, counts) == (not certain)


@examples
@given(counts_of_a_group, masks, st.integers(2, 4), st.sampled_from(["0.5", "1", "3"]))
def test_recursive_bounds_the_same_reader_and_every_reader_who_knows_less(counts, mask, l, c):
    asked, bound = criterion("l_diversity", {"kind": "recursive", "l": l, "c": float(c)}, mask), Fraction(c)
    left, limit = among_own(counts, mask), bound / (bound + 1)

    def surest(of: tuple[int, ...], ruled: Iterable[int]) -> Fraction:
        return max(
            (
                belief(of, value, without(out))
                for value in own(mask)
                for out in subsets(set(ruled) - {value}, min(l - 2, len(set(ruled) - {value})))
            ),
            default=Fraction(0),
        )

    assert allows(asked, counts) == (sum(left) == 0 or surest(left, own(mask)) < limit)
    if allows(asked, counts):
        assert surest(counts, range(4)) < limit


@examples
@given(counts_of_a_group, masks, st.sampled_from([1.5, 2.0, 2.5, 3.0]))
def test_entropy_is_that_of_the_beliefs_about_somebody_with_a_protected_value(counts, mask, l):
    asked = criterion("l_diversity", {"kind": "entropy", "l": l}, mask)
    shares = [belief(counts, value, lambda world: mask[world[0]]) for value in own(mask)]
    entropy = -sum(float(share) * log(share) for share in shares if share)
    if sum(shares) == 0:
        assert allows(asked, counts)
    elif abs(entropy - log(l)) > 1e-9:
        assert allows(asked, counts) == (entropy > log(l))


@examples
@given(counts_of_a_group, masks, st.sampled_from(["0.1", "0.25", "0.4", "0.7"]))
def test_equal_closeness_bounds_what_is_learned_of_any_set_of_protected_values(counts, mask, t):
    asked, everybody = criterion("t_closeness", {"t": float(t), "distance": "equal"}, mask), sum(TABLE)
    sets = chain.from_iterable(subsets(own(mask), size) for size in range(sum(mask) + 1))
    learned = max(
        abs(sum(belief(counts, x) for x in some) - Fraction(sum(TABLE[x] for x in some), everybody))
        for some in sets
    )
    assert allows(asked, counts) == (learned <= Fraction(t))


@examples
@given(counts_of_a_group, masks, st.sampled_from(["0.5", "1", "2"]), st.sampled_from(["basic", "enhanced"]))
def test_likeness_bounds_how_much_likelier_a_protected_value_becomes(counts, mask, beta, kind):
    asked = criterion("beta_likeness", {"beta": float(beta), "kind": kind}, mask)
    gains = {x: belief(counts, x) / Fraction(TABLE[x], sum(TABLE)) - 1 for x in own(mask)}
    limits = {x: min(float(beta), -log(TABLE[x] / sum(TABLE))) for x in gains}
    if kind == "basic":
        assert allows(asked, counts) == all(gain <= Fraction(beta) for gain in gains.values())
    else:
        assert allows(asked, counts) == all(gain <= limits[x] for x, gain in gains.items())


@examples
@given(counts_of_a_group, masks, st.sampled_from([0.5, 1.0, 2.0]))
def test_disclosure_bounds_it_in_both_directions(counts, mask, delta):
    asked = criterion("delta_disclosure", {"delta": delta}, mask)
    ratios = [belief(counts, x) * sum(TABLE) / TABLE[x] for x in own(mask)]
    assert allows(asked, counts) == all((abs(log(r)) if r else inf) < delta for r in ratios)


@examples
@given(counts_of_a_group, masks, st.sampled_from([4, 5, 10, 30]), st.sampled_from(["0.25", "0.5", "0.8"]))
def test_proximity_bounds_the_belief_that_a_protected_number_is_near_a_guess(counts, mask, within, share):
    asked = criterion("proximity", {"within": within, "share": float(share)}, mask)
    hit = max(
        chance(
            worlds(held(counts)),
            near(guess, within, mask),
            lambda world: True,
        )
        for guess in range(121)
    )
    assert allows(asked, counts) == (hit <= Fraction(share))


@examples
@given(st.data(), counts_of_a_group, masks, st.sampled_from([1.5, 2.0, 3.0]))
def test_robustness_bounds_posteriors_of_protected_values_in_worlds_of_all_values(data, counts, mask, r):
    """Unprotected values are dealt out like the others, and their priors weigh worlds."""
    people = sum(counts)
    weights = st.lists(st.integers(1, 9), min_size=4, max_size=4)
    given_priors = np.array(
        [
            [w / sum(row) for w in row]
            for row in data.draw(st.lists(weights, min_size=people, max_size=people))
        ]
    )
    extrema = PriorExtrema(given_priors.min(axis=0)[None], given_priors.max(axis=0)[None])
    group = GroupSummaries(np.array([people]), np.array([counts]), (extrema,))
    truth = weighted(held(counts), given_priors)
    worst = max(truth[person][value] for person in range(people) for value in own(mask))
    for model in ("joint", "binary"):
        stated = {"r": r, "model": model, "priors": [{"attributes": ["sex"]}]}
        asked = family_of("robustness").criterion(stated, domain(mask))
        assert isinstance(asked, LocalCriterion)
        if model == "joint":
            assert asked.achieved(group)[0] >= worst - 1e-9
            assert not asked.allowed(group)[0] or worst <= 1 / r + 1e-9
            order = np.arange(people, dtype=np.int32)
            audit = PosteriorAudit(asked)
            values = np.array(held(counts), np.int32)
            (found,) = audit.audit(
                PeoplePriors((order,), (given_priors,)), values, 4, np.array([0, people]), np.array([7])
            )
            assert found.worst is not None and abs(found.worst.posterior - worst) < 1e-9
        elif not any(among_own(counts, mask)):
            assert asked.allowed(group)[0]


def weighted(values: World, priors: Any) -> list[list[float]]:
    """P(person has value) over all worlds, each as likely as the product of the priors of its links."""
    found = [[0.0] * 4 for _ in values]
    whole = 0.0
    for world in worlds(values):
        weight = float(np.prod([priors[person, value] for person, value in enumerate(world)]))
        whole += weight
        for person, value in enumerate(world):
            found[person][value] += weight
    return [[share / whole for share in row] for row in found]


@examples
@given(counts_of_a_group, masks)
def test_a_skyline_has_targets_among_protected_values_and_reads_the_whole_group(counts, mask):
    stated = {"default": [{"l": 1, "k": 1, "m": 1, "c": 0.5}], "values": {}}
    some = family_of("skyline").criterion(stated, domain(mask))
    every = family_of("skyline").criterion(stated, ValueDomain(LABELS, TABLE, "svpi", "int"))
    assert some is not None and every is not None
    group, ids = GroupSummaries(np.array([sum(counts)]), np.array([counts])), np.array([1])
    rows = {row.parameters["value"]: row for row in every.decide(every.summarise(group, ids))}
    found = some.decide(some.summarise(group, ids))
    assert [row.parameters["value"] for row in found] == [LABELS[value] for value in own(mask)]
    assert all(row == rows[row.parameters["value"]] for row in found)


def test_a_distance_along_an_order_is_not_defined_for_some_values():
    with pytest.raises(SpecError, match="distance: ordered"):
        criterion("t_closeness", {"t": 0.2, "distance": "ordered"}, (True, False, True, True))


def test_a_group_of_unprotected_values_is_fine_and_no_worst_group():
    asked = criterion("l_diversity", {"kind": "distinct", "l": 2}, (True, True, False, False))
    groups = GroupSummaries(np.array([3, 5]), np.array([[0, 0, 3, 0], [2, 1, 0, 2]]))
    (row,) = asked.decide(asked.summarise(groups, np.array([1, 2])))
    assert row.ok and row.value == 2 and row.groups == 2 and row.witness == {"group": 2}
    assert row.parameters == {"l": 2, "protected_values": 2, "values": 4}
    assert row.level == "ℓ = 2, 2 of 4 values protected"
    (nobody,) = asked.decide(asked.summarise(groups.rows([0]), np.array([1])))
    assert nobody.ok and nobody.value is None
