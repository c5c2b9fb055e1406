"""What an adversary with background knowledge, or with several releases, infers, in words.

[MaxEnt, Sections 4.4 and 7.1] for knowledge; for releases see the theory page on releases together.

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

PINNED, COMPOSED, COMPOSED_PEOPLE, COMPOSED_COLUMNS = (
    "composition_pinned",
    "composition_posterior",
    "composition_people",
    "composition_columns",
)
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


_HOLDING = (
    "Somebody who holds these releases, knows the quasi-identifiers of the people, and knows that nobody's "
    "value changed between them"
)
_COUNTING = f"{_HOLDING}; nothing is assumed about how likely values are."
_WEIGHING = f"{_HOLDING}, weighs evenly whatever the counts of all groups leave open, and knows nothing else."
COMPOSED_LIMITS = (
    "Somebody who knows more. Releases that were not looked at. What follows only from many groups taken "
    "together is not followed to the end."
)


def composed(row: Row, setting: Setting) -> Guarantee:
    """One row on several releases: people pinned, the largest posterior, what was not looked at."""
    told = {PINNED: _pinned, COMPOSED: _fused, COMPOSED_PEOPLE: _far, COMPOSED_COLUMNS: _crossed}
    return told[str(row.get("criterion"))](row)


def _together(row: Row) -> str:
    releases = [printable(each) for each in listing(mapping(row, "parameters"), "releases")]
    return joined(releases) or "all releases"


def _guarantee(row: Row, title: str, words: tuple[str, str], shown: str, **rest: str) -> Guarantee:
    met = holds(row)
    return Guarantee(
        title=title,
        status="pass" if met else "fail",
        claim=words[0] if met else f"Not met: {words[1]}",
        margin=shown,
        holds=rest.get("against", _COUNTING),
        limits=rest.get("limits", COMPOSED_LIMITS),
    )


def _pinned(row: Row) -> Guarantee:
    people = things(int(as_number(row.get("value")) or 0), "person", "people")
    return _guarantee(
        row,
        f"nobody pinned by {_together(row)}",
        (
            f"Nobody is left with a single value by {_together(row)} who is not by one of them alone.",
            f"{_together(row)} together leave {people} with a single value, whom none of them does alone.",
        ),
        margin(row, "People left with a single value"),
    )


def _fused(row: Row) -> Guarantee:
    sure = f"{percent(row.get('value'))} sure of a person's value"
    return _guarantee(
        row,
        f"posterior with {_together(row)}",
        (
            f"Whoever holds {_together(row)} is at most {sure}.",
            f"whoever holds {_together(row)} can be {sure}.",
        ),
        margin(row, "Largest posterior probability", share=True),
        against=_WEIGHING,
        limits=f"{COMPOSED_LIMITS} It is the conclusion of one reader, not a bound on every reader's.",
    )


def _far(row: Row) -> Guarantee:
    people = things(int(as_number(row.get("value")) or 0), "person fits", "people fit")
    return _guarantee(
        row,
        "everybody looked at",
        ("Everybody was looked at.", f"{people} too many groups to be looked at."),
        margin(row, "People not looked at"),
    )


def _crossed(row: Row) -> Guarantee:
    columns = [printable(each) for each in listing(mapping(row, "witness"), "columns")]
    return _guarantee(
        row,
        "no sensitive column shown elsewhere",
        ("No column is sensitive in one release and shown in another.", f"{joined(columns)}."),
        margin(row, "Columns sensitive in one release and shown beside people in another"),
    )
