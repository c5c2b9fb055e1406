"""k-anonymity in households instead of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ppdp_spark.core.criteria.anonymity import KAnonymity
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries
from ppdp_spark.core.data.households import households_of


@dataclass(frozen=True)
class HouseholdAnonymity(KAnonymity):
    """k-anonymity in households: the people of every group belong to at least k different ones.

    So at least k people [Samarati & Sweeney 1998], and whoever belongs to a household still has k − 1 others
    in the group. A household with people in two groups counts in both.

    Closed under union: a union has the households of both, and no fewer than either.
    """

    name: ClassVar[str] = "household_k_anonymity"
    needs_households: ClassVar[bool] = True

    @property
    def level(self) -> str:
        return f"k = {self.k} households"

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """Distinct households in each group."""
        return np.asarray(households_of(groups).number, np.float64)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        return np.asarray(households_of(groups).number >= self.k)
