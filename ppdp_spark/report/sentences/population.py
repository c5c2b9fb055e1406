"""What weights say of the population, in words: always an estimate, never a guarantee."""

from __future__ import annotations

from ppdp_spark.report.format.numbers import mapping, number
from ppdp_spark.report.sentences.guarantee import Guarantee, Row, Setting, counted, worded


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
