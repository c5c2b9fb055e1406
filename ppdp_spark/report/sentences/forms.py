"""What there is to say of a form of release, and of tables that are none of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ppdp_spark.report.format.numbers import as_number, number


@dataclass(frozen=True)
class FormWords:
    """What depends on the form.

    where
        alike    what k-anonymity says, with the place of k
        visible  what else k-anonymity does not protect from
        reader   who attacks
        penalty  how to read the certainty penalty, beside the usual
        exact    whether quasi-identifiers are published as they are, and only the link to values is lost
    """

    alike: str
    reader: str
    visible: str = ""
    penalty: str = ""
    exact: bool = False


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
            " A bucketized release publishes quasi-identifiers as they are, and loses none of them: what is "
            "lost is which value of a group belongs to whom."
        ),
        exact=True,
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


def what_is_lost(form: Any, mean_group: Any) -> str:
    """What a reader no longer finds in a release of this form, as the end of a sentence."""
    if form_words(form).exact:
        size = f" of {number(mean_group)} people in the mean" if as_number(mean_group) is not None else ""
        return f"the link between quasi-identifiers and values, within groups{size}"
    return "precision of the quasi-identifiers"
