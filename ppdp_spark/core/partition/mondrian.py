"""Strict Mondrian over integer codes: all groups of a level are cut at once.

[LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional k-Anonymity] with the widest weighted
normalized range first, a cut at the median, the next attribute when a cut is not allowed, until no
cut is allowed. The result is a function of the set of rows, not of their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.data.coded_people import Axis, Cuts, Partition, Sensitive
from ppdp_spark.core.data.groups import COUNT_CELLS, GroupSummaries, IntArray, LinkedValues
from ppdp_spark.core.data.households import Households
from ppdp_spark.core.partition import segments
from ppdp_spark.core.partition.cut_choice import choose_cuts
from ppdp_spark.core.partition.partitioners import CutsName
from ppdp_spark.core.partition.people_rows import Level, Rows, Tried, places_of


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
    cuts: CutsName = "median",
) -> Partition:
    """Cut the table until no group has a cut left that every criterion allows on both sides.

    `cuts` says which cuts are tried, and in which order.

    `bounds` are the borders of the groups to begin with, 0 and the number of people included; one
    group if not given. Counts are held for at most `cells` pairs of a side and a value at a time.
    `households` are codes of what people belong to, counted from 0, and `weights` how many people of the
    population they stand for, in `UNITS`, for criteria that ask for it.
    """
    rows = Rows(codes, sensitive, cells, households, weights)
    people = len(codes)
    finished: list[Level] = []
    history: list[Cuts] = []
    order = np.empty(people, np.int32)
    whole = np.array([0, people]) if bounds is None else bounds
    starts, ends = whole[:-1].astype(np.int64), whole[1:].astype(np.int64)
    while starts.size and people:
        level = Level(starts, ends, *segments.group_ranges(rows.table, starts, ends, rows.attributes))
        chosen = choose_cuts(rows, level, axes, criteria, cuts)
        leaf = chosen.attribute < 0
        finished.append(level.rows(leaf))
        _settle(rows, level.rows(leaf), order)
        history.append(_made(level.rows(~leaf), chosen.rows(~leaf), len(history)))
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
    return Partition(people, starts, lowest, highest, Cuts.none())


def each_value(groups: Partition, codes: IntArray, offsets: IntArray) -> Partition:
    """The same groups with each value of a person in the place of a person, along one attribute.

    Person p has the values codes[offsets[p] : offsets[p + 1]], one at least.
    """
    values, person = places_of(offsets[groups.order], offsets[groups.order + 1])
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
    cuts: CutsName = "median",
) -> tuple[IntArray, tuple[GroupSummaries, GroupSummaries]]:
    """Groups that still have an allowed cut, and the two sides of the first such cut of each."""
    rows = Rows(codes, sensitive)
    starts, ends = bounds[:-1].astype(np.int64), bounds[1:].astype(np.int64)
    level = Level(starts, ends, *segments.group_ranges(rows.table, starts, ends, rows.attributes))
    chosen = choose_cuts(rows, level, axes, criteria, cuts)
    found = np.flatnonzero(chosen.attribute >= 0)
    left, right = rows.sides(level.rows(found), chosen.rows(found))
    return found, (left, right)


def _settle(rows: Rows, leaves: Level, order: NDArray[np.int32]) -> None:
    """Note the people of finished groups; they take no part in later levels."""
    places, _ = places_of(leaves.starts, leaves.ends)
    order[places] = rows.table[places, rows.attributes + 1]


def _made(level: Level, cut: Tried, depth: int) -> Cuts:
    middle, levels = level.starts + cut.left, np.full(len(cut), depth)
    return Cuts(level.starts, middle, level.ends, *cut.sides, levels)


def _divide(rows: Rows, cuts: Cuts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Move rows to their side of the cut; the halves are the groups of the next level."""
    sides = (cuts.attribute, cuts.low, cuts.high, cuts.members)
    segments.split_rows(rows.table, rows.spare, cuts.start, cuts.end, *sides, cuts.middle - cuts.start)
    rows.table, rows.spare = rows.spare, rows.table
    starts = np.stack([cuts.start, cuts.middle], axis=1).ravel()
    ends = np.stack([cuts.middle, cuts.end], axis=1).ravel()
    return starts.astype(np.int64), ends.astype(np.int64)


def _assemble(
    order: NDArray[np.int32], finished: list[Level], history: list[Cuts], attributes: int
) -> Partition:
    """Groups of all levels in the left-to-right order of the tree."""
    none = np.empty(0, np.int64)
    starts = np.concatenate([none, *(leaf.starts for leaf in finished)])
    left_to_right = np.argsort(starts)
    bounds = np.append(starts[left_to_right], len(order)) if len(order) else np.zeros(1, np.int64)
    blank = np.empty((0, attributes), np.int32)
    lowest = np.concatenate([blank, *(leaf.lowest for leaf in finished)])[left_to_right]
    highest = np.concatenate([blank, *(leaf.highest for leaf in finished)])[left_to_right]
    made = [Cuts.none(), *history]
    cuts = Cuts(*(np.concatenate([getattr(cut, one.name) for cut in made]) for one in fields(Cuts)))
    return Partition(order, bounds, lowest, highest, cuts)
