"""What is known of a column: aggregates, never a value."""

from __future__ import annotations

from dataclasses import dataclass, field

from ppdp_spark.core.discovery.crowds import Crowds

SHAPES = {
    "email": r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    "date": r"^([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4})([T ].*)?$",
    "postcode": r"^([0-9]{5}(-[0-9]{4})?|[0-9]{4} ?[A-Z]{2}|[0-9]{2}-[0-9]{3}|"
    r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9])$",
    "words": r"^\s*(\S+\s+){3}\S",
}
"""What a text may look like, as regular expressions that Java and Python read in the same way."""


@dataclass(frozen=True)
class ColumnFacts:
    """A column of a table.

    where
        name      its name
        kind      what its values are: `text`, `integer`, `float`, `decimal`, `date`, `timestamp`, …; `other`
        crowds    the people of each value; null is a value like any other
        heaviest  people of the most frequent value
        nulls     people without a value
        shaped    how many people's texts have each of the shapes
        years     from the earliest to the latest year, of dates
    """

    name: str
    kind: str
    crowds: Crowds
    heaviest: int
    nulls: int
    shaped: dict[str, int] = field(default_factory=dict)
    years: int = 0

    @property
    def people(self) -> int:
        """Everybody."""
        return self.crowds.everybody

    @property
    def all_different(self) -> bool:
        """Whether no value stands on two rows."""
        return self.crowds.number == self.people

    def share_shaped(self, shape: str) -> float:
        """The share of people with a text of that shape among those with a text."""
        return self.shaped.get(shape, 0) / max(1, self.people - self.nulls)
