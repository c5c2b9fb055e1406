"""What there is to say of a form of release, and of tables that are none of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FormWords:
    """What depends on the form.

    where
        alike    what k-anonymity says, with the place of k
        visible  what else k-anonymity does not protect from
        reader   who attacks
        penalty  how to read the certainty penalty, beside the usual
    """

    alike: str
    reader: str
    visible: str = ""
    penalty: str = ""


FORM_WORDS = {
    "generalized": FormWords(
        alike="Every published combination of quasi-identifiers belongs to at least {} people.",
        reader="Somebody who reads the release, knows everybody's quasi-identifiers from elsewhere",
    ),
    "bucketized": FormWords(
        alike="Every list of values is published for at least {} people together, never for fewer.",
        reader="Somebody who reads the release, finds people by their quasi-identifiers in it",
        visible=" Quasi-identifiers are published as they are: who is in the table is not hidden.",
        penalty=(
            " A bucketized release publishes quasi-identifiers as they are; for it, this is how wide its "
            "groups are."
        ),
    ),
    "rowwise": FormWords(
        alike="Every published combination of quasi-identifiers belongs to at least {} people.",
        reader="Somebody who reads the release, knows everybody's quasi-identifiers from elsewhere",
        visible=" People have several rows, and are counted once: rows are more.",
    ),
}

OF_TABLES = FormWords(
    alike="Every group has at least {} people.",
    reader="Somebody who reads the table, finds people by their quasi-identifiers in it",
)


def form_words(name: Any) -> FormWords:
    """The words for a form by its name, or those for any table of groups."""
    return FORM_WORDS.get(str(name), OF_TABLES)
