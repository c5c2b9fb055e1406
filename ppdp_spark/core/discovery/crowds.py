"""Crowds: the people who agree on a set of columns, by how many they are.

Somebody who is a crowd of one is singled out. How large the other crowds are bounds how many people can be
once one more column is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import Self

SIZES = 64
"""Sizes of crowds fall into as many classes: 1, 2–3, 4–7, 8–15, …"""


@dataclass(frozen=True)
class Crowds:
    """How many crowds of each class of sizes there are, and how many people are in them.

    where
        crowds  class c -> number of crowds of 2^c … 2^(c+1) − 1 people
        people  class c -> number of people in them
    """

    crowds: tuple[int, ...]
    people: tuple[int, ...]

    @classmethod
    def of(cls, counted: Iterable[tuple[int, int, int]]) -> Self:
        """From (class, crowds, people), each class as often as it likes."""
        crowds, people = [0] * SIZES, [0] * SIZES
        for size, number, held in counted:
            crowds[size] += number
            people[size] += held
        return cls(tuple(crowds), tuple(people))

    @property
    def alone(self) -> int:
        """People whose values nobody else has."""
        return self.crowds[0]

    @property
    def number(self) -> int:
        """Different combinations of values."""
        return sum(self.crowds)

    @property
    def everybody(self) -> int:
        """All people."""
        return sum(self.people)

    def most_crowds(self, values: int) -> int:
        """No more crowds than this are left after one more column, with so many values, is looked at.

        Σ min(people, crowds · values) over the classes: a crowd of g people becomes min(g, values) at most.
        """
        return sum(min(held, number * values) for number, held in self._classes)

    def most_alone(self, values: int) -> int:
        """No more people than this are singled out with one more column that has so many values.

        As `most_crowds`; but where there are more people than values, some two of them have the same, so one
        value less can single out.
        """
        return sum(
            min(held, number * (values - (2**size > values)))
            for size, (number, held) in enumerate(self._classes)
        )

    @property
    def _classes(self) -> Iterable[tuple[int, int]]:
        return zip(self.crowds, self.people, strict=True)
