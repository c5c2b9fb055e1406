"""What the packers return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PackedGroups:
    """People in groups.

    where
        groups  number of the group of each person, −1 for those who could not be placed
        count   number of groups; 0 .. count − 1 all have people
    """

    groups: NDArray[np.int32]
    count: int

    @property
    def unplaced(self) -> int:
        """People without a group."""
        return int(np.count_nonzero(self.groups < 0))
