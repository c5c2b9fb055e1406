"""The tree of similarity: who is near to whom, as nested ranges of one order of the people.

Above the classes it is a kd-tree over log-priors, so that a range holds people whose priors differ by
small factors; inside a class, a kd-tree over the quasi-identifiers. Both are Mondrian trees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.criteria.anonymity import KAnonymity
from ppdp_spark.core.data.coded_people import Axis, Partition, Sensitive
from ppdp_spark.core.data.groups import FloatArray, IntArray
from ppdp_spark.core.partition.art.classes import SignatureClasses
from ppdp_spark.core.partition.mondrian import partition

COORDINATES = 8
"""Log-priors of an attribute set the tree looks at: those that vary most, common values first."""

SMALLEST_PRIOR = 1e-9
STEPS_PER_UNIT = 1e6
WORD = 2**62


@dataclass(frozen=True)
class Tree:
    """Nested ranges of people.

    where
        order   people in the order of the tree
        ranks   number of the class of each, in that order; rises from left to right
        starts  first position of every node; children come before their parent
        ends    position after the last of every node
    """

    order: IntArray
    ranks: IntArray
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


def class_tree(found: SignatureClasses, weights: FloatArray, joint: bool) -> Partition:
    """The kd-tree over classes, widest log-prior first (in the binary model, log-odds).

    `weights` says how much a value counts: a prior matters to a group that has the value.
    """
    columns = [np.zeros((len(found.classes), 0), np.int32)]
    for s, table in enumerate(found.tables):
        scaled = _scaled(table, weights, joint)
        spread = scaled.max(axis=0, initial=0)
        kept = np.sort(np.argsort(-spread, kind="stable")[:COORDINATES])
        columns.append(scaled[:, kept][found.classes[:, s]])
    codes = np.concatenate(columns, axis=1)
    axes = [Axis(step=1.0, null_position=0.0) for _ in codes.T]
    return partition(codes, _valueless(len(codes)), axes, ())


def _scaled(priors: FloatArray, weights: FloatArray, joint: bool) -> NDArray[np.int32]:
    """Weighted logarithms as whole steps from 1 on, for the kernels that cut integer codes."""
    clipped = np.clip(priors, SMALLEST_PRIOR, 1.0 - SMALLEST_PRIOR)
    scaled = weights * (np.log(clipped) if joint else np.log(clipped) - np.log1p(-clipped))
    scaled -= scaled.min(axis=0, initial=np.inf)
    return np.asarray(1 + np.rint(scaled * STEPS_PER_UNIT), np.int32)


def people_tree(codes: IntArray, values: IntArray, ranks: IntArray, classes: Partition, least: int) -> Tree:
    """The whole tree; `ranks` number classes canonically, ranges inside a class keep `least` people.

    Rows are first sorted by all they contain, so nothing depends on the order they come in.
    """
    place = np.empty(len(classes.order), np.int64)
    place[classes.order] = np.arange(len(classes.order))
    ranks = place[ranks]
    order = _content_order([ranks, *codes.T, values])
    borders = np.searchsorted(ranks[order], np.arange(len(place) + 1))
    rows = np.ascontiguousarray(codes[order])
    inner = partition(rows, _valueless(len(rows)), _axes(rows), [KAnonymity(least)], bounds=borders)
    order = order[inner.order]
    starts = [borders[:-1], inner.cuts.start, borders[classes.cuts.start], np.zeros(1, np.int64)]
    ends = [borders[1:], inner.cuts.end, borders[classes.cuts.end], np.full(1, len(rows))]
    leaves = inner.starts
    nodes = _children_first(
        np.concatenate([leaves[:-1], *starts]), np.concatenate([leaves[1:], *ends]), len(rows)
    )
    return Tree(order.astype(np.int32), ranks[order].astype(np.int32), *nodes)


def _children_first(
    starts: IntArray, ends: IntArray, people: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nested ranges without duplicates, by end, and of equal ends the shorter one first."""
    keys = np.unique(ends.astype(np.int64) * (people + 1) + (people - starts))
    return people - keys % (people + 1), keys // (people + 1)


def _content_order(columns: list[IntArray]) -> IntArray:
    """The order of rows by their columns, the first column first; columns share words where they fit."""
    words, room = [np.zeros(len(columns[0]), np.int64)], WORD
    for column in columns:
        shifted = column.astype(np.int64) - (int(column.min()) if len(column) else 0)
        span = int(shifted.max()) + 1 if len(column) else 1
        if span > room:
            words.append(np.zeros(len(column), np.int64))
            room = WORD
        words[-1] = words[-1] * span + shifted
        room //= span
    if len(words) == 1:
        return np.argsort(words[0], kind="stable")
    return np.asarray(np.lexsort(words[::-1]))


def _axes(codes: IntArray) -> list[Axis]:
    """Every quasi-identifier on a scale of its own range; code 0 lies one step below code 1."""
    if not len(codes):
        return [Axis(1.0, -1.0) for _ in codes.T]
    spans = np.maximum(codes.max(axis=0).astype(np.int64) - codes.min(axis=0), 1)
    return [Axis(1.0 / span, -1.0 / span) for span in spans.tolist()]


def _valueless(people: int) -> Sensitive:
    """A sensitive attribute with one value: nothing about values decides a cut."""
    return Sensitive.single(np.zeros(people, np.int32), 1)
