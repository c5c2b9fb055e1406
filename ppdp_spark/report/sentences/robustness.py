"""r-robustness in words [Robust, Def 3]."""

from __future__ import annotations

from ppdp_spark.report.format.numbers import mapping
from ppdp_spark.report.format.quoted_names import joined, printable
from ppdp_spark.report.sentences.guarantee import Guarantee, Row, Setting, counted, parameter_text, worded

CRITERIA = ("robustness", "relative_robustness", "r_robustness")


def robustness(row: Row, setting: Setting) -> Guarantee:
    """Joint model: the swap bound; binary model: the Δ condition, which says nothing about the joint one."""
    r = parameter_text(row, "r")
    binary = mapping(row, "parameters").get("model", setting.model) == "binary"
    sets = [f"({', '.join(names)})" for names in setting.known_attributes]
    alike = f"alike in {joined(sets)}" if sets else "with the same known attributes"
    who = f"who knows how frequent each value of {setting.sensitive} is among people {alike}"
    looking = ", looking at one value at a time," if binary else ""
    title = f"r-robustness, {printable(row.get('level', ''))}"
    limits = (
        "Somebody whose knowledge differs from these frequencies, or who knows the values of single people."
    )
    if binary:
        limits = (
            "The joint model, in which all values of a group are weighed together: the condition that was "
            f"checked does not imply 1/r there. {limits}"
        )
    against = (
        "Somebody who weighs “this value or not” by those frequencies (the binary model)."
        if binary
        else "Somebody who weighs every way to hand out the values by those frequencies (the joint model)."
    )
    return worded(
        row,
        title,
        (
            f"Nobody {who}{looking} can be more than 1/{r} sure of a person's value.",
            f"in {counted(row)}, it is not shown that somebody {who}{looking} stays within 1/{r}.",
        ),
        "Worst value found",
        against=against,
        limits=limits,
    )


def relative_robustness(row: Row, setting: Setting) -> Guarantee:
    """The same adversary, and how much surer than before the release."""
    said = robustness(row, setting)
    times = parameter_text(row, "times")
    surer = f"more than {times} times as sure of a person's value as before the release"
    return worded(
        row,
        f"surer than before, {printable(row.get('level', ''))}",
        (
            f"Nobody who knows these frequencies becomes {surer}.",
            f"in {counted(row)}, it is not shown that nobody becomes {surer}.",
        ),
        "Largest increase found",
        against=said.holds,
        limits=said.limits,
    )
