"""What people are counted as, in words: households, somebody who knows all members of one, and a population.

What weights say of the population is always called an estimate, and never a guarantee.
"""

from __future__ import annotations

from collections.abc import Callable

from ppdp_spark.report.format.numbers import mapping, number
from ppdp_spark.report.sentences.forms import form_words
from ppdp_spark.report.sentences.guarantee import Guarantee, Row, Setting, counted, holds, worded


def household_k_anonymity(row: Row, setting: Setting) -> Guarantee:
    """k distinct households in every group; the column may hold any other unit, which the spec says."""
    k = number(row.get("threshold"))
    reason = mapping(row, "witness").get("reason")
    broken = f"{counted(row)} have people of fewer than {k} different households."
    return worded(
        row,
        f"k-anonymity in households, k = {k}",
        (
            form_words(setting.form).alike.format(k).replace(" people", " different households"),
            f"{reason}, so households cannot be counted." if reason else broken,
        ),
        "Fewest households of a group",
        against=(
            "Somebody who knows that the person is in the table, all quasi-identifiers of the person and of "
            "everybody in the household, hence their groups, and nothing else about anybody in these."
        ),
        limits=(
            "Learning a value that everybody in the group shares. Somebody who knows that the members of a "
            "household have the same value: what is missing from the group of one is ruled out for all."
        ),
    )


def known_household(row: Row, setting: Setting, of: Callable[[Row, Setting], Guarantee]) -> Guarantee:
    """The words of a criterion, `of` what is left of a group without any one household."""
    inner = {**row, "criterion": mapping(row, "parameters").get("criterion")}
    inner["level"] = str(row.get("level", "")).partition("household, ")[2]
    told, reason = of(inner, setting), mapping(row, "witness").get("reason")
    claim = told.claim.removeprefix("Not met: ")
    left = f"without the members of any one household: {claim}"
    if not holds(row):
        left = f"Not met: {left if reason is None else f'{reason}, so nothing is known of it.'}"
    return Guarantee(
        title=f"known to a household: {told.title}",
        status=told.status,
        claim=left[0].upper() + left[1:],
        margin=told.margin,
        holds=(
            "Somebody who knows all members of one household, a member perhaps, and their values, about "
            "anybody of another household whose group they know."
        ),
        limits=(
            "Somebody who knows the values of two households, or that members of a household have the same "
            "value: what is missing from the group of one is ruled out for all."
        ),
    )


def estimated_population(row: Row, setting: Setting) -> Guarantee:
    """Groups stand for k people of the population, as far as weights can tell."""
    k, reason = number(row.get("threshold")), mapping(row, "witness").get("reason")
    broken = f"by their weights, {counted(row)} stand for fewer than {k} people of the population."
    return worded(
        row,
        f"an estimate, no guarantee: {k} people of the population",
        (
            f"Estimated by the weights in the sample: every group stands for at least {k} people of the "
            "population. How many there are is not known.",
            f"{reason}, so weights cannot be added up." if reason else broken,
        ),
        "Fewest people of the population that a group stands for, estimated",
        against=(
            "Somebody who does not know whether the person is in the table, and looks for a person of the "
            "population with the published quasi-identifiers."
        ),
        limits=(
            "Weights that are wrong for the people of a group: they are right on average, and the few people "
            "of a group say little of how many there are. Somebody who knows that the person is in the "
            "table: for them the people of the table count, and this promises nothing."
        ),
    )
