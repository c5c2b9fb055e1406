"""Suppression in words: what is proved about the most frequent value, and what is not [Skewed, Sec 3–4]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdp_spark.report.format.numbers import mapping, number, percent
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.report.sentences.guarantee import Guarantee, Setting, column_name

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
