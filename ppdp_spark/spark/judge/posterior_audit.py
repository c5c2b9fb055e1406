"""The robustness of any table of groups that shows its people's quasi-identifiers."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.robustness.posterior_audit import PosteriorAudit
from ppdp_spark.core.criteria.robustness.priors import PeoplePriors, matched
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.errors import DataError
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import one_partition_each, to_arrow
from ppdp_spark.spark.judge.counts import group_names
from ppdp_spark.spark.partition.fragments import FRAGMENT_ROWS
from ppdp_spark.spark.partition.place_people import NO_PRIOR, dense_priors
from ppdp_spark.spark.partition.priors import SET, SHARES, VALUES, PriorSet, beside_people

TASK = "task"


GROUP = ("first", "second", "third")


def signature_columns(position: int) -> tuple[str, ...]:
    """The numbers that name the signature of one attribute set."""
    return tuple(f"signature{position}_{part}" for part in GROUP)


def signed_rows(
    table: DataFrame, keys: Sequence[str], sets: Sequence[Sequence[str]], value: Column
) -> DataFrame:
    """One row per person: the names of its group and of its signatures, and its value.

    No column of the table goes along, so that none can meet one of ours by the same name.
    """
    wanted = list(zip(GROUP, signature_names(table, keys, as_printed=True), strict=True))
    for position, attributes in enumerate(sets):
        wanted += zip(signature_columns(position), signature_names(table, attributes), strict=True)
    return table.select(*(column.alias(name) for name, column in wanted), value.alias(C.VALUE))


def signature_names(
    table: DataFrame, columns: Sequence[str], *, as_printed: bool = False
) -> tuple[Column, ...]:
    """The numbers that name a signature, or a group, from its columns."""
    types = {name: table.schema[name].dataType for name in columns}
    return group_names({name: C.column(name) for name in columns}, types, as_printed=as_printed)


@dataclass(frozen=True)
class AuditGroups:
    """Audits the groups of one task; runs on the executors."""

    audit: PosteriorAudit
    width: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        rows = pa.Table.from_batches(parts).combine_chunks()
        kind = rows.column(SET).fill_null(-1).to_numpy()
        names = [rows.column(name).fill_null(0).to_numpy() for name in GROUP]
        persons = np.flatnonzero(kind < 0)
        if not len(persons):
            return
        persons = persons[np.lexsort([name[persons] for name in reversed(names)])]
        names = [name[persons] for name in names]
        other = np.logical_or.reduce([name[1:] != name[:-1] for name in names])
        starts = np.concatenate([[0], np.flatnonzero(other) + 1])
        values = rows.column(C.SENSITIVE).fill_null(0).to_numpy()[persons]
        found = self.audit.audit(
            self._priors(rows, kind, persons),
            values,
            self.width,
            np.append(starts, len(persons)),
            names[0][starts],
        )
        yield pa.RecordBatch.from_pydict({"found": pa.array([pickle.dumps(found)], pa.binary())})

    def _priors(self, rows: pa.Table, kind: IntArray, persons: IntArray) -> PeoplePriors:
        signatures, tables = [], []
        arrays = {name: rows.column(name).combine_chunks() for name in (VALUES, SHARES)}
        for position in range(len(self.audit.robustness.attribute_sets)):
            names = signature_columns(position)
            keys = np.stack([rows.column(name).fill_null(0).to_numpy() for name in names], axis=1)
            known = np.flatnonzero(kind == position)
            place = matched(keys[persons], keys[known])
            if (place < 0).any():
                raise DataError(NO_PRIOR)
            signatures.append(place.astype(np.int32))
            tables.append(dense_priors(arrays, known, self.width))
        return PeoplePriors(tuple(signatures), tuple(tables))


def audit_rows(
    rows: DataFrame, priors: Sequence[PriorSet], audit: PosteriorAudit, *, people: int, width: int
) -> list[VerdictRow]:
    """The verdict on the groups of signed rows, in one scan."""
    tasks = max(2, -(-people // FRAGMENT_ROWS))
    located = rows.withColumn(TASK, F.pmod(F.col("first"), F.lit(tasks)).cast("int"))
    together = beside_people(located, TASK, tasks, priors, ())
    placed = one_partition_each(together, tasks, F.col(TASK)).drop(TASK)
    found = to_arrow(in_tasks(placed, AuditGroups(audit, width), "found binary")).column(0).to_pylist()
    # Written by this program's own tasks a moment ago, over Spark's channel.
    return audit.decide(reduce(audit.merge, (pickle.loads(part) for part in found)))
