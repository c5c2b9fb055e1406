"""What a guarantee says, and the setting its words depend on; plain text, for terminal and page alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ppdp_spark.core.data.forms import FORMS
from ppdp_spark.report.format.numbers import apart, as_number, listing, mapping, number, percent, room
from ppdp_spark.report.format.quoted_names import name, printable

Row = Mapping[str, Any]

NEEDED = {
    ">=": "at least {} is needed",
    ">": "more than {} is needed",
    "<=": "at most {} is allowed",
    "<": "it must stay below {}",
}


@dataclass(frozen=True)
class Guarantee:
    """One guarantee in words.

    where
        title   name of the criterion with its parameters
        status  `pass` or `fail`; `measured` if nothing was demanded, `note` if the verdict has no row for it
        claim   the guarantee, or how it is broken, in one sentence
        margin  what was found against what is needed
        holds   the adversary it holds against
        limits  what it does not protect from
    """

    title: str
    status: str
    claim: str
    margin: str
    holds: str
    limits: str


@dataclass(frozen=True)
class Setting:
    """What the words depend on besides the verdict."""

    form: str | None = None
    case: str = "svpi"
    sensitive: str = "the sensitive column"
    attributes: tuple[str, ...] = ()
    linked: bool = False
    model: str | None = None
    known_attributes: tuple[tuple[str, ...], ...] = ()

    @property
    def the_sensitive(self) -> str:
        return self.sensitive if self.sensitive == Setting.sensitive else f"the {self.sensitive}"

    @property
    def records(self) -> bool:
        """Whether rows show several values of a person side by side."""
        return self.case != "svpi" and self.side_by_side

    @property
    def of_rows(self) -> bool:
        """Whether rows show the values of people apart from each other."""
        form = FORMS.get(str(self.form))
        return form is not None and form.of_rows

    @property
    def side_by_side(self) -> bool:
        """Whether sensitive values stand in rows, one row a person."""
        form = FORMS.get(str(self.form))
        return form is None or form.side_by_side

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> Setting:
        spec, sensitive = mapping(summary, "spec"), mapping(summary, "sensitive")
        declared = mapping(spec, "columns", "sensitive")
        robustness = mapping(spec, "privacy", "robustness")
        column = sensitive.get("column") or declared.get("column")
        sets = (listing(prior, "attributes") for prior in listing(robustness, "priors"))
        return cls(
            form=mapping(summary, "release").get("form"),
            case=str(sensitive.get("case") or declared.get("case") or "svpi"),
            sensitive=column_name(column) if column else cls.sensitive,
            attributes=tuple(str(mapping(each).get("column")) for each in listing(summary, "sensitive")),
            linked="sensitive_linked" in mapping(spec, "columns"),
            model=robustness.get("model"),
            known_attributes=tuple(tuple(map(printable, names)) for names in sets if names),
        )


def column_name(column: Any) -> str:
    """A column as it is named in a sentence."""
    return str(column) if str(column).isidentifier() else name(column)


def holds(row: Row) -> bool:
    """Whether the row says that its criterion is met: anything but a plain `pass` is not."""
    return row.get("status") == "pass"


def parameter(row: Row, name: str) -> Fraction | None:
    """A parameter of the criterion as a number; None where the row does not give it."""
    given = mapping(row, "parameters").get(name)
    try:
        return None if given is None else Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        return None


def parameter_text(row: Row, name: str) -> str:
    """The parameter as a number, or its own name where the row does not give it."""
    found = parameter(row, name)
    return name if found is None else number(float(found))


def counted(row: Row, what: str = "groups") -> str:
    """`3 of 120 groups`."""
    return f"{number(row.get('violations'))} of {number(row.get('groups'))} {what}"


def margin(row: Row, noun: str, *, share: bool = False) -> str:
    """What was found, what is needed, and the distance between them."""
    value, threshold, relation = row.get("value"), row.get("threshold"), str(row.get("relation", ""))
    if as_number(value) is None:
        return "There was no group to look at."
    if as_number(threshold) is None or relation not in NEEDED:
        return f"{noun}: {percent(value) if share else number(value)}."
    found, limit = apart(value, threshold, share=share)
    distance = room(value, threshold, relation)
    text = f"{noun}: {found}; {NEEDED[relation].format(limit)}"
    if distance is None or math.isinf(distance):
        return f"{text}."
    size = percent(abs(distance)).replace("%", "points") if share else number(abs(distance))
    if distance == 0:
        return f"{text}: exactly at the limit."
    return f"{text}: {'a margin of' if distance > 0 else 'it misses by'} {size}."


def worded(row: Row, title: str, words: tuple[str, str], noun: str, **rest: Any) -> Guarantee:
    """A guarantee from its words where it holds and where it does not."""
    met = holds(row)
    return Guarantee(
        title=title,
        status="pass" if met else "fail",
        claim=words[0] if met else f"Not met: {words[1]}",
        margin=margin(row, noun, share=rest.get("share", False)),
        holds=rest["against"],
        limits=rest["limits"],
    )
