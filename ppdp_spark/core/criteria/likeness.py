"""β-likeness [Cao & Karras, VLDB 2012] and δ-disclosure privacy [Brickell & Shmatikov, KDD 2008]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ppdp_spark.core.criteria.distribution import DistributionCriterion
from ppdp_spark.core.criteria.exact import Factors, product_at_most
from ppdp_spark.core.criteria.family import Family, Parameters, Traits, Unasked, choice, number
from ppdp_spark.core.criteria.parameters import Number, positive, value_counts
from ppdp_spark.core.criteria.protected_values import Mask
from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray
from ppdp_spark.core.data.value_names import ValueDomain

# Relative error of a ratio of two products of counts, and of 1 − ln p: a few units of 1.2e-16.
RATIO_ROUNDING = 4e-15


def share_ratios(counts: IntArray, table: IntArray) -> FloatArray:
    """q/p of every group and value: its share in the group over its share in the table."""
    expected = counts.sum(axis=1, keepdims=True) * table.astype(np.float64)
    return np.asarray(counts * float(table.sum()) / expected)


@dataclass(frozen=True)
class BasicBetaLikeness(DistributionCriterion):
    """Basic β-likeness: (q − p)/p <= β for every value whose share grows, q in the group, p in the table.

    Only gains count: a value may be missing from a group. The comparison is exact, β counts as its decimal
    text says; `distribution` holds the table's occurrences of each value in code order.

    Closed under union: q of a union is a mixture, and (1 + β) p bounds both parts.
    """

    beta: Number
    distribution: tuple[int, ...]
    protected: Mask | None = None

    name: ClassVar[str] = "basic_beta_likeness"
    relation: ClassVar[str] = "<="

    def __post_init__(self) -> None:
        positive("beta", self.beta)
        object.__setattr__(self, "distribution", value_counts("distribution", self.distribution))

    @property
    def level(self) -> str:
        return f"β = {self.beta}{self.some}"

    @property
    def threshold(self) -> float:
        return float(self.beta)

    def distances(self, counts: IntArray) -> FloatArray:
        """The largest relative gain of a value."""
        ratios = self.own(share_ratios(counts, self.table_counts))
        return np.asarray(np.maximum(ratios.max(axis=1, initial=0.0) - 1, 0.0))

    def within(self, counts: IntArray) -> BoolArray:
        table, bound = self.table_counts, 1 + positive("beta", self.beta)
        total = counts.sum(axis=1, keepdims=True)
        gained: Factors = [self.own(counts), int(table.sum()), bound.denominator]
        return np.asarray(product_at_most(gained, [total, self.own(table), bound.numerator]).all(axis=1))


@dataclass(frozen=True)
class EnhancedBetaLikeness(BasicBetaLikeness):
    """Enhanced β-likeness: (q − p)/p <= min(β, −ln p) for every value whose share grows.

    The logarithm keeps frequent values below certainty: p (1 − ln p) < 1 for p < 1. A value with p = 1
    cannot gain. No share of counts lies exactly on the other logarithmic bounds, they are irrational; one
    within rounding error of its bound is refused, the safe side.

    Closed under union, as the basic form: each value has its own bound on q.
    """

    name: ClassVar[str] = "enhanced_beta_likeness"

    def distances(self, counts: IntArray) -> FloatArray:
        """The smallest β at which the group passes; infinite if a gain exceeds −ln p, as then none does."""
        return np.where(self._below_logarithm(counts), super().distances(counts), np.inf)

    def within(self, counts: IntArray) -> BoolArray:
        return np.asarray(super().within(counts) & self._below_logarithm(counts))

    def _below_logarithm(self, counts: IntArray) -> BoolArray:
        table = self.table_counts
        if len(table) == 1:
            return np.ones(len(counts), dtype=np.bool_)
        bound = 1 - np.log(table / table.sum())
        below = share_ratios(counts, table) < bound * (1 - RATIO_ROUNDING)
        return np.asarray(self.own(below).all(axis=1))


@dataclass(frozen=True)
class DeltaDisclosure(DistributionCriterion):
    """δ-disclosure privacy: |ln(q/p)| < δ for *every* value of the table, strict, natural logarithm.

    A value of the table that a group lacks has ln 0 = −∞: the group fails at every δ, for the reader
    learns that nobody there has it. That is the definition to the letter; pycanon and ARX skip values
    a group lacks and so call releases private that are not, and ARX takes logarithms to base 2
    (its δ is ours over ln 2). No ratio of counts lies exactly on the bound, e^δ is irrational; one
    within rounding error of it is refused, the safe side.

    Closed under union: q of a union is a mixture, and stays between p e^−δ and p e^δ.
    """

    delta: Number
    distribution: tuple[int, ...]
    protected: Mask | None = None

    name: ClassVar[str] = "delta_disclosure"
    relation: ClassVar[str] = "<"

    def __post_init__(self) -> None:
        positive("delta", self.delta)
        object.__setattr__(self, "distribution", value_counts("distribution", self.distribution))

    @property
    def level(self) -> str:
        return f"δ = {self.delta}{self.some}"

    @property
    def threshold(self) -> float:
        return float(self.delta)

    def distances(self, counts: IntArray) -> FloatArray:
        """The largest |ln(q/p)| of a value; infinite if the group lacks one."""
        ratios = self.own(share_ratios(counts, self.table_counts))
        with np.errstate(divide="ignore"):
            return np.asarray(np.abs(np.log(ratios)).max(axis=1, initial=0.0))

    def within(self, counts: IntArray) -> BoolArray:
        distances = self.distances(counts)
        return np.asarray(distances + RATIO_ROUNDING * (1 + distances) < self.threshold)


def _likeness(given: Parameters, domain: ValueDomain) -> BasicBetaLikeness:
    likeness = EnhancedBetaLikeness if given["kind"] == "enhanced" else BasicBetaLikeness
    return likeness(given["beta"], tuple(domain.counts), domain.protected)


def _disclosure(given: Parameters, domain: ValueDomain) -> DeltaDisclosure:
    return DeltaDisclosure(given["delta"], tuple(domain.counts), domain.protected)


BETA_LIKENESS = Family(
    field="beta_likeness",
    names=(BasicBetaLikeness.name, EnhancedBetaLikeness.name),
    summary="β-likeness, basic or enhanced (the stricter of the two, hence the default).",
    parameters=(number("beta", example=2), choice("kind", "basic", "enhanced", default="enhanced")),
    build=_likeness,
    of_some=_likeness,
    traits=Traits(table=True),
    measures=(Unasked("largest relative gain", {"beta": 1, "kind": "basic"}),),
    cost=3,
)

DELTA_DISCLOSURE = Family(
    field="delta_disclosure",
    names=(DeltaDisclosure.name,),
    summary="δ-disclosure privacy.",
    parameters=(number("delta", example=1.5),),
    build=_disclosure,
    of_some=_disclosure,
    traits=Traits(table=True),
    shorthand="delta",
    measures=(Unasked("largest |ln ratio|", {"delta": 1}),),
    cost=3,
)
