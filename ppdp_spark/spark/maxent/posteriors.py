"""What the adversary believes of everyone: P*(s | q) as a table, and its scores, all inside Spark.

A subject is a tuple of quasi-identifiers or, where people are known by name, one of them or the rest of their
tuple. Masses are summed as decimals: whatever order rows come in, the sums are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.maxent.buckets import TUPLE

SUBJECT = (*TUPLE, "person")
POSTERIOR, PRIOR = "posterior", "prior"
CERTAIN = 0.999
BINS = 20
WORST = 20
_EXACT = "decimal(38,18)"


def posterior_rows(masses: DataFrame) -> DataFrame:
    """One row a subject and value: P*(s | q), the closed form, people, and the group most of it is in."""
    together = masses.repartition(*(F.col(name) for name in TUPLE))
    most = F.min(F.struct((-F.col("mass")).alias("mass"), "g1", "g2"))
    joint = together.groupBy(*SUBJECT, C.VALUE).agg(
        _sum("mass").alias("mass"), _sum(PRIOR).alias(PRIOR), most.alias("most")
    )
    subject = Window.partitionBy(*SUBJECT)
    people = F.sum("mass").over(subject).alias(C.PEOPLE)
    shared = joint.select(*SUBJECT, C.VALUE, "mass", PRIOR, F.col("most.g1").alias("group"), people)
    number = F.col(C.PEOPLE).cast("double")
    return shared.where(F.col("mass") > 0).select(
        *SUBJECT,
        C.VALUE,
        (F.col("mass").cast("double") / number).alias(POSTERIOR),
        (F.col(PRIOR).cast("double") / number).alias(PRIOR),
        number.alias(C.PEOPLE),
        "group",
    )


def _sum(value: str | Column) -> Column:
    column = F.col(value) if isinstance(value, str) else value
    return F.sum(column.cast(_EXACT))


@dataclass(frozen=True)
class Scores:
    """The scores of a posterior.

    where
        highest    the largest P*(s | q) of a value that needs protection; the others below are of these, too
        mean       Σ_q P(q) max_s P*(s | q)
        certain    people whose largest posterior is at least `CERTAIN`
        beyond     subjects whose largest posterior is above a threshold
        histogram  people by their largest posterior, in `BINS` bins of equal width
    """

    highest: float
    mean: float
    certain: float
    beyond: int
    histogram: tuple[float, ...]


def needs_protection(protected: Sequence[bool] | None) -> Column:
    """Whether the value of a row needs protection; None says that all do."""
    open_to_all = [code for code, own in enumerate(protected or ()) if not own]
    own = [code for code, own in enumerate(protected or ()) if own]
    if not open_to_all:
        return F.lit(True)
    if len(own) < len(open_to_all):
        return F.col(C.VALUE).isin(own)
    return ~F.col(C.VALUE).isin(open_to_all)


def scores(posterior: DataFrame, *, limit: float, protected: Sequence[bool] | None = None) -> Scores:
    """The scores over the values that need protection, in one pass.

    `limit` is what posteriors must not be above.
    """
    asked = F.when(needs_protection(protected), F.col(POSTERIOR)).otherwise(0.0)
    best = posterior.groupBy(*SUBJECT).agg(F.max(asked).alias("best"), F.first(C.PEOPLE).alias(C.PEOPLE))
    place = F.least(F.floor(F.col("best") * BINS), F.lit(BINS - 1))
    binned = [_sum(F.when(place == i, F.col(C.PEOPLE))).alias(f"bin{i}") for i in range(BINS)]
    found = only_row(
        best.agg(
            F.max("best").alias("highest"),
            _sum(F.col("best") * F.col(C.PEOPLE)).alias("weighted"),
            _sum(C.PEOPLE).alias(C.PEOPLE),
            _sum(F.when(F.col("best") >= CERTAIN, F.col(C.PEOPLE))).alias("certain"),
            F.count_if(F.col("best") > limit).alias("beyond"),
            *binned,
        )
    )
    people = float(found[C.PEOPLE] or 0)
    return Scores(
        highest=float(found["highest"] or 0.0),
        mean=float(found["weighted"] or 0) / people if people else 0.0,
        certain=float(found["certain"] or 0),
        beyond=int(found["beyond"]),
        histogram=tuple(float(found[f"bin{i}"] or 0) for i in range(BINS)),
    )


def worst_linkages(
    posterior: DataFrame, labels: Sequence[str], protected: Sequence[bool] | None = None, number: int = WORST
) -> list[dict[str, Any]]:
    """The most probable linkages to values that need protection, without anyone's quasi-identifiers."""
    most = [F.col(POSTERIOR).desc(), F.col(C.PEOPLE).desc()]
    top = (
        posterior.where(needs_protection(protected))
        .orderBy(*most, "group", C.VALUE, *SUBJECT)
        .select("group", C.VALUE, POSTERIOR, C.PEOPLE, PRIOR)
    )
    rows = to_arrow(top.limit(number)).to_pylist()
    return [{**row, C.VALUE: labels[row[C.VALUE]], C.PEOPLE: round(row[C.PEOPLE], 6)} for row in rows]


def distance(truth: DataFrame, posterior: DataFrame) -> float:
    """Σ_q P(q) Σ_s P(s|q) log(P(s|q) / P*(s|q)) in nats [MaxEnt, Section 7.1]; nothing is smoothed.

    `truth` has `t1, t2`, `value` and `count`. Infinite where a true linkage is held impossible.
    """
    by_tuple = posterior.groupBy(*TUPLE, C.VALUE).agg(_sum(F.col(POSTERIOR) * F.col(C.PEOPLE)).alias("mass"))
    people = F.sum("mass").over(Window.partitionBy(*TUPLE))
    believed = by_tuple.select(
        *TUPLE, C.VALUE, (F.col("mass").cast("double") / people.cast("double")).alias("believed")
    )
    size = F.sum(C.COUNT).over(Window.partitionBy(*TUPLE))
    true = truth.select(*TUPLE, C.VALUE, C.COUNT, (F.col(C.COUNT) / size).alias("share"))
    both = true.join(believed, [*TUPLE, C.VALUE], "left")
    lost = F.coalesce(F.col("believed"), F.lit(0.0)) <= 0
    part = F.when(~lost, F.col(C.COUNT) * F.log(F.col("share") / F.col("believed")))
    found = only_row(
        both.agg(_sum(part).alias("sum"), F.sum(C.COUNT).alias("rows"), F.count_if(lost).alias("lost"))
    )
    if found["lost"]:
        return inf
    return float(found["sum"] or 0) / found["rows"] if found["rows"] else 0.0
