"""Which groups of a generalized release people may be in: boxes that contain their quasi-identifiers.

A group is looked up by the attribute that tells most groups apart, then compared in all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit
from numpy.typing import NDArray

from ppdp_spark.core.data.attributes import NULL_SUFFIX, Categorical, marked_null
from ppdp_spark.core.data.boxes import Range, labelled
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.maxent.buckets import spans

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
BINS = 256


@dataclass(frozen=True, eq=False)
class Side:
    """The groups along one attribute.

    A person has a place: 0 without a value; else 1 for numbers, which are compared themselves, and the
    number of the category for categories; −1 for a category that no group can hold.

    where
        holds      whether a kind of box contains a place, shape (kinds, places)
        kind       kind of each group's box
        low, high  bounds of each group, for ordered attributes; else empty
        texts      the text of each place from 1 on, for categories
    """

    holds: BoolArray
    kind: IntArray
    low: FloatArray
    high: FloatArray
    texts: tuple[str, ...] = ()

    @property
    def ordered(self) -> bool:
        return not self.texts

    def places(self, column: pa.Array) -> tuple[IntArray, FloatArray]:
        """Places and numbers of some people."""
        if self.ordered:
            numbers = column.fill_null(float("nan")).to_numpy(zero_copy_only=False).astype(np.float64)
            return np.where(np.isnan(numbers), 0, 1), numbers
        known = pa.array(self.texts, pa.string())
        found = pc.index_in(column, value_set=known).fill_null(-2).to_numpy(zero_copy_only=False) + 1
        missing = column.is_null().to_numpy(zero_copy_only=False)
        return np.where(missing, 0, found).astype(np.int64), np.zeros(len(column))

    def shelves(self) -> Shelves:
        """The groups by the shelf a person is looked up on: the place, or a bin of numbers."""
        if not self.ordered:
            place, group = np.nonzero(self.holds[self.kind].T)
            return Shelves.of(place, group, self.holds.shape[1], np.zeros(0))
        null = self.holds[self.kind, 0]
        filled = np.flatnonzero(self.holds[self.kind, 1])
        starts = np.unique(self.low[filled])
        edges = (
            starts[np.unique(np.linspace(0, len(starts) - 1, BINS).astype(int))] if len(starts) else starts
        )
        first = np.searchsorted(edges, self.low[filled], side="right")
        length = np.searchsorted(edges, self.high[filled], side="right") - first + 1
        shelf = np.concatenate([np.zeros(int(null.sum()), np.int64), spans(first + 1, length)])
        group = np.concatenate([np.flatnonzero(null), np.repeat(filled, length)])
        return Shelves.of(shelf, group, len(edges) + 2, edges)


@dataclass(frozen=True, eq=False)
class Shelves:
    """Groups by shelf: those of shelf i are `listed[start[i]:start[i + 1]]`."""

    start: IntArray
    listed: IntArray
    edges: FloatArray

    @classmethod
    def of(cls, shelf: IntArray, group: IntArray, number: int, edges: FloatArray) -> Shelves:
        order = np.lexsort((group, shelf))
        return cls(np.searchsorted(shelf[order], np.arange(number + 1)), group[order], edges)

    @property
    def crowd(self) -> float:
        """Groups on a shelf, in the mean."""
        return len(self.listed) / max(1, len(self.start) - 1)

    def shelf(self, places: IntArray, numbers: FloatArray) -> IntArray:
        """The shelf of each person, −1 for none."""
        if not len(self.edges):
            return places
        return np.where(places == 0, 0, np.searchsorted(self.edges, numbers, side="right") + 1)


def ordered_side(low: pa.Array, high: pa.Array, labels: pa.Array) -> Side:
    """Groups with bounds; a group without any holds null only, one marked so null as well."""
    least, most = (a.fill_null(np.nan).to_numpy(zero_copy_only=False).astype(np.float64) for a in (low, high))
    kind = np.where(np.isnan(least), 2, np.where(_marked(labels), 1, 0))
    holds = np.array([[False, True], [True, True], [True, False]])
    return Side(holds, kind, np.nan_to_num(least, nan=np.inf), np.nan_to_num(most, nan=-np.inf))


def category_side(attribute: Categorical, labels: pa.Array) -> Side:
    """Groups with nodes of a hierarchy or sets of values."""
    encoded = labels.dictionary_encode()
    texts = encoded.dictionary.cast(pa.string())
    kind = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False).astype(np.int64)
    every = pa.concat_arrays([texts, pa.array([None], pa.string())])
    box, kinds = labelled(attribute, every), np.arange(len(every))
    holds = np.zeros((len(every), len(attribute.values) + 1), dtype=bool)
    for code in range(1, len(attribute.values) + 1):
        holds[:, code] = box.share(kinds, Range(0, code, code)) > 0
    holds[:, 0] = _marked(every)
    holds[-1] = np.arange(holds.shape[1]) == 0
    empty = np.zeros(0)
    return Side(holds, kind, empty, empty, tuple(attribute.values) or (NULL_SUFFIX,))


def _marked(labels: pa.Array) -> BoolArray:
    return np.asarray(marked_null(labels).fill_null(True).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, eq=False)
class Boxes:
    """All groups along all attributes; people are looked up by the attribute at `first`."""

    sides: tuple[Side, ...]
    first: int
    shelves: Shelves

    @classmethod
    def of(cls, sides: tuple[Side, ...]) -> Boxes:
        shelves = [side.shelves() for side in sides]
        first = min(range(len(sides)), key=lambda j: shelves[j].crowd)
        return cls(sides, first, shelves[first])

    def candidates(self, columns: list[pa.Array]) -> tuple[IntArray, IntArray]:
        """Pairs of a person and a group that may hold them."""
        found = [side.places(column) for side, column in zip(self.sides, columns, strict=True)]
        places = np.stack([place for place, _ in found], axis=1)
        numbers = np.stack([number for _, number in found], axis=1)
        shelf = self.shelves.shelf(*found[self.first])
        kinds = np.stack([side.kind for side in self.sides], axis=1)
        open_ended = np.full(len(kinds), np.inf)
        low = np.stack([s.low if s.ordered else -open_ended for s in self.sides], axis=1)
        high = np.stack([s.high if s.ordered else open_ended for s in self.sides], axis=1)
        box = (
            _padded([s.holds for s in self.sides]),
            kinds,
            low,
            high,
            self.shelves.start,
            self.shelves.listed,
        )
        pairs = np.empty((_match(shelf, places, numbers, box, np.zeros((0, 2), np.int64)), 2), np.int64)
        _match(shelf, places, numbers, box, pairs)
        return pairs[:, 0], pairs[:, 1]


def _padded(tables: list[BoolArray]) -> BoolArray:
    """Tables of different shapes in one array."""
    shape = (len(tables), max(t.shape[0] for t in tables), max(t.shape[1] for t in tables))
    whole = np.zeros(shape, dtype=bool)
    for j, table in enumerate(tables):
        whole[j, : table.shape[0], : table.shape[1]] = table
    return whole


@njit(cache=True, nogil=True)
def _match(shelf: Any, places: Any, numbers: Any, box: Any, pairs: Any) -> int:
    """Count the pairs and, if there is room, write them."""
    holds, kinds, low, high, start, listed = box
    found = 0
    for i in range(places.shape[0]):
        home = shelf[i]
        if home < 0 or home + 1 >= start.size:
            continue
        for at in range(start[home], start[home + 1]):
            g = listed[at]
            inside = True
            for a in range(places.shape[1]):
                p = places[i, a]
                if p < 0 or p >= holds.shape[2] or not holds[a, kinds[g, a], p]:
                    inside = False
                    break
                if p > 0 and (numbers[i, a] < low[g, a] or numbers[i, a] > high[g, a]):
                    inside = False
                    break
            if inside:
                if pairs.shape[0] > 0:
                    pairs[found, 0], pairs[found, 1] = i, g
                found += 1
    return found
