"""Guarantees about households in words: k in households, and somebody who knows all members of one."""

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
