"""Which cut of each group is made: the first one that every criterion allows, in an order of preference.

`median` is the order of the paper [LeFevre et al. 2006]: the widest attribute first, each at its median.
`loss` prefers the cut that saves most information for what it spends, and tries every cut that the search
knows before a group is given up. Groups of more than `LARGE` people whose widest attribute has no hierarchy
are cut at medians first, which costs less and loses little. Both orders are functions of quasi-identifiers
and of the least size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ppdp_spark.core.criteria.anonymity import KAnonymity
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.data.coded_people import Axis
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray
from ppdp_spark.core.partition import loss_search, segments
from ppdp_spark.core.partition.partitioners import CutsName
from ppdp_spark.core.partition.people_rows import Level, Rows, Tried, places_of

LARGE = 256
"""Groups of more people are cut at medians first if their widest attribute has no hierarchy ..."""

MANY = 32
"""... and if they are more than so many groups of the least size."""

WIDEST = 3
"""Attributes along which cuts come first in tables without hierarchies."""

_AT_ONCE = 64
"""Cuts of one group that are tried at the same time, at most; the first ones are tried one by one."""


def choose_cuts(
    rows: Rows, level: Level, axes: Sequence[Axis], criteria: Sequence[LocalCriterion], cuts: CutsName
) -> Tried:
    """The first allowed cut of each group."""
    if cuts == "median":
        return _median(rows, level, axes, criteria)
    least = least_side(criteria)
    large = np.flatnonzero(_at_medians_first(level, axes, least))
    chosen = Tried.none(len(level.starts))
    chosen.put(large, _median(rows, level.rows(large), axes, criteria))
    rest = np.flatnonzero(chosen.attribute < 0)
    chosen.put(rest, _least_loss(rows, level.rows(rest), scales_of(axes), least, criteria))
    return chosen


def _at_medians_first(level: Level, axes: Sequence[Axis], least: int) -> BoolArray:
    """Whether cuts at medians come before those by loss in each group."""
    plain = np.array([axis.nodes is None for axis in axes], np.bool_)
    large = np.flatnonzero(level.ends - level.starts > max(LARGE, MANY * least))
    order, _ = preference(level.lowest[large], level.highest[large], axes)
    first = np.zeros(len(level.starts), np.bool_)
    first[large] = plain[order[:, 0]] if len(plain) else False
    return first


def _median(rows: Rows, level: Level, axes: Sequence[Axis], criteria: Sequence[LocalCriterion]) -> Tried:
    """The allowed cut along the widest possible attribute of each group."""
    chosen = Tried.none(len(level.starts))
    order, tries = preference(level.lowest, level.highest, axes)
    pending = np.arange(len(chosen))
    for attempt in range(rows.attributes):
        pending = pending[tries[pending] > attempt]
        if not pending.size:
            break
        tried = order[pending, attempt]
        some = level.rows(pending)
        low, high = some.lowest[np.arange(len(pending)), tried], some.highest[np.arange(len(pending)), tried]
        code, left = segments.median_cuts(rows.table, some.starts, some.ends, tried, low, high)
        cut = Tried.at(tried, code, left)
        good = _allowed(rows, some, cut, criteria)
        chosen.put(pending[good], cut.rows(good))
        pending = pending[~good]
    return chosen


def _least_loss(
    rows: Rows,
    level: Level,
    scales: loss_search.Scales,
    least: int,
    criteria: Sequence[LocalCriterion],
) -> Tried:
    """The allowed cut of each group that is worth most; where the first is refused, all are tried in turn."""
    chosen = _tried(loss_search.best_cuts(rows.table, level.starts, level.ends, scales, least))
    found = np.flatnonzero(chosen.attribute >= 0)
    refused = found[~_allowed(rows, level.rows(found), chosen.rows(found), criteria)]
    chosen.attribute[refused] = -1
    if not len(refused):
        return chosen
    some = level.rows(refused)
    every, bounds = loss_search.every_cut(rows.table, some.starts, some.ends, scales, least)
    every = _tried(every)
    pending, at, turn = np.arange(len(refused)), bounds[:-1] + 1, 1
    while True:
        left = at[pending] < bounds[pending + 1]
        pending = pending[left]
        if not len(pending):
            return chosen
        ends = np.minimum(at[pending] + turn, bounds[pending + 1])
        place, group = places_of(at[pending], ends)
        good = np.flatnonzero(_allowed(rows, some.rows(pending[group]), every.rows(place), criteria))
        first, which = np.unique(group[good], return_index=True)
        chosen.put(refused[pending[first]], every.rows(place[good[which]]))
        at[pending] = ends
        pending = np.delete(pending, first)
        turn = min(_AT_ONCE, 2 * turn)


def first_tries(table: IntArray, level: Level, axes: Sequence[Axis], least: int, cuts: CutsName) -> Tried:
    """The cut of each group that comes first, whatever criteria say."""
    first = Tried.none(len(level.starts))
    small = np.full(len(first), cuts == "loss") & ~_at_medians_first(level, axes, least)
    some = level.rows(small)
    first.put(small, _tried(loss_search.best_cuts(table, some.starts, some.ends, scales_of(axes), least)))
    group, every = _medians(table, level.rows(~small), axes)
    at = np.unique(group, return_index=True)[1]
    first.put(np.flatnonzero(~small)[group[at]], every.rows(at))
    return first


def tries(
    table: IntArray, level: Level, axes: Sequence[Axis], least: int, cuts: CutsName
) -> tuple[IntArray, Tried]:
    """Every cut of each group in the order in which they are tried, and the group of each.

    `table` has the codes of people in its first columns, the groups of the level one after the other.
    """
    if cuts == "median":
        return _medians(table, level, axes)
    large = np.flatnonzero(_at_medians_first(level, axes, least))
    group, first = _medians(table, level.rows(large), axes)
    every, bounds = loss_search.every_cut(table, level.starts, level.ends, scales_of(axes), least)
    then = np.repeat(np.arange(len(level.starts)), np.diff(bounds))
    both = np.concatenate([large[group], then])
    order = np.argsort(both, kind="stable")
    return both[order], first.beside(_tried(every).rows(slice(len(then)))).rows(order)


def _medians(table: IntArray, level: Level, axes: Sequence[Axis]) -> tuple[IntArray, Tried]:
    """The cut of each group at the median of each attribute, the widest first, and the group of each."""
    order, number = preference(level.lowest, level.highest, axes)
    group, turn = np.nonzero(np.arange(order.shape[1]) < number[:, None])
    some, attribute = level.rows(group), order[group, turn]
    low, high = (side[np.arange(len(group)), attribute] for side in (some.lowest, some.highest))
    code, left = segments.median_cuts(table, some.starts, some.ends, attribute, low, high)
    return group, Tried.at(attribute, code, left)


def least_side(criteria: Sequence[LocalCriterion]) -> int:
    """People on each side of a cut, at least, by the criteria that look at sizes alone."""
    return max((c.k for c in criteria if isinstance(c, KAnonymity) and not c.needs_weights), default=1)


def _tried(found: loss_search.FoundCuts) -> Tried:
    return Tried(found.attribute, found.low, found.high, found.members, found.left)


def scales_of(axes: Sequence[Axis]) -> loss_search.Scales:
    """The attributes as the search wants them."""
    tables: list[FloatArray] = [np.zeros(0)]
    nodes: list[IntArray] = [np.zeros(0, np.int64)]
    shares: list[FloatArray] = [np.zeros(0)]
    kind, table_start, node_start = [], [], []
    for axis in axes:
        table_start.append(-1 if axis.table is None else sum(map(len, tables)))
        node_start.append(sum(map(len, nodes)))
        kind.append(_kind(axis))
        if axis.table is not None:
            tables.append(np.asarray(axis.table, np.float64))
        if axis.nodes is not None:
            last, share = _node_ends(axis.nodes)
            nodes.append(last.ravel())
            shares.append(axis.weight * share.ravel())
    return loss_search.Scales(
        np.array(kind, np.int64),
        np.array([axis.weight for axis in axes], np.float64),
        np.array([axis.step for axis in axes], np.float64),
        np.concatenate(tables),
        np.array(table_start, np.int64),
        np.concatenate(nodes),
        np.concatenate(shares),
        np.array(node_start, np.int64),
        np.array([0 if axis.nodes is None else axis.nodes.shape[1] for axis in axes], np.int64),
        np.array([0 if axis.nodes is None else len(axis.nodes) for axis in axes], np.int64),
        WIDEST if all(axis.nodes is None for axis in axes) else len(axes),
    )


def _kind(axis: Axis) -> int:
    if axis.nodes is not None:
        return loss_search.NODES
    few = axis.step > 0 and round(axis.weight / axis.step) < loss_search.MOST_MEMBERS
    return loss_search.MEMBERS if axis.unordered and few else loss_search.ORDERED


def _node_ends(nodes: IntArray) -> tuple[IntArray, FloatArray]:
    """The last leaf of the node above each leaf, and what share of all leaves it has, level by level."""
    last, share = np.empty(nodes.shape, np.int64), np.empty(nodes.shape)
    for level, above in enumerate(nodes):
        borders = np.append(np.flatnonzero(above[1:] != above[:-1]), len(above) - 1)
        run = np.searchsorted(borders, np.arange(len(above)))
        last[level], share[level] = borders[run], np.diff(borders, prepend=-1)[run] / len(above)
    return last, share


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
    level: Level,
    cut: Tried,
    criteria: Sequence[LocalCriterion],
) -> BoolArray:
    """Whether every criterion allows the cut of each group."""
    sizes = level.ends - level.starts
    good = np.ones(len(sizes), np.bool_)
    empty = np.empty((len(sizes), 0), np.int64)
    for criterion in criteria:
        if not (_needs_more(criterion) or criterion.needs_counts):
            left, right = (GroupSummaries(side, empty) for side in (cut.left, sizes - cut.left))
            good &= criterion.allowed_cuts(left, right)
    for criterion in criteria:
        if criterion.needs_households and not criterion.needs_counts:
            still = np.flatnonzero(good)
            found = rows.household_sides(level.rows(still), cut.rows(still), members=False)
            left, right = (GroupSummaries(h.number, empty[still], households=h) for h in found)
            good[still] &= criterion.allowed_cuts(left, right)
        if criterion.needs_weights:
            still = np.flatnonzero(good)
            summed = rows.population_sides(level.rows(still), cut.rows(still))
            good[still] &= criterion.allowed_cuts(*summed)
    tied = [criterion for criterion in criteria if criterion.needs_linked]
    if tied:
        still = np.flatnonzero(good)
        good[still] = _allowed_in_cells(rows, level.rows(still), cut.rows(still), tied)
    counting = [criterion for criterion in criteria if criterion.needs_counts]
    if not counting:
        return good
    members = any(criterion.needs_households for criterion in counting)
    still = np.flatnonzero(good)
    step = max(1, rows.cells // max(1, 2 * rows.sensitive.width))
    for first in range(0, len(still), step):
        some = still[first : first + step]
        sides = rows.sides(level.rows(some), cut.rows(some))
        if members:
            found = rows.household_sides(level.rows(some), cut.rows(some), members=True)
            sides = [replace(side, households=held) for side, held in zip(sides, found, strict=True)]
        for criterion in counting:
            good[some] &= criterion.allowed_cuts(*sides)
    return good


def _needs_more(criterion: LocalCriterion) -> bool:
    """Whether a criterion looks at more than sizes and counts."""
    return criterion.needs_households or criterion.needs_weights or criterion.needs_linked


def _allowed_in_cells(
    rows: Rows,
    level: Level,
    cut: Tried,
    criteria: Sequence[LocalCriterion],
) -> BoolArray:
    """The same for criteria that look at which values belong together."""
    sizes = (cut.left, level.ends - level.starts - cut.left)
    held, none = rows.linked_sides(level, cut), np.empty((len(cut), 0), np.int64)
    left, right = (GroupSummaries(size, none, linked=of) for size, of in zip(sizes, held, strict=True))
    good = np.ones(len(cut), np.bool_)
    for criterion in criteria:
        good &= criterion.allowed_cuts(left, right)
    return good
