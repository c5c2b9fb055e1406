"""One shuffle by fragment, then Mondrian inside each task: a table of groups comes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.attributes import Attribute, Column, Ordered, generalize
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.mondrian import Partition, Sensitive, partition
from ppdp_spark.spark import columns as C
from ppdp_spark.spark.fragments import Tree, fragment_column, fragments_of
from ppdp_spark.spark.profile import SensitiveDomain


@dataclass(frozen=True)
class FragmentTask:
    """Partitions the rows of one fragment; travels to the executors.

    where
        codes_kept  whether people keep their codes (the bucketized form publishes them)
        kept        columns published as they are
    """

    attributes: tuple[Attribute, ...]
    domain: SensitiveDomain | None
    criteria: tuple[LocalCriterion, ...]
    codes_kept: bool
    kept: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        rows = pa.Table.from_batches(parts).combine_chunks()
        arrays = {name: rows.column(name).chunk(0) for name in rows.column_names}
        columns = [Column.read(a, arrays[C.code(j)]) for j, a in enumerate(self.attributes)]
        sensitive = self._sensitive(arrays, rows.num_rows)
        codes = np.stack([column.codes for column in columns], axis=1)
        groups = partition(codes, sensitive, [column.axis() for column in columns], self.criteria)
        yield self._described(columns, groups, arrays, sensitive)

    def _sensitive(self, arrays: dict[str, pa.Array], people: int) -> Sensitive:
        if self.domain is None:
            return Sensitive.single(np.zeros(people, np.int32), 1)
        column, width = arrays[C.SENSITIVE], len(self.domain.values)
        if self.domain.case == "svpi":
            return Sensitive.single(column.to_numpy(zero_copy_only=False), width)
        offsets = column.offsets.to_numpy().astype(np.int64)
        values = self.domain.codes(column.flatten()).to_numpy(zero_copy_only=False).astype(np.int32)
        return Sensitive(width, values, offsets - offsets[0])

    def _described(
        self, columns: Sequence[Column], groups: Partition, arrays: dict[str, pa.Array], sensitive: Sensitive
    ) -> pa.RecordBatch:
        """One row a group: bounds and labels, penalties, and its people as lists."""
        sizes = np.diff(groups.starts)
        out: dict[str, pa.Array] = {C.SIZE: pa.array(sizes, pa.int32())}
        penalties = np.empty((len(sizes), len(columns)), np.float64)
        for j, column in enumerate(columns):
            description = generalize(column, groups, j)
            out |= {f"{C.code(j)}_{name}": array for name, array in description.arrays.items()}
            penalties[:, j] = description.penalty
        out[C.PENALTY] = pa.FixedSizeListArray.from_arrays(pa.array(penalties.ravel()), len(columns)).cast(
            pa.list_(pa.float64())
        )
        offsets = pa.array(groups.starts, pa.int32())
        order = self._canonical(groups, sensitive)
        for name in self.people_columns():
            out[name] = pa.ListArray.from_arrays(offsets, arrays[name].take(pa.array(order)))
        return pa.RecordBatch.from_pydict(out)

    def _canonical(self, groups: Partition, sensitive: Sensitive) -> np.ndarray:
        """People of each group in the order of their value, where nothing else tells them apart."""
        if len(self.people_columns()) > 1 or sensitive.offsets.size:
            return groups.order
        group = np.repeat(np.arange(len(groups.starts) - 1), np.diff(groups.starts))
        keys = group * sensitive.width + sensitive.values[groups.order]
        return groups.order[np.argsort(keys, kind="stable")]

    def people_columns(self) -> list[str]:
        """Columns of which the group table keeps a list a group, one entry a person."""
        names = [C.code(j) for j in range(len(self.attributes))] if self.codes_kept else []
        names += [C.SENSITIVE] if self.domain is not None else []
        return names + [C.kept(j) for j in range(self.kept)]

    def schema(self, rows: T.StructType) -> T.StructType:
        """The schema of the group table, given that of the encoded rows."""
        fields = [T.StructField(C.SIZE, T.IntegerType())]
        for j, attribute in enumerate(self.attributes):
            if isinstance(attribute, Ordered):
                wide = T.DoubleType() if attribute.kind == "float" else T.LongType()
                fields += [T.StructField(C.low(j), wide), T.StructField(C.high(j), wide)]
                fields.append(T.StructField(C.mixed(j), T.BooleanType()))
            else:
                fields.append(T.StructField(C.label(j), T.StringType()))
        fields.append(T.StructField(C.PENALTY, T.ArrayType(T.DoubleType())))
        fields += [T.StructField(name, T.ArrayType(rows[name].dataType)) for name in self.people_columns()]
        return T.StructType(fields)


def partition_rows(rows: DataFrame, tree: Tree, task: FragmentTask) -> DataFrame:
    """Groups of the table, one row each; every fragment is one task after one shuffle."""
    fragments = len(fragments_of(tree))
    located = rows.withColumn(C.FRAGMENT, fragment_column(tree, task.attributes).cast("int"))
    placed = located.repartitionById(fragments, F.col(C.FRAGMENT)).drop(C.FRAGMENT)
    return placed.mapInArrow(task, task.schema(rows.schema))
