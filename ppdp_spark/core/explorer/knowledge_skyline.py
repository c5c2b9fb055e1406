"""The knowledge skyline of a release: how much an adversary may know before a value is disclosed.

At confidence c for a value σ, all maximal (ℓ, k, m) at which the release is still safe
[Skyline, Sec 4.3], and for each of them what one more piece of knowledge would do, and where.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ppdp_spark.core.criteria.skyline.decision import (
    PRODUCTS,
    breach_probability,
    least_safe_ratio,
    ratio_products,
)
from ppdp_spark.core.criteria.skyline.formulas import fill_largest_k, statistics_at
from ppdp_spark.core.criteria.skyline.points import LARGEST_KNOWLEDGE, Case, Point, case_code
from ppdp_spark.core.criteria.skyline.skyline_check import LISTED_VALUES, PLACES
from ppdp_spark.core.data.groups import FloatArray, IntArray
from ppdp_spark.core.explorer.frontier import LevelFrontier, frontier
from ppdp_spark.core.explorer.signatures import Signatures, merge_signatures, signatures
from ppdp_spark.errors import SpecError

__all__ = [
    "Bounds",
    "Breach",
    "KnowledgeSkyline",
    "MaximalPoint",
    "Signatures",
    "explore",
    "merge_signatures",
    "signatures",
]


@dataclass(frozen=True)
class Bounds:
    """How far to look along each axis; without `max_k`, up to what fits into the groups."""

    max_l: int = 10
    max_k: int | None = None
    max_m: int = 20

    def __post_init__(self) -> None:
        given = {"max_l": self.max_l, "max_k": self.max_k or 0, "max_m": self.max_m}
        problems = [f"`{name}` ({value}) must not be negative" for name, value in given.items() if value < 0]
        if problems:
            raise SpecError(problems)


@dataclass(frozen=True)
class Breach:
    """Knowledge that discloses σ with probability at least c, and where to gather it.

    where
        l, k, m               the amounts of knowledge
        probability           the adversary's confidence
        product               which of SS1, SS2·SS5, SS3·SS4 attains it
        group                 the target's group, with `group_people` and `group_occurrences` of σ
        excluded_values       codes of the ℓ values to exclude for the target (those that occur)
        known_people_group    group in which to learn about k people
        family_group          group of the m people who have σ only if the target has it
    """

    l: int
    k: int
    m: int
    probability: float
    product: str
    group: int
    group_people: int
    group_occurrences: int
    excluded_values: tuple[int, ...]
    known_people_group: int
    family_group: int


@dataclass(frozen=True)
class MaximalPoint:
    """A maximal safe (ℓ, k, m), with the breaches of one step more along each axis.

    `open_axes` lists the axes on which a bound stopped the search, not a breach.
    """

    l: int
    k: int
    m: int
    breaches: tuple[Breach, ...]
    open_axes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class KnowledgeSkyline:
    """All maximal knowledge under which a release is safe for one value at one confidence.

    where
        present  whether σ occurs at all; if not, every knowledge is safe and k is unlimited
                 (`LARGEST_KNOWLEDGE`)
        surface  largest safe k, shape (max_l + 1, max_m + 1); −1 where even k = 0 is unsafe
        points   the maximal points, by ℓ, then m
        start    the breach that needs no knowledge at all, if there is one
    """

    value: int
    c: float
    case: Case
    groups: int
    present: bool
    surface: IntArray
    points: tuple[MaximalPoint, ...]
    start: Breach | None

    @property
    def amounts(self) -> list[tuple[int, int, int]]:
        return [(p.l, p.k, p.m) for p in self.points]

    def to_dict(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "c": self.c,
            "case": self.case,
            "groups": self.groups,
            "present": self.present,
            "surface": self.surface.tolist(),
            "points": [asdict(point) for point in self.points],
            "start": asdict(self.start) if self.start else None,
        }


def explore(found: Signatures, c: float, bounds: Bounds | None = None) -> KnowledgeSkyline:
    """The knowledge skyline of the release that `found` describes.

    BP grows with ℓ, k and m, so the largest safe k for each (ℓ, m) falls along both and is found by
    bisection; (ℓ, k, m) is maximal iff that k is larger than at (ℓ+1, m) and at (ℓ, m+1).
    """
    bounds = bounds or Bounds()
    if bounds.max_l > found.width:
        raise SpecError(f"`max_l` ({bounds.max_l}) is above the {found.width} values of the signatures")
    search = _Search(found, Point(0, 0, 0, c).c, bounds)
    surface = search.surface()
    points = tuple(search.maximal(*amount) for amount in _maximal(surface))
    start = search.breach(0, 0, 0) if surface[0, 0] < 0 else None
    return KnowledgeSkyline(
        value=found.value,
        c=c,
        case=found.case,
        groups=found.groups,
        present=len(found) > 0,
        surface=surface,
        points=points,
        start=start,
    )


def _maximal(surface: IntArray) -> list[tuple[int, int, int]]:
    beyond = np.pad(surface, ((0, 1), (0, 1)), constant_values=-1)
    peak = (surface > beyond[1:, :-1]) & (surface > beyond[:-1, 1:])
    return [(int(length), int(surface[length, m]), int(m)) for length, m in np.argwhere(peak)]


class _Search:
    """The search on one set of signatures: a frontier for each ℓ, made when it is asked for."""

    def __init__(self, found: Signatures, c: float, bounds: Bounds) -> None:
        self.found, self.case, self.c, self.bounds = found, case_code(found.case), c, bounds
        self._frontiers: dict[int, LevelFrontier] = {}

    def frontier(self, length: int) -> LevelFrontier:
        if length not in self._frontiers:
            self._frontiers[length] = frontier(self.found, length)
        return self._frontiers[length]

    def surface(self) -> IntArray:
        shape = (self.bounds.max_l + 1, self.bounds.max_m + 1)
        most = LARGEST_KNOWLEDGE if self.bounds.max_k is None else self.bounds.max_k
        surface = np.full(shape, most, dtype=np.int64)
        if not len(self.found):
            return surface
        fitting = int(self.found.people.min()) - 1 - np.arange(shape[1])
        upper = np.clip(fitting, -1, most).astype(np.int64)
        for length in range(shape[0]):
            if upper[0] < 0:
                surface[length:] = -1
                break
            front = self.frontier(length)
            least = np.array([self._least(length, m) for m in range(shape[1])])
            fill_largest_k(
                self.case,
                front.people,
                front.occurrences,
                front.excluded,
                least,
                upper,
                surface[length],
            )
            upper = surface[length]
        return surface

    def maximal(self, length: int, k: int, m: int) -> MaximalPoint:
        """The point with the breaches of its three neighbours."""
        if not len(self.found):
            return MaximalPoint(length, k, m, (), ("l", "k", "m"))
        breaches, open_axes = [], []
        for axis, step in (("l", (1, 0, 0)), ("k", (0, 1, 0)), ("m", (0, 0, 1))):
            further = (length + step[0], k + step[1], m + step[2])
            breach = self.breach(*further) if further[0] <= self.found.width else None
            if breach is None:
                open_axes.append(axis)
            else:
                breaches.append(breach)
        return MaximalPoint(length, k, m, tuple(breaches), tuple(open_axes))

    def breach(self, length: int, k: int, m: int) -> Breach | None:
        """The breach at this knowledge; none where it is safe."""
        front = self.frontier(length)
        each = statistics_at(self.case, front.people, front.occurrences, front.excluded, k, m)
        products = ratio_products(each.min(axis=0))
        if products.min() >= self._least(length, m):
            return None
        product = PRODUCTS[int(np.argmin(products))]
        target, known, family = (self._attaining(front, each[:, j]) for j in PLACES[product])
        values = self.found.values[target, : min(length, LISTED_VALUES)]
        return Breach(
            l=length,
            k=k,
            m=m,
            probability=float(breach_probability(products.min())),
            product=product,
            group=int(self.found.ids[target]),
            group_people=int(self.found.people[target]),
            group_occurrences=int(self.found.occurrences[target]),
            excluded_values=tuple(int(v) for v in values[values >= 0]),
            known_people_group=int(self.found.ids[known]),
            family_group=int(self.found.ids[family]),
        )

    def _least(self, length: int, m: int) -> float:
        return least_safe_ratio(Point(length, 0, m, self.c))

    def _attaining(self, front: LevelFrontier, statistic: FloatArray) -> int:
        """Position of the signature with the lowest statistic, of equals that with the smallest id."""
        lowest = front.rows[statistic == statistic.min()]
        return int(lowest[np.argmin(self.found.ids[lowest])])
