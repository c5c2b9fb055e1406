"""Variants of a release by what they demand and what they cost: which of them are worth a choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ppdp_spark.report.compare.comparison import Compared
from ppdp_spark.report.format.numbers import as_number, mapping, number, percent
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.report.sentences.criteria import passed
from ppdp_spark.report.sentences.forms import form_words

_STRICTER = {"k_anonymity": 1, "k": 1, "l": 1, "m": 1, "r": 1}
_STRICTER |= {"t": -1, "beta": -1, "delta": -1, "alpha": -1, "c": -1}
"""Whether a larger (1) or a smaller (−1) number demands more, by the last part of a field's name."""

_OF_PRIVACY = ("privacy.", "suppression.", "output.form")
QUERY_ERROR, MEAN_ERROR = "median query error", "mean query error"
PENALTY, LINK = "information lost", "link lost (people per group)"
MEASURES = (QUERY_ERROR, MEAN_ERROR, PENALTY, LINK)
_SHARES, _OF_FORM = (QUERY_ERROR, MEAN_ERROR), (PENALTY, LINK)


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
    """Choices with their losses, in every measure that all published ones of a form have.

    Query errors are measures if every published choice has them. What is lost besides is the precision of
    quasi-identifiers (GCP) or, where those are published as they are, the link to values: the people among
    whom a value cannot be placed.
    """

    choices: tuple[Choice, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """What is measured of at least one choice, in the order it is shown."""
        found = [self.losses(choice) for choice in self.choices]
        return tuple(measure for measure in MEASURES if any(measure in losses for losses in found))

    def losses(self, choice: Choice) -> dict[str, float | int]:
        """Measure -> loss, the less the better; nothing of what cannot be published."""
        if not choice.ok:
            return {}
        lost = _lost(choice)
        return lost if self._asked else {name: loss for name, loss in lost.items() if name in _OF_FORM}

    @cached_property
    def _asked(self) -> bool:
        return all(QUERY_ERROR in _lost(choice) for choice in self.choices if choice.ok)

    def holds(self, choice: Choice) -> bool:
        """Whether no other choice demands as much and loses less, or demands more and loses no more.

        To lose less is to lose no more in any measure, and less in one.
        """
        return bool(self.losses(choice)) and not any(self._beats(o, choice) for o in self.choices)

    def _beats(self, one: Choice, other: Choice) -> bool:
        gain, loss = self.losses(one), self.losses(other)
        if gain.keys() != loss.keys() or any(gain[measure] > loss[measure] for measure in loss):
            return False
        demands = [_demand(key, one.changes.get(key), other.changes.get(key)) for key in _keys(one, other)]
        if any(demand is None or demand < 0 for demand in demands):
            return False
        return gain != loss or any(demands)


def loss_text(measure: str, loss: float | int | None) -> str:
    """A loss as it is shown."""
    if loss is None:
        return ""
    return percent(loss) if measure in _SHARES else number(loss)


def numeric_keys(choices: Sequence[Choice]) -> list[str]:
    """Varied fields whose values are all numbers, in the order they were given."""
    keys = choices[0].changes if choices else {}
    return [key for key in keys if all(as_number(c.changes.get(key)) is not None for c in choices)]


def last_part(key: str) -> str:
    """The field at the end of a dotted key, without quotes."""
    return key.rpartition(".")[2].strip("\"'")


def _lost(choice: Choice) -> dict[str, float | int]:
    summary = choice.run.summary if choice.run is not None else {}
    metrics, queries = mapping(summary, "metrics"), mapping(summary, "metrics", "queries")
    exact = form_words(mapping(summary, "release").get("form")).exact
    found = {QUERY_ERROR: queries.get("median"), MEAN_ERROR: queries.get("mean")}
    found |= {LINK: mapping(metrics, "sizes").get("mean")} if exact else {PENALTY: metrics.get("gcp")}
    return {name: loss for name, each in found.items() if (loss := as_number(each)) is not None}


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
