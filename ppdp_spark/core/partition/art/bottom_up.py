"""ART and Anatomy as ways to place people: everybody bottom-up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.criteria.protected_values import Mask
from ppdp_spark.core.criteria.robustness.priors import PeoplePriors
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.partition.art.anatomy_buckets import anatomy
from ppdp_spark.core.partition.art.fragment import pack
from ppdp_spark.core.partition.packed_groups import PackedGroups
from ppdp_spark.core.partition.placement import CodedPeople, Placement


@dataclass(frozen=True)
class ArtPlacement(Placement):
    """Groups of `least` people or more that are r-robust [ART, Section V]."""

    least: int

    def pack(self, people: CodedPeople, priors: PeoplePriors, some: IntArray) -> PackedGroups:
        assert self.robustness is not None
        classes, tables = priors.of(some).classes()
        return pack(
            people.sensitive.values[some],
            classes,
            tables,
            people.codes[some],
            width=people.sensitive.width,
            r=float(self.robustness.r),
            model=self.robustness.model,
            smallest=self.least,
            protected=self.robustness.protected,
        )


@dataclass(frozen=True)
class AnatomyPlacement(Placement):
    """Groups of `distinct` values or more, each of them once [Anatomy].

    Where some values need no protection, this is about the people with one of the others, of whom alone
    diversity speaks; the rest are put into groups of their own, of `least` people or more.
    """

    distinct: int
    least: int = 2
    protected: Mask | None = None

    def pack(self, people: CodedPeople, priors: PeoplePriors, some: IntArray) -> PackedGroups:
        values, width = people.sensitive.values[some], people.sensitive.width
        order = np.lexsort((values, *people.codes[some].T))
        if self.protected is None:
            return anatomy(values, width, self.distinct, order)
        own = np.array(self.protected)[values]
        dealt = anatomy(values[own], width, self.distinct, (np.cumsum(own) - 1)[order[own[order]]])
        rest = order[~own[order]]
        groups = np.full(len(values), -1, np.int32)
        groups[own] = dealt.groups
        number = len(rest) // self.least
        if number:
            groups[rest] = dealt.count + np.arange(len(rest)) * number // len(rest)
        return PackedGroups(groups, dealt.count + number)
