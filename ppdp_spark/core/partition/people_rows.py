"""People of groups as rows of one table, and the two sides of cuts of them as criteria see them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.data.coded_people import Sensitive
from ppdp_spark.core.data.groups import COUNT_CELLS, BoolArray, GroupSummaries, IntArray, LinkedValues
from ppdp_spark.core.data.households import Households
from ppdp_spark.core.partition import segments


@dataclass(frozen=True)
class Tried:
    """A cut of each group, that may be allowed or not.

    People whose code of the attribute is from `low` to `high`, and one of the bits of `members` unless that
    is 0, go to the left: so many. The attribute is −1 where there is no cut.
    """

    attribute: IntArray
    low: IntArray
    high: IntArray
    members: IntArray
    left: IntArray

    @classmethod
    def none(cls, groups: int) -> Tried:
        """No cut of any group."""
        zeros = np.zeros(groups, np.int64)
        codes = zeros.astype(np.int32)
        return cls(zeros - 1, codes, codes.copy(), zeros.astype(np.uint64), zeros)

    @classmethod
    def at(cls, attribute: IntArray, code: IntArray, left: IntArray) -> Tried:
        """Thresholds: codes up to `code` go to the left."""
        return cls(attribute, np.zeros_like(code), code, np.zeros(len(code), np.uint64), left)

    @property
    def sides(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """What says who goes to the left."""
        return self.attribute, self.low, self.high, self.members

    def __len__(self) -> int:
        return len(self.attribute)

    def rows(self, index: IntArray | BoolArray | slice) -> Tried:
        """Some of them."""
        return Tried(*(getattr(self, one.name)[index] for one in fields(self)))

    def beside(self, others: Tried) -> Tried:
        """These, then others."""
        pairs = ((getattr(self, one.name), getattr(others, one.name)) for one in fields(self))
        return Tried(*(np.concatenate(pair) for pair in pairs))

    def same(self, others: Tried) -> BoolArray:
        """Whether each sends the same codes of the same attribute to the left as another."""
        pairs = zip(self.sides, others.sides, strict=True)
        return np.asarray(np.logical_and.reduce([one == other for one, other in pairs]))

    def put(self, index: IntArray | BoolArray, others: Tried) -> None:
        """Take the place of some of them."""
        for one in fields(self):
            getattr(self, one.name)[index] = getattr(others, one.name)

    def takes(self, codes: IntArray) -> BoolArray:
        """Whether each cut takes a code to the left."""
        bit = (self.members >> np.minimum(codes, 63).astype(np.uint64)) & np.uint64(1)
        return np.asarray((codes >= self.low) & (codes <= self.high) & ((self.members == 0) | (bit == 1)))


@dataclass(frozen=True)
class Level:
    """Groups that may still be cut, and where their codes range."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lowest: NDArray[np.int32]
    highest: NDArray[np.int32]

    def rows(self, index: IntArray | BoolArray) -> Level:
        return Level(self.starts[index], self.ends[index], self.lowest[index], self.highest[index])


class Rows:
    """People as one row each: codes of the attributes, sensitive value (or person), person."""

    def __init__(
        self,
        codes: IntArray,
        sensitive: Sensitive,
        cells: int = COUNT_CELLS,
        households: IntArray | None = None,
        weights: IntArray | None = None,
    ) -> None:
        self.cells = cells
        self.households = households
        self.weights = weights
        people, self.attributes = codes.shape
        self.sensitive = sensitive
        self.table = np.empty((people, self.attributes + 2), np.int32)
        self.table[:, : self.attributes] = codes
        self.table[:, self.attributes + 1] = np.arange(people, dtype=np.int32)
        single = sensitive.offsets.size == 0
        self.table[:, self.attributes] = sensitive.values if single else self.table[:, self.attributes + 1]
        self.spare = np.empty_like(self.table)

    def summaries(self, starts: IntArray, ends: IntArray) -> GroupSummaries:
        """What criteria may know of the groups [starts, ends)."""
        s = self.sensitive
        counts = segments.value_counts(
            self.table, self.attributes, starts, ends, s.offsets, s.values, s.width
        )
        return GroupSummaries(ends - starts, counts)

    def sides(self, level: Level, cuts: Tried) -> list[GroupSummaries]:
        """Summaries of the left and of the right side of a cut of each group."""
        s = self.sensitive
        left, right = segments.side_counts(
            self.table,
            self.attributes,
            level.starts,
            level.ends,
            *cuts.sides,
            s.offsets,
            s.values,
            s.width,
        )
        sizes = level.ends - level.starts
        return [GroupSummaries(cuts.left, left), GroupSummaries(sizes - cuts.left, right)]

    def population_sides(self, level: Level, cuts: Tried) -> list[GroupSummaries]:
        """Sizes and sums of weights of the left and of the right side of a cut of each group."""
        assert self.weights is not None
        sums = segments.side_sums(self.table, level.starts, level.ends, *cuts.sides, self.weights)
        sizes, nothing = level.ends - level.starts, np.empty((len(level.starts), 0), np.int64)
        sides = zip((cuts.left, sizes - cuts.left), sums, strict=True)
        return [GroupSummaries(size, nothing, population=population) for size, population in sides]

    def linked_sides(self, level: Level, cuts: Tried) -> list[LinkedValues]:
        """The combinations of values on the left and on the right side of a cut of each group."""
        links, groups = self.sensitive.links, len(level.starts)
        assert links is not None
        places, group = places_of(level.starts, level.ends)
        right = ~cuts.rows(group).takes(self.table[places, cuts.attribute[group]])
        kind = links.kind[self.table[places, self.attributes + 1]]
        both = LinkedValues.of(group + groups * right, kind, links.kinds)
        return [both.rows(np.arange(groups)), both.rows(np.arange(groups, 2 * groups))]

    def household_sides(self, level: Level, cuts: Tried, *, members: bool) -> tuple[Households, Households]:
        """The households of the left and of the right side of a cut of each group; on both, if split."""
        assert self.households is not None
        groups = len(level.starts)
        if not members:
            number = int(self.households.max(initial=-1)) + 1
            sides = segments.side_households(
                self.table, level.starts, level.ends, *cuts.sides, self.households, number
            )
            return Households(sides[0]), Households(sides[1])
        places, group = places_of(level.starts, level.ends)
        people = self.table[places, self.attributes + 1]
        right = ~cuts.rows(group).takes(self.table[places, cuts.attribute[group]])
        value = self.table[places, self.attributes]
        both = Households.of(group + groups * right, self.households[people], value, 2 * groups)
        return both.rows(slice(0, groups)), both.rows(slice(groups, None))


def places_of(starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Every place in the runs [start, end), and the run that it is in."""
    lengths = ends - starts
    run = np.repeat(np.arange(len(starts)), lengths)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return starts[run] + within, run
