"""ART to the letter [ART, Section V]: singletons, merged until every group satisfies the Δ condition.

It shares no code with the package and is meant for a few hundred people: each merge looks at all groups. Of
the groups to merge with the paper says that they shall keep Δ_max "unchanged or only slightly increased".
So a violating group takes, one after the other, the group with none of its values that raises its Δ_max
least, until the condition holds. The paper does not say what becomes of a group that no set of groups can
be found for: it waits for others to take it, and whoever is in such a group at the end is not published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Prior = dict[int, Fraction]


@dataclass(frozen=True)
class People:
    """Sensitive values, and what an adversary believes of each person: one prior for every attribute set."""

    values: Sequence[int]
    priors: Sequence[Sequence[Prior]]

    @classmethod
    def learned(cls, values: Sequence[int], sets: Sequence[Sequence[object]]) -> People:
        """Priors counted from these very people; `sets` has the signature of each person, set by set."""
        priors = []
        for signatures in sets:
            held: dict[object, Counter[int]] = {}
            for signature, value in zip(signatures, values, strict=True):
                held.setdefault(signature, Counter())[value] += 1
            known = {s: {x: Fraction(n, c.total()) for x, n in c.items()} for s, c in held.items()}
            priors.append([known[signature] for signature in signatures])
        return cls(values, priors)


def satisfied(people: People, group: Sequence[int], r: Fraction) -> bool:
    """The Δ bounding condition for every attribute set, and each value at most once [Robust, Thm 1]."""
    values, size = [people.values[i] for i in group], len(group)
    if len(set(values)) < size or size < r:
        return False
    for priors in people.priors:
        for x in values:
            believed = [priors[i].get(x, Fraction(0)) for i in group]
            high = max(believed)
            ceiling = Fraction(0)
            if 0 < high < 1:
                ceiling = (size - r) * high / (high * (r - 1) / (1 - high) + size - 1)
            if high - min(believed) > ceiling:
                return False
    return True


def literal_art(people: People, r: Fraction) -> list[list[int]]:
    """The groups that are published: lists of positions of people."""
    merging = _Merging(people)
    for x, _ in sorted(Counter(people.values).items(), key=lambda item: (-item[1], item[0])):
        while (group := merging.next_violating(x, r)) is not None:
            merging.merge_around(group, r)
    return [group for group in merging.groups if group and satisfied(people, group, r)]


class _Merging:
    """All groups, the values they have, and their smallest and largest priors."""

    def __init__(self, people: People) -> None:
        self.people = people
        self.groups: list[list[int]] = [[i] for i in range(len(people.values))]
        width = max(people.values) + 1
        self.has = np.zeros((len(self.groups), width), np.bool_)
        self.has[np.arange(len(self.groups)), people.values] = True
        known = [
            [[float(prior.get(x, 0)) for x in range(width)] for prior in priors] for priors in people.priors
        ]
        self.low = np.array(known).reshape(len(known), len(self.groups), width)
        self.high = self.low.copy()
        self.hopeless: set[int] = set()

    def next_violating(self, x: int, r: Fraction) -> int | None:
        """A group with the value that violates the condition and has not been tried in vain."""
        for g in np.flatnonzero(self.has[:, x]).tolist():
            if g not in self.hopeless and not satisfied(self.people, self.groups[g], r):
                return int(g)
        return None

    def merge_around(self, group: int, r: Fraction) -> None:
        """Find groups that, merged with this one, satisfy the condition; without any it is left as it was."""
        chosen, members = [group], list(self.groups[group])
        while not satisfied(self.people, members, r):
            nearest = self._nearest(chosen)
            if nearest is None:
                self.hopeless.add(group)
                return
            chosen.append(nearest)
            members += self.groups[nearest]
        self.has[group] = self.has[chosen].any(axis=0)
        self.low[:, group] = self.low[:, chosen].min(axis=1)
        self.high[:, group] = self.high[:, chosen].max(axis=1)
        self.groups[group] = members
        for other in chosen[1:]:
            self.groups[other], self.has[other] = [], False

    def _nearest(self, chosen: list[int]) -> int | None:
        """The group without any of the values that keeps Δ_max of the merged group smallest."""
        has = self.has[chosen].any(axis=0)
        free = self.has.any(axis=1) & ~(self.has & has).any(axis=1)
        if not free.any():
            return None
        low = np.minimum(self.low, self.low[:, chosen].min(axis=1)[:, None])
        high = np.maximum(self.high, self.high[:, chosen].max(axis=1)[:, None])
        apart: NDArray[np.float64] = np.where(self.has | has, high - low, 0.0).max(axis=(0, 2))
        return int(np.where(free, apart, np.inf).argmin())
