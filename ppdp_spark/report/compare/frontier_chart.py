"""Variants of a release by what they demand and what they cost: which of them are worth a choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppdp_spark.report.compare.comparison import Compared
from ppdp_spark.report.format.numbers import as_number, mapping
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.report.sentences.criteria import passed

_STRICTER = {"k_anonymity": 1, "k": 1, "l": 1, "m": 1, "r": 1}
_STRICTER |= {"t": -1, "beta": -1, "delta": -1, "alpha": -1, "c": -1}
"""Whether a larger (1) or a smaller (−1) number demands more, by the last part of a field's name."""

_OF_PRIVACY = ("privacy.", "suppression.", "output.form")
QUERY_ERROR = "median query error"
PENALTY = "information lost"


@dataclass(frozen=True)
class Choice:
    """A variant: the fields that were varied, and what came of it.

    where
        name     how the variant is called, also its folder
        changes  field -> value
        run      its summary and verdict; None if nothing was published
        reason   why nothing was published
    """

    name: str
    changes: Mapping[str, Any]
    run: Compared | None = None
    reason: str | None = None

    @property
    def label(self) -> str:
        return ", ".join(f"{last_part(key)} {printable(value)}" for key, value in self.changes.items())

    @property
    def ok(self) -> bool:
        return self.run is not None and passed(self.run.verdict)


@dataclass(frozen=True)
class Frontier:
    """Choices with their loss: the query error if every published one has it, else the penalty."""

    choices: tuple[Choice, ...]

    @property
    def measure(self) -> str:
        found = [_query_error(choice) for choice in self.choices if choice.ok]
        return QUERY_ERROR if found and None not in found else PENALTY

    def loss(self, choice: Choice) -> float | int | None:
        if not choice.ok or choice.run is None:
            return None
        if self.measure == QUERY_ERROR:
            return _query_error(choice)
        return as_number(mapping(choice.run.summary, "metrics").get("gcp"))

    def holds(self, choice: Choice) -> bool:
        """Whether no other choice demands as much and loses less, or demands more and loses no more."""
        return self.loss(choice) is not None and not any(self._beats(o, choice) for o in self.choices)

    def _beats(self, one: Choice, other: Choice) -> bool:
        gain, loss = self.loss(one), self.loss(other)
        if gain is None or loss is None or gain > loss:
            return False
        demands = [_demand(key, one.changes.get(key), other.changes.get(key)) for key in _keys(one, other)]
        if any(demand is None or demand < 0 for demand in demands):
            return False
        return gain < loss or any(demands)


def numeric_keys(choices: Sequence[Choice]) -> list[str]:
    """Varied fields whose values are all numbers, in the order they were given."""
    keys = choices[0].changes if choices else {}
    return [key for key in keys if all(as_number(c.changes.get(key)) is not None for c in choices)]


def last_part(key: str) -> str:
    """The field at the end of a dotted key, without quotes."""
    return key.rpartition(".")[2].strip("\"'")


def _query_error(choice: Choice) -> float | int | None:
    return as_number(mapping(choice.run.summary, "metrics", "queries").get("median")) if choice.run else None


def _keys(one: Choice, other: Choice) -> list[str]:
    """Varied fields that make a difference to what is promised."""
    keys = dict.fromkeys([*one.changes, *other.changes])
    return [key for key in keys if key.startswith(_OF_PRIVACY)]


def _demand(key: str, one: Any, other: Any) -> int | None:
    """1 if `one` demands more, −1 if less, 0 if as much; None where that cannot be said."""
    if one == other:
        return 0
    direction, first, second = _STRICTER.get(last_part(key)), as_number(one), as_number(other)
    if direction is None or first is None or second is None:
        return None
    return direction if first > second else -direction
