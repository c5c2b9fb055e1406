"""One shuffle by fragment, then people placed into groups inside each task, where some may find no place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.criteria.robustness.priors import PeoplePriors, matched, prior_table
from ppdp_spark.core.data.coded_people import Partition
from ppdp_spark.core.data.groups import FloatArray, IntArray
from ppdp_spark.core.partition.mondrian import grouped, undivided_summary
from ppdp_spark.core.partition.placement import Placed, Placement
from ppdp_spark.errors import TOO_MANY_PRIORS, DataError
from ppdp_spark.spark.data.layout import Layout, People
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.arrow import whole
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import one_partition_each
from ppdp_spark.spark.partition.fragments import FRAGMENT_ROWS, Tree, fragments_of, with_fragments
from ppdp_spark.spark.partition.priors import SET, SHARES, VALUES, PriorSet, beside_people

PLACED = "placed"

TIE = "tie"
"""Hash of weight and columns published as they are: tells people apart who are equal in everything else."""

EXTRA_COLUMNS = (TIE, SET, VALUES, SHARES)
_EXTRA_KINDS = {
    TIE: pa.int64(),
    SET: pa.int32(),
    VALUES: pa.list_(pa.int32()),
    SHARES: pa.list_(pa.float64()),
}

NO_PRIOR = "people have a signature that the table of priors does not know"

LARGEST_TABLE = 1 << 27
"""Cells of the prior tables of one task at most: a gigabyte."""


@dataclass(frozen=True)
class PlaceFragment:
    """Places the people of one task; described groups come out, and those without a place as they came.

    With `again` the rows that come in are the lists that went out for people without a place.

    where
        keys  positions of the attributes of each attribute set
    """

    layout: Layout
    placement: Placement
    keys: tuple[tuple[int, ...], ...]
    again: bool = False

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        arrays = self._arrays(pa.Table.from_batches(parts).combine_chunks())
        kind = arrays[SET].fill_null(-1).to_numpy(zero_copy_only=False)
        persons = np.flatnonzero(kind < 0)
        if self.layout.kept or self.layout.weighted:
            persons = persons[self._order(arrays, persons)]
        people, priors, known = self._people(arrays, kind, persons)
        place, everyone = self.placement, np.arange(people.sensitive.people)
        placed = place.packed(people, priors, everyone) if self.again else place.cut(people, priors)
        left = np.setdiff1d(everyone, placed.order, assume_unique=True)
        undivided = undivided_summary(people.sensitive)
        sound = all(bool(criterion.allowed(undivided)[0]) for criterion in place.kept_by_unions)
        described = self._described(people, priors, placed, sound)
        yield described
        if len(left):
            used = [rows[np.unique(table[left])] for rows, table in zip(known, priors.rows, strict=True)]
            chosen = np.concatenate([persons[left], *used])
            yield self._unplaced(arrays, chosen, len(left), sound, described.schema)

    def _arrays(self, rows: pa.Table) -> dict[str, pa.Array]:
        names = [*self.layout.row_names, *EXTRA_COLUMNS]
        if not self.again:
            return {name: whole(rows, name) for name in (*names, C.FRAGMENT)}
        lists = {name: whole(rows, raw(name)).flatten() for name in names}
        return {**lists, C.FRAGMENT: whole(rows, C.FRAGMENT)}

    def _order(self, arrays: Mapping[str, pa.Array], persons: IntArray) -> IntArray:
        """An order that content alone decides, for equal people whose published columns differ."""
        codes = self.layout.people({name: arrays[name] for name in self.layout.row_names}, len(arrays[SET]))
        ties = arrays[TIE].fill_null(0).to_numpy(zero_copy_only=False)[persons]
        order: IntArray = np.lexsort((ties, codes.sensitive.values[persons], *codes.codes[persons].T))
        return order

    def _people(
        self, arrays: Mapping[str, pa.Array], kind: IntArray, persons: IntArray
    ) -> tuple[People, PeoplePriors, list[IntArray]]:
        """The people of the task, the priors that came with them, and the rows those stood in."""
        own = {name: arrays[name] for name in self.layout.row_names}
        keyed = bool(self.keys)
        codes = self.layout.people(own, len(kind)).codes if keyed else np.zeros((len(kind), 0), np.int32)
        chosen = pa.array(persons)
        people = self.layout.people({name: array.take(chosen) for name, array in own.items()}, len(persons))
        rows, tables = [], []
        places: list[IntArray] = []
        for position, keys in enumerate(self.keys):
            known = np.flatnonzero(kind == position)
            found = matched(codes[persons][:, keys], codes[known][:, keys])
            if (found < 0).any():
                raise DataError(NO_PRIOR)
            rows.append(found.astype(np.int32))
            tables.append(dense_priors(arrays, known, people.sensitive.width))
            places.append(known)
        return people, PeoplePriors(tuple(rows), tuple(tables)), places

    def _described(self, people: People, priors: PeoplePriors, placed: Placed, sound: bool) -> pa.RecordBatch:
        groups = grouped(people.codes, placed.order, placed.bounds)
        batch = self.layout.described(people, groups, sound=sound)
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        columns |= _prior_columns(people, priors, groups)
        columns[PLACED] = pa.array([True] * batch.num_rows, pa.bool_())
        columns[C.FRAGMENT] = pa.nulls(batch.num_rows, pa.int32())
        kinds = {name: people.arrays[name].type for name in self.layout.row_names} | _EXTRA_KINDS
        columns |= {raw(name): pa.nulls(batch.num_rows, pa.list_(kind)) for name, kind in kinds.items()}
        return pa.RecordBatch.from_pydict(columns)

    def _unplaced(
        self, arrays: Mapping[str, pa.Array], chosen: IntArray, people: int, sound: bool, schema: pa.Schema
    ) -> pa.RecordBatch:
        """One row with the people who found no place and their priors, as they came."""
        columns: dict[str, pa.Array] = {
            C.SIZE: pa.array([people], pa.int32()),
            C.SOUND: pa.array([sound], pa.bool_()),
            PLACED: pa.array([False], pa.bool_()),
            C.FRAGMENT: arrays[C.FRAGMENT].slice(0, 1).cast(pa.int32()),
        }
        for name in (*self.layout.row_names, *EXTRA_COLUMNS):
            taken = arrays[name].take(pa.array(chosen))
            columns[raw(name)] = pa.ListArray.from_arrays(pa.array([0, len(chosen)], pa.int32()), taken)
        return pa.RecordBatch.from_arrays(
            [columns.get(field.name, pa.nulls(1, field.type)) for field in schema], names=schema.names
        )

    def schema(self, rows: T.StructType) -> T.StructType:
        """What comes out, for encoded rows of this schema."""
        fields = list(self.layout.described_schema(rows).fields)
        integers, doubles = T.ArrayType(T.IntegerType()), T.ArrayType(T.DoubleType())
        fields += [T.StructField(name, integers) for name in (C.COUNTED_VALUES, C.COUNTS)]
        fields += [T.StructField(name, doubles) for name in (C.LOWS, C.HIGHS)]
        fields += [T.StructField(PLACED, T.BooleanType()), T.StructField(C.FRAGMENT, T.IntegerType())]
        kept = self.layout.raw_schema(rows)
        fields += [T.StructField(raw(name), kept[name].dataType) for name in self.layout.row_names]
        kinds = (T.LongType(), T.IntegerType(), integers, doubles)
        pairs = zip(EXTRA_COLUMNS, kinds, strict=True)
        return T.StructType(fields + [T.StructField(raw(name), T.ArrayType(kind)) for name, kind in pairs])


def place_rows(rows: DataFrame, tree: Tree, task: PlaceFragment, priors: Sequence[PriorSet]) -> DataFrame:
    """Groups of the table, and one row per fragment with those left over; one task per fragment."""
    layout = task.layout
    kept = [C.kept(j) for j in range(layout.kept)] + ([C.WEIGHT] if layout.weighted else [])
    tie = F.xxhash64(*kept) if kept else F.lit(0).cast("bigint")
    located = with_fragments(rows, tree, layout.attributes).withColumn(TIE, tie)
    fragments = len(fragments_of(tree))
    together = beside_people(located, C.FRAGMENT, fragments, priors, layout.packed_names)
    packed = layout.packed(together, C.FRAGMENT, *EXTRA_COLUMNS)
    placed = one_partition_each(packed, fragments, F.col(C.FRAGMENT))
    return in_tasks(placed, task, task.schema(rows.schema))


def place_again(left: DataFrame, fragments: int, people: int, task: PlaceFragment) -> DataFrame:
    """Those left over by several fragments, neighbours together."""
    tasks = max(1, min(fragments, -(-people // FRAGMENT_ROWS)))
    turn = F.floor(F.col(C.FRAGMENT) * tasks / fragments).cast("int")
    names = [raw(name) for name in (*task.layout.row_names, *EXTRA_COLUMNS)]
    placed = one_partition_each(left.select(C.FRAGMENT, *names), tasks, turn)
    return in_tasks(placed, task, left.schema)


def raw(name: str) -> str:
    """The column with the lists of `name` for people without a place."""
    return f"raw_{name}"


def dense_priors(arrays: Mapping[str, pa.Array], known: IntArray, width: int) -> FloatArray:
    """The rows `known` of lists of values and shares as one table, one row per signature."""
    if len(known) * width > LARGEST_TABLE:
        raise DataError(TOO_MANY_PRIORS)
    values, shares = (arrays[name].take(pa.array(known)) for name in (VALUES, SHARES))
    offsets = values.offsets.to_numpy().astype(np.int64)
    flat = [column.flatten().to_numpy(zero_copy_only=False) for column in (values, shares)]
    return prior_table(flat[0], flat[1], offsets - offsets[0], width)


def _prior_columns(people: People, priors: PeoplePriors, groups: Partition) -> dict[str, pa.Array]:
    """What a verifier needs of each group: its values, their counts, and the extrema of their priors."""
    starts, ends = groups.starts[:-1], groups.starts[1:]
    values = people.sensitive.values[groups.order]
    parts: list[Sequence[NDArray[Any]]] = []
    lengths: list[IntArray] = []
    ordered = priors.of(groups.order)
    for _, summary in ordered.summaries(values, people.sensitive.width, starts, ends):
        where = np.nonzero(summary.counts)
        lengths.append(np.bincount(where[0], minlength=len(summary)))
        lows = [extrema.minimum[where] for extrema in summary.priors]
        highs = [extrema.maximum[where] for extrema in summary.priors]
        parts.append((where[1], summary.counts[where], np.stack(lows, 1).ravel() if lows else np.empty(0)))
        parts[-1] = (*parts[-1], np.stack(highs, 1).ravel() if highs else np.empty(0))
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths]))])
    flat = [np.concatenate([part[i] for part in parts] or [np.empty(0)]) for i in range(4)]
    sets = len(priors.tables)
    kinds = (pa.int32(), pa.int32(), pa.float64(), pa.float64())
    scales = (1, 1, sets, sets)
    return {
        name: pa.ListArray.from_arrays(pa.array(offsets * scale, pa.int32()), pa.array(array, kind))
        for name, array, kind, scale in zip(
            (C.COUNTED_VALUES, C.COUNTS, C.LOWS, C.HIGHS), flat, kinds, scales, strict=True
        )
    }
