"""How often an adversary is right at each confidence, where the owner has the original table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.maxent.buckets import TUPLE
from ppdp_spark.spark.maxent.posteriors import POSTERIOR, SUBJECT

CLASSES = 10
ALIKE = 1e-9
"""Values whose posteriors differ by less are equally likely: which of them is guessed is open."""

_EXACT = "decimal(38,18)"


@dataclass(frozen=True)
class Calibration:
    """Guesses of everybody's likeliest value.

    where
        classes  people by confidence: `from`, `to`, `people`, their mean `posterior`, and how many guesses
                 are `right` on average, None without the truth
        beyond   people for whom the adversary is more confident than was asked
        right    how many of these guesses are right, None without the truth
    """

    classes: tuple[dict[str, Any], ...]
    beyond: float
    right: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"beyond": self.beyond, "right": self.right, "classes": list(self.classes)}


def calibration(posterior: DataFrame, truth: DataFrame | None, *, confidence: float) -> Calibration:
    """Guesses by confidence, in one pass; `truth` has `t1, t2`, `value` and `count`."""
    guessed = _guesses(posterior, truth)
    place = F.least(F.floor(F.col("best") * CLASSES), F.lit(CLASSES - 1))
    wanted = [("beyond", F.col("best") > confidence), *((f"{i}", place == i) for i in range(CLASSES))]
    people, right = F.col(C.PEOPLE), F.col("right")
    sums = [
        _sum(F.when(chosen, amount)).alias(f"{what}{name}")
        for name, chosen in wanted
        for what, amount in (("people", people), ("sure", people * F.col("best")), ("right", right))
    ]
    found = only_row(guessed.agg(*sums))
    known = truth is not None
    return Calibration(
        tuple(_class(i, found, known) for i in range(CLASSES) if _people(found[f"people{i}"])),
        _people(found["peoplebeyond"]),
        _people(found["rightbeyond"]) if known else None,
    )


def _guesses(posterior: DataFrame, truth: DataFrame | None) -> DataFrame:
    """One row per subject: the likeliest value's posterior, people, and how many of them have it.

    Of several likeliest values one is drawn, so that as many are right as on average over these.
    """
    best = F.max(POSTERIOR).over(Window.partitionBy(*SUBJECT))
    likeliest = posterior.withColumn("best", best).where(F.col(POSTERIOR) > F.col("best") - ALIKE)
    if truth is None:
        share = likeliest.withColumn("share", F.lit(None).cast("double"))
    else:
        size = F.sum(C.COUNT).over(Window.partitionBy(*TUPLE))
        true = truth.select(*TUPLE, C.VALUE, (F.col(C.COUNT) / size).alias("share"))
        share = likeliest.join(true, [*TUPLE, C.VALUE], "left")
    right = _sum(F.coalesce("share", F.lit(0.0))).cast("double") / F.count(F.lit(1))
    by_subject = share.groupBy(*SUBJECT).agg(
        F.first("best").alias("best"), F.first(C.PEOPLE).alias(C.PEOPLE), right.alias("right")
    )
    return by_subject.withColumn("right", F.col("right") * F.col(C.PEOPLE))


def _sum(amount: Column) -> Column:
    return F.sum(amount.cast(_EXACT))


def _class(number: int, found: Any, known: bool) -> dict[str, Any]:
    people = _people(found[f"people{number}"])
    return {
        "from": number / CLASSES,
        "to": (number + 1) / CLASSES,
        "people": people,
        "posterior": float(found[f"sure{number}"]) / people,
        "right": _people(found[f"right{number}"]) if known else None,
    }


def _people(found: Any) -> float:
    """A number of people; candidates for a place count in part."""
    return round(float(found or 0), 6)
