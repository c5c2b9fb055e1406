"""The crowds of many column sets, counted exactly: beside an anchor in tasks, or by one aggregation each.

Nothing depends on how rows are divided: a task holds everybody with the same value of the anchor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from ppdp_spark.core.discovery.anchors import anchored
from ppdp_spark.core.discovery.column_facts import ColumnFacts
from ppdp_spark.core.discovery.crowds import Crowds
from ppdp_spark.core.discovery.fragment_crowds import fragment_crowds
from ppdp_spark.core.discovery.lattice import ColumnSet
from ppdp_spark.errors import CHANGED, DataError
from ppdp_spark.spark.discovery.column_survey import SIZE, size_class
from ppdp_spark.spark.discovery.value_codes import CodedColumns, dense
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.parallel_jobs import all_at_once
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.partition.fragments import FRAGMENT_ROWS

MOST_ROWS = 5 * FRAGMENT_ROWS
"""People with one value of an anchor; a column with a more frequent value is none."""

SET = "set"
_COUNTED = f"{SET} int, {SIZE} int, crowds bigint, held bigint"


@dataclass(frozen=True)
class SetCounter:
    """Counts the crowds of column sets.

    where
        coded    the table as codes
        columns  what is known of each of its columns
    """

    coded: CodedColumns
    columns: tuple[ColumnFacts, ...]
    fragment: int = FRAGMENT_ROWS
    most: int = MOST_ROWS

    def __call__(self, sets: Sequence[ColumnSet]) -> list[Crowds]:
        """The crowds of each set."""
        heaviest = [facts.heaviest for facts in self.columns]
        plan = anchored(sets, heaviest, fragment=self.fragment, most=self.most)
        jobs = [partial(self._beside, anchor, held) for anchor, held in plan.by_anchor.items()]
        jobs += [partial(self._alone, columns) for columns in plan.others]
        found: dict[ColumnSet, Crowds] = {}
        for part in all_at_once(self.coded.words.sparkSession, jobs):
            found |= part
        everybody = self.columns[0].people
        if any(crowds.everybody != everybody for crowds in found.values()):
            raise DataError(CHANGED)
        return [found[columns] for columns in sets]

    def _beside(self, anchor: int, sets: Sequence[ColumnSet]) -> dict[ColumnSet, Crowds]:
        """Sets that contain an anchor, by one shuffle of the words that they need."""
        words = self.coded.needed(sorted({place for columns in sets for place in columns}))
        table = self.coded.words.select(*(C.word(word) for word in words))
        tasks = -(-self.columns[anchor].people // self.fragment)
        count = _Fragment(tuple(sets), self.coded)
        placed = in_tasks(table.repartition(tasks, self.coded.code(anchor)), count, _COUNTED)
        summed = to_arrow(placed.groupBy(SET, SIZE).agg(F.sum("crowds"), F.sum("held")))
        parts: list[list[tuple[int, int, int]]] = [[] for _ in sets]
        for position, *counted in zip(*(column.to_pylist() for column in summed.columns), strict=True):
            parts[position].append((counted[0], counted[1], counted[2]))
        return {columns: Crowds.of(part) for columns, part in zip(sets, parts, strict=True)}

    def _alone(self, columns: ColumnSet) -> dict[ColumnSet, Crowds]:
        """A set of columns each of which has a value that is too frequent for one task."""
        codes = [self.coded.code(place).alias(C.code(place)) for place in columns]
        counted = self.coded.words.select(*codes).groupBy(*(C.code(place) for place in columns)).count()
        sizes = counted.groupBy(size_class(F.col("count")).alias(SIZE))
        summed = to_arrow(sizes.agg(F.count(F.lit(1)), F.sum("count")))
        rows = zip(*(column.to_pylist() for column in summed.columns), strict=True)
        return {columns: Crowds.of(rows)}


class _Fragment:
    """Counts sets among the rows of one task; runs on the executors."""

    def __init__(self, sets: tuple[ColumnSet, ...], coded: CodedColumns) -> None:
        self.places = sorted({place for columns in sets for place in columns})
        numbered = {place: position for position, place in enumerate(self.places)}
        self.sets = [tuple(numbered[place] for place in columns) for columns in sets]
        self.fields = coded.fields

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        rows = pa.Table.from_batches(parts)
        codes = [dense(rows, self.fields[place]) for place in self.places]
        del rows, parts
        found = fragment_crowds(codes, self.sets)
        position, size = np.nonzero(found[:, :, 0])
        arrays = [position.astype(np.int32), size.astype(np.int32), *found[position, size].T.copy()]
        yield pa.RecordBatch.from_arrays([pa.array(each) for each in arrays], [SET, SIZE, "crowds", "held"])
