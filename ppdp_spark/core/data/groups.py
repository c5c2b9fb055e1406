"""What a privacy criterion may know of a release: summaries of many groups, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.errors import InternalError

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
        linked      which values of several attributes are one person's, for criteria that need it
    """

    sizes: IntArray
    counts: IntArray
    priors: tuple[PriorExtrema, ...] = field(default=())
    households: Households | None = None
    population: IntArray | None = None
    linked: LinkedValues | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    def rows(self, index: Any) -> GroupSummaries:
        """The groups selected by a slice, a mask or an index array."""
        priors = tuple(PriorExtrema(p.minimum[index], p.maximum[index]) for p in self.priors)
        households = None if self.households is None else self.households.rows(index)
        population = None if self.population is None else self.population[index]
        linked = None if self.linked is None else self.linked.rows(np.arange(len(self))[index])
        return GroupSummaries(self.sizes[index], self.counts[index], priors, households, population, linked)


@dataclass(frozen=True)
class LinkedValues:
    """Which combinations of the values of several sensitive attributes the people of many groups have.

    where
        group   the group of each combination, ascending
        values  code of the value of every attribute, shape (combinations, attributes)
        count   how many people of the group have the combination
    """

    group: IntArray
    values: IntArray
    count: IntArray

    @classmethod
    def of(cls, group: IntArray, kind: IntArray, kinds: IntArray) -> LinkedValues:
        """From the group of every person and the person's combination, which is a row of `kinds`."""
        key, count = np.unique(group.astype(np.int64) * len(kinds) + kind, return_counts=True)
        group, which = np.divmod(key, max(1, len(kinds)))
        return cls(group, kinds[which], count)

    def rows(self, chosen: IntArray) -> LinkedValues:
        """Those of some groups, which are numbered anew in the order given."""
        first, end = (np.searchsorted(self.group, chosen, side) for side in ("left", "right"))
        lengths = end - first
        group = np.repeat(np.arange(len(chosen)), lengths)
        places = np.arange(lengths.sum()) + np.repeat(first - (np.cumsum(lengths) - lengths), lengths)
        return LinkedValues(group, self.values[places], self.count[places])

    def cells(
        self, attribute: int, known: tuple[int, ...], width: int
    ) -> Iterator[tuple[IntArray, GroupSummaries]]:
        """The people of every group divided by the values of known attributes, as groups.

        Beside the group that each cell is of, counts of the values of one attribute, `width` of them, for
        `COUNT_CELLS` pairs of a cell and a value at a time.
        """
        keys = [self.group, *(self.values[:, place] for place in known)]
        order = np.lexsort(keys[::-1])
        changes = np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys])
        cell = np.concatenate([[0], np.cumsum(changes)])[: len(order)]
        number = int(cell[-1]) + 1 if len(cell) else 0
        step = max(1, COUNT_CELLS // max(1, width))
        for first in range(0, number, step):
            low, high = np.searchsorted(cell, [first, min(first + step, number)])
            part, cells = order[low:high], cell[low:high] - first
            counts = np.zeros((min(step, number - first), width), np.int64)
            np.add.at(counts, (cells, self.values[part, attribute]), self.count[part])
            owner = self.group[part][np.searchsorted(cells, np.arange(len(counts)))]
            yield owner, GroupSummaries(counts.sum(axis=1), counts)


def linked_values_of(groups: GroupSummaries) -> LinkedValues:
    """The combinations of values that people of groups have, which must be known if there are any groups."""
    if groups.linked is not None:
        return groups.linked
    if len(groups):
        raise InternalError("which values of several attributes belong together is not known here")
    none = np.empty(0, np.int64)
    return LinkedValues(none, np.empty((0, 0), np.int64), none)
