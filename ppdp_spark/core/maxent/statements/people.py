"""People known by name: split off from the tuples they share [MaxEnt, Section 6].

Every occurrence of a tuple gets a pseudonym, and a named person is one of them. If the person's bucket
is known, or the tuple occurs in one bucket only, the person is a row of one. Else the person may sit at
any occurrence: in every bucket of the tuple there is a cell for them beside a cell for the others, both in
the tuple's row, and the fact that the person is one person joins those cells. The pseudonyms nobody
names are alike, so they stay one cell, weighted by their number; the result is that of the paper's
variables P(i, q, s, b), one for each pseudonym.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray, IntArray
from ppdp_spark.errors import DataError


@dataclass(frozen=True)
class Person:
    """Someone in the release: a pseudonym, the id of their tuple, and their bucket's id if it is known."""

    name: str
    qi: int
    bucket: int | None = None


@dataclass(frozen=True, eq=False)
class Named:
    """Buckets in which named people have cells of their own.

    where
        buckets  the buckets; `cell_person` is a position in `names`
        names    the people
        roaming  positions of people whose cells are in several buckets and hold one person together
    """

    buckets: Buckets
    names: tuple[str, ...]
    roaming: IntArray


def with_people(buckets: Buckets, people: Sequence[Person]) -> Named:
    """The buckets with the named people split off; `DataError` lists all that do not fit.

    Without anybody named the buckets are as they were. Where several tuples may fill a row nobody can be
    named: whether the person is one of those in it is not known.
    """
    if not people:
        return Named(buckets, (), np.zeros(0, dtype=np.int64))
    if len(buckets.row_count) < len(buckets.cell_qi):
        raise DataError("people can be named only where it is certain whose each place of a group is")
    qi = np.array([p.qi for p in people], dtype=np.int64)
    relevant = np.flatnonzero(np.isin(buckets.cell_qi, qi))
    cells = {int(q): relevant[buckets.cell_qi[relevant] == q] for q in np.unique(qi)}
    home = _homes(buckets, people, cells)
    count = buckets.row_count[buckets.row_start[buckets.cell_bucket] + buckets.cell_row]
    at_home = np.flatnonzero(home >= 0)
    np.subtract.at(count, home[at_home], 1.0)
    roaming = np.flatnonzero(home < 0)
    room = {q: int(count[at].sum()) for q, at in cells.items()}
    problems = [
        f"more people are named for one tuple than its {room[int(q)]} unnamed occurrences"
        for q in np.unique(qi[roaming])
        if (qi[roaming] == q).sum() > room[int(q)]
    ]
    if (count < 0).any():
        problems.append("more people are named in a bucket than their tuple occurs there")
    if problems:
        raise DataError(problems)
    weight = count.copy()
    for q in np.unique(qi[roaming]):
        weight[cells[int(q)]] = room[int(q)] - (qi[roaming] == q).sum()
    spots = [cells[int(qi[i])][count[cells[int(qi[i])]] > 0] for i in roaming]
    return Named(
        _rebuilt(buckets, count=count, weight=weight, home=home, roaming=roaming, spots=spots),
        tuple(p.name for p in people),
        roaming,
    )


def _homes(buckets: Buckets, people: Sequence[Person], cells: dict[int, IntArray]) -> IntArray:
    """The cell each person comes from, −1 if it may be one of several."""
    times = Counter(person.name for person in people)
    problems = [f"`{name}` is named {count} times" for name, count in times.items() if count > 1]
    home = np.full(len(people), -1, dtype=np.int64)
    bucket = buckets.cell_bucket
    for i, person in enumerate(people):
        found = cells[person.qi]
        if person.bucket is not None:
            found = found[buckets.ids[bucket[found]] == person.bucket]
        if not len(found):
            where = "the release" if person.bucket is None else f"bucket {person.bucket}"
            problems.append(f"`{person.name}`: nobody in {where} has this tuple")
        elif len(found) == 1:
            home[i] = found[0]
    if problems:
        raise DataError(problems)
    return home


def _rebuilt(
    buckets: Buckets,
    *,
    count: FloatArray,
    weight: FloatArray,
    home: IntArray,
    roaming: IntArray,
    spots: list[IntArray],
) -> Buckets:
    """Buckets from the old cells with what is left in them, people at home and people in several places."""
    cells, bucket = len(buckets.cell_qi), buckets.cell_bucket
    at_home = np.flatnonzero(home >= 0)
    roamer = np.repeat(roaming, [len(s) for s in spots]).astype(np.int64)
    spot = np.concatenate([*spots, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    kept = np.flatnonzero((count > 0) & (weight > 0))
    source = np.concatenate([kept, home[at_home], spot])
    row_key = np.concatenate([kept, cells + at_home, spot])
    person = np.concatenate([np.full(len(kept), -1), at_home, roamer])
    weights = np.concatenate([weight[kept], np.ones(len(at_home) + len(spot))])
    order = np.lexsort((person, row_key, bucket[source]))
    source, row_key, person, weights = source[order], row_key[order], person[order], weights[order]
    new_row = np.ones(len(order), dtype=bool)
    new_row[1:] = np.diff(row_key) != 0
    row_bucket = bucket[source[new_row]]
    people_in = np.where(row_key[new_row] >= cells, 1.0, count[np.minimum(row_key[new_row], cells - 1)])
    row_start = np.searchsorted(row_bucket, np.arange(len(buckets) + 1))
    return Buckets(
        ids=buckets.ids,
        cell_start=np.searchsorted(bucket[source], np.arange(len(buckets) + 1)),
        cell_qi=buckets.cell_qi[source],
        cell_row=(np.cumsum(new_row) - 1 - row_start[bucket[source]]).astype(np.int32),
        cell_person=person.astype(np.int32),
        cell_weight=weights,
        row_start=row_start,
        row_count=people_in,
        value_start=buckets.value_start,
        value_code=buckets.value_code,
        value_count=buckets.value_count,
    )
