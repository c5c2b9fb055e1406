"""ℓ-diversity: distinct, entropy and recursive [Machanavajjhala et al., ICDE 2006].

With sets or multisets of values per person, all three look at occurrences: `counts` alone, never `sizes`.
A group without any occurrence has no diversity and is not allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.exact import agreeing, integers, product_at_most
from ppdp_spark.core.criteria.family import (
    LARGEST_L,
    Family,
    Parameter,
    Parameters,
    Problem,
    Traits,
    Unasked,
    choice,
    number,
)
from ppdp_spark.core.criteria.parameters import Number, positive, rational, whole_number
from ppdp_spark.core.criteria.protected_values import among_protected
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.errors import SpecError

LARGEST_EXACT_GROUP = 10_000


@dataclass(frozen=True)
class DistinctDiversity(LocalCriterion):
    """Distinct ℓ-diversity: every group holds at least ℓ different sensitive values.

    Closed under union: a union holds the values of both.
    """

    l: int

    name: ClassVar[str] = "distinct_l_diversity"
    higher_is_safer: ClassVar[bool] = True
    relation: ClassVar[str] = ">="

    def __post_init__(self) -> None:
        whole_number("l", self.l, least=2)

    @property
    def level(self) -> str:
        return f"ℓ = {self.l}"

    @property
    def threshold(self) -> float:
        return float(self.l)

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """Different sensitive values in each group."""
        return np.asarray(np.count_nonzero(groups.counts, axis=1), np.float64)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        return np.asarray(np.count_nonzero(groups.counts, axis=1) >= self.l)


@dataclass(frozen=True)
class EntropyDiversity(LocalCriterion):
    """Entropy ℓ-diversity: −Σ q log q >= log ℓ in every group, q the shares among occurrences.

    ℓ need not be whole. Rounding never decides for a group: an entropy within its error bound of log ℓ is
    compared in integers, n^n >= ℓ^n Π c^c for the counts c over their common divisor and n = Σ c. So a
    uniform group over exactly ℓ values passes, and so does 4:1:1:1:1 at ℓ = 4. Where such a group has n
    above `LARGEST_EXACT_GROUP` and is not uniform, it is refused: the safe side.

    Closed under union: entropy is concave.
    """

    l: Number

    name: ClassVar[str] = "entropy_l_diversity"
    higher_is_safer: ClassVar[bool] = True
    relation: ClassVar[str] = ">="

    def __post_init__(self) -> None:
        if rational("l", self.l) <= 1:
            raise SpecError(f"`l` ({self.l!s}) must be above 1")

    @property
    def level(self) -> str:
        return f"ℓ = {self.l}"

    @property
    def threshold(self) -> float:
        return float(self.l)

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """exp(entropy) of each group: the ℓ it would just satisfy; 0 without occurrences."""
        counts = integers(groups.counts)
        values = np.where(counts.any(axis=1), np.exp(_entropy(counts)), 0.0)
        return agreeing(values, self.allowed(groups), self.threshold, self.relation)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        counts = integers(groups.counts)
        entropy, goal = _entropy(counts), math.log(self.l)
        margin = _entropy_rounding(counts.shape[1]) + 4 * np.finfo(np.float64).eps * (1 + goal)
        decided = np.asarray(entropy > goal + margin)
        close = np.asarray((np.abs(entropy - goal) <= margin) & counts.any(axis=1))
        if close.any():
            decided[close] = self._allowed_exactly(counts[close])
        return decided

    def _allowed_exactly(self, counts: IntArray) -> BoolArray:
        reduced = np.sort(counts // np.gcd.reduce(counts, axis=1, keepdims=True), axis=1)
        kinds, kind = np.unique(reduced, axis=0, return_inverse=True)
        total, level = kinds.sum(axis=1), rational("l", self.l)
        uniform = kinds[:, -1] == 1
        decided = uniform & product_at_most([level.numerator], [total, level.denominator])
        small = ~uniform & (total <= LARGEST_EXACT_GROUP)
        powers, n = kinds[small].astype(object), total[small].astype(object)
        needed = level.numerator**n * (powers**powers).prod(axis=1)
        decided[small] = (level.denominator * n) ** n >= needed
        return np.asarray(decided[kind.ravel()])


def _entropy(counts: IntArray) -> FloatArray:
    # Here, not above: every worker would spend a third of a second on it, whatever its criterion.
    from scipy.special import entr

    total = np.maximum(counts.sum(axis=1), 1)
    return np.asarray(entr(counts / total[:, None]).sum(axis=1))


def _entropy_rounding(values: int) -> float:
    """A bound on the rounding error of `_entropy`.

    A share q is off by a unit u of itself, so q log q by u (q + 3 |q log q|) at most; adding up `values`
    terms in any order adds `values` · u of the sum; the sum is at most log `values`.
    """
    unit = float(np.finfo(np.float64).eps)
    return (values + 8) * unit * (1 + math.log(max(values, 1)))


@dataclass(frozen=True)
class RecursiveDiversity(LocalCriterion):
    """Recursive (c,ℓ)-diversity: r_1 < c (r_ℓ + … + r_m), r_1 >= … >= r_m the counts of a group, strict.

    Fewer than ℓ values leave an empty sum: not allowed. It equals the skyline point (ℓ−2, 0, 0) at
    confidence c/(c+1) [Skyline, Prop 4]. c counts as its decimal text says.

    Closed under union: r_1 and r_1 + … + r_{ℓ−1} are subadditive, the total is additive.
    """

    c: Number
    l: int

    name: ClassVar[str] = "recursive_l_diversity"
    higher_is_safer: ClassVar[bool] = False
    relation: ClassVar[str] = "<"

    def __post_init__(self) -> None:
        positive("c", self.c)
        whole_number("l", self.l, least=2)

    @property
    def level(self) -> str:
        return f"c = {self.c}, ℓ = {self.l}"

    @property
    def threshold(self) -> float:
        return float(self.c)

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """r_1 / (r_ℓ + … + r_m): the c it would just fail; infinite when the sum is empty."""
        most, tail = self._most_and_tail(groups)
        values = np.where(tail > 0, most / np.maximum(tail, 1), np.inf)
        return agreeing(values, self.allowed(groups), self.threshold, self.relation)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        most, tail = self._most_and_tail(groups)
        c = positive("c", self.c)
        return ~product_at_most([tail, c.numerator], [most, c.denominator])

    def _most_and_tail(self, groups: GroupSummaries) -> tuple[IntArray, IntArray]:
        counts = integers(groups.counts)
        most = counts.max(axis=1, initial=0)
        smallest = counts.shape[1] - (self.l - 1)
        if smallest <= 0:
            return most, np.zeros_like(most)
        return most, np.partition(counts, smallest - 1, axis=1)[:, :smallest].sum(axis=1)


def _diversity(given: Parameters, domain: ValueDomain) -> LocalCriterion:
    if given["kind"] == "entropy":
        return EntropyDiversity(given["l"])
    if given["kind"] == "recursive":
        return RecursiveDiversity(given["c"], int(given["l"]))
    return DistinctDiversity(int(given["l"]))


def _written_out(data: Any) -> Any:
    """An entropy level is a number, not a count: 2 and 2.0 are the same spec."""
    if isinstance(data, dict) and data.get("kind") == "entropy" and type(data.get("l")) is int:
        small = abs(data["l"]) <= LARGEST_L
        return {**data, "l": float(data["l"])} if small else data
    return data


def _rules(data: Parameters) -> Iterator[Problem]:
    variant, level, c = data.get("kind"), data.get("l"), data.get("c")
    if variant in ("distinct", "recursive") and isinstance(level, float):
        yield ("l",), f"(decimal number) must be a whole number for {variant} ℓ-diversity"
    if variant == "recursive" and c is None:
        yield ("c",), "is missing: recursive ℓ-diversity needs it, add `c: 3`"
    if variant in ("distinct", "entropy") and c is not None:
        yield ("c",), f"belongs to recursive ℓ-diversity only: remove it, or change `kind` ({variant})"


L_DIVERSITY = Family(
    field="l_diversity",
    names=(DistinctDiversity.name, EntropyDiversity.name, RecursiveDiversity.name),
    summary="ℓ-diversity: `distinct` and `recursive` take a whole ℓ, `entropy` any number above 1.",
    parameters=(
        choice("kind", "distinct", "entropy", "recursive", example="recursive"),
        Parameter("l", "whole or number", above=1, most=LARGEST_L, example=6),
        number("c", default=None, description="The constant of recursive (c, ℓ)-diversity, and of it only."),
    ),
    build=_diversity,
    of_some=among_protected(_diversity),
    traits=Traits(least_size=lambda given: math.ceil(given["l"])),
    written_out=_written_out,
    rules=_rules,
    measures=(
        Unasked("fewest distinct values", {"kind": "distinct", "l": 2}),
        Unasked("least exp(entropy)", {"kind": "entropy", "l": 2}),
        Unasked("largest r₁ / (r₂ + … + rₘ)", {"kind": "recursive", "c": 1, "l": 2}),
    ),
)
