"""Knowledge points, the values they protect, and skylines made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ppdp_spark.errors import SpecError

Case = Literal["svpi", "mvpi-set", "mvpi-multiset", "mvpi-records", "mvpi-rows"]
"""What a reader sees of a group's sensitive values.

`svpi` is one value per person. `mvpi-set` and `mvpi-multiset` are the models of the paper: the occurrences
of a group as one multiset, apart from each other [Skyline, Sec 2.1]. `mvpi-records` is a release that
shows the values of each person side by side: worlds deal whole records to the people of a group, so of
n people a = n − #σ have a record without σ, and of these b hold one of the ℓ values. Then, counting deals,

    T(g, ℓ, k) = (a − k)/#σ · (a − b)/a,    V(g, m, k) as with one value per person,

because whoever has σ meets all ℓ conditions at once, and whoever has not holds one of the other a − b
records. The product over ℓ values of the set model, which takes values for independent, becomes the share
of records that hold none of them; the dependence on k and m is that of a set, and with it the worst
places [Skyline, Thm 2]. From counts alone b is at most #s₍₁..ℓ₎, and that is what is used: the breach
probability is an upper bound, exact for ℓ = 0, and where the ℓ values never meet in a record or with σ.
Counts are people who have a value, however often.

`mvpi-rows` is a release that shows the rows of people apart from each other, one value each, and with each
group how many people they belong to; everybody has a row. Which rows belong together is not told. Whatever
somebody believes about that, as long as the people of a group are alike to them, what they conclude is a mean
over the ways to bind the rows into records, one for each person, and for each way the formulas of records
hold. Their counts are people who have a value, which are at most the rows that have it, and T and V fall as
counts grow. So with counts of rows the breach probability is an upper bound: no way to bind them is worse.
The multiset model, where each occurrence falls to everybody with the same chance and some may have none, is
no bound: of ten people with ten rows, five of which have σ, each has σ with probability .5, and it says .41.
"""

CASES: tuple[Case, ...] = get_args(Case)

LARGEST_KNOWLEDGE = 2**40
"""Counts above it could overflow when added up; no table has so many people."""


def case_code(case: str) -> int:
    """The number by which the kernels know a case."""
    if case not in CASES:
        raise SpecError(f"`case` ({case!r}) must be one of {', '.join(CASES)}")
    return CASES.index(case)


@dataclass(frozen=True, order=True)
class Point:
    """An amount of knowledge (ℓ, k, m) against which confidence must stay below c [Skyline, Sec 4.2].

    where
        l  values the target is known not to have (SVPI), or known to come only with σ (MVPI)
        k  other people whose value is known (SVPI), or who are known not to have σ (MVPI)
        m  people of whom is known: if they have σ, so has the target
        c  confidence that the adversary must not reach, in (0, 1]
    """

    l: int
    k: int
    m: int
    c: float

    def __post_init__(self) -> None:
        problems = [
            f"`{name}` ({value!r}) must be a whole number from 0 to {LARGEST_KNOWLEDGE}"
            for name, value in (("l", self.l), ("k", self.k), ("m", self.m))
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_KNOWLEDGE
        ]
        number = isinstance(self.c, int | float) and not isinstance(self.c, bool)
        if not number or not 0 < self.c <= 1:
            problems.append(f"`c` ({self.c!r}) must be above 0 and at most 1")
        if problems:
            raise SpecError(problems)

    def dominates(self, other: Point) -> bool:
        """Whether safety under this point implies safety under `other`; a point dominates itself."""
        more = self.l >= other.l and self.k >= other.k and self.m >= other.m
        return more and self.c <= other.c

    def __str__(self) -> str:
        return f"(ℓ, k, m) = ({self.l}, {self.k}, {self.m})"


@dataclass(frozen=True)
class Target:
    """One sensitive value (its code, and its name for people) under one point."""

    value: int
    label: str
    point: Point

    @property
    def level(self) -> str:
        return f"σ = {self.label}, {self.point}"

    @property
    def parameters(self) -> dict[str, Any]:
        """What `level` says, for programs."""
        return {
            "value": self.label,
            "l": self.point.l,
            "k": self.point.k,
            "m": self.point.m,
            "c": self.point.c,
        }


@dataclass(frozen=True)
class Skyline:
    """Points of every sensitive value: its own, or else the default ones.

    A value that is listed with no point at all is not protected.
    """

    default: tuple[Point, ...] = ()
    values: Mapping[int, tuple[Point, ...]] = field(default_factory=dict)

    def targets(self, labels: Sequence[str]) -> tuple[Target, ...]:
        """One target per value and point; `labels[v]` names value v."""
        unknown = sorted(value for value in self.values if not 0 <= value < len(labels))
        if unknown:
            raise SpecError(f"the skyline names value codes {unknown}; codes go from 0 to {len(labels) - 1}")
        return tuple(
            Target(value, label, point)
            for value, label in enumerate(labels)
            for point in self.values.get(value, self.default)
        )

    def redundant(self) -> tuple[tuple[int | None, Point, Point], ...]:
        """Points that add nothing: (value or None for the default, the point, one that dominates it)."""
        lists = [(None, self.default), *sorted(self.values.items())]
        return tuple(
            (value, point, other)
            for value, points in lists
            for i, point in enumerate(points)
            for j, other in enumerate(points)
            if i != j and other.dominates(point) and (other != point or j < i)
        )
