"""Statements in codes: only values that statements mention are told apart, so that tasks compare integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ppdp_spark.core.maxent.buckets import IntArray
from ppdp_spark.core.maxent.statements.kinds import Between, Condition, Statement, Term, Value
from ppdp_spark.core.maxent.statements.rows import Vocabulary

NUMBER, TEXT = "number", "text"


@dataclass(frozen=True, eq=False)
class Question:
    """What the adversary knows, as tasks need it.

    where
        attributes  quasi-identifiers that are mentioned
        kinds       whether each holds numbers or texts
        mentioned   the values of each that are mentioned
        statements  the statements, with attributes by position and values by code
        subjects    whom each named person's quasi-identifiers fit, as terms in codes
        values      sensitive values by code
    """

    attributes: tuple[str, ...]
    kinds: tuple[str, ...]
    mentioned: tuple[tuple[Value, ...], ...]
    statements: tuple[Statement, ...]
    subjects: tuple[Term, ...]
    values: tuple[Any, ...]

    def vocabulary(self, columns: Sequence[pa.Array]) -> Vocabulary:
        """The mentioned attributes of some tuples in codes; −1 for values nobody mentions."""
        found: dict[str, NDArray[Any]] = {}
        for j, column in enumerate(columns):
            found[_coded(j)] = self.codes(j, column)
            if self.kinds[j] == NUMBER:
                numbers = column.cast(pa.float64()).fill_null(float("nan"))
                found[_ranged(j)] = numbers.to_numpy(zero_copy_only=False)
        return Vocabulary(found, self.values)

    def codes(self, position: int, column: pa.Array) -> IntArray:
        kind = pa.float64() if self.kinds[position] == NUMBER else pa.string()
        known = pa.array(self.mentioned[position], kind)
        places = pc.index_in(column.cast(kind), value_set=known).fill_null(-1)
        return np.asarray(places.to_numpy(zero_copy_only=False)).astype(np.int64)

    def chosen(self, index: Sequence[int]) -> Question:
        """The same with some of the statements."""
        return replace(self, statements=tuple(self.statements[i] for i in index))


def question_of(
    statements: Sequence[Statement],
    subjects: Sequence[Term],
    kinds: Mapping[str, str],
    values: Sequence[Any],
) -> Question:
    """Statements and people on these attributes, brought into codes; all attributes must be known."""
    terms = [t for s in statements for _, t in s.terms] + list(subjects)
    names = tuple(name for name in kinds if any(name == a for t in terms for a, _ in t.conditions))
    mentioned: dict[str, dict[Value, int]] = {name: {} for name in names}
    for t in terms:
        for name, condition in t.conditions:
            if not isinstance(condition, Between):
                for value in sorted(condition, key=lambda v: (v is not None, str(v))):
                    mentioned[name].setdefault(value, len(mentioned[name]))

    def recoded(t: Term) -> Term:
        where, unless = (
            tuple(_condition(names.index(a), c, mentioned[a]) for a, c in conditions)
            for conditions in (t.where, t.unless)
        )
        return replace(t, where=where, unless=unless)

    return Question(
        attributes=names,
        kinds=tuple(kinds[name] for name in names),
        mentioned=tuple(tuple(mentioned[name]) for name in names),
        statements=tuple(
            replace(s, terms=tuple((c, recoded(t)) for c, t in s.terms), name=str(s)) for s in statements
        ),
        subjects=tuple(recoded(t) for t in subjects),
        values=tuple(values),
    )


def _condition(position: int, condition: Condition, codes: Mapping[Value, int]) -> tuple[str, Condition]:
    if isinstance(condition, Between):
        return _ranged(position), condition
    return _coded(position), frozenset(codes[value] for value in condition)


def _coded(position: int) -> str:
    return f"{position}"


def _ranged(position: int) -> str:
    return f"{position}~"
