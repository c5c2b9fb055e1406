"""What statements find in a release: populations, values, people, and the buckets they touch."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from ppdp_spark.core.maxent.solve.components import touched_buckets
from ppdp_spark.core.maxent.statements.codes import Question
from ppdp_spark.core.maxent.statements.people import Named
from ppdp_spark.core.maxent.statements.rows import cells_of, populations, rows_of
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.maxent.buckets import Read, read_buckets

BUCKETS_AT_ONCE = 20_000
"""Buckets of a batch that a task looks at together: what it holds in memory stays small."""

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Survey:
    """Sums over buckets.

    where
        buckets, people, variables  of the release
        mentioned                   people with each mentioned value, attribute by attribute
        populations                 people each term of a statement speaks of
        fits                        for each named person, tuples that fit: two at most
    """

    buckets: int
    people: float
    variables: int
    mentioned: tuple[NDArray[np.float64], ...]
    populations: NDArray[np.float64]
    fits: tuple[frozenset[Pair], ...]

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            self.buckets + other.buckets,
            self.people + other.people,
            self.variables + other.variables,
            tuple(a + b for a, b in zip(self.mentioned, other.mentioned, strict=True)),
            self.populations + other.populations,
            tuple(_two(a | b) for a, b in zip(self.fits, other.fits, strict=True)),
        )


def _two(pairs: Iterable[Pair]) -> frozenset[Pair]:
    return frozenset(sorted(pairs)[:2])


@dataclass(frozen=True, eq=False)
class Look:
    """Surveys the buckets of one task."""

    question: Question

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [self.survey(read) for read in reads(batches, self.question)]
        if found:
            content = pickle.dumps(reduce(add, found))
            yield pa.RecordBatch.from_pydict({"survey": pa.array([content], pa.binary())})

    def survey(self, read: Read) -> Survey:
        named, people = bare(read, self.question), read.expected
        codes = (read.vocabulary.attributes[f"{j}"] for j in range(len(self.question.attributes)))
        mentioned = tuple(
            np.bincount(code[code >= 0], weights=people[code >= 0], minlength=len(values)).astype(np.float64)
            for code, values in zip(codes, self.question.mentioned, strict=True)
        )
        return Survey(
            len(read.buckets),
            float(people.sum()),
            read.buckets.variables,
            mentioned,
            populations(self.question.statements, named, read.vocabulary, people),
            tuple(_two(self._fitting(read, named, j)) for j in range(len(self.question.subjects))),
        )

    def _fitting(self, read: Read, named: Named, subject: int) -> set[Pair]:
        cells = cells_of(self.question.subjects[subject], named, read.vocabulary)
        pairs = np.unique(np.stack([read.tuples[0][cells], read.tuples[1][cells]], axis=1), axis=0)[:2]
        return {(int(a), int(b)) for a, b in pairs}


def survey_buckets(rows: DataFrame, question: Question) -> Survey | None:
    """The survey of a release, in one pass; None if it has no buckets."""
    found = to_arrow(in_tasks(rows, Look(question), "survey binary")).column(0).to_pylist()
    # Written by this program's own tasks a moment ago, over Spark's channel.
    parts = [pickle.loads(part) for part in found]
    return reduce(add, parts) if parts else None


def reads(batches: Iterable[pa.RecordBatch], question: Question) -> Iterator[Read]:
    """The buckets of a task, some at a time."""
    for batch in batches:
        for first in range(0, batch.num_rows, BUCKETS_AT_ONCE):
            yield read_buckets(batch.slice(first, BUCKETS_AT_ONCE), question)


def bare(read: Read, question: Question) -> Named:
    """The buckets with nobody named in them: statements on people touch none of these cells."""
    names = tuple({p: None for s in question.statements for _, t in s.terms for p in t.people})
    return Named(read.buckets, names, np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Choose:
    """The bucket rows of one task whose part is wanted; a bucket has exactly one part.

    where
        named   tuples of people known by name
        parts   `named`: somebody known by name may be in it; `touched`: a statement speaks of it;
                `free`: neither
    """

    question: Question
    named: frozenset[Pair]
    parts: frozenset[str]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for first in range(0, batch.num_rows, BUCKETS_AT_ONCE):
                part = batch.slice(first, BUCKETS_AT_ONCE)
                chosen = self.wanted(read_buckets(part, self.question))
                if chosen.any():
                    yield part.filter(pa.array(chosen))

    def wanted(self, read: Read) -> NDArray[np.bool_]:
        named, touched = self._named(read), self._touched(read)
        kinds = {"named": named, "touched": touched & ~named, "free": ~touched & ~named}
        chosen: NDArray[np.bool_] = np.logical_or.reduce([kinds[part] for part in self.parts])
        return chosen

    def _named(self, read: Read) -> NDArray[np.bool_]:
        found = np.zeros(len(read.buckets.cell_qi), dtype=bool)
        for first, second in self.named:
            found |= (read.tuples[0] == first) & (read.tuples[1] == second)
        marked = np.zeros(len(read.buckets), dtype=bool)
        marked[read.buckets.cell_bucket[found]] = True
        return marked

    def _touched(self, read: Read) -> NDArray[np.bool_]:
        terms = sum(len(s.terms) for s in self.question.statements)
        rows = rows_of(
            self.question.statements, bare(read, self.question), read.vocabulary, np.ones(terms), facts=0
        )
        marked = np.zeros(len(read.buckets), dtype=bool)
        marked[touched_buckets(read.buckets, rows.matrix)] = True
        return marked

    def only(self, *parts: str) -> Choose:
        return replace(self, parts=frozenset(parts))

    def of(self, rows: DataFrame) -> DataFrame:
        return in_tasks(rows, self, rows.schema)


@dataclass(frozen=True, eq=False)
class Size:
    """Buckets and variables of a task that are wanted."""

    choose: Choose

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        buckets = variables = 0
        for read in reads(batches, self.choose.question):
            wanted = self.choose.wanted(read)
            buckets += int(wanted.sum())
            variables += int(np.diff(read.buckets.variable_start)[wanted].sum())
        yield pa.RecordBatch.from_pydict({"buckets": [buckets], "variables": [variables]})


def sizes_of(rows: DataFrame, choose: Choose) -> tuple[int, int]:
    """Buckets and variables that are wanted."""
    found = to_arrow(in_tasks(rows, Size(choose), "buckets bigint, variables bigint"))
    buckets, variables = (sum(found.column(i).to_pylist()) for i in range(2))
    return buckets, variables
