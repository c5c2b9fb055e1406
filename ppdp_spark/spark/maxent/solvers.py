"""Attacks on the same buckets: closed form, solved on the driver, or solved where the buckets are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from ppdp_spark.core.maxent.buckets import FloatArray
from ppdp_spark.core.maxent.solve.distributed_solver import header_of, spread_maximum_entropy
from ppdp_spark.core.maxent.solve.portions import Portion
from ppdp_spark.core.maxent.solve.solver import maximum_entropy
from ppdp_spark.core.maxent.statements.codes import Question
from ppdp_spark.core.maxent.statements.people import Named, Person, with_people
from ppdp_spark.core.maxent.statements.rows import rows_of
from ppdp_spark.errors import DataError
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import from_arrow, to_arrow
from ppdp_spark.spark.maxent.buckets import Read, read_buckets, with_tuple_ids
from ppdp_spark.spark.maxent.chunks import MASSES, Chunks, ClosedForm, Held, Prepare, mass_rows
from ppdp_spark.spark.maxent.survey import Choose, Pair, sizes_of

LOCAL_VARIABLES = 500_000
"""Variables of touched buckets up to which the driver solves them itself: about 100 MB."""


@dataclass(frozen=True)
class Known:
    """Somebody the adversary knows by name: their tuple and, if it is known, their group."""

    name: str
    tuple: Pair
    group: Pair | None = None


@dataclass(frozen=True, eq=False)
class Solved:
    """The outcome of an attack.

    where
        masses   expected records of everyone, with the columns of `MASSES`
        kept     statements that the release does not decide by itself
        touched  buckets that are not in closed form
        facts    the solver's own: form, iterations, residual, gap, converged, seconds
    """

    masses: DataFrame
    kept: int
    touched: int
    facts: dict[str, Any]
    chunks: Chunks | None = field(default=None, repr=False)

    def release(self) -> None:
        if self.chunks is not None:
            self.chunks.release()


@dataclass(frozen=True, eq=False)
class Attacking:
    """A release under attack.

    where
        rows         bucket rows, kept in memory
        question     all statements
        populations  people each term of them speaks of
        people       those known by name
        local        variables up to which the driver solves
    """

    rows: DataFrame
    question: Question
    populations: FloatArray
    people: tuple[Known, ...] = ()
    local: int = LOCAL_VARIABLES

    def solve(self, statements: Sequence[int]) -> Solved:
        """The conclusions from some of the statements; `DataError` if they contradict each other."""
        began = time.perf_counter()
        some = _Some(self, self.question.chosen(statements), self._counts(statements))
        choose = Choose(some.question, frozenset(k.tuple for k in self.people), frozenset())
        if not statements and not self.people:
            free = in_tasks(self.rows, ClosedForm(some.question), MASSES)
            return Solved(free, 0, 0, _facts("closed", began))
        touched, variables = sizes_of(self.rows, choose.only("named", "touched"))
        solve = some.here if variables <= self.local else some.spread
        return solve(choose, touched, variables, began)

    def _counts(self, statements: Sequence[int]) -> FloatArray:
        """Populations of the terms of some statements; people known by name are counted by name."""
        found, at = [], 0
        wanted = set(statements)
        for number, statement in enumerate(self.question.statements):
            for _, term in statement.terms:
                if number in wanted:
                    found.append(float(len(term.people)) if term.people else self.populations[at])
                at += 1
        return np.array(found)


@dataclass(frozen=True, eq=False)
class _Some:
    """An attack with some of the statements."""

    attacking: Attacking
    question: Question
    counts: FloatArray

    def here(self, choose: Choose, touched: int, variables: int, began: float) -> Solved:
        """Touched buckets solved on the driver."""
        read, named = self._brought(choose.only("named", "touched"))
        system = rows_of(self.question.statements, named, read.vocabulary, self.counts)
        solution = maximum_entropy(named.buckets, system)
        facts = _facts(
            "local",
            began,
            iterations=solution.iterations,
            residual=solution.residual,
            gap=solution.duality_gap,
        )
        held = Held(Portion.of(named.buckets, system), read.group, read.tuples)
        own = [mass_rows(held, solution.x)]
        return Solved(self._masses(choose, own), solution.kept, touched, facts)

    def spread(self, choose: Choose, touched: int, variables: int, began: float) -> Solved:
        """Touched buckets solved where they are; those of people known by name on the driver."""
        read, named = self._brought(choose.only("named"))
        system = rows_of(self.question.statements, named, read.vocabulary, self.counts)
        own = [Held(Portion.of(named.buckets, system), read.group, read.tuples)] if len(named.buckets) else []
        prepare = Prepare(self.question, self.counts, len(named.roaming))
        rows = choose.only("touched").of(self.attacking.rows)
        chunks = Chunks.of(rows, prepare, variables, own)
        found = spread_maximum_entropy(chunks, header_of(system))
        facts = _facts(
            "distributed",
            began,
            iterations=found.iterations,
            residual=found.residual,
            gap=found.duality_gap,
        )
        solved = found.portions
        assert isinstance(solved, Chunks)
        masses = self._masses(choose, solved.own_masses(found.mu)).unionByName(solved.masses(found.mu))
        return Solved(masses, found.kept, touched, facts, chunks)

    def _brought(self, choose: Choose) -> tuple[Read, Named]:
        """Some buckets on the driver, with the people known by name split off."""
        people = self.attacking.people
        if choose.parts == {"named"} and not people:
            table = to_arrow(self.attacking.rows.limit(0))
        else:
            table = to_arrow(choose.of(self.attacking.rows))
        read = with_tuple_ids(read_buckets(table, self.question))
        tuples = {(int(a), int(b)): i for i, (a, b) in enumerate(zip(*read.tuples, strict=True))}
        groups = {(int(a), int(b)): i for i, (a, b) in enumerate(zip(*read.group, strict=True))}
        strangers = [k.name for k in people if k.group is not None and k.group not in groups]
        if strangers:
            raise DataError(
                [f"`{name}`: nobody in that group has these quasi-identifiers" for name in strangers]
            )
        persons = [
            Person(k.name, tuples[k.tuple], None if k.group is None else groups[k.group]) for k in people
        ]
        return read, with_people(read.buckets, persons)

    def _masses(self, choose: Choose, own: list[pa.RecordBatch]) -> DataFrame:
        """Masses of untouched buckets in closed form, and those that the driver has."""
        free = choose.only("free").of(self.attacking.rows)
        masses = in_tasks(free, ClosedForm(self.question), MASSES)
        if not own:
            return masses
        table = pa.Table.from_batches(own)
        return masses.unionByName(from_arrow(self.attacking.rows.sparkSession, table))


def _facts(
    form: str, began: float, *, iterations: int = 0, residual: float = 0.0, gap: float = 0.0
) -> dict[str, Any]:
    return {
        "form": form,
        "iterations": iterations,
        "residual": residual,
        "gap": gap,
        "converged": True,
        "seconds": round(time.perf_counter() - began, 3),
    }
