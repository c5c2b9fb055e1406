"""Who may have what: worlds counted exactly, and the worst posterior of an adversary who knows (ℓ, k, m).

A world gives the published values of each group to its people. The adversary's odds against "target has σ"
are P(knowledge and not σ) / P(knowledge and σ). Groups are independent, so the odds are a product: one factor
of the target's group, one of every other group in which people are known; the worst is sought over all ways
to spread at most k and at most m people over the groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import comb, factorial, perm
from typing import Any

from .reading import Group

Odds = Fraction | None
"""Odds against the target's having σ; None where no world with σ agrees with the knowledge."""


@dataclass(frozen=True)
class Worlds:
    """The worlds of one group under one way of dealing.

    where
        dealing  `values` (one per person), `set`, `multiset` (occurrences), or `records` (whole records)
    """

    dealing: str
    size: int
    counts: tuple[tuple[Any, int], ...]
    records: tuple[tuple[Any, ...], ...] = ()

    @classmethod
    def of(cls, group: Group, case: str) -> Worlds:
        counts = tuple(sorted(group.occurrences.items(), key=repr))
        if case == "svpi":
            return cls("values", group.size, counts)
        if group.records is not None:
            return cls("records", group.size, counts, group.records)
        return cls(case.removeprefix("mvpi-"), group.size, counts)

    def has(self, sigma: Any) -> bool:
        return any(value == sigma and number for value, number in self.counts)

    def target_odds(self, sigma: Any, l: int, k: int, m: int) -> Odds:
        """The least odds when target, k and m people are all in this group."""
        return _lowest(_target(self, sigma, excluded, k, m) for excluded in self._excluded(sigma, l))

    def others_factor(self, sigma: Any, k: int, m: int) -> Odds:
        """The least P(nobody of m people has σ | what is known of k people), the target elsewhere."""
        return _lowest([_others(self, sigma, k, m)])

    def _excluded(self, sigma: Any, l: int) -> Iterator[tuple[Any, ...]]:
        others = [value for value, _ in self.counts if value != sigma]
        for number in range(min(l, len(others)) + 1):
            yield from combinations(others, number)


def _lowest(odds: Any) -> Odds:
    return min((one for one in odds if one is not None), default=None)


@cache
def _target(worlds: Worlds, sigma: Any, excluded: tuple[Any, ...], k: int, m: int) -> Odds:
    n, s = worlds.size, dict(worlds.counts).get(sigma, 0)
    if k + m + 1 > n or s == 0:
        return None
    if worlds.dealing == "values":
        return _lowest(_value_odds(left, n - k, sigma, excluded, m) for left in _after(worlds.counts, k))
    if worlds.dealing == "set":
        kept = Fraction(1)
        for value in excluded:
            kept *= Fraction(n - dict(worlds.counts)[value], n)
        return _ratio(comb(n - k - m - 1, s) * kept, comb(n - k - 1, s - 1))
    if worlds.dealing == "multiset":
        free = sum(dict(worlds.counts)[value] for value in excluded)
        kept = Fraction(n - 1, n) ** free
        return _ratio((n - k - m - 1) ** s * kept, (n - k) ** s - (n - k - 1) ** s)
    return _record_odds(worlds.records, sigma, excluded, k, m)


def _ratio(against: Fraction | int, favour: Fraction | int) -> Odds:
    return Fraction(against) / favour if favour else None


def _after(counts: tuple[tuple[Any, int], ...], k: int) -> Iterator[dict[Any, int]]:
    """What is left of the values after those of k people became known, in every way."""
    for taken in product(*(range(min(number, k) + 1) for _, number in counts)):
        if sum(taken) == k:
            yield {value: number - t for (value, number), t in zip(counts, taken, strict=True)}


def _value_odds(left: dict[Any, int], n: int, sigma: Any, excluded: tuple[Any, ...], m: int) -> Odds:
    """Arrangements of the rest: target has neither σ nor an excluded value, m others have no σ."""
    other = sum(number for value, number in left.items() if value != sigma and value not in excluded)
    without = sum(number for value, number in left.items() if value != sigma)
    against = other * perm(without - 1, m) * factorial(n - 1 - m) if other else 0
    return _ratio(against, left[sigma] * factorial(n - 1))


def _record_odds(records: tuple[Any, ...], sigma: Any, excluded: tuple[Any, ...], k: int, m: int) -> Odds:
    n, without = len(records), [record for record in records if sigma not in record]
    fitting = sum(not set(excluded) & set(record) for record in without)
    against = fitting * perm(len(without) - 1, k + m) * factorial(n - 1 - k - m) if fitting else 0
    favour = (n - len(without)) * perm(len(without), k) * factorial(n - 1 - k)
    return _ratio(against, favour)


@cache
def _others(worlds: Worlds, sigma: Any, k: int, m: int) -> Odds:
    n, s = worlds.size, dict(worlds.counts).get(sigma, 0)
    if k + m > n:
        return None
    if worlds.dealing == "values":
        rest = [left.get(sigma, 0) for left in _after(worlds.counts, k)]
        return _lowest(_ratio(perm(n - k - left, m), perm(n - k, m)) for left in rest)
    if worlds.dealing == "set":
        return _ratio(comb(n - k - m, s), comb(n - k, s))
    if worlds.dealing == "multiset":
        return _ratio((n - k - m) ** s, (n - k) ** s)
    without = sum(sigma not in record for record in worlds.records)
    return _ratio(perm(without, k + m) * factorial(n - k - m), perm(without, k) * factorial(n - k))


def breach_probability(groups: list[Worlds], sigma: Any, l: int, k: int, m: int) -> Fraction:
    """The largest posterior of "target has σ" over targets and all knowledge of at most (ℓ, k, m)."""
    least: Odds = None
    for at, home in enumerate(groups):
        if not home.has(sigma):
            continue
        away = _spread(groups[:at] + groups[at + 1 :], sigma, k, m)
        for inside_k, inside_m in product(range(k + 1), range(m + 1)):
            odds = home.target_odds(sigma, l, inside_k, inside_m)
            rest = away[k - inside_k, m - inside_m]
            if odds is not None:
                least = _lowest([least, odds * rest])
    return Fraction(0) if least is None else 1 / (least + 1)


def _spread(groups: list[Worlds], sigma: Any, k: int, m: int) -> dict[tuple[int, int], Fraction]:
    """The least product of factors when at most (k, m) people are known in these groups."""
    best = dict.fromkeys(product(range(k + 1), range(m + 1)), Fraction(1))
    for group in groups:
        if not group.has(sigma):
            continue
        factors = {kk_mm: group.others_factor(sigma, *kk_mm) for kk_mm in best}
        best = {
            (a, b): min(
                factor * best[a - x, b - y]
                for (x, y), factor in factors.items()
                if x <= a and y <= b and factor is not None
            )
            for a, b in best
        }
    return best


def every_world(worlds: Worlds) -> Iterator[tuple[Counter[Any], ...]]:
    """Naively: every way to deal, each as likely as any other; what each person has."""
    n = worlds.size
    if worlds.dealing in ("values", "records"):
        single = [(value,) for value, number in worlds.counts for _ in range(number)]
        for dealt in permutations(worlds.records or single):
            yield tuple(Counter(record) for record in dealt)
        return
    ways = []
    for value, number in worlds.counts:
        places = combinations(range(n), number)
        places = places if worlds.dealing == "set" else product(range(n), repeat=number)
        ways.append([(value, place) for place in places])
    for chosen in product(*ways):
        people: tuple[Counter[Any], ...] = tuple(Counter() for _ in range(n))
        for value, place in chosen:
            for person in place:
                people[person][value] += 1
        yield people


def naive_breach(groups: list[Worlds], sigma: Any, l: int, k: int, m: int, single: bool) -> Fraction:
    """The same probability by brute force over whole worlds, people and knowledge; for tiny releases."""
    worlds = [tuple(p for part in parts for p in part) for parts in product(*map(every_world, groups))]
    everyone = range(sum(group.size for group in groups))
    values = sorted({value for group in groups for value, _ in group.counts} - {sigma}, key=repr)
    best = Fraction(0)
    for target in everyone:
        for known in _some([p for p in everyone if p != target], k):
            facts = _facts(worlds, known, sigma, single)
            for agreeing in facts:
                for family in _some([p for p in everyone if p != target and p not in known], m):
                    linked = [w for w in agreeing if w[target][sigma] or not any(w[v][sigma] for v in family)]
                    for excluded in _some(values, l):
                        best = max(best, _posterior(linked, target, sigma, excluded))
    return best


def _posterior(worlds: list[Any], target: int, sigma: Any, excluded: tuple[Any, ...]) -> Fraction:
    """Share of worlds with σ among those in which an excluded value implies σ."""
    left = [w for w in worlds if w[target][sigma] or not any(w[target][x] for x in excluded)]
    return Fraction(sum(w[target][sigma] > 0 for w in left), len(left)) if left else Fraction(0)


def _facts(worlds: list[Any], known: tuple[int, ...], sigma: Any, single: bool) -> list[list[Any]]:
    """Worlds that agree with what is known of people: their values, or that they are without σ."""
    if not single:
        return [[w for w in worlds if not any(w[p][sigma] for p in known)]]
    by_values: dict[Any, list[Any]] = {}
    for world in worlds:
        key = tuple(next(iter(world[p])) for p in known)
        by_values.setdefault(key, []).append(world)
    return list(by_values.values())


def _some(things: Any, most: int) -> Iterator[tuple[Any, ...]]:
    for number in range(min(most, len(things)) + 1):
        yield from combinations(things, number)


def shares(counts: Mapping[Any, int]) -> dict[Any, Fraction]:
    """Occurrences as shares of their sum."""
    total = sum(counts.values())
    return {value: Fraction(number, total) for value, number in counts.items()}
