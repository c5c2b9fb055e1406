"""What a privacy criterion may know of a release: summaries of many groups, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ppdp_spark.core.data.households import Households

IntArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]

COUNT_CELLS = 1 << 23
"""Cells of a count matrix held at once: bounds memory when there are many sensitive values."""


class PriorExtrema(NamedTuple):
    """Smallest and largest prior p(s : x) among a group's people, for one attribute set.

    Both arrays have shape (groups, values).
    """

    minimum: FloatArray
    maximum: FloatArray


@dataclass(frozen=True)
class GroupSummaries:
    """Many disjoint groups at once; row g of every array describes group g.

    where
        sizes       people in each group, shape (groups,)
        counts      occurrences of each sensitive value, shape (groups, values); with one value a
                    person its rows sum to `sizes`, with sets or multisets they may sum to anything
        priors      one `PriorExtrema` an attribute set, for criteria that need them
        households  which people of a group belong together, for criteria that need it
        population  sum of the weights of a group's people in `UNITS`, for criteria that need it
    """

    sizes: IntArray
    counts: IntArray
    priors: tuple[PriorExtrema, ...] = field(default=())
    households: Households | None = None
    population: IntArray | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    def rows(self, index: Any) -> GroupSummaries:
        """The groups selected by a slice, a mask or an index array."""
        priors = tuple(PriorExtrema(p.minimum[index], p.maximum[index]) for p in self.priors)
        households = None if self.households is None else self.households.rows(index)
        population = None if self.population is None else self.population[index]
        return GroupSummaries(self.sizes[index], self.counts[index], priors, households, population)
