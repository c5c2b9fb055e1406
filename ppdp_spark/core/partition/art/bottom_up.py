"""ART and Anatomy as ways to place people: everybody bottom-up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
        )


@dataclass(frozen=True)
class AnatomyPlacement(Placement):
    """Groups of `distinct` values or more, each of them once [Anatomy]."""

    distinct: int

    def pack(self, people: CodedPeople, priors: PeoplePriors, some: IntArray) -> PackedGroups:
        values = people.sensitive.values[some]
        order = np.lexsort((values, *people.codes[some].T))
        return anatomy(values, people.sensitive.width, self.distinct, order)
