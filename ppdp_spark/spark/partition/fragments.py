"""The top of the Mondrian tree: a few cuts on the driver that spread the table over tasks.

Cuts come from a sample chosen by a hash of row content, so they do not depend on how the input is
partitioned; for blind groups, of the quasi-identifiers alone. They are kept only where exact counts of both
sides satisfy every criterion.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.criteria import KAnonymity
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.data.attributes import Attribute, Categorical, CodeColumn
from ppdp_spark.core.data.coded_people import Cuts, Sensitive
from ppdp_spark.core.data.groups import GroupSummaries, IntArray
from ppdp_spark.core.partition.mondrian import partition
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.arrow import whole
from ppdp_spark.spark.engine.hidden_values import beside_unseen, field
from ppdp_spark.spark.engine.versions import to_arrow

FRAGMENT_ROWS = 400_000
"""Rows a task works on at once: large enough to amortise its start, small enough for its memory."""

SAMPLE_ROWS = 200_000
FRAGMENT_SAMPLE_ROWS = 16_000
"""Sampled rows that a fragment is cut by, as long as all of them are no more than `SAMPLE_ROWS`.

A median of so many is off by less than one percent.
"""

_SAMPLE_LIMIT = 1_000_000
_CUTS = "cuts"
_VERY_MANY = 1 << 62


@dataclass(frozen=True)
class Leaf:
    """A fragment of the table."""

    fragment: int


@dataclass(frozen=True)
class Cut:
    """Rows with code <= `value` (and, in wide columns, nulls) go left."""

    attribute: int
    value: float | int
    left: Tree
    right: Tree


Tree = Leaf | Cut


def fragments_of(tree: Tree) -> list[int]:
    """The numbers of the fragments below a node, from left to right."""
    if isinstance(tree, Leaf):
        return [tree.fragment]
    return fragments_of(tree.left) + fragments_of(tree.right)


def renumbered(tree: Tree, first: int = 0) -> Tree:
    """The same cuts with fragments numbered from left to right."""
    if isinstance(tree, Leaf):
        return Leaf(first)
    left = renumbered(tree.left, first)
    right = renumbered(tree.right, first + len(fragments_of(left)))
    return Cut(tree.attribute, tree.value, left, right)


def with_fragments(rows: DataFrame, tree: Tree, attributes: Sequence[Attribute]) -> DataFrame:
    """Encoded rows with their fragment; the plan does not show where the cuts are."""
    values: list[float | int] = []
    fragment = _fragment_column(tree, attributes, values).cast("int")
    if values:
        rows = beside_unseen(rows, _CUTS, values)
    return rows.withColumn(C.FRAGMENT, fragment).drop(_CUTS)


def _fragment_column(tree: Tree, attributes: Sequence[Attribute], values: list[float | int]) -> Column:
    """The fragment of each row, as an expression on its codes and on `values`, which are added to."""
    if isinstance(tree, Leaf):
        return F.lit(tree.fragment)
    code = F.col(C.code(tree.attribute))
    inside = code <= F.col(_CUTS)[field(len(values))]
    values.append(tree.value)
    if getattr(attributes[tree.attribute], "narrow", True) is False:
        inside = code.isNull() | inside
    left, right = (_fragment_column(side, attributes, values) for side in (tree.left, tree.right))
    return F.when(inside, left).otherwise(right)


def combinations(attributes: Sequence[Attribute]) -> int:
    """How many combinations of quasi-identifiers there can be, those too many to count as very many."""
    return math.prod(
        len(a.values) + 1 if isinstance(a, Categorical) else int(a.span) + 2 if a.narrow else _VERY_MANY
        for a in attributes
    )


def sampled(rows: DataFrame, total: int, kinds: int | None = None) -> DataFrame:
    """Encoded rows chosen by the hash of their content, whatever the partitioning.

    The optimizer takes the choice to the scan: rows that are left out are not encoded. Where the content
    is quasi-identifiers alone, equal people come or stay away together, and of few `kinds` of people more
    are taken.
    """
    fragments = max(1, -(-total // FRAGMENT_ROWS))
    different = total if kinds is None else min(total, kinds)
    one_in = max(1, different // min(SAMPLE_ROWS, fragments * FRAGMENT_SAMPLE_ROWS))
    return rows.where(F.pmod(C.CONTENT, F.lit(one_in)) == 0).drop(C.CONTENT)


def propose_tree(sample_rows: DataFrame, attributes: Sequence[Attribute], total: int) -> Tree:
    """Cut a sample of encoded rows until fragments hold about `FRAGMENT_ROWS` rows of the table."""
    if total <= FRAGMENT_ROWS:
        return Leaf(0)
    names = [C.code(j) for j in range(len(attributes))]
    sample = to_arrow(sample_rows.groupBy(*names).count())
    sample = sample.sort_by([(name, "ascending") for name in names])
    columns = [CodeColumn.read(a, whole(sample, name)) for a, name in zip(attributes, names, strict=True)]
    weights = sample.column("count").to_numpy()
    weights = -(-weights // max(1, int(weights.sum()) // _SAMPLE_LIMIT))
    codes = np.repeat(np.stack([column.codes for column in columns], axis=1), weights, axis=0)
    least = max(2, len(codes) * FRAGMENT_ROWS // (2 * total))
    one_value = Sensitive.single(np.zeros(len(codes), np.int32), 1)
    parts = partition(codes, one_value, [column.axis() for column in columns], [KAnonymity(least)])
    return renumbered(_tree(parts.cuts, columns, len(codes)))


def _tree(cuts: Cuts, columns: Sequence[CodeColumn], rows: int) -> Tree:
    """The recorded cuts as a tree."""
    by_run = {(int(s), int(e)): i for i, (s, e) in enumerate(zip(cuts.start, cuts.end, strict=True))}

    def node(start: int, end: int) -> Tree:
        i = by_run.get((start, end))
        if i is None:
            return Leaf(0)
        attribute, code, middle = int(cuts.attribute[i]), int(cuts.high[i]), int(cuts.middle[i])
        values = columns[attribute].values
        value = code if values.size == 0 else values[code].item()
        return Cut(attribute, value, node(start, middle), node(middle, end))

    return node(0, rows)


def confirmed_tree(tree: Tree, summaries: GroupSummaries, criteria: Sequence[LocalCriterion]) -> Tree:
    """Keep a cut only where both its sides, counted exactly, satisfy every criterion.

    `summaries` has one row per fragment of `tree`. This is the rule by which Mondrian itself cuts.
    """

    def allowed(node: Tree) -> bool:
        rows = fragments_of(node)
        population = summaries.population
        together = GroupSummaries(
            summaries.sizes[rows].sum(keepdims=True),
            summaries.counts[rows].sum(axis=0, keepdims=True),
            population=None if population is None else population[rows].sum(keepdims=True),
        )
        return all(bool(criterion.allowed(together)[0]) for criterion in criteria)

    def confirmed(node: Tree) -> Tree:
        if isinstance(node, Leaf) or not (allowed(node.left) and allowed(node.right)):
            return Leaf(0)
        return Cut(node.attribute, node.value, confirmed(node.left), confirmed(node.right))

    return renumbered(confirmed(tree))


def without_cuts_to(tree: Tree, fragments: Collection[int]) -> Tree:
    """The tree without the cuts that have one of some fragments on a side."""

    def cut(node: Tree) -> Tree:
        sides = () if isinstance(node, Leaf) else (node.left, node.right)
        if not sides or any(isinstance(side, Leaf) and side.fragment in fragments for side in sides):
            return Leaf(0)
        assert isinstance(node, Cut)
        return Cut(node.attribute, node.value, cut(node.left), cut(node.right))

    return renumbered(cut(tree))


def count_fragments(rows: DataFrame, tree: Tree, layout: Layout) -> GroupSummaries:
    """Exact people, sums of weights, and occurrences of each sensitive value, of every fragment."""
    fragments = len(fragments_of(tree))
    located = with_fragments(rows, tree, layout.attributes)
    sizes = np.zeros(fragments, np.int64)
    counts = []
    for name, domain in layout.held.items():
        held = F.array_distinct(name) if domain.records else F.col(name)
        value = held if domain.case == "svpi" else F.explode(held)
        pairs = to_arrow(
            located.select(C.FRAGMENT, value.alias(C.VALUE)).groupBy(C.FRAGMENT, C.VALUE).count()
        )
        fragment, number = pairs.column(0).to_numpy(), pairs.column(2).to_numpy()
        codes = pairs.column(1) if domain.case == "svpi" else domain.codes(pairs.column(1))
        counts.append(np.zeros((fragments, len(domain.values)), np.int64))
        np.add.at(counts[-1], (fragment, codes.to_numpy()), number)
    if layout.domains and all(domain.case == "svpi" for domain in layout.domains):
        sizes = counts[0].sum(axis=1)
    else:
        found = to_arrow(located.groupBy(C.FRAGMENT).count())
        sizes[found.column(0).to_numpy()] = found.column(1).to_numpy()
    population = _weights_of_fragments(located, fragments) if layout.weighted else None
    every = np.concatenate([np.zeros((fragments, 0), np.int64), *counts], axis=1)
    return GroupSummaries(sizes, every, population=population)


def _weights_of_fragments(located: DataFrame, fragments: int) -> IntArray:
    """The sum of the weights of every fragment, in units."""
    found = to_arrow(located.groupBy(C.FRAGMENT).agg(F.sum(C.WEIGHT)))
    sums = np.zeros(fragments, np.int64)
    sums[found.column(0).to_numpy()] = found.column(1).to_numpy()
    return sums
