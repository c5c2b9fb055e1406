"""ART inside one task: a fragment of people packed into r-robust groups."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray
from ppdp_spark.core.partition.art.classes import signatures
from ppdp_spark.core.partition.art.condition import PlaceablePeople, Rules, Tally
from ppdp_spark.core.partition.art.deal import Deck
from ppdp_spark.core.partition.art.residue import join_residue
from ppdp_spark.core.partition.art.rounds import Groups, Sizes, run_rounds
from ppdp_spark.core.partition.art.similarity import class_tree, people_tree
from ppdp_spark.core.partition.packed_groups import PackedGroups
from ppdp_spark.errors import DataError

MODELS = ("joint", "binary")
LARGEST_GROUP = 32
"""People in a group at most, unless four times the least size is more."""


def pack(
    values: IntArray,
    classes: IntArray,
    priors: Sequence[FloatArray],
    codes: IntArray,
    *,
    width: int,
    r: float,
    model: str = "joint",
    smallest: int = 2,
    protected: Sequence[bool] | None = None,
) -> PackedGroups:
    """Groups of at least max(r, smallest) people that satisfy the condition of the model [ART, Section V].

    where
        values    sensitive value of each person, codes 0 .. width − 1
        classes   class of each person: the row of every array of `priors`
        priors    prior of each value, shape (classes, width), one array an attribute set
        codes     quasi-identifiers, shape (people, attributes); decide who is near, nothing else
        r         no posterior exceeds 1/r; above 1
        model     joint: swap bound, values may repeat in a group; binary: Δ condition, each value once
        smallest  least size of a group
        protected  whether each value needs protection; None if all do. Others may repeat in a group, and
                  nothing is demanded of their posteriors

    Every group satisfies the condition for each of its protected values and every attribute set. People whose
    own value has prior 0 contradict the prior and are not placed. The groups are a function of the set of
    rows: neither their order nor the numbers of classes matter, and people with equal rows are
    interchangeable.
    """
    values, codes = np.ascontiguousarray(values, np.int32), np.ascontiguousarray(codes, np.int32)
    _check(values, classes, priors, codes, width=width, r=r, model=model, smallest=smallest)
    placeable = np.flatnonzero(_possible(values, classes, priors))
    packed = np.full(len(values), -1, np.int32)
    if not len(placeable):
        return PackedGroups(packed, 0)
    least = max(math.ceil(r), smallest, 2)
    mask = np.ones(width, np.bool_) if protected is None else np.array(protected)
    order, groups = _packed(
        values[placeable],
        classes[placeable],
        priors,
        codes[placeable],
        width=width,
        r=r,
        model=model,
        least=least,
        protected=mask,
    )
    packed[placeable[order]] = groups.of
    return PackedGroups(packed, int(groups.used[0]))


def _packed(
    values: IntArray,
    classes: IntArray,
    priors: Sequence[FloatArray],
    codes: IntArray,
    *,
    width: int,
    r: float,
    model: str,
    least: int,
    protected: BoolArray,
) -> tuple[IntArray, Groups]:
    """The order of the people in the tree, and the groups of people in that order."""
    found, joint = signatures(classes, priors), model == "joint"
    shares = np.bincount(values, minlength=width) / len(values)
    upper = class_tree(found, np.minimum(1.0, least * shares), joint)
    tree = people_tree(codes, values, found.ranks, upper, least)
    rows = found.stacked_rows[found.ranks[tree.order]]
    held = values[tree.order]
    dealt = values_to_deal(held, protected)
    people = PlaceablePeople(held, np.ascontiguousarray(rows), tree.ranks, dealt)
    rules = Rules(float(r), joint, found.stacked, protected)
    sizes = Sizes(least, max(LARGEST_GROUP, 4 * least))
    groups, tally = Groups.of_nobody(len(values)), Tally.of(sizes.most + 1)
    deck = Deck.of(len(values), max(width, int(dealt.max(initial=0)) + 1))
    run_rounds(rules, people, tree.starts, tree.ends, sizes, groups, deck, tally)
    join_residue(rules, people, sizes, groups, tally)
    return tree.order, groups


def values_to_deal(values: IntArray, protected: BoolArray) -> NDArray[np.int32]:
    """Values by which people are dealt: everybody whose value needs no protection has one of their own."""
    free = np.flatnonzero(~protected[values])
    dealt = np.array(values, np.int32)
    dealt[free] = len(protected) + np.arange(len(free))
    return dealt


def _possible(values: IntArray, classes: IntArray, priors: Sequence[FloatArray]) -> BoolArray:
    """Whose own value is possible under every prior: with prior 0 every bound is 1."""
    possible: NDArray[np.bool_] = np.ones(len(values), np.bool_)
    for table in priors:
        possible &= table[classes, values] > 0.0
    return possible


def _check(
    values: IntArray,
    classes: IntArray,
    priors: Sequence[FloatArray],
    codes: IntArray,
    *,
    width: int,
    r: float,
    model: str,
    smallest: int,
) -> None:
    problems = []
    if not (r > 1 and math.isfinite(r)):
        problems.append(f"`r` ({r}) must be a number above 1")
    if model not in MODELS:
        problems.append(f"`model` must be one of {', '.join(MODELS)}")
    if smallest < 1:
        problems.append(f"`smallest` ({smallest}) must be at least 1")
    if len(classes) != len(values) or codes.ndim != 2 or len(codes) != len(values):
        problems.append(f"`classes` and `codes` must have one row for each of the {len(values)} people")
    if len(values) and not (values.min() >= 0 and values.max() < width):
        problems.append(f"`values` must be codes from 0 to {width - 1}")
    for s, table in enumerate(priors):
        if table.ndim != 2 or table.shape[1] != width or len(table) <= classes.max(initial=-1):
            problems.append(f"`priors` {s} must have one row a class and {width} columns")
        elif not np.all((table >= 0.0) & (table <= 1.0)):
            problems.append(f"`priors` {s} must be probabilities from 0 to 1")
    if len(classes) and classes.min() < 0:
        problems.append("`classes` must not be negative")
    if problems:
        raise DataError(problems)
