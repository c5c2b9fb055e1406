"""Suppression in words: what is proved about the most frequent value, and what is not [Skewed, Sec 3–4]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdp_spark.report.format.numbers import as_number, mapping, number, percent
from ppdp_spark.report.format.quoted_names import printable, things
from ppdp_spark.report.sentences.guarantee import Guarantee, Row, Setting, column_name, margin

_CLAIMS = {
    "r": (
        "After {suppressed} rows were suppressed, at least {l} values of {sensitive} may have been the most "
        "frequent one before."
    ),
    "safe-d": (
        "After {suppressed} rows were suppressed, at least {l} values of {sensitive} are equally frequent "
        "and lead: any of them may have been the most frequent one before."
    ),
    "unsafe-d": (
        "After {suppressed} rows were suppressed, no value of {sensitive} has more than one in {l} rows; "
        "which one was the most frequent before is not hidden."
    ),
}
_LIMITS = {
    "r": (
        "A good guess: the {l} values need not be equally likely. The attack audit says how likely they are "
        "under one prior."
    ),
    "safe-d": "Somebody who knows how frequent the values were before.",
    "unsafe-d": "Somebody who knows the method: it is deterministic, and leaves a trace of that value.",
}
_OTHERS = " Somebody who knows how frequent the values of another published column were before."


ABSENT = "absent_people"


def absent(row: Row, setting: Setting) -> Guarantee:
    """What is concluded of somebody who was left out, by a reader who knows how often each value occurs."""
    witness = mapping(row, "witness")
    if as_number(row.get("value")) is None:
        claim = "It is not known which values the people have who are left out."
    else:
        claim = (
            f"Of the {things(int(as_number(witness.get('people')) or 0), 'person', 'people')} who are left "
            f"out, {number(witness.get('with this value'))} have the same value of {setting.sensitive}: "
            f"somebody who misses one of them in the release is {percent(row.get('value'))} sure of it."
        )
    return Guarantee(
        title="people who are left out",
        status="measured",
        claim=claim,
        margin=margin(row, "Largest share of one value among them", share=True),
        holds=(
            "Somebody who knows that the person is in the input, finds that no group of the release has the "
            "person, and knows how often each value occurs in the input."
        ),
        limits=(
            "Somebody who retraces why people found no group. Whoever does not know how often values occur "
            "in the input is less sure, unless the guess is good."
        ),
    )


def suppression(section: Mapping[str, Any], setting: Setting) -> list[Guarantee]:
    """What suppression by one of the three methods promises; nothing if no row was suppressed by it."""
    method, suppressed = str(section.get("method")), section.get("suppressed")
    if method not in _CLAIMS or not suppressed:
        return []
    words = {
        "suppressed": number(suppressed),
        "l": number(section.get("l")),
        "sensitive": column_name(section["attribute"]) if setting.attributes else setting.sensitive,
    }
    limits = _LIMITS[method].format(**words) + (_OTHERS if setting.attributes else "")
    audit = mapping(section, "audit").get("sentence")
    margin = f"Suppressed: {percent(section.get('rate'))} of the rows."
    return [
        Guarantee(
            title=f"suppression, method {method}, l = {words['l']}",
            status="note",
            claim=_CLAIMS[method].format(**words),
            margin=f"{margin} {printable(audit)}" if audit else margin,
            holds="Somebody who knows the method, the release and how many rows there were, not the draw.",
            limits=limits,
        )
    ]
