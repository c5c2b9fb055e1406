"""What an adversary with background knowledge infers, in words [MaxEnt, Sections 4.4 and 7.1].

Maximum entropy is what a reader concludes who weighs all that is left open evenly; it bounds nobody else, and
the sentences say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ppdp_spark.report.format.numbers import as_number, listing, mapping, number, percent
from ppdp_spark.report.format.quoted_names import joined, printable, things
from ppdp_spark.report.sentences.forms import form_words
from ppdp_spark.report.sentences.guarantee import Guarantee, Row, Setting, holds, margin

CRITERION, LEARNED = "max_posterior", "learned_posterior"

_EVENLY = ", knows what is stated, and weighs evenly whatever that leaves open (maximum entropy)."
_LEARNING = (
    ", knows nothing about anybody's value, and learns from all groups together how values depend on "
    "quasi-identifiers (naive Bayes, scaled to the counts of each group)."
)
LIMITS = (
    "Somebody who knows more than that, or something else. Somebody who does not weigh evenly what is left "
    "open: this is the conclusion of a reader without prejudice, not a bound on every reader's."
)
LEARNING_LIMITS = (
    "Somebody who knows something, or who learns with a better model: this is the conclusion of one reader, "
    "not a bound on every reader's. In groups of a few people, somebody who weighs all ways to hand out the "
    "values is surer."
)


def inferring(attack: Mapping[str, Any], rows: Sequence[Row], setting: Setting) -> list[Guarantee]:
    """One guarantee, or one measurement, for each row on the largest posterior."""
    return [_told(attack, row, setting) for row in rows]


def known(attack: Mapping[str, Any]) -> str:
    """What the adversary knows at most, as the end of `knowing …`."""
    knowledge = mapping(attack, "knowledge")
    stated = len(listing(knowledge, "stated"))
    parts = [things(stated, "stated fact", "stated facts")] if stated else []
    nothing = "nothing but the release"
    if attack.get("learning"):
        nothing += ", and learning from it how values depend on quasi-identifiers"
    return joined([*parts, *_mined(attack)] or [nothing])


def rules_of(attack: Mapping[str, Any], step: Row) -> tuple[int, int]:
    """Positive and negative rules of a step: as many as were asked for, or as there were to be mined."""
    mined = mapping(attack, "knowledge", "mined")
    asked = [(as_number(step.get(key)) or 0, as_number(mined.get(key))) for key in ("positive", "negative")]
    positive, negative = (int(wanted if there is None else min(wanted, there)) for wanted, there in asked)
    return positive, negative


def _mined(attack: Mapping[str, Any]) -> Iterator[str]:
    steps = [mapping(step) for step in listing(attack, "steps")]
    closeness = _closest(steps)
    for side, what in enumerate(("on who has a value", "on who does not have one")):
        most = max((rules_of(attack, step)[side] for step in steps), default=0)
        if most:
            rules = "strongest rule" if most == 1 else f"{most:,} strongest rules"
            yield f"the {rules} {what}{closeness}"


def _closest(steps: Sequence[Row]) -> str:
    """How exactly the rules are known, where it is not exactly."""
    found = [as_number(step.get("within")) or 0.0 for step in steps]
    return f" (to ± {percent(min(found))})" if found and min(found) > 0 else ""


def _told(attack: Mapping[str, Any], row: Row, setting: Setting) -> Guarantee:
    demanded = as_number(row.get("threshold")) is not None or row.get("status") != "measured"
    status = ("pass" if holds(row) else "fail") if demanded else "measured"
    kind, learns = mapping(attack, "source").get("kind"), row.get("criterion") == LEARNED
    title = "posterior after learning" if learns else "posterior with background knowledge"
    claim = _claim(status, known(attack), row, setting)
    return Guarantee(
        title=f"{title}, {printable(row.get('level', ''))}".rstrip(", "),
        status=status,
        claim=" ".join([claim, *guesses(mapping(attack, "learning"))]) if learns else claim,
        margin=margin(row, "Largest posterior probability", share=True),
        holds=form_words(kind).reader + (_LEARNING if learns else _EVENLY),
        limits=LEARNING_LIMITS if learns else LIMITS,
    )


def guesses(learning: Mapping[str, Any]) -> Iterator[str]:
    """For how many people a value is likely, with and without learning, and how often that is right."""
    if not learning:
        return
    shares, learned = mapping(learning, "shares"), mapping(learning, "learned")
    yield (
        f"A value is more than {percent(learning.get('confidence'))} likely for "
        f"{number(learned.get('beyond'))} people, and by the shares of groups alone for "
        f"{number(shares.get('beyond'))}."
    )
    if as_number(learned.get("right")) is not None:
        yield f"Of these guesses, {number(learned.get('right'))} are right with learning."


def _claim(status: str, facts: str, row: Row, setting: Setting) -> str:
    if as_number(row.get("value")) is None:
        return f"{'Not met: it' if status == 'fail' else 'It'} is not known what follows from {facts}."
    sure = f"{percent(row.get('value'))} sure of a person's value of {setting.sensitive}"
    if status == "fail":
        return f"Not met: knowing {facts}, somebody can be {sure}."
    return f"Knowing {facts}, somebody is at most {sure}."
