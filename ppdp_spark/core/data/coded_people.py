"""People as integer codes, and groups of them: what every partitioner takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.data.groups import FloatArray, IntArray


@dataclass(frozen=True)
class Axis:
    """Where the codes of one attribute lie on its weighted, normalized scale.

    Code 0 stands for null. Without a table, code c >= 1 lies at (c - 1) * step; with one, at table[c].
    `null_position` is where code 0 lies: outside the range, next to its low end.

    where
        weight     what is lost at most along this attribute
        unordered  whether codes stand for categories without order
        nodes      of a hierarchy: the name of the node above each leaf, level by level; leaf i has code i + 1
    """

    step: float
    null_position: float
    table: FloatArray | None = None
    weight: float = 1.0
    unordered: bool = False
    nodes: IntArray | None = None

    def width(self, lowest: IntArray, highest: IntArray) -> FloatArray:
        return self._position(highest) - self._position(lowest)

    def _position(self, codes: IntArray) -> FloatArray:
        along = (codes - 1.0) * self.step if self.table is None else self.table[codes]
        return np.where(codes == 0, self.null_position, along)


@dataclass(frozen=True)
class Links:
    """Which values of several attributes are one person's.

    where
        kind   the combination that every person has, by its place in `kinds`
        kinds  the combinations that there are, shape (combinations, attributes)
    """

    kind: IntArray
    kinds: IntArray

    @classmethod
    def of(cls, columns: Sequence[IntArray]) -> Links:
        """From the value of every person in each attribute, counted from 0."""
        kind = np.zeros(len(columns[0]), np.int64)
        for column in columns:
            width = int(column.max(initial=0)) + 1
            kind = np.unique(kind * width + column, return_inverse=True)[1].ravel()
        first = np.unique(kind, return_index=True)[1]
        return cls(kind, np.stack([column[first].astype(np.int64) for column in columns], axis=1))


@dataclass(frozen=True)
class Sensitive:
    """The sensitive values of all people, as codes 0 .. width - 1.

    With one value per person, `offsets` is empty and `values[p]` is the value of person p; with sets
    or multisets person p has values[offsets[p] : offsets[p + 1]]. `links` are of several linked attributes.
    """

    width: int
    values: NDArray[np.int32]
    offsets: NDArray[np.int64]
    links: Links | None = None

    @classmethod
    def single(cls, values: IntArray, width: int) -> Sensitive:
        return cls(width, np.ascontiguousarray(values, np.int32), np.empty(0, np.int64))

    @classmethod
    def several(
        cls, columns: Sequence[IntArray], widths: Sequence[int], *, linked: bool = False
    ) -> Sensitive:
        """Several attributes as one: the values of each have codes of their own, after those of the others.

        Everybody has one value of each, whose counts then lie side by side. Which of them belong together is
        known to criteria only if the attributes are `linked`.
        """
        firsts = np.cumsum([0, *widths])
        values = np.stack([column + first for column, first in zip(columns, firsts, strict=False)], axis=1)
        offsets = np.arange(len(values) + 1, dtype=np.int64) * len(columns)
        links = Links.of(columns) if linked else None
        return cls(int(firsts[-1]), np.ascontiguousarray(values.ravel(), np.int32), offsets, links)

    @property
    def people(self) -> int:
        return len(self.values) if self.offsets.size == 0 else len(self.offsets) - 1


@dataclass(frozen=True)
class Cuts:
    """Cuts made, in the order of levels: group [start, end) was cut at `middle`; level 0 is the top.

    Codes from `low` to `high`, and of these the bits of `members` unless that is 0, went to the left.
    """

    start: IntArray
    middle: IntArray
    end: IntArray
    attribute: IntArray
    low: IntArray
    high: IntArray
    members: IntArray
    level: IntArray

    @classmethod
    def none(cls) -> Cuts:
        """No cuts."""
        empty = np.empty(0, np.int64)
        return cls(empty, empty, empty, empty, empty, empty, empty.astype(np.uint64), empty)


@dataclass(frozen=True)
class Partition:
    """Groups of people, in the left-to-right order of the tree.

    where
        order    people in the order of the groups
        starts   first position of each group in `order`, plus the number of people at the end
        lowest   smallest code of each attribute in each group, shape (groups, attributes)
        highest  largest code of each attribute in each group
        cuts     the tree
    """

    order: NDArray[np.int32]
    starts: NDArray[np.int64]
    lowest: NDArray[np.int32]
    highest: NDArray[np.int32]
    cuts: Cuts
