"""Groups that are a function of quasi-identifiers and public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.criteria.anonymity import KAnonymity
from ppdp_spark.core.criteria.robustness.priors import PeoplePriors
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.partition.mondrian import partition
from ppdp_spark.core.partition.packed_groups import PackedGroups
from ppdp_spark.core.partition.partitioners import CutsName
from ppdp_spark.core.partition.placement import CodedPeople, Placed, Placement


def blind_criteria(least: int) -> tuple[KAnonymity, ...]:
    """What decides how far blind groups are cut: their size, and nothing else."""
    return (KAnonymity(least),)


@dataclass(frozen=True)
class BlindPlacement(Placement):
    """Blind groups where priors travel with people: all of them have a place."""

    cuts: CutsName

    @classmethod
    def of_size(cls, least: int, cuts: CutsName) -> BlindPlacement:
        """Groups of at least so many people."""
        return cls(blind_criteria(least), None, cuts)

    def cut(self, people: CodedPeople, priors: PeoplePriors) -> Placed:
        found = partition(people.codes, people.sensitive, people.axes, self.criteria, cuts=self.cuts)
        return Placed(found.order, found.starts)

    def pack(self, people: CodedPeople, priors: PeoplePriors, some: IntArray) -> PackedGroups:
        """Nobody: none are left over."""
        return PackedGroups(np.full(len(some), -1, np.int32), 0)
