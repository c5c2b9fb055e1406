"""The sensitive values of a table, and which of them a spec means by a name: compared as the type does."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from ppdp_spark.errors import InternalError

_Attribute = TypeVar("_Attribute")

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True)
class Sensitivity:
    """Which values of an attribute need protection [Robust, Sec II]: those named, or all but those named."""

    names: tuple[str, ...]
    only: bool

    @classmethod
    def declared(cls, attribute: Mapping[str, Any]) -> Sensitivity | None:
        """What a spec or a manifest says of an attribute; None if all of its values need protection."""
        for key, only in (("only", True), ("not_sensitive", False)):
            if attribute.get(key):
                return cls(tuple(map(str, attribute[key])), only)
        return None

    def declaration(self) -> dict[str, list[str]]:
        """The same as a spec says it."""
        return {"only" if self.only else "not_sensitive": list(self.names)}

    def protects(self, labels: Sequence[str], kind: str) -> tuple[bool, ...]:
        """Whether each value needs protection; names are compared as the type of the column does."""
        named = set(codes_of_names(self.names, labels, kind).values())
        return tuple((code in named) == self.only for code in range(len(labels)))


@dataclass(frozen=True)
class ValueDomain:
    """The sensitive values that criteria are about, in the order of their codes.

    where
        labels  their names
        counts  how often each occurs in the table that the release describes
        case    what a reader sees of the values of a person
        kind    the type of the column, by which names in a spec are compared
        sensitivity  which of them need protection, if not all do
    """

    labels: Sequence[str]
    counts: Sequence[int]
    case: str = "svpi"
    kind: str = "string"
    sensitivity: Sensitivity | None = None

    @property
    def protected(self) -> tuple[bool, ...] | None:
        """Whether each value needs protection; None where all do."""
        if self.sensitivity is None:
            return None
        found = self.sensitivity.protects(self.labels, self.kind)
        return None if all(found) else found

    @property
    def protected_codes(self) -> list[int]:
        """The values that need protection."""
        mask = self.protected
        return [code for code in range(len(self.labels)) if mask is None or mask[code]]


def only_one(attributes: Sequence[_Attribute]) -> _Attribute | None:
    """The sensitive attribute if there is one; what is not made for several stops here."""
    if len(attributes) > 1:
        raise InternalError("this is about one sensitive attribute, and there are several: nothing was done")
    return attributes[0] if attributes else None


def codes_of_names(names: Iterable[str], labels: Sequence[str], kind: str) -> dict[str, int | None]:
    """The place of each name among the labels, None for a name that no value has.

    `kind` is the type of the column as Spark calls it: with numbers `5` means 5.0 and `1e10` means
    10000000000, with booleans `True` means true, with dates and times any ISO form will do.
    """
    exact = {label: code for code, label in enumerate(labels)}
    meaning = _meaning(kind)
    typed = {meaning(label): code for code, label in enumerate(labels)}
    return {name: exact.get(name, typed.get(meaning(name))) for name in names}


def _meaning(kind: str) -> Callable[[str], Hashable]:
    if kind.startswith(NUMBERS):
        return _number
    if kind == "boolean":
        return lambda text: (text.casefold(),)
    return _moment if kind.startswith(("date", "timestamp")) else lambda text: text


def _number(text: str) -> Hashable:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return number if number.is_finite() else text


def _moment(text: str) -> Hashable:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text
