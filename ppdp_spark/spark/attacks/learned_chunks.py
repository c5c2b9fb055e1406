"""Groups to learn from, as chunks that stay in Spark: models go to tasks, sums over chunks come back.

Chunks are those of maximum entropy, chosen by the names of their groups, and are added up in their order:
what is learned is the same to the last bit however Spark places them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from ppdp_spark.core.attacks.attribute_codes import AttributeCodes, NumberClasses
from ppdp_spark.core.attacks.naive_bayes import CodedGroups, Evidence, NaiveBayes
from ppdp_spark.core.maxent.buckets import IntArray
from ppdp_spark.core.maxent.statements.codes import Question
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.maxent.buckets import Read, read_buckets
from ppdp_spark.spark.maxent.chunks import (
    CHUNK,
    CHUNKS,
    MASSES,
    bucket_mass_rows,
    chunk_row,
    chunks_for,
    in_chunks,
    rows_by_chunk,
)


@dataclass(frozen=True, eq=False)
class NamedGroups:
    """Groups of a chunk, and the two numbers of each group and of each tuple."""

    groups: CodedGroups
    group: tuple[IntArray, IntArray]
    tuples: tuple[IntArray, IntArray]

    def mass_rows(self, model: NaiveBayes) -> pa.RecordBatch:
        """Expected records under the model as rows."""
        return bucket_mass_rows(self.groups.buckets, self.group, self.tuples, self.groups.masses(model))


@dataclass(frozen=True, eq=False)
class CodeGroups:
    """Makes the groups of one task's chunks from bucket rows; `question` mentions names of `attributes`."""

    question: Question
    attributes: tuple[AttributeCodes, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk, rows in rows_by_chunk(batches):
            yield chunk_row(chunk, self.coded(read_buckets(rows, self.question)))

    def coded(self, read: Read) -> NamedGroups:
        seen = read.vocabulary.attributes
        columns = [
            codes.codes(seen[f"{j}~"] if isinstance(codes, NumberClasses) else seen[f"{j}"])
            for j, codes in enumerate(self.attributes)
        ]
        return NamedGroups(CodedGroups(read.buckets, np.stack(columns, axis=1)), read.group, read.tuples)


@dataclass(frozen=True, eq=False)
class OnGroups:
    """Runs a task on the groups of every chunk of one Spark task."""

    task: Callable[[NamedGroups], Any]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk, groups in _held(batches):
            yield chunk_row(chunk, self.task(groups))


@dataclass(frozen=True, eq=False)
class Count:
    """The E-step of a chunk."""

    model: NaiveBayes

    def __call__(self, groups: NamedGroups) -> Evidence:
        return groups.groups.evidence(self.model)


@dataclass(frozen=True, eq=False)
class LearnedMasses:
    """Expected records of everybody in the chunks of one task."""

    model: NaiveBayes

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _, groups in _held(batches):
            yield groups.mass_rows(self.model)


def _held(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, NamedGroups]]:
    for batch in batches:
        for chunk, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            # Written by this program's own tasks, over Spark's channel.
            yield chunk, pickle.loads(content.as_py())


class LearnedChunks:
    """The chunks of a release, kept in memory while an adversary learns from them."""

    def __init__(self, rows: DataFrame, code: CodeGroups, variables: int) -> None:
        placed = in_chunks(rows, chunks_for(variables, 0))
        self.chunks = in_tasks(placed, code, CHUNKS).persist()

    def evidence(self, model: NaiveBayes) -> Evidence:
        """The E-step over all groups: one pass over the chunks."""
        found = to_arrow(in_tasks(self.chunks, OnGroups(Count(model)), CHUNKS)).sort_by(CHUNK)
        # Written by this program's own tasks a moment ago, over Spark's channel.
        parts: list[Evidence] = [pickle.loads(content) for content in found.column(1).to_pylist()]
        return reduce(add, parts)

    def masses(self, model: NaiveBayes) -> DataFrame:
        """Expected records of everybody, with the columns of `MASSES`."""
        return in_tasks(self.chunks, LearnedMasses(model), MASSES)

    def release(self) -> None:
        """Give back the memory."""
        self.chunks.unpersist()
