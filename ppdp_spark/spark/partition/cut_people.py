"""One shuffle by fragment, then Mondrian inside each task; and further cuts of groups already there."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.attacks.algorithm_aware import AlgorithmAwareAudit, Audited
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.partition.mondrian import partition, undivided, undivided_summary
from ppdp_spark.core.partition.partitioners import CutsName
from ppdp_spark.spark.data.layout import Layout, People
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import one_partition_each, to_arrow
from ppdp_spark.spark.partition.fragments import Tree, fragments_of, with_fragments

Batches = Iterable[pa.RecordBatch]


@dataclass(frozen=True)
class CutFragment:
    """Partitions the rows of one fragment; raw groups come out if `raw`, described ones otherwise.

    With an `audit`, the first described group of the fragment has what was found in all of them.
    """

    layout: Layout
    criteria: tuple[LocalCriterion, ...]
    raw: bool
    audit: AlgorithmAwareAudit | None = None
    cuts: CutsName = "median"

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        rows = pa.Table.from_batches(parts).combine_chunks()
        arrays = {name: rows.column(name).chunk(0) for name in rows.column_names}
        people = self.layout.people(arrays, rows.num_rows)
        households, weights = people.households, people.weights
        groups = partition(
            people.codes,
            people.sensitive,
            people.axes,
            self.criteria,
            households=households,
            weights=weights,
            cuts=self.cuts,
        )
        whole = undivided_summary(people.sensitive, households, weights)
        sound = all(bool(criterion.allowed(whole)[0]) for criterion in self.criteria)
        if self.raw:
            fragment = arrays[C.FRAGMENT][0].as_py()
            parents = pa.array([f"{fragment:08x}"] * (len(groups.starts) - 1))
            paths = extended_paths(parents, np.zeros(len(parents), np.int64))
            yield self.layout.raw(people, groups, paths, sound=sound)
        else:
            described = self.layout.described(people, groups, sound=sound)
            if not self.layout.adds_up:
                numbers = arrays[C.FRAGMENT].take(pa.array(np.zeros(described.num_rows, np.int64)))
                described = described.append_column(C.FRAGMENT, numbers)
            if self.audit is not None:
                found = pickle.dumps(self.audit.audit(people.codes, people.sensitive, groups, people.axes))
                column = pa.array([found, *[None] * (described.num_rows - 1)], pa.binary())
                described = described.append_column(C.AUDIT, column)
            yield described


@dataclass(frozen=True)
class CutGroups:
    """Cuts the groups of a raw table further; raw groups come out."""

    layout: Layout
    criteria: tuple[LocalCriterion, ...]
    cuts: CutsName

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            people, bounds = people_of(batch, self.layout)
            groups = partition(
                people.codes, people.sensitive, people.axes, self.criteria, bounds=bounds, cuts=self.cuts
            )
            parent = np.searchsorted(bounds, groups.starts[:-1], side="right") - 1
            paths = extended_paths(batch.column(C.PATH).take(pa.array(parent)), parent)
            yield self.layout.raw(people, groups, paths)


@dataclass(frozen=True)
class DescribeGroups:
    """Turns a raw table of groups into a described one."""

    layout: Layout

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            people, bounds = people_of(batch, self.layout)
            yield self.layout.described(people, undivided(people.codes, bounds))


def people_of(batch: pa.RecordBatch, layout: Layout) -> tuple[People, IntArray]:
    """The people of a batch of raw groups, and the borders of the groups among them."""
    arrays = {name: batch.column(name).flatten() for name in layout.row_names}
    bounds = np.concatenate([[0], np.cumsum(batch.column(C.SIZE).to_numpy().astype(np.int64))])
    return layout.people(arrays, int(bounds[-1])), bounds


def extended_paths(parents: pa.Array, parent: IntArray) -> pa.Array:
    """The path of each group: that of the group it was cut from, then its place among its siblings.

    Paths sort from left to right through the tree, whatever the partitioning of the table was.
    """
    first = np.searchsorted(parent, parent, side="left")
    places = np.char.mod("%08x", np.arange(len(parent)) - first)
    return pc.binary_join_element_wise(parents, pa.array(places.tolist(), pa.string()), "")


def partition_rows(rows: DataFrame, tree: Tree, task: CutFragment) -> DataFrame:
    """Groups of the table, one row each; every fragment is one task after one shuffle."""
    layout = task.layout
    located = with_fragments(rows, tree, layout.attributes)
    packed = layout.packed(located, C.FRAGMENT)
    placed = one_partition_each(packed, len(fragments_of(tree)), F.col(C.FRAGMENT))
    if task.raw:
        return in_tasks(placed, task, layout.raw_schema(rows.schema))
    placed = placed.drop(C.FRAGMENT) if layout.adds_up else placed
    schema = layout.described_schema(rows.schema)
    return in_tasks(placed, task, schema if task.audit is None else schema.add(C.AUDIT, T.BinaryType()))


def audited(groups: DataFrame) -> Audited:
    """What the tasks found that audited the groups of their fragments."""
    parts = to_arrow(groups.where(F.col(C.AUDIT).isNotNull()).select(C.AUDIT)).column(0).to_pylist()
    # Written by this program's own tasks a moment ago, over Spark's channel.
    return reduce(Audited.merged, (pickle.loads(part) for part in parts), Audited())
