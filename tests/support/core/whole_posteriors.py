"""What somebody who knows the program concludes from a release of a few people, by trying every table.

The reader knows everybody's quasi-identifiers and holds the release. All tables are as likely: those from
which the program makes this very release are counted. Nothing of the package is used here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Table = tuple[int, ...]
Release = tuple[Any, ...]
Program = Callable[[Table], Release | None]
"""From the values of all people to what is published; None if it is refused."""


def worlds(program: Program, people: int, values: int) -> dict[Release, list[Table]]:
    """Every release that can come out, with all the tables that it can come from."""
    found: dict[Release, list[Table]] = defaultdict(list)
    for table in product(range(values), repeat=people):
        release = program(table)
        if release is not None:
            found[release].append(table)
    return dict(found)


def posteriors(tables: Sequence[Table]) -> list[dict[int, Fraction]]:
    """For each person the probability of each value, all of the tables being as likely."""
    counted = [Counter(column) for column in zip(*tables, strict=True)]
    return [{x: Fraction(n, len(tables)) for x, n in counts.items()} for counts in counted]


def surest(tables: Sequence[Table]) -> Fraction:
    """The largest probability of a value of anybody."""
    return max(share for person in posteriors(tables) for share in person.values())


def told_more(tables: Sequence[Table], others: int, excluded: int) -> Iterator[list[Table]]:
    """The tables left to a reader who is told the value of one other person and one that a target has not.

    `others` and `excluded` say whether each of the two is told, 0 or 1.
    """
    people, values = len(tables[0]), {x for table in tables for x in table}
    for target in range(people):
        for other in [p for p in range(people) if p != target] if others else [None]:
            for known in values if others else [None]:
                for absent in values if excluded else [None]:
                    left = [t for t in tables if other is None or t[other] == known]
                    left = [t for t in left if absent is None or t[target] != absent]
                    if left:
                        yield [(table[target],) for table in left]
