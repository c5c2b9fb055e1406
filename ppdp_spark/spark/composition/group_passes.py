"""One pass over the groups of a release: what it says of the cells of each, in tasks that see it whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.composition.possible_values import (
    CommonCells,
    GroupValues,
    Together,
    counted_out,
    joined,
    of_group,
)
from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray
from ppdp_spark.errors import TWO_WAYS, DataError
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.maxent.buckets import TUPLE

HELD_ROWS = 1 << 16
"""Rows a task holds before it looks at the groups that are whole."""

STATE = T.StructType(
    [
        T.StructField("seen", T.IntegerType()),
        T.StructField("before", T.LongType()),
        T.StructField("code", T.ArrayType(T.IntegerType())),
        T.StructField("least", T.ArrayType(T.LongType())),
        T.StructField("most", T.ArrayType(T.LongType())),
        T.StructField("share", T.ArrayType(T.DoubleType())),
        T.StructField("alone", T.DoubleType()),
        T.StructField("sole", T.BooleanType()),
        T.StructField("changed", T.BooleanType()),
    ]
)
"""What is known of a cell.

where
    seen     releases looked at
    before   people who are together with it in those
    code, least, most, share    see `CommonCells`
    alone    the largest share of a protected value by one release alone
    sole     whether one release alone leaves a single value, a protected one
    changed  whether a pass has changed a bound
"""


@dataclass(frozen=True, eq=False)
class GroupPass:
    """Reads groups with their cells: their counts enter each cell, or bounds follow from them once more.

    where
        place      of the release
        entering   whether its counts are new to the cells
        table      how frequent each value is, by code
        protected  which values need protection
    """

    place: int
    entering: bool
    table: FloatArray
    protected: BoolArray

    def over(self, cells: DataFrame, groups: DataFrame) -> DataFrame:
        """The cells after the pass; those of people who are not in the release stay as they are."""
        own = F.col(group_of(self.place))
        # Cells without a group go along under negative numbers, so that plans do not fork at every pass.
        apart = F.lit(-1).cast("bigint") - F.pmod(F.xxhash64(*TUPLE, *_groups_of(cells)), F.lit(_PARTS))
        home = F.when(own == 0, apart).otherwise(own)
        head = groups.select(
            F.col(C.GROUP_ID).alias("home"),
            F.lit(False).alias("cell"),
            F.col(C.SIZE).alias(C.PEOPLE),
            F.col("codes").alias("code"),
            F.col("counts").alias("most"),
        )
        body = cells.select("*", home.alias("home"), F.lit(True).alias("cell"))
        both = body.unionByName(head, allowMissingColumns=True).repartition("home")
        ordered = both.sortWithinPartitions("home", "cell")
        return in_tasks(ordered, self, cells.schema)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in _whole_groups(batches):
            home = rows.column("home")
            yield from rows.filter(pc.less(home, 0)).drop_columns(["home", "cell"]).to_batches()
            inside = rows.filter(pc.greater_equal(home, 0))
            if inside.num_rows:
                yield from self._passed(inside.combine_chunks()).to_batches()

    def _passed(self, rows: pa.Table) -> pa.Table:
        cell = rows.column("cell").to_numpy()
        heads, bodies = (
            rows.filter(pa.array(~cell)),
            rows.filter(pa.array(cell)).drop_columns(["home", "cell"]),
        )
        if not bodies.num_rows:
            return bodies
        groups = _groups(heads)
        homes = heads.column("home").to_numpy()
        own = rows.column("home").to_numpy()[cell]
        group = np.searchsorted(homes, own)
        if (group == len(homes)).any() or (homes[np.minimum(group, len(homes) - 1)] != own).any():
            raise DataError(TWO_WAYS)
        return self._entered(bodies, groups, group) if self.entering else self._bounded(bodies, groups, group)

    def _entered(self, rows: pa.Table, groups: GroupValues, group: IntArray) -> pa.Table:
        """New counts enter: as the first of a cell, or beside those of releases before."""
        new = rows.column("seen").to_numpy() == 0
        together = _lists(rows.column("together"), np.int64)[1].reshape(rows.num_rows, -1)[:, self.place]
        parts = []
        for chosen in (new, ~new):
            if chosen.any():
                part, at = rows.filter(pa.array(chosen)), group[chosen]
                parts.append(
                    self._with_counts(part, groups, at, together[chosen], first=bool(new[chosen][0]))
                )
        return pa.concat_tables(parts)

    def _with_counts(
        self, rows: pa.Table, groups: GroupValues, group: IntArray, now: IntArray, *, first: bool
    ) -> pa.Table:
        cells = cells_in(rows)
        if first:
            before, found = groups.size[group], of_group(cells.people, cells.counted, groups, group)
        else:
            together = Together(rows.column("before").to_numpy(), now)
            before, found = now, joined(cells, together, groups, group, self.table)
        found = counted_out(found, groups, group, len(self.table))
        alone, sole = self._alone(groups)
        state = {
            "seen": rows.column("seen").to_numpy() + 1,
            "before": before,
            "alone": np.maximum(rows.column("alone").to_numpy(), alone[group]),
            "sole": rows.column("sole").to_numpy() | sole[group],
            "changed": np.ones(rows.num_rows, bool),
        }
        return _with(rows, found, state)

    def _bounded(self, rows: pa.Table, groups: GroupValues, group: IntArray) -> pa.Table:
        cells = cells_in(rows)
        found = counted_out(cells, groups, group, len(self.table))
        spread = _room(cells) != _room(found)
        return _with(rows, found, {"changed": rows.column("changed").to_numpy() | spread})

    def _alone(self, groups: GroupValues) -> tuple[FloatArray, BoolArray]:
        """Of each group: the largest share of a protected value, and whether it has a single one."""
        number = len(groups.size)
        owner = np.repeat(np.arange(number), np.diff(groups.start))
        share = np.where(self.protected[groups.code], groups.count / groups.size[owner], 0.0)
        largest = np.zeros(number)
        np.maximum.at(largest, owner, share)
        return largest, largest >= 1


_PARTS = 1 << 10
"""Parts of the cells that are in no group of a release."""


def _groups_of(cells: DataFrame) -> list[str]:
    return [name for name in cells.columns if re.fullmatch(r"g\d+", name)]


def group_of(place: int) -> str:
    """The column with the group of a cell in the release at `place`; 0 where its people are in none."""
    return f"g{place}"


def _room(cells: CommonCells) -> IntArray:
    """What is open in each cell: falls with every bound that becomes narrower, and every value that goes."""
    room = np.zeros(len(cells.people), np.int64)
    np.add.at(room, cells.owner, cells.most - cells.least + 1)
    return room


def _whole_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Rows in order, cut between groups."""
    held: list[pa.RecordBatch] = []
    number = 0
    for batch in batches:
        held.append(batch)
        number += batch.num_rows
        if number > HELD_ROWS:
            rows = pa.Table.from_batches(held).combine_chunks()
            homes = rows.column("home").to_numpy()
            last = int(np.searchsorted(homes, homes[-1]))
            if last:
                yield rows.slice(0, last)
            rest = rows.slice(last)
            held, number = rest.to_batches(), rest.num_rows
    if number:
        yield pa.Table.from_batches(held).combine_chunks()


def _lists(column: pa.ChunkedArray, kind: type) -> tuple[IntArray, np.ndarray]:
    """Where each list starts, and what they hold."""
    whole = column.combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    lengths = np.asarray(whole.value_lengths().fill_null(0).to_numpy(zero_copy_only=False), np.int64)
    start = np.concatenate([[0], np.cumsum(lengths)])
    return start, whole.flatten().to_numpy(zero_copy_only=False).astype(kind)


def _groups(rows: pa.Table) -> GroupValues:
    start, codes = _lists(rows.column("code"), np.int64)
    size = rows.column(C.PEOPLE).to_numpy().astype(np.int64)
    return GroupValues(size, start, codes, _lists(rows.column("most"), np.int64)[1])


def cells_in(rows: pa.Table) -> CommonCells:
    """Cells as arrays."""
    start, code = _lists(rows.column("code"), np.int64)
    least, most = (_lists(rows.column(name), np.int64)[1] for name in ("least", "most"))
    share = _lists(rows.column("share"), np.float64)[1]
    people, counted = rows.column(C.PEOPLE).to_numpy(), rows.column("counted").to_numpy()
    return CommonCells(people, counted, start, code, least, most, share)


def _with(rows: pa.Table, cells: CommonCells, state: dict[str, np.ndarray]) -> pa.Table:
    """The rows with what is now known of them."""
    offsets = pa.array(cells.start, pa.int32())
    listed = {
        "code": pa.array(cells.code, pa.int32()),
        "least": pa.array(cells.least, pa.int64()),
        "most": pa.array(cells.most, pa.int64()),
        "share": pa.array(cells.share, pa.float64()),
    }
    columns = {name: pa.ListArray.from_arrays(offsets, values) for name, values in listed.items()}
    columns |= {name: pa.array(values, rows.schema.field(name).type) for name, values in state.items()}
    for name, column in columns.items():
        # Batches of one task have one schema, down to the names of what lists hold.
        field = rows.schema.field(name)
        rows = rows.set_column(rows.schema.get_field_index(name), field, column.cast(field.type))
    return rows


def unseen(cells: DataFrame) -> DataFrame:
    """Cells of which nothing is known yet."""
    empty = {
        field.name: F.array().cast(field.dataType)
        for field in STATE
        if isinstance(field.dataType, T.ArrayType)
    }
    zero = {"seen": F.lit(0), "before": F.lit(0).cast("bigint"), "alone": F.lit(0.0)}
    told = {"sole": F.lit(False), "changed": F.lit(False)}
    return cells.withColumns({**empty, **zero, **told})
