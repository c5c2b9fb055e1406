"""Statements turned into rows over the variables of some buckets [MaxEnt, Section 4.1].

P(s | Q_v) = p becomes Σ x(q, s, b) = p · N(Q_v) over the tuples q of Q_v, where N(Q_v) is counted in the
release. Two steps, so that buckets may lie in many places: populations add up over parts, and rows are then
made part by part with the populations of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray, IntArray, spans
from ppdp_spark.core.maxent.statements.kinds import RELATIONS, Between, Condition, Statement, Term
from ppdp_spark.core.maxent.statements.people import Named
from ppdp_spark.core.maxent.statements.system import FACT, System, system
from ppdp_spark.errors import DataError, SpecError


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What statements may speak of.

    where
        attributes  each quasi-identifier's value by tuple id
        values      the sensitive values by code
    """

    attributes: Mapping[str, NDArray[Any]]
    values: Sequence[Any]


def compiled(statements: Sequence[Statement], named: Named, vocabulary: Vocabulary) -> System:
    """All statements on one machine, with the facts about people in several places."""
    check_statements(statements, vocabulary, named.names)
    counts = populations(statements, named, vocabulary)
    check_populations(statements, counts)
    return rows_of(statements, named, vocabulary, counts)


def populations(
    statements: Sequence[Statement],
    named: Named,
    vocabulary: Vocabulary,
    people: FloatArray | None = None,
) -> FloatArray:
    """People each term speaks of, in these buckets; over disjoint buckets they add up.

    `people` are those of each cell, if they are known better than by sharing places evenly.
    """
    chosen = (cells_of(t, named, vocabulary) for s in statements for _, t in s.terms)
    people = people_of_cells(named.buckets) if people is None else people
    return np.array([people[cells].sum() for cells in chosen])


def rows_of(
    statements: Sequence[Statement],
    named: Named,
    vocabulary: Vocabulary,
    counts: FloatArray,
    *,
    facts: int | None = None,
) -> System:
    """The rows of these buckets, given the populations of the whole release.

    `facts` are those of the whole release, if its roaming people are elsewhere: empty rows here.
    """
    matrices, relations, bounds, owner, at = [], [], [], [], 0
    largest: list[float] = []
    for number, statement in enumerate(statements):
        entries = counts[at : at + len(statement.terms)]
        at += len(statement.terms)
        row = _row(statement, named, vocabulary, entries)
        for relation, bound in _sides(statement):
            matrices.append(row)
            relations.append(relation)
            bounds.append(bound)
            owner.append(number)
            largest.append(_largest(statement, entries))
    empty_fact = sparse.csr_matrix((1, named.buckets.variables))
    for fact in _facts(named) if facts is None else [empty_fact] * facts:
        matrices.append(fact)
        relations.append("=")
        bounds.append(1.0)
        owner.append(FACT)
        largest.append(1.0)
    empty = sparse.csr_matrix((0, named.buckets.variables))
    return system(
        sparse.vstack(matrices, format="csr") if matrices else empty,
        relations,
        bounds,
        owner=owner,
        names=[str(s) for s in statements],
        largest=np.array(largest),
    )


def _largest(statement: Statement, counts: FloatArray) -> float:
    """The largest coefficient of a statement, wherever its variables are."""
    weights = [
        abs(c) if statement.counted else abs(c) / n for (c, _), n in zip(statement.terms, counts, strict=True)
    ]
    return max(weights)


def people_of_cells(buckets: Buckets) -> FloatArray:
    """Expected people in each cell before anything is known."""
    row = buckets.row_start[buckets.cell_bucket] + buckets.cell_row
    weights = np.bincount(row, weights=buckets.cell_weight, minlength=len(buckets.row_count))
    return np.asarray(buckets.row_count[row] * buckets.cell_weight / weights[row])


def check_statements(statements: Sequence[Statement], vocabulary: Vocabulary, names: Sequence[str]) -> None:
    """`SpecError` with every wrong field of every statement."""
    problems = [f"{s}: {p}" for s in statements for p in _problems(s, vocabulary, set(names))]
    if problems:
        raise SpecError(problems)


def check_populations(statements: Sequence[Statement], counts: FloatArray) -> None:
    """`DataError` with every term that nobody matches."""
    terms = [(s, t) for s in statements for _, t in s.terms]
    problems = [
        f"{s}: nobody in the release matches {t}" for (s, t), n in zip(terms, counts, strict=True) if n <= 0
    ]
    if problems:
        raise DataError(problems)


def _problems(statement: Statement, vocabulary: Vocabulary, names: set[str]) -> Iterator[str]:
    if not statement.terms:
        yield "`terms` is empty"
    if statement.relation not in RELATIONS:
        yield f"`relation` must be one of {', '.join(RELATIONS)}"
    numbers = (statement.bound, statement.within, *(c for c, _ in statement.terms))
    if not all(isfinite(n) for n in numbers):
        yield "`bound`, `within` and coefficients must be finite numbers"
    if statement.within < 0 or (statement.within and statement.relation != "="):
        yield "`within` needs the relation = and a number of at least 0"
    simple = len(statement.terms) == 1 and statement.terms[0][0] == 1 and not statement.counted
    if simple and (statement.bound < 0 or statement.bound > 1):
        yield f"`bound` ({statement.bound:g}) must be a probability"
    for _, t in statement.terms:
        yield from _term_problems(t, vocabulary, names)


def _term_problems(t: Term, vocabulary: Vocabulary, names: set[str]) -> Iterator[str]:
    if not t.values:
        yield "`values` is empty"
    unknown = [v for v in t.values if v not in vocabulary.values]
    if unknown:
        yield f"no sensitive value {_listed(unknown)} in the release"
    if t.people and t.conditions:
        yield "`people` and `where` cannot be combined in one term"
    if len(set(t.people)) < len(t.people):
        yield "`people` names someone twice"
    strangers = [p for p in t.people if p not in names]
    if strangers:
        yield f"nobody is named {_listed(strangers)}"
    for attribute, condition in t.conditions:
        if attribute not in vocabulary.attributes:
            yield f"no quasi-identifier {_listed([attribute])}; there are {_listed(vocabulary.attributes)}"
            continue
        column = vocabulary.attributes[attribute]
        if isinstance(condition, Between):
            if column.dtype.kind not in "iuf":
                yield f"`{attribute}` is not numeric: a range needs numbers"
            continue
        absent = [v for v in condition if not _equal(column, v).any()]
        if absent or not condition:
            yield f"no value {_listed(absent)} of `{attribute}` in the release"


def _listed(values: Any) -> str:
    return ", ".join(f"`{v}`" for v in sorted(map(str, values)))


def _equal(column: NDArray[Any], value: Any) -> NDArray[np.bool_]:
    if value is None and column.dtype.kind == "f":
        missing: NDArray[np.bool_] = np.isnan(column)
        return missing
    return np.broadcast_to(np.asarray(column == value, dtype=bool), column.shape)


def _matches(conditions: Sequence[tuple[str, Condition]], vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Which tuples meet all of these conditions."""
    size = len(next(iter(vocabulary.attributes.values()))) if vocabulary.attributes else 0
    chosen = np.ones(size, dtype=bool)
    for attribute, condition in conditions:
        column = vocabulary.attributes[attribute]
        if isinstance(condition, Between):
            chosen &= column >= (-np.inf if condition.low is None else condition.low)
            chosen &= column <= (np.inf if condition.high is None else condition.high)
        else:
            chosen &= np.any([_equal(column, value) for value in condition], axis=0)
    return chosen


def cells_of(t: Term, named: Named, vocabulary: Vocabulary) -> IntArray:
    """The cells a term speaks of."""
    if t.people:
        wanted = [named.names.index(p) for p in t.people]
        return np.flatnonzero(np.isin(named.buckets.cell_person, wanted))
    if not t.conditions:
        return np.arange(len(named.buckets.cell_qi))
    chosen = _matches(t.where, vocabulary)
    if t.unless:
        chosen &= ~_matches(t.unless, vocabulary)
    return np.flatnonzero(chosen[named.buckets.cell_qi])


def _row(statement: Statement, named: Named, vocabulary: Vocabulary, counts: FloatArray) -> sparse.csr_matrix:
    """Σ coefficient · x(term) / N(term), or without the division where people are counted."""
    size = named.buckets.variables
    total = sparse.csr_matrix((1, size))
    for (coefficient, t), people in zip(statement.terms, counts, strict=True):
        codes = np.array([v in t.values for v in vocabulary.values], dtype=bool)
        variables = _variables(named.buckets, cells_of(t, named, vocabulary), codes)
        weight = coefficient if statement.counted else coefficient / people
        entries = (np.full(len(variables), weight), variables, [0, len(variables)])
        part = sparse.csr_matrix(entries, shape=(1, size))
        total = part if len(statement.terms) == 1 else total + part
    return total


def _variables(buckets: Buckets, cells: IntArray, wanted: NDArray[np.bool_]) -> IntArray:
    """Variables of some cells with a wanted value, found without listing the unwanted ones."""
    position = np.flatnonzero(wanted[buckets.value_code])
    value_bucket = np.searchsorted(buckets.value_start, position, side="right") - 1
    number = np.bincount(value_bucket, minlength=len(buckets))
    first = np.cumsum(number) - number
    bucket = np.searchsorted(buckets.cell_start, cells, side="right") - 1
    cells, bucket = cells[number[bucket] > 0], bucket[number[bucket] > 0]
    block = buckets.variable_start[bucket] + (cells - buckets.cell_start[bucket]) * buckets.widths[bucket]
    offset = position[spans(first[bucket], number[bucket])] - np.repeat(
        buckets.value_start[bucket], number[bucket]
    )
    return np.asarray(np.repeat(block, number[bucket]) + offset)


def _sides(statement: Statement) -> list[tuple[str, float]]:
    if statement.within == 0:
        return [(statement.relation, statement.bound)]
    return [(">=", statement.bound - statement.within), ("<=", statement.bound + statement.within)]


def _facts(named: Named) -> Iterator[sparse.csr_matrix]:
    """Each person in several places is one person."""
    size = named.buckets.variables
    for person in named.roaming:
        variables, _ = named.buckets.variables_of(np.flatnonzero(named.buckets.cell_person == person))
        entries = (np.ones(len(variables)), variables, [0, len(variables)])
        yield sparse.csr_matrix(entries, shape=(1, size))
