"""Criteria of group size: k-anonymity in the table and in the population, and (α,k)-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar

import numpy as np

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.exact import agreeing, integers, product_at_most
from ppdp_spark.core.criteria.family import EVERY_CASE, Family, Parameters, Traits, Unasked, share, whole
from ppdp_spark.core.criteria.parameters import Number, positive, whole_number
from ppdp_spark.core.criteria.protected_values import of_protected
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.core.data.weight_units import UNITS, amounts, population_of
from ppdp_spark.errors import SpecError


@dataclass(frozen=True)
class KAnonymity(LocalCriterion):
    """k-anonymity: every group has at least k people [Samarati & Sweeney 1998].

    Closed under union: sizes add up.
    """

    k: int

    name: ClassVar[str] = "k_anonymity"
    needs_counts: ClassVar[bool] = False
    higher_is_safer: ClassVar[bool] = True
    relation: ClassVar[str] = ">="

    def __post_init__(self) -> None:
        whole_number("k", self.k, least=2)

    @property
    def level(self) -> str:
        return f"k = {self.k}"

    @property
    def threshold(self) -> float:
        return float(self.k)

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """People in each group."""
        return np.asarray(groups.sizes, dtype=np.float64)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        return np.asarray(integers(groups.sizes) >= self.k)


@dataclass(frozen=True)
class EstimatedPopulation(KAnonymity):
    """k-anonymity in the population, estimated: the weights of every group add up to at least k people.

    The table is a sample, and a person's weight says how many people of the population the person stands
    for, so that the sum over a group estimates how many of the population look like it
    [Franconi & Polettini 2004]. It is about adversaries who do not know who is in the sample, and no
    guarantee: how many there are is unknown.

    Closed under union: sums of weights add up.
    """

    name: ClassVar[str] = "estimated_population"
    needs_weights: ClassVar[bool] = True

    @property
    def level(self) -> str:
        return f"k = {self.k} in the population, estimated by weights"

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """People of the population that each group stands for."""
        found = amounts(population_of(groups))
        return agreeing(found, self.allowed(groups), self.threshold, self.relation)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        return np.asarray(integers(population_of(groups)) >= self.k * UNITS)


@dataclass(frozen=True)
class AlphaK(LocalCriterion):
    """(α,k)-anonymity, general form [Wong et al., KDD 2006].

    At least k people, and no sensitive value held by more than a share α of them.

    The share is occurrences over *people*, also with sets or multisets of values per person; a value that
    occurs more often than there are people has a share above 1. A group whose people hold no value has
    share 0. α counts as its decimal text says.

    Closed under union: the share in a union lies between the two shares (mediant).
    """

    alpha: Number
    k: int

    name: ClassVar[str] = "alpha_k_anonymity"
    higher_is_safer: ClassVar[bool] = False
    relation: ClassVar[str] = "<="

    def __post_init__(self) -> None:
        if positive("alpha", self.alpha) > 1:
            raise SpecError(f"`alpha` ({self.alpha!s}) must be at most 1")
        whole_number("k", self.k, least=2)

    @property
    def level(self) -> str:
        return f"α = {self.alpha}, k = {self.k}"

    @property
    def threshold(self) -> float:
        return float(self.alpha)

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """The largest share of a value; infinite for a group of fewer than k people."""
        sizes = integers(groups.sizes)
        shares = integers(groups.counts).max(axis=1, initial=0) / np.maximum(sizes, 1)
        shares = np.where(sizes >= self.k, shares, np.inf)
        return agreeing(shares, self.allowed(groups), self.threshold, self.relation)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        sizes, alpha = integers(groups.sizes), positive("alpha", self.alpha)
        most = integers(groups.counts).max(axis=1, initial=0)
        fair = product_at_most([most, alpha.denominator], [sizes, alpha.numerator])
        return np.asarray((sizes >= self.k) & fair)


def _alpha_k(given: Parameters, domain: ValueDomain) -> AlphaK:
    return AlphaK(given["alpha"], given["k"])


def _least_of_alpha_k(parameters: Parameters) -> int:
    """One person with a value is a share of 1/n, which is at most α from n = 1/α people on."""
    return max(int(parameters["k"]), ceil(1 / Fraction(str(parameters["alpha"]))))


K_ANONYMITY = Family(
    field="k_anonymity",
    names=(KAnonymity.name,),
    summary="k-anonymity: groups of at least k people.",
    parameters=(whole("k", least=2, example=10),),
    build=lambda given, domain: KAnonymity(given["k"]),
    traits=Traits(sensitive=False, cases=EVERY_CASE, least_size=lambda given: int(given["k"])),
    bare=True,
    measures=(Unasked("smallest group", {"k": 2}, any_case=True),),
    cost=0,
)

ESTIMATED_POPULATION = Family(
    field="estimated_population",
    names=(EstimatedPopulation.name,),
    summary="An estimate, no guarantee: groups stand for at least k people of the population, by "
    "`columns.weight`.",
    parameters=(whole("k", least=2, most=10**12, example=100),),
    build=lambda given, domain: EstimatedPopulation(given["k"]),
    traits=Traits(sensitive=False, weights=True, cases=EVERY_CASE),
    bare=True,
    cost=0,
)

ALPHA_K = Family(
    field="alpha_k",
    names=(AlphaK.name,),
    summary="(α, k)-anonymity: groups of k people in which no value has more than the share α.",
    parameters=(share("alpha", example=0.5), whole("k", least=2, example=10)),
    build=_alpha_k,
    of_some=of_protected(_alpha_k),
    traits=Traits(least_size=_least_of_alpha_k, least_of_some=lambda given: int(given["k"])),
    measures=(Unasked("largest share of one value", {"alpha": 1, "k": 2}, any_case=True),),
    cost=1,
)
