"""What a criterion is worth against somebody who knows all members of one household."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ppdp_spark.core.criteria.base import AppliedToPart, Worst
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray
from ppdp_spark.core.data.households import households_of, members_of


@dataclass(frozen=True)
class KnownHousehold(AppliedToPart):
    """A criterion in what is left of every group for somebody who knows all members of one household.

    Such an adversary, perhaps one of the members, takes their rows out of the group and looks at the rest:
    the criterion must hold there, whichever household it is, also one with a single member in the group.
    In a group of one household nobody is left to learn about.

    Together with the criterion itself closed under union where that is: what is left of a union is the union
    of what is left of its parts, or of what is left of one and all of the other.
    """

    name: ClassVar[str] = "known_household"
    needs_households: ClassVar[bool] = True

    @property
    def level(self) -> str:
        return f"{self.criterion.name} without any one household, {self.criterion.level}"

    @property
    def parameters(self) -> dict[str, Any]:
        return {**self.criterion.parameters, "criterion": self.criterion.name}

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """The worst value of what is left of each group; the safest there is where nothing is."""
        worst = np.full(len(groups), np.inf if self.higher_is_safer else -np.inf)
        keep = np.minimum if self.higher_is_safer else np.maximum
        for owner, others in members_of(groups).others(groups):
            keep.at(worst, owner, self.criterion.achieved(others))
        return worst

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        held = np.ones(len(groups), np.bool_)
        for owner, others in members_of(groups).others(groups):
            held[owner[~self.criterion.allowed(others)]] = False
        return held

    def worst(self, groups: GroupSummaries, ids: IntArray) -> Worst:
        """The worst group of those that have several households."""
        several = households_of(groups).number > 1
        found = super().worst(groups.rows(several), np.asarray(ids)[several])
        return replace(found, groups=len(groups))
