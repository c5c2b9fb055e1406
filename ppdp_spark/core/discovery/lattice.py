"""The lattice of column sets: which minimal ones single out at least so many people, by few counts.

Who is alone with some values is alone with more of them, so whatever contains a set that singles out enough
people does, too, and is not minimal. A set is spared the count if its subsets bound it:

- a column with d values divides a crowd of g people into min(g, d) at most;
- a column that divides no crowd of a set divides none of a larger one: a set with such a column singles out
  nobody that the rest of it does not, and no set above it is minimal.

Both are exact: no set is passed over that a count would find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from ppdp_spark.core.discovery.crowds import Crowds

ColumnSet: TypeAlias = tuple[int, ...]
"""Places of columns, ascending."""

Count: TypeAlias = Callable[[Sequence[ColumnSet]], Sequence[Crowds]]
"""Counts the crowds of sets of one size."""


@dataclass(frozen=True)
class SingledOut:
    """What was found.

    where
        people   minimal set -> how many people it singles out
        counted  sets of several columns that were counted
        spared   sets that subsets bound below what is needed
    """

    people: dict[ColumnSet, int]
    counted: int
    spared: int


def minimal_sets(columns: Sequence[Crowds], *, needed: int, most: int, count: Count) -> SingledOut:
    """All minimal sets of up to `most` columns that single out at least `needed` people.

    where
        columns  the crowds of each column by itself
        count    counts those of larger sets, all of one size at a time
    """
    lattice = _Lattice(columns, needed)
    counted = 0
    for size in range(2, most + 1):
        wanted = lattice.wanted(size)
        counted += len(wanted)
        for columns_of, crowds in zip(wanted, count(wanted) if wanted else (), strict=True):
            lattice.add(columns_of, crowds)
    return SingledOut(lattice.found, counted, lattice.spared)


@dataclass
class _Lattice:
    """What is known of sets so far.

    where
        closed  sets above which none is minimal
        most    set -> bound of the number of its crowds, where it was not counted
    """

    columns: Sequence[Crowds]
    needed: int
    known: dict[ColumnSet, Crowds] = field(default_factory=dict)
    closed: set[ColumnSet] = field(default_factory=set)
    most: dict[ColumnSet, int] = field(default_factory=dict)
    found: dict[ColumnSet, int] = field(default_factory=dict)
    spared: int = 0

    def __post_init__(self) -> None:
        self.everybody = self.columns[0].everybody if self.columns else 0
        self.values = [crowds.number for crowds in self.columns]
        for place, crowds in enumerate(self.columns):
            self.add((place,), crowds)
        self.open = [place for place in range(len(self.columns)) if (place,) not in self.closed]

    def add(self, columns: ColumnSet, crowds: Crowds) -> None:
        """What a count has shown."""
        self.known[columns] = crowds
        below = [self.known[face].number for face in _faces(columns) if face in self.known]
        if crowds.alone >= self.needed:
            self.found[columns] = crowds.alone
            self.closed.add(columns)
        elif crowds.number in below or crowds.number <= 1:
            self.closed.add(columns)

    def wanted(self, size: int) -> list[ColumnSet]:
        """Sets of that size that may be minimal and are not bounded below what is needed."""
        wanted = []
        for columns in combinations(self.open, size):
            if any(face in self.closed for face in _faces(columns)):
                self.closed.add(columns)
            elif self._most_alone(columns) < self.needed:
                self.spared += 1
            else:
                wanted.append(columns)
        return wanted

    def _most_alone(self, columns: ColumnSet) -> int:
        return min(
            self.known[face].most_alone(self.values[place])
            if face in self.known
            else min(self.everybody, self._most_crowds(face) * self.values[place])
            for place, face in zip(columns, _faces(columns), strict=True)
        )

    def _most_crowds(self, columns: ColumnSet) -> int:
        """A bound of the number of crowds of a set that was not counted."""
        if columns not in self.most:
            self.most[columns] = min(
                self.known[face].most_crowds(self.values[place])
                if face in self.known
                else min(self.everybody, self._most_crowds(face) * self.values[place])
                for place, face in zip(columns, _faces(columns), strict=True)
            )
        return self.most[columns]


def _faces(columns: ColumnSet) -> list[ColumnSet]:
    """The set without each of its columns in turn; none of a single column."""
    return [columns[:i] + columns[i + 1 :] for i in range(len(columns))] if len(columns) > 1 else []
