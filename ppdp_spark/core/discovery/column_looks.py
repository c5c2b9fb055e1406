"""What columns look like, by their aggregates and their names: suggestions, which a person must confirm."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal, TypeAlias

from ppdp_spark.core.discovery.column_facts import ColumnFacts

Look: TypeAlias = Literal[
    "identifier", "contact", "date of birth", "postcode", "free text", "sensitive", "personal"
]

NEARLY_ALL = 0.95
"""The share of people from which on a column looks like what most of its values are."""

_MOSTLY_ALONE = 0.5
_WORDY = 0.5
_GENERATIONS = 60

_NAMED: dict[Look, str] = {
    "identifier": r"id|uuid|guid|ssn|nino|bsn|nhs|passport|iban|account|licen[cs]e|mrn|name|surname|"
    r"firstname|lastname|forename",
    "contact": r"e?mail|phone|mobile|fax|telephone|street|address|url|ip",
    "date of birth": r"birth|birthday|birthdate|dob|born|geburtsdatum|naissance|nascita|nacimiento",
    "postcode": r"zip|zipcode|postcode|postal|postalcode|plz|eircode|pincode",
    "sensitive": r"diagnos[ei]s|disease|illness|condition|conditions|icd|icd9|icd10|medication|drug|drugs|"
    r"treatment|health|disability|hiv|pregnan(t|cy)|income|salary|wage|wages|debt|religion|belief|"
    r"party|vote|union|orientation|gender identity|offen[cs]e|crime|conviction|genetic|"
    r"biometric",
    "personal": r"age|sex|gender|race|ethnicity|nationality|citizenship|birthplace|marital|married|"
    r"occupation|job|profession|education|degree|school|employer|city|town|municipality|region|county|country|"
    r"language|height|weight",
}
"""Words of which names of columns are made."""


def looks(facts: ColumnFacts) -> tuple[Look, ...]:
    """What a column looks like, the weightiest first; nothing if it does not stand out.

    By its values: an identifier if nearly everybody is alone with theirs and they are no measurements, a
    contact if they look like addresses of mail, a date of birth, a postcode, free text. Sensitive, personal
    and otherwise only by its name.
    """
    found = [look for look, holds in _by_values(facts).items() if holds]
    words = set(_words(facts.name))
    for look, pattern in _NAMED.items():
        if any(re.fullmatch(pattern, word) for word in words) and _possible(look, facts):
            found.append(look)
    order: list[Look] = [
        "contact", "free text", "date of birth", "postcode", "sensitive", "identifier", "personal"
    ]  # fmt: skip
    return tuple(sorted(set(found), key=order.index))


def _by_values(facts: ColumnFacts) -> dict[Look, bool]:
    alone = facts.crowds.alone / max(1, facts.people)
    mostly = _MOSTLY_ALONE if facts.kind == "text" else NEARLY_ALL
    name_like = facts.kind in ("text", "integer", "other")
    return {
        "identifier": name_like and alone >= mostly,
        "contact": facts.share_shaped("email") >= NEARLY_ALL,
        "date of birth": facts.kind in ("date", "timestamp", "timestamp_ntz") and facts.years >= _GENERATIONS,
        "postcode": facts.share_shaped("postcode") >= NEARLY_ALL,
        "free text": facts.share_shaped("words") >= _WORDY,
    }


def _possible(look: Look, facts: ColumnFacts) -> bool:
    """Whether a column of that name can be it: a year is no day, and few values name nobody."""
    if look == "date of birth":
        dates = facts.kind in ("date", "timestamp", "timestamp_ntz")
        return dates or facts.kind == "integer" or facts.share_shaped("date") >= NEARLY_ALL
    if look in ("identifier", "contact"):
        return facts.crowds.number > facts.people * (1 - NEARLY_ALL)
    if look == "postcode":
        return facts.kind in ("text", "integer")
    return True


def _words(name: str) -> list[str]:
    """The words of a name such as `birth_date`, `birthDate` or `Date of birth`, and the whole of it."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", parted) if part]
    lowered = [part.lower() for part in parts]
    return [*lowered, "".join(lowered), *(a + b for a, b in pairwise(lowered))]
