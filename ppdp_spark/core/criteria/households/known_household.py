"""What a criterion is worth against somebody who knows all members of one household."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ppdp_spark.core.criteria.base import InEveryPart, Worst
from ppdp_spark.core.data.groups import GroupSummaries, IntArray
from ppdp_spark.core.data.households import households_of, members_of


@dataclass(frozen=True)
class KnownHousehold(InEveryPart):
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

    def parts(self, groups: GroupSummaries) -> Iterator[tuple[IntArray, GroupSummaries]]:
        """What each household leaves of its group."""
        return members_of(groups).others(groups)

    def worst(self, groups: GroupSummaries, ids: IntArray) -> Worst:
        """The worst group of those that have several households."""
        several = households_of(groups).number > 1
        found = super().worst(groups.rows(several), np.asarray(ids)[several])
        return replace(found, groups=len(groups))
