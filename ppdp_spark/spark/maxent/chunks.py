"""Maximum entropy over buckets that stay in Spark: chunks of them, and tasks run on all chunks.

A chunk is chosen by the names of its buckets, and sums are taken chunk after chunk: the result is the same
to the last bit however Spark places the chunks. Multipliers travel inside the task, never in the plan.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray, IntArray, closed_form
from ppdp_spark.core.maxent.solve.distributed_solver import Task
from ppdp_spark.core.maxent.solve.portions import Portion
from ppdp_spark.core.maxent.statements.codes import Question
from ppdp_spark.core.maxent.statements.rows import rows_of
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import one_partition_each, to_arrow
from ppdp_spark.spark.maxent.buckets import GROUP, Read, read_buckets
from ppdp_spark.spark.maxent.survey import bare, reads

CHUNK_VARIABLES = 200_000
MOST_CHUNKS = 64
LARGEST_CHUNK = 4_000_000
SCHUR_BYTES = 1 << 28
"""Bytes of all chunks' Schur matrices that may come to the driver in one pass."""

CHUNK = "chunk"
CHUNKS = f"{CHUNK} int, held binary"
MASSES = "t1 bigint, t2 bigint, person int, g1 bigint, g2 bigint, value int, mass double, prior double"
"""Expected records by tuple, named person (−1 for others), bucket and value; beside it the closed form."""


@dataclass(frozen=True, eq=False)
class Held:
    """A portion and the names of its buckets and tuples."""

    portion: Portion
    group: tuple[IntArray, IntArray]
    tuples: tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False)
class Prepare:
    """Makes the portions of one task's chunks from bucket rows.

    where
        populations  people each term speaks of in the whole release
        facts        rows about people known by name, who are elsewhere
    """

    question: Question
    populations: FloatArray
    facts: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk, some in rows_by_chunk(batches):
            yield chunk_row(chunk, self.held(read_buckets(some, self.question)))

    def held(self, read: Read) -> Held:
        statements = self.question.statements
        system = rows_of(
            statements, bare(read, self.question), read.vocabulary, self.populations, facts=self.facts
        )
        return Held(Portion.of(read.buckets, system), read.group, read.tuples)


def rows_by_chunk(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """The bucket rows of a task, chunk by chunk."""
    parts = [batch for batch in batches if batch.num_rows]
    if not parts:
        return
    rows = pa.Table.from_batches(parts)
    chunks = rows.column(CHUNK).to_numpy()
    for chunk in np.unique(chunks):
        yield int(chunk), rows.filter(pa.array(chunks == chunk)).drop_columns([CHUNK])


def chunk_row(chunk: int, content: Any, name: str = "held") -> pa.RecordBatch:
    """What a task holds of a chunk, as a row."""
    values = pa.array([pickle.dumps(content)], pa.binary())
    return pa.RecordBatch.from_pydict({CHUNK: pa.array([chunk], pa.int32()), name: values})


@dataclass(frozen=True, eq=False)
class OnChunks:
    """Runs a task on the portions of one Spark task and returns what it makes of each.

    where
        change  the task returns a portion, which takes the place of the old one
    """

    task: Task
    change: bool = False

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for chunk, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
                # Written by this program's own tasks, over Spark's channel.
                held: Held = pickle.loads(content.as_py())
                found = self.task(held.portion)
                yield chunk_row(chunk, replace(held, portion=found) if self.change else found)


class Chunks:
    """The chunks of a release, and the portions that the driver holds itself."""

    def __init__(self, chunks: DataFrame, own: Sequence[Held] = ()) -> None:
        self.chunks, self.own = chunks.persist(), tuple(own)
        self.made: list[Chunks] = []

    @classmethod
    def of(cls, rows: DataFrame, prepare: Prepare, variables: int, own: Sequence[Held] = ()) -> Chunks:
        """Bucket rows, of so many variables, as chunks."""
        placed = in_chunks(rows, chunks_for(variables, len(prepare.question.statements)))
        return cls(in_tasks(placed, prepare, CHUNKS), own)

    def run(self, task: Task) -> list[Any]:
        """What the task returns, chunk by chunk, then for the driver's own portions."""
        found = to_arrow(in_tasks(self.chunks, OnChunks(task), CHUNKS)).sort_by(CHUNK)
        parts = [pickle.loads(content) for content in found.column(1).to_pylist()]
        return parts + [task(held.portion) for held in self.own]

    def changed(self, task: Task) -> Chunks:
        own = [replace(held, portion=task(held.portion)) for held in self.own]
        self.made.append(Chunks(in_tasks(self.chunks, OnChunks(task, change=True), CHUNKS), own))
        return self.made[-1]

    def masses(self, mu: FloatArray) -> DataFrame:
        """The masses of the chunks, as rows."""
        return in_tasks(self.chunks, Masses(mu), MASSES)

    def own_masses(self, mu: FloatArray) -> list[pa.RecordBatch]:
        return [mass_rows(held, held.portion.masses(mu)) for held in self.own]

    def release(self) -> None:
        """Give back the memory of these chunks and of all that were made of them."""
        self.chunks.unpersist()
        for made in self.made:
            made.release()


def in_chunks(rows: DataFrame, number: int) -> DataFrame:
    """Bucket rows by the chunk that the names of their buckets choose."""
    place = F.pmod(F.xxhash64(*GROUP), F.lit(number)).cast("int").alias(CHUNK)
    return one_partition_each(rows.select("*", place), number, F.col(CHUNK))


def chunks_for(variables: int, statements: int) -> int:
    """Number of chunks: a function of the release and the knowledge, not of the cluster."""
    most = max(8, min(MOST_CHUNKS, SCHUR_BYTES // max(8 * statements**2, 1)))
    return max(1, min(most, variables // CHUNK_VARIABLES), -(-variables // LARGEST_CHUNK))


@dataclass(frozen=True, eq=False)
class Masses:
    """The masses of the portions of one task."""

    mu: FloatArray

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for content in batch.column(1):
                held: Held = pickle.loads(content.as_py())
                yield mass_rows(held, held.portion.masses(self.mu))


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The masses of buckets that no statement touches [MaxEnt, Thm 5]."""

    question: Question

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for read in reads(batches, self.question):
            yield bucket_mass_rows(read.buckets, read.group, read.tuples, closed_form(read.buckets))


def mass_rows(held: Held, masses: FloatArray) -> pa.RecordBatch:
    """The masses of a portion as rows."""
    return bucket_mass_rows(held.portion.buckets, held.group, held.tuples, masses)


def bucket_mass_rows(
    buckets: Buckets, group: tuple[IntArray, IntArray], tuples: tuple[IntArray, IntArray], x: FloatArray
) -> pa.RecordBatch:
    """One row a variable."""
    variables, values = buckets.variables_of(np.arange(len(buckets.cell_qi)))
    cell = np.repeat(np.arange(len(buckets.cell_qi)), buckets.widths[buckets.cell_bucket])
    bucket, qi = buckets.cell_bucket[cell], buckets.cell_qi[cell]
    return pa.RecordBatch.from_pydict(
        {
            "t1": tuples[0][qi],
            "t2": tuples[1][qi],
            "person": buckets.cell_person[cell],
            "g1": group[0][bucket],
            "g2": group[1][bucket],
            "value": buckets.value_code[values],
            "mass": x[variables],
            "prior": closed_form(buckets)[variables],
        }
    )
