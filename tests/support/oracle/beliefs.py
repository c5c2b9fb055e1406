"""Posteriors of an adversary with priors: worlds of a group, weighted by the priors of its people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any

Prior = Mapping[Any, Fraction]


def learned(signatures: Sequence[Hashable], values: Sequence[Any]) -> dict[Hashable, Prior]:
    """The share of every value among the people of each signature."""
    people, pairs = Counter(signatures), Counter(zip(signatures, values, strict=True))
    return {
        signature: {x: Fraction(n, people[signature]) for (s, x), n in pairs.items() if s == signature}
        for signature in people
    }


def worst_posterior(values: Sequence[Any], priors: Sequence[Prior]) -> Fraction:
    """The largest p(person : value) of a group, by a sum over what is left to deal."""
    kinds = sorted(set(values), key=repr)
    whole = tuple(Counter(values)[kind] for kind in kinds)

    @cache
    def weight(left: tuple[int, ...], at: int, skipped: int) -> Fraction:
        if at == len(priors):
            return Fraction(1)
        if at == skipped:
            return weight(left, at + 1, skipped)
        dealt = ((i, priors[at].get(kind, Fraction(0))) for i, kind in enumerate(kinds) if left[i])
        return sum((p * weight(_less(left, i), at + 1, skipped) for i, p in dealt if p), Fraction(0))

    total = weight(whole, 0, -1)
    return max(
        prior.get(kind, Fraction(0)) * weight(_less(whole, i), 0, person) / total
        for person, prior in enumerate(priors)
        for i, kind in enumerate(kinds)
    )


def _less(left: tuple[int, ...], i: int) -> tuple[int, ...]:
    return (*left[:i], left[i] - 1, *left[i + 1 :])


def naive_posterior(values: Sequence[Any], priors: Sequence[Prior]) -> Fraction:
    """The same over all permutations; for tiny groups."""
    weights: Counter[Any] = Counter()
    total = Fraction(0)
    for dealt in set(permutations(values)):
        weight = Fraction(1)
        for prior, value in zip(priors, dealt, strict=True):
            weight *= prior.get(value, Fraction(0))
        total += weight
        for person, value in enumerate(dealt):
            weights[person, value] += weight
    return max(weights.values()) / total
