"""Values of a quasi-identifier in classes, so that a model of it has few parameters.

Of numbers, neighbours share a class where there are many; of names, the rare ones do. A missing value is a
class of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.maxent.buckets import FloatArray, IntArray

MOST_PARAMETERS = 1 << 19
"""Numbers of a model, which travel to every task and back, once for each chunk."""

MOST_NUMBER_CLASSES, MOST_NAMES = 32, 256


@dataclass(frozen=True)
class NumberClasses:
    """Classes of numbers: below the first edge, from each edge on, and the missing."""

    edges: tuple[float, ...]

    @property
    def size(self) -> int:
        return len(self.edges) + 2

    @classmethod
    def of(cls, values: FloatArray, people: IntArray, most: int) -> NumberClasses:
        """At most so many classes with about as many people each; `values` ascend."""
        if len(values) <= most:
            return cls(tuple(values[1:].tolist()))
        before = np.cumsum(people) - people
        place = before * most // max(int(people.sum()), 1)
        return cls(tuple(values[1:][np.diff(place) > 0].tolist()))

    def codes(self, numbers: FloatArray) -> NDArray[np.int32]:
        """The class of each number; NaN is missing."""
        found = np.searchsorted(np.array(self.edges), numbers, side="right")
        return np.where(np.isnan(numbers), self.size - 1, found).astype(np.int32)


@dataclass(frozen=True)
class NameClasses:
    """Classes of names: one each of the frequent ones, and all others together, which come first."""

    names: tuple[str | None, ...]

    @property
    def size(self) -> int:
        return len(self.names) + 1

    @classmethod
    def of(cls, names: Sequence[str | None], most: int) -> NameClasses:
        """The missing, and the first of names that come most frequent first."""
        known = [name for name in names if name is not None]
        return cls((None, *known[: max(most - 2, 0)]))

    def codes(self, places: NDArray[Any]) -> NDArray[np.int32]:
        """The class of each name, from its place in `names`, −1 for none."""
        return (np.asarray(places) + 1).astype(np.int32)


AttributeCodes = NumberClasses | NameClasses


def most_classes(attributes: int, values: int) -> int:
    """Classes that a quasi-identifier may have, beside so many others and so many sensitive values."""
    return max(2, MOST_PARAMETERS // max(attributes * values, 1))
