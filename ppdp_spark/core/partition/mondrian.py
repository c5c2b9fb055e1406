"""Strict Mondrian over integer codes: all groups of a level are cut at once.

[LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional k-Anonymity] with the widest weighted
normalized range first, a cut at the median, the next attribute when a cut is not allowed, until no
cut is allowed. The result is a function of the set of rows, not of their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.data.coded_people import Axis, Cuts, Partition, Sensitive
from ppdp_spark.core.data.groups import COUNT_CELLS, BoolArray, GroupSummaries, IntArray, LinkedValues
from ppdp_spark.core.data.households import Households
from ppdp_spark.core.partition import segments


@dataclass(frozen=True)
class _Level:
    """Groups that may still be cut, and where their codes range."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lowest: NDArray[np.int32]
    highest: NDArray[np.int32]

    def rows(self, index: IntArray | BoolArray) -> _Level:
        return _Level(self.starts[index], self.ends[index], self.lowest[index], self.highest[index])


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

    def sides(
        self, level: _Level, attribute: IntArray, cuts: IntArray, left_sizes: IntArray
    ) -> list[GroupSummaries]:
        """Summaries of the left and of the right side of a cut of each group."""
        s = self.sensitive
        left, right = segments.side_counts(
            self.table,
            self.attributes,
            level.starts,
            level.ends,
            attribute,
            cuts,
            s.offsets,
            s.values,
            s.width,
        )
        sizes = level.ends - level.starts
        return [GroupSummaries(left_sizes, left), GroupSummaries(sizes - left_sizes, right)]

    def population_sides(
        self, level: _Level, attribute: IntArray, cuts: IntArray, left_sizes: IntArray
    ) -> list[GroupSummaries]:
        """Sizes and sums of weights of the left and of the right side of a cut of each group."""
        assert self.weights is not None
        sums = segments.side_sums(self.table, level.starts, level.ends, attribute, cuts, self.weights)
        sizes, nothing = level.ends - level.starts, np.empty((len(level.starts), 0), np.int64)
        sides = zip((left_sizes, sizes - left_sizes), sums, strict=True)
        return [GroupSummaries(size, nothing, population=population) for size, population in sides]

    def linked_sides(self, level: _Level, attribute: IntArray, cuts: IntArray) -> list[LinkedValues]:
        """The combinations of values on the left and on the right side of a cut of each group."""
        links, groups = self.sensitive.links, len(level.starts)
        assert links is not None
        places, group = _places(level.starts, level.ends)
        right = self.table[places, attribute[group]] > cuts[group]
        kind = links.kind[self.table[places, self.attributes + 1]]
        both = LinkedValues.of(group + groups * right, kind, links.kinds)
        return [both.rows(np.arange(groups)), both.rows(np.arange(groups, 2 * groups))]

    def household_sides(
        self, level: _Level, attribute: IntArray, cuts: IntArray, *, members: bool
    ) -> tuple[Households, Households]:
        """The households of the left and of the right side of a cut of each group; on both, if split."""
        assert self.households is not None
        groups = len(level.starts)
        if not members:
            number = int(self.households.max(initial=-1)) + 1
            sides = segments.side_households(
                self.table, level.starts, level.ends, attribute, cuts, self.households, number
            )
            return Households(sides[0]), Households(sides[1])
        places, group = _places(level.starts, level.ends)
        people = self.table[places, self.attributes + 1]
        right = self.table[places, attribute[group]] > cuts[group]
        value = self.table[places, self.attributes]
        both = Households.of(group + groups * right, self.households[people], value, 2 * groups)
        return both.rows(slice(0, groups)), both.rows(slice(groups, None))


def partition(
    codes: IntArray,
    sensitive: Sensitive,
    axes: Sequence[Axis],
    criteria: Sequence[LocalCriterion],
    *,
    bounds: IntArray | None = None,
    cells: int = COUNT_CELLS,
    households: IntArray | None = None,
    weights: IntArray | None = None,
) -> Partition:
    """Cut the table until no group has a median cut that every criterion allows on both sides.

    `bounds` are the borders of the groups to begin with, 0 and the number of people included; one
    group if not given. Counts are held for at most `cells` pairs of a side and a value at a time.
    `households` are codes of what people belong to, counted from 0, and `weights` how many people of the
    population they stand for, in `UNITS`, for criteria that ask for it.
    """
    rows = Rows(codes, sensitive, cells, households, weights)
    people = len(codes)
    finished: list[_Level] = []
    history: list[Cuts] = []
    order = np.empty(people, np.int32)
    whole = np.array([0, people]) if bounds is None else bounds
    starts, ends = whole[:-1].astype(np.int64), whole[1:].astype(np.int64)
    while starts.size and people:
        level = _Level(starts, ends, *segments.group_ranges(rows.table, starts, ends, rows.attributes))
        attribute, cut, left_sizes = _choose_cuts(rows, level, axes, criteria)
        leaf = attribute < 0
        finished.append(level.rows(leaf))
        _settle(rows, level.rows(leaf), order)
        made = _cuts(level.rows(~leaf), attribute[~leaf], cut[~leaf], left_sizes[~leaf])
        history.append(replace(made, level=np.full(len(made.start), len(history))))
        starts, ends = _divide(rows, history[-1])
    return _assemble(order, finished, history, rows.attributes)


def undivided(codes: IntArray, bounds: IntArray) -> Partition:
    """The groups with the given borders as they are."""
    return grouped(codes, np.arange(len(codes)), bounds)


def grouped(codes: IntArray, order: IntArray, bounds: IntArray) -> Partition:
    """Groups made elsewhere: group g has the people order[bounds[g] : bounds[g + 1]]."""
    people, starts = np.ascontiguousarray(order, np.int32), bounds.astype(np.int64)
    table = np.ascontiguousarray(codes[people], np.int32)
    lowest, highest = segments.group_ranges(table, starts[:-1], starts[1:], table.shape[1])
    none = np.empty(0, np.int64)
    return Partition(people, starts, lowest, highest, Cuts(none, none, none, none, none, none))


def each_value(groups: Partition, codes: IntArray, offsets: IntArray) -> Partition:
    """The same groups with each value of a person in the place of a person, along one attribute.

    Person p has the values codes[offsets[p] : offsets[p + 1]], one at least.
    """
    values, person = _places(offsets[groups.order], offsets[groups.order + 1])
    ends = np.searchsorted(person, groups.starts)
    return grouped(codes[:, None], values, ends)


def undivided_summary(
    sensitive: Sensitive, households: IntArray | None = None, weights: IntArray | None = None
) -> GroupSummaries:
    """All people as one group."""
    counts = np.bincount(sensitive.values, minlength=sensitive.width)
    together = None
    if households is not None:
        value = sensitive.values if sensitive.offsets.size == 0 else np.zeros(sensitive.people, np.int32)
        together = Households.of(np.zeros(sensitive.people, np.int64), households, value, 1)
    population = None if weights is None else weights.sum(dtype=np.int64, keepdims=True)
    links, linked = sensitive.links, None
    if links is not None:
        linked = LinkedValues.of(np.zeros(sensitive.people, np.int64), links.kind, links.kinds)
    size = np.array([sensitive.people])
    return GroupSummaries(size, counts[None, :], households=together, population=population, linked=linked)


def cuttable(
    codes: IntArray,
    sensitive: Sensitive,
    axes: Sequence[Axis],
    criteria: Sequence[LocalCriterion],
    *,
    bounds: IntArray,
) -> tuple[IntArray, tuple[GroupSummaries, GroupSummaries]]:
    """Groups that still have an allowed cut, and the two sides of the first such cut of each."""
    rows = Rows(codes, sensitive)
    starts, ends = bounds[:-1].astype(np.int64), bounds[1:].astype(np.int64)
    level = _Level(starts, ends, *segments.group_ranges(rows.table, starts, ends, rows.attributes))
    attribute, cut, left_sizes = _choose_cuts(rows, level, axes, criteria)
    found = np.flatnonzero(attribute >= 0)
    left, right = rows.sides(level.rows(found), attribute[found], cut[found], left_sizes[found])
    return found, (left, right)


def _choose_cuts(
    rows: Rows, level: _Level, axes: Sequence[Axis], criteria: Sequence[LocalCriterion]
) -> tuple[IntArray, IntArray, IntArray]:
    """The allowed cut along the widest possible attribute of each group; attribute -1 if none."""
    groups = len(level.starts)
    attribute = np.full(groups, -1, np.int64)
    code, left_sizes = np.zeros(groups, np.int32), np.zeros(groups, np.int64)
    order, tries = preference(level.lowest, level.highest, axes)
    pending = np.arange(groups)
    for attempt in range(rows.attributes):
        pending = pending[tries[pending] > attempt]
        if not pending.size:
            break
        tried = order[pending, attempt]
        some = level.rows(pending)
        low, high = some.lowest[np.arange(len(pending)), tried], some.highest[np.arange(len(pending)), tried]
        cut, left = segments.median_cuts(rows.table, some.starts, some.ends, tried, low, high)
        good = _allowed(rows, some, (tried, cut, left), criteria)
        chosen = pending[good]
        attribute[chosen], code[chosen], left_sizes[chosen] = tried[good], cut[good], left[good]
        pending = pending[~good]
    return attribute, code, left_sizes


def preference(lowest: IntArray, highest: IntArray, axes: Sequence[Axis]) -> tuple[IntArray, IntArray]:
    """Attributes of each group from widest to narrowest, and how many of them vary at all."""
    widths = np.empty(lowest.shape)
    for j, axis in enumerate(axes):
        widths[:, j] = axis.width(lowest[:, j], highest[:, j])
    varies = lowest < highest
    widths[~varies] = -1.0
    return np.argsort(-widths, axis=1, kind="stable"), varies.sum(axis=1)


def _allowed(
    rows: Rows,
    level: _Level,
    cut: tuple[IntArray, IntArray, IntArray],
    criteria: Sequence[LocalCriterion],
) -> BoolArray:
    """Whether every criterion allows the cut of each group."""
    attribute, code, left_sizes = cut
    sizes = level.ends - level.starts
    good = np.ones(len(sizes), np.bool_)
    empty = np.empty((len(sizes), 0), np.int64)
    for criterion in criteria:
        if not (_needs_more(criterion) or criterion.needs_counts):
            left, right = (GroupSummaries(side, empty) for side in (left_sizes, sizes - left_sizes))
            good &= criterion.allowed_cuts(left, right)
    for criterion in criteria:
        if criterion.needs_households and not criterion.needs_counts:
            still = np.flatnonzero(good)
            found = rows.household_sides(level.rows(still), attribute[still], code[still], members=False)
            left, right = (GroupSummaries(h.number, empty[still], households=h) for h in found)
            good[still] &= criterion.allowed_cuts(left, right)
        if criterion.needs_weights:
            still = np.flatnonzero(good)
            summed = rows.population_sides(
                level.rows(still), attribute[still], code[still], left_sizes[still]
            )
            good[still] &= criterion.allowed_cuts(*summed)
    tied = [criterion for criterion in criteria if criterion.needs_linked]
    if tied:
        still = np.flatnonzero(good)
        tried = (attribute[still], code[still], left_sizes[still])
        good[still] = _allowed_in_cells(rows, level.rows(still), tried, tied)
    counting = [criterion for criterion in criteria if criterion.needs_counts]
    if not counting:
        return good
    members = any(criterion.needs_households for criterion in counting)
    still = np.flatnonzero(good)
    step = max(1, rows.cells // max(1, 2 * rows.sensitive.width))
    for first in range(0, len(still), step):
        some = still[first : first + step]
        sides = rows.sides(level.rows(some), attribute[some], code[some], left_sizes[some])
        if members:
            found = rows.household_sides(level.rows(some), attribute[some], code[some], members=True)
            sides = [replace(side, households=held) for side, held in zip(sides, found, strict=True)]
        for criterion in counting:
            good[some] &= criterion.allowed_cuts(*sides)
    return good


def _needs_more(criterion: LocalCriterion) -> bool:
    """Whether a criterion looks at more than sizes and counts."""
    return criterion.needs_households or criterion.needs_weights or criterion.needs_linked


def _allowed_in_cells(
    rows: Rows,
    level: _Level,
    cut: tuple[IntArray, IntArray, IntArray],
    criteria: Sequence[LocalCriterion],
) -> BoolArray:
    """The same for criteria that look at which values belong together."""
    attribute, code, left_sizes = cut
    sizes = (left_sizes, level.ends - level.starts - left_sizes)
    held, none = rows.linked_sides(level, attribute, code), np.empty((len(left_sizes), 0), np.int64)
    left, right = (GroupSummaries(size, none, linked=of) for size, of in zip(sizes, held, strict=True))
    good = np.ones(len(left_sizes), np.bool_)
    for criterion in criteria:
        good &= criterion.allowed_cuts(left, right)
    return good


def _settle(rows: Rows, leaves: _Level, order: NDArray[np.int32]) -> None:
    """Note the people of finished groups; they take no part in later levels."""
    places, _ = _places(leaves.starts, leaves.ends)
    order[places] = rows.table[places, rows.attributes + 1]


def _places(starts: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Every place in the runs [start, end), and the run that it is in."""
    lengths = ends - starts
    run = np.repeat(np.arange(len(starts)), lengths)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return starts[run] + within, run


def _cuts(level: _Level, attribute: IntArray, code: IntArray, left_sizes: IntArray) -> Cuts:
    return Cuts(level.starts, level.starts + left_sizes, level.ends, attribute, code, np.zeros_like(code))


def _divide(rows: Rows, cuts: Cuts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Move rows to their side of the cut; the halves are the groups of the next level."""
    segments.split_rows(
        rows.table, rows.spare, cuts.start, cuts.end, cuts.attribute, cuts.code, cuts.middle - cuts.start
    )
    rows.table, rows.spare = rows.spare, rows.table
    starts = np.stack([cuts.start, cuts.middle], axis=1).ravel()
    ends = np.stack([cuts.middle, cuts.end], axis=1).ravel()
    return starts.astype(np.int64), ends.astype(np.int64)


def _assemble(
    order: NDArray[np.int32], finished: list[_Level], history: list[Cuts], attributes: int
) -> Partition:
    """Groups of all levels in the left-to-right order of the tree."""
    none = np.empty(0, np.int64)
    starts = np.concatenate([none, *(leaf.starts for leaf in finished)])
    left_to_right = np.argsort(starts)
    bounds = np.append(starts[left_to_right], len(order)) if len(order) else np.zeros(1, np.int64)
    blank = np.empty((0, attributes), np.int32)
    lowest = np.concatenate([blank, *(leaf.lowest for leaf in finished)])[left_to_right]
    highest = np.concatenate([blank, *(leaf.highest for leaf in finished)])[left_to_right]
    columns = ("start", "middle", "end", "attribute", "code", "level")
    cuts = Cuts(*(np.concatenate([none, *(getattr(cut, name) for cut in history)]) for name in columns))
    return Partition(order, bounds, lowest, highest, cuts)
