"""The role that a column might have in a spec, by what it looks like and whom it helps to single out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ppdp_spark.core.discovery.column_facts import ColumnFacts
from ppdp_spark.core.discovery.column_looks import Look

Role: TypeAlias = Literal["identifier", "quasi-identifier", "sensitive", "none"]

MOST_VALUES = 100_000
"""A text with more different values than these is no category, and no sensitive value that many share."""


@dataclass(frozen=True)
class ProposedRole:
    """A suggestion, and the reason for it in a few words."""

    role: Role
    because: str


def proposed_role(facts: ColumnFacts, looks: Sequence[Look], *, singles_out: bool) -> ProposedRole:
    """What the column might be in a spec; `singles_out` says whether it is in a set that does.

    What may name somebody outright is not published, whatever else it looks like.
    """
    told = ", ".join(looks)
    if "free text" in looks:
        return ProposedRole("none", "free text, which may name people")
    if "contact" in looks:
        return ProposedRole("identifier", told)
    if "sensitive" in looks and facts.kind != "other" and facts.crowds.number <= MOST_VALUES:
        return ProposedRole("sensitive", "by its name")
    if "identifier" in looks and not {"date of birth", "postcode"} & set(looks):
        return ProposedRole("identifier", _uniqueness(facts))
    if facts.kind == "other":
        return ProposedRole("none", "values of its type cannot be generalized")
    if facts.kind == "text" and facts.crowds.number > MOST_VALUES:
        return ProposedRole("none", "too many different texts to generalize: publish a coarser one")
    if looks:
        return ProposedRole("quasi-identifier", told)
    if singles_out:
        return ProposedRole("quasi-identifier", "in a set that singles people out")
    return ProposedRole("none", "in no set that singles people out")


def _uniqueness(facts: ColumnFacts) -> str:
    if facts.all_different:
        return "everybody has a value of their own"
    return f"{facts.crowds.alone:,} of {facts.people:,} people are alone with their value"
