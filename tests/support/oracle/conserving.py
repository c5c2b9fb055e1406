"""Is everybody published once: a way to place every original row in a group that fits it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .reading import Group, Objection, plain, record_of


def taking_part(table: Mapping[str, Sequence[Any]], document: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Rows (quasi-identifiers…, record) that are to be published: all, or those without nulls."""
    columns = document["columns"]
    qis, sensitive = list(columns["quasi_identifiers"]), columns["sensitive"]
    rows = []
    for at in range(len(table[sensitive["column"]])):
        said = [plain(table[name][at]) for name in qis]
        record = record_of(table[sensitive["column"]][at], sensitive["case"])
        if document["nulls"] == "suppress" and None in (*said, *record):
            continue
        rows.append((*said, record))
    return rows


def conserved(groups: Sequence[Group], rows: Sequence[tuple[Any, ...]]) -> None:
    """Object unless every row has a place in a group, with its record, and every place is taken."""
    if sum(group.size for group in groups) != len(rows):
        raise Objection(f"{sum(group.size for group in groups)} people published of {len(rows)}")
    printed = Counter(value for group in groups for value in Counter(group.occurrences).elements())
    if printed != Counter(value for row in rows for value in row[-1]):
        raise Objection("the sensitive values published are not those of the table")
    places = [_Places(group) for group in groups]
    fitting = [([g for g, p in enumerate(places) if p.fits(row)], row) for row in rows]
    if not _placed(sorted(fitting, key=lambda pair: (len(pair[0]), repr(pair[1]))), 0, places, set()):
        raise Objection("there is no way to place everybody in the groups")


class _Places:
    """What is still free in a group."""

    def __init__(self, group: Group) -> None:
        self.said = Counter(group.people)
        self.free = Counter(group.occurrences) if group.records is None else Counter(group.records)
        self.whole = group.records is not None

    def fits(self, row: tuple[Any, ...]) -> bool:
        return any(_covers(said, row) for said in self.said) and self._holds(row[-1])

    def _needs(self, record: tuple[Any, ...]) -> Counter[Any]:
        return Counter([record]) if self.whole else Counter(record)

    def _holds(self, record: tuple[Any, ...]) -> bool:
        return all(self.free[what] >= number for what, number in self._needs(record).items())

    def options(self, row: tuple[Any, ...]) -> list[Any]:
        """Free descriptions that cover the row, if its record is free as well."""
        if not self._holds(row[-1]):
            return []
        return [said for said, left in self.said.items() if left and _covers(said, row)]

    def change(self, said: Any, row: tuple[Any, ...], by: int) -> None:
        self.said[said] += by
        for what, number in self._needs(row[-1]).items():
            self.free[what] += by * number

    @property
    def state(self) -> tuple[Any, ...]:
        return tuple(self.said.values()), tuple(self.free[what] for what in sorted(self.free, key=repr))


def _covers(said: Sequence[Any], row: tuple[Any, ...]) -> bool:
    return all(one.covers(value) for one, value in zip(said, row[:-1], strict=True))


def _placed(rows: list[Any], at: int, places: list[_Places], failed: set[Any]) -> bool:
    """Place rows one by one, going back where that fails; what is known to fail is not tried again."""
    if at == len(rows):
        return True
    state = (at, tuple(place.state for place in places))
    if state in failed:
        return False
    groups, row = rows[at]
    for group in groups:
        for said in places[group].options(row):
            places[group].change(said, row, -1)
            done = _placed(rows, at + 1, places, failed)
            places[group].change(said, row, +1)
            if done:
                return True
    failed.add(state)
    return False
