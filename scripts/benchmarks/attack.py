"""`attack`: maximum entropy with background knowledge, in memory, against flat L-BFGS or one pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.bench import Bench
from benchmarks.catalog import FLAT, ONE_PASS
from benchmarks.flat_dual import Flat, flat_dual
from ppdp_spark.core.maxent import (
    Buckets,
    Effort,
    Part,
    Solution,
    Statement,
    System,
    Vocabulary,
    bucket_part,
    buckets_from_rows,
    compiled,
    maximum_entropy,
    probability,
    term,
    with_people,
)

LEVELS = (12, 7, 6, 12, 6, 5, 2, 8)
"""Values of each quasi-identifier, as many as Adult has in bands."""

VALUES = 16
BUCKET_SIZE = 5
SEED = 7
FLAT_TOLERANCE = 1e-4
FLAT_SECONDS = 300.0


@dataclass(frozen=True, eq=False)
class Problem:
    """A release in buckets, and statements that are true of the people in it."""

    buckets: Buckets
    system: System


def measure(bench: Bench) -> None:
    statements, against = int(bench.parameters["statements"]), bench.parameters["against"]

    @cache
    def problem(rows: int) -> Problem:
        return made(rows, statements)

    def ours(rows: int, target: Path) -> Solution:
        effort = Effort(workers=int(bench.parameters["cores"]))
        return maximum_entropy(problem(rows).buckets, problem(rows).system, effort)

    def one_pass(rows: int, target: Path) -> Any:
        known = problem(rows)
        everything = np.ones(known.buckets.variables, dtype=bool)
        part = Part(known.buckets, sparse.csr_matrix(known.system.matrix.T), everything)
        return bucket_part(part, np.zeros(len(known.system)))

    def flat(rows: int, target: Path) -> Flat:
        known = problem(rows)
        return flat_dual(known.buckets, known.system, tolerance=FLAT_TOLERANCE, seconds=FLAT_SECONDS)

    with bench.phase("making the release"):
        problem(bench.rows)
    if not bench.cold:
        bench.warm_up(ours)
    if against == FLAT and not bench.cold:
        found = bench.run(FLAT, flat, bench.rows)
        bench.note(flat_converged=found.converged, flat_residual=found.residual)
    for _ in range(bench.repeats):
        if against == ONE_PASS and not bench.cold:
            bench.run(ONE_PASS, one_pass, bench.rows)
        solution = bench.run("attack", ours, bench.rows)
    buckets = problem(bench.rows).buckets
    bench.note(
        buckets=len(buckets),
        variables=buckets.variables,
        newton_steps=solution.iterations,
        passes=solution.passes,
        residual=solution.residual,
    )


def made(people: int, statements: int) -> Problem:
    """People of eight attributes and a sensitive one that leans on the fourth, in buckets of five."""
    rng = np.random.default_rng([SEED, people])
    people -= people % BUCKET_SIZE
    columns = np.stack([rng.zipf(1.6, people) % levels for levels in LEVELS], axis=1)
    sensitive = (rng.zipf(1.5, people) + columns[:, 3] * (rng.random(people) < 0.4)) % VALUES
    tuples, qi = np.unique(np.ravel_multi_index(columns.T, LEVELS), return_inverse=True)
    bucket = np.empty(people, dtype=np.int64)
    bucket[np.argsort(sensitive, kind="stable")] = np.arange(people) % (people // BUCKET_SIZE)
    values = np.unravel_index(tuples, LEVELS)
    attributes = {f"a{i}": np.asarray(column) for i, column in enumerate(values)}
    vocabulary = Vocabulary(attributes, list(range(VALUES)))
    named = with_people(buckets_from_rows(bucket, qi.ravel(), sensitive), [])
    known = true_statements(columns, sensitive, statements, rng)
    return Problem(named.buckets, compiled(known, named, vocabulary))


def true_statements(columns: Any, sensitive: Any, number: int, rng: np.random.Generator) -> list[Statement]:
    """Shares among people alike in one or two attributes, of as many different people as it takes."""
    found: dict[tuple[Any, ...], Statement] = {}
    while len(found) < number:
        person = int(rng.integers(len(columns)))
        chosen = sorted(rng.choice(len(LEVELS), int(rng.integers(1, 3)), replace=False).tolist())
        codes, value = columns[person, chosen], int(sensitive[person])
        alike = np.all(columns[:, chosen] == codes, axis=1)
        where = {f"a{a}": int(code) for a, code in zip(chosen, codes, strict=True)}
        share = float(np.mean(sensitive[alike] == value))
        said = (*chosen, *codes.tolist(), value)
        found[said] = probability(term(value, where), "=", share)
    return list(found.values())
