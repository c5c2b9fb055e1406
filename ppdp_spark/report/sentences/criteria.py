"""Every criterion in one plain sentence, with its margin, its adversary and its limits.

One function for each criterion: a row of the verdict and the setting in, a `Guarantee` out. The same text
serves the terminal and the page. A sentence promises what the definition promises and no more; a row that
is not a plain `pass` is worded as a criterion that is not met.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ppdp_spark.core.criteria.families import words_of
from ppdp_spark.core.criteria.family import CriterionWords
from ppdp_spark.report.format.numbers import ceiling_percent, listing, mapping, number, percent
from ppdp_spark.report.format.quoted_names import printable, sentence, things
from ppdp_spark.report.sentences.algorithm_aware import CRITERION as PROGRAM
from ppdp_spark.report.sentences.algorithm_aware import knowing_program
from ppdp_spark.report.sentences.attack import (
    COMPOSED,
    COMPOSED_COLUMNS,
    COMPOSED_PEOPLE,
    CRITERION,
    LEARNED,
    PINNED,
    composed,
    inferring,
)
from ppdp_spark.report.sentences.counted_people import (
    estimated_population,
    household_k_anonymity,
    known_household,
)
from ppdp_spark.report.sentences.forms import form_words
from ppdp_spark.report.sentences.guarantee import (
    Guarantee,
    Row,
    Setting,
    counted,
    holds,
    parameter,
    parameter_text,
    worded,
)
from ppdp_spark.report.sentences.robustness import relative_robustness, robustness
from ppdp_spark.report.sentences.several_attributes import CRITERION as UNLINKED
from ppdp_spark.report.sentences.several_attributes import (
    about,
    attribute_of,
    by_attribute,
    setting_of,
    unlinked,
)
from ppdp_spark.report.sentences.skyline import skyline
from ppdp_spark.report.sentences.some_values import of_some, protections
from ppdp_spark.report.sentences.suppression import ABSENT, absent, suppression

KNOWS_GROUP = (
    "Somebody who knows that the person is in the table and all of the person's quasi-identifiers, "
    "hence the group"
)
NOTHING_ELSE = f"{KNOWS_GROUP}, and nothing else about anybody in it."
KNOWS_TABLE = f"{KNOWS_GROUP}, and how often each value occurs in the whole table."
COMMON_LIMITS = (
    "None of these guarantees protects from another release about the same people, from columns that are "
    "published as they are, from facts that should have been declared quasi-identifiers and were not, or "
    "from what the table says about everybody."
)


def k_anonymity(row: Row, setting: Setting) -> Guarantee:
    """Every published description belongs to at least k people."""
    k, words = number(row.get("threshold")), form_words(setting.form)
    limits = (
        "Learning a value that everybody in the group shares, or that is left when others are ruled out: it "
        "says nothing about the sensitive values."
    )
    return worded(
        row,
        f"k-anonymity, k = {k}",
        (
            words.alike.format(k),
            f"{counted(row)} have fewer than {k} people.",
        ),
        "Smallest group",
        against=NOTHING_ELSE,
        limits=limits + words.visible,
    )


def alpha_k_anonymity(row: Row, setting: Setting) -> Guarantee:
    """Groups of at least k people, in which no value has a share above α."""
    share, k = percent(row.get("threshold")), parameter_text(row, "k")
    return worded(
        row,
        f"(α, k)-anonymity, {printable(row.get('level', ''))}",
        (
            f"Every group has at least {k} people, and no value of {setting.sensitive} belongs to more than "
            f"{share} of them.",
            f"{counted(row)} have fewer than {k} people, or a value of {setting.sensitive} that more than "
            f"{share} of them have.",
        ),
        "Largest share of one value in a group",
        share=True,
        against=NOTHING_ELSE,
        limits="Somebody who can rule out values, or who knows the values of others in the group.",
    )


def distinct_l_diversity(row: Row, setting: Setting) -> Guarantee:
    """Every group holds at least ℓ different values."""
    level = number(row.get("threshold"))
    return worded(
        row,
        f"distinct ℓ-diversity, ℓ = {level}",
        (
            f"Every group holds at least {level} different values of {setting.sensitive}.",
            f"{counted(row)} hold fewer than {level} different values of {setting.sensitive}.",
        ),
        "Fewest different values in a group",
        against=NOTHING_ELSE,
        limits=(
            "A good guess: one value may be far more frequent than the others of its group. Somebody who can "
            "rule out values, or who knows the values of others in the group."
        ),
    )


def entropy_l_diversity(row: Row, setting: Setting) -> Guarantee:
    """Values of a group are as uncertain as ℓ equally frequent ones."""
    level = number(row.get("threshold"))
    return worded(
        row,
        f"entropy ℓ-diversity, ℓ = {level}",
        (
            f"The values of {setting.sensitive} in every group are as uncertain (in entropy) as {level} "
            "equally frequent ones.",
            f"{counted(row)} are less uncertain (in entropy) than {level} equally frequent values of "
            f"{setting.sensitive}.",
        ),
        "Least uncertain group, in equally frequent values",
        against=NOTHING_ELSE,
        limits=(
            "A good guess: entropy is an average, and one value may still have a larger share than one in ℓ. "
            "Somebody who can rule out values, or who knows the values of others in the group."
        ),
    )


def recursive_l_diversity(row: Row, setting: Setting) -> Guarantee:
    """The same as the skyline point (ℓ−2, 0, 0) at confidence c/(c+1) [Skyline, Prop 4]."""
    level, c = parameter(row, "l"), parameter(row, "c")
    title = f"recursive (c, ℓ)-diversity, {printable(row.get('level', ''))}"
    if level is None or c is None:
        return other(row, setting)
    ruled_out, sure = int(level) - 2, ceiling_percent(c / (c + 1))
    knows = f"can rule out {things(ruled_out, 'value', 'values')} of {setting.sensitive} for a person"
    who = f"who {knows} and knows no more" if ruled_out else "who knows no more than the group"
    return worded(
        row,
        title,
        (
            f"Nobody {who} can be {sure} sure of the person's value.",
            f"in {counted(row)}, somebody {who} can be {sure} sure or more of the person's value.",
        ),
        "Most frequent value of a group against the ℓ-th and rarer ones",
        against=f"{KNOWS_GROUP}, and can rule out up to ℓ − 2 values.",
        limits="Somebody who can rule out more values, or who knows the values of others in the group.",
    )


def t_closeness(row: Row, setting: Setting) -> Guarantee:
    """The distribution in a group is close to that in the whole table."""
    t, ordered = number(row.get("threshold")), mapping(row, "parameters").get("ordered") is True
    distance = "earth mover's distance over ordered values" if ordered else "equal distance"
    meaning = "" if ordered else ": no value's share differs by more than that"
    return worded(
        row,
        f"t-closeness, {printable(row.get('level', ''))}",
        (
            f"The values of {setting.sensitive} in every group are distributed as in the whole table, up to "
            f"{t} in {distance}{meaning}.",
            f"{counted(row)} are further than {t} ({distance}) from the whole table in {setting.sensitive}.",
        ),
        "Largest distance of a group from the table",
        against=KNOWS_TABLE,
        limits=(
            "A large relative gain on a rare value, which is a small distance. Somebody who knows the values "
            "of others in the group."
        ),
    )


def beta_likeness(row: Row, setting: Setting) -> Guarantee:
    """No value is much more frequent in a group than in the whole table."""
    beta, enhanced = number(row.get("threshold")), "enhanced" in str(row.get("criterion", ""))
    bound = (
        f"β = {beta} times its share in the whole table, nor by more than −ln(share) times it"
        if enhanced
        else f"β = {beta} times its share in the whole table"
    )
    return worded(
        row,
        f"{'enhanced' if enhanced else 'basic'} β-likeness, β = {beta}",
        (
            f"No value of {setting.sensitive} is more frequent in a group than in the whole table by more "
            f"than {bound}.",
            f"in {counted(row)}, a value of {setting.sensitive} is more frequent than in the whole table by "
            f"more than {bound.replace(', nor', ', or')}.",
        ),
        "Largest relative gain of a value",
        against=KNOWS_TABLE,
        limits=(
            "Learning which values a person does not have: a value may be missing from a group. Somebody who "
            "knows the values of others in the group."
        ),
    )


def delta_disclosure(row: Row, setting: Setting) -> Guarantee:
    """Shares in a group and in the whole table differ by a bounded factor."""
    delta = number(row.get("threshold"))
    return worded(
        row,
        f"δ-disclosure privacy, δ = {delta}",
        (
            f"The share of every value of {setting.sensitive} in every group is within a factor e^{delta} of "
            "its share in the whole table.",
            f"in {counted(row)}, the share of a value of {setting.sensitive} is off by a factor e^{delta} or "
            "more from its share in the whole table, or the value is missing.",
        ),
        "Largest |ln(share in the group / share in the table)|",
        against=KNOWS_TABLE,
        limits="Somebody who knows the values of others in the group.",
    )


def proximity(row: Row, setting: Setting) -> Guarantee:
    """No interval of a sensitive number holds too many people of a group."""
    within, share = parameter_text(row, "within"), percent(row.get("threshold"))
    return worded(
        row,
        f"proximity, {printable(row.get('level', ''))}",
        (
            f"No guess at {setting.sensitive} comes within {within} of the values of more than {share} of "
            "the people of a group.",
            f"in {counted(row)}, a guess at {setting.sensitive} comes within {within} of the values of more "
            f"than {share} of the people.",
        ),
        "Largest share of a group near one guess",
        share=True,
        against=NOTHING_ELSE,
        limits="Somebody who can rule out values, or who knows the values of others in the group.",
    )


def blind_grouping(row: Row, setting: Setting) -> Guarantee:
    """What the groups themselves tell whoever knows how they were made: nothing."""
    return worded(
        row,
        f"blind grouping, {printable(row.get('level', ''))}",
        (
            f"Who is in which group was decided without a look at {setting.sensitive}: knowing how this "
            "program works tells nobody more than the groups show.",
            f"{counted(row)} have fewer people than blind groups were to have.",
        ),
        "Smallest group",
        against=(
            "Somebody who knows the program, the spec and the quasi-identifiers of everybody in the table: "
            "what the other criteria bound, they bound for this reader, too."
        ),
        limits=(
            "What the release says about how values depend on quasi-identifiers, for somebody who learns it "
            "from all groups together. A release that was published after another try had been refused: that "
            "the other one failed can be concluded. Priors that were learned from the table, for somebody "
            "who does not know them: that the groups pass tells of them."
        ),
    )


def other(row: Row, setting: Setting) -> Guarantee:
    """A criterion of another package in the words that it brings, or else what was found and needed."""
    brought = words_of(str(row.get("criterion")))
    return _unworded(row) if brought is None else _in_words_of(brought, row, setting)


def _in_words_of(words: CriterionWords, row: Row, setting: Setting) -> Guarantee:
    given = mapping(row, "parameters")
    stated = {
        name: printable(given[name]) if parameter(row, name) is None else parameter_text(row, name)
        for name in given
    }
    facts = {**stated, "sensitive": setting.sensitive, "groups": counted(row)}

    def told(template: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: facts.get(found[1], found[1]), template)

    return worded(
        row,
        told(words.title),
        (told(words.claim), told(words.broken)),
        words.margin,
        share=words.share,
        against=told(words.against),
        limits=told(words.limits),
    )


def _unworded(row: Row) -> Guarantee:
    title = f"{printable(row.get('criterion', 'criterion'))}, {printable(row.get('level', ''))}".rstrip(", ")
    return worded(
        row,
        title,
        ("The criterion holds in every group.", f"{counted(row)} fail."),
        "Worst value found",
        against="As the criterion defines it.",
        limits="Whatever the criterion does not define.",
    )


def household(row: Row, setting: Setting) -> Guarantee:
    """The criterion that holds for what is left of a group, in its own words."""
    return known_household(row, setting, lambda r, s: SENTENCES.get(str(r.get("criterion")), other)(r, s))


BOOKKEEPING = {
    "conservation",
    "files",
    "suppression_budget",
    "l_eligibility",
    "bounds_on_grid",
    "weight_conservation",
    "printed_values",
}
"""Rows that promise nothing of their own while they hold: the table of criteria shows them."""

TOLD_TOGETHER = {"skyline", CRITERION, LEARNED, PROGRAM}
"""Rows that are put in words with others, or with more than the verdict knows."""

SENTENCES: dict[str, Callable[[Row, Setting], Guarantee]] = {
    "k_anonymity": k_anonymity,
    "alpha_k_anonymity": alpha_k_anonymity,
    "distinct_l_diversity": distinct_l_diversity,
    "entropy_l_diversity": entropy_l_diversity,
    "recursive_l_diversity": recursive_l_diversity,
    "t_closeness": t_closeness,
    "basic_beta_likeness": beta_likeness,
    "enhanced_beta_likeness": beta_likeness,
    "delta_disclosure": delta_disclosure,
    "proximity": proximity,
    "household_k_anonymity": household_k_anonymity,
    "known_household": household,
    "estimated_population": estimated_population,
    "robustness": robustness,
    "r_robustness": robustness,
    "relative_robustness": relative_robustness,
    "blind_grouping": blind_grouping,
    UNLINKED: unlinked,
    **dict.fromkeys((PINNED, COMPOSED, COMPOSED_PEOPLE, COMPOSED_COLUMNS), composed),
}


def demanded(verdict: Mapping[str, Any]) -> list[Row]:
    """Rows of what was demanded; whatever is not marked as measured counts."""
    return [row for row in map(mapping, listing(verdict, "criteria")) if row.get("status") != "measured"]


def guarantees(summary: Mapping[str, Any], verdict: Mapping[str, Any]) -> list[Guarantee]:
    """All guarantees of a run in the order of the verdict, those that are not met first.

    `eligibility` and `plan` look at a table of which nothing is published: they guarantee nothing.
    """
    if summary.get("command") in ("eligibility", "plan"):
        return []
    setting, rows, named = Setting.of(summary), demanded(verdict), protections(summary)
    told = []
    for row in rows:
        kept = row.get("criterion") in BOOKKEEPING and holds(row)
        if row.get("criterion") not in TOLD_TOGETHER and not kept:
            attribute, words = attribute_of(row), SENTENCES.get(str(row.get("criterion")), other)
            own = setting_of(setting, attribute)
            told.append(about(of_some(words(row, own), row, own, named), row, setting))
    for attribute, alike in by_attribute(row for row in rows if row.get("criterion") == "skyline"):
        found = skyline(alike, setting_of(setting, attribute))
        told += [about(guarantee, alike[0], setting) for guarantee in found]
    for row in (*_rows_of(verdict, CRITERION), *_rows_of(verdict, LEARNED)):
        own = setting_of(setting, attribute_of(row))
        attacked = inferring(mapping(summary, "attack"), [row], own)
        told += [of_some(each, row, own, named) for each in attacked]
    told += knowing_program(_rows_of(verdict, PROGRAM), setting)
    told += suppression(mapping(summary, "suppression"), setting)
    told += [absent(row, setting) for row in _rows_of(verdict, ABSENT)]
    return sorted(told, key=lambda guarantee: guarantee.status != "fail")


def _rows_of(verdict: Mapping[str, Any], criterion: str) -> list[Row]:
    """The rows of one criterion, measured ones too."""
    rows = map(mapping, listing(verdict, "criteria"))
    return [row for row in rows if row.get("criterion") == criterion]


def passed(verdict: Mapping[str, Any]) -> bool:
    """Whether the verdict is a pass in every part: a status that its own rows contradict is not."""
    rows_hold = all(holds(row) for row in demanded(verdict))
    return verdict.get("status") == "pass" and verdict.get("publishable") is True and rows_hold


def state(summary: Mapping[str, Any], verdict: Mapping[str, Any]) -> str:
    """PASS, FAIL, or what a command found that was asked for no verdict.

    An exploration says how much it takes to breach a value: beside that, PASS would be misread.
    """
    if not passed(verdict):
        return "FAIL"
    if summary.get("command") == "explore":
        return "EXPLORED"
    return "PASS" if demanded(verdict) else "MEASURED"


def outcome(verdict: Mapping[str, Any]) -> str:
    """The verdict in one sentence after the word PASS or FAIL."""
    rows = demanded(verdict)
    failing = sum(not holds(row) for row in rows)
    reason = f" {sentence(verdict['reason'])}" if verdict.get("reason") else ""
    if passed(verdict):
        return (
            f"Every criterion that was demanded holds.{reason}"
            if rows
            else f"No criterion was demanded: this promises nothing.{reason}"
        )
    if failing:
        return f"{failing:,} of {len(rows):,} criteria do not hold: this must not be published.{reason}"
    return f"This must not be published.{reason or ' The verdict gives no reason.'}"


__all__ = ["COMMON_LIMITS", "SENTENCES", "Guarantee", "Setting", "guarantees", "outcome", "passed", "state"]
