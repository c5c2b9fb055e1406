"""The strongest rules of the original table: one scan of the rows, rollups of the counts, ranking in Spark.

Only the K₊ and K₋ best rules of a batch of rollups come to the driver, however many combinations there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.maxent.rules import FEWEST_VALUES, PLAIN, Rule, strongest
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.versions import to_arrow

SETS_A_PASS = 48
"""Sets of attributes rolled up in one pass over the counts."""

_SET, _HOLDING, _NEGATED, _HAVING = "set", "holding", "negated", "having"


@dataclass(frozen=True)
class Mining:
    """What is mined.

    where
        attributes  columns `q0, q1, …` of the counts
        values      number of sensitive values rules may speak of: codes 0, 1, …; others are −1
        positive    K₊
        negative    K₋
        support     people for whom a rule must hold
        negated     whether one value of a rule may be negated
    """

    attributes: int
    values: int
    positive: int
    negative: int
    support: int
    negated: bool = False

    def rules(self, counts: DataFrame, sets: Sequence[tuple[int, ...]]) -> tuple[list[Rule], list[Rule]]:
        """The K₊ positive and the K₋ negative rules of highest rank over all sets.

        `counts` has the attributes, `value` and `count`; every pass reads it once, so it should be kept
        in memory. Sets must come in the order of `attribute_sets`.
        """
        best: dict[bool, list[Rule]] = {True: [], False: []}
        for first in range(0, len(sets), SETS_A_PASS):
            some = sets[first : first + SETS_A_PASS]
            rolled = self._rolled(counts, some).persist()
            for side, number in ((True, self.positive), (False, self.negative)):
                if number and self.values:
                    candidates = self._positive(rolled) if side else self._negative(rolled)
                    found = self._first(candidates, some, number, side)
                    best[side] = strongest([*best[side], *found], number)
            rolled.unpersist()
        return best[True], best[False]

    @property
    def _keys(self) -> list[str]:
        return [C.code(j) for j in range(self.attributes)]

    def _rolled(self, counts: DataFrame, sets: Sequence[tuple[int, ...]]) -> DataFrame:
        """People by set, by the values of its attributes and by sensitive value, in one pass.

        In `grouping_id` the first column is the highest bit, and a bit is 1 where a column is left out.
        """
        keys, last = self._keys, self.attributes
        grouped = counts.groupingSets(
            [[*(C.column(C.code(j)) for j in some), C.column(C.VALUE)] for some in sets], *keys, C.VALUE
        ).agg(F.sum(C.COUNT).alias(C.COUNT), F.grouping_id().alias("left_out"))
        every = (1 << (last + 1)) - 1
        marks = [every - 1 - sum(1 << (last - j) for j in some) for some in sets]
        places = F.create_map(*(F.lit(n) for place, mark in enumerate(marks) for n in (mark, place)))
        place = F.element_at(places, F.col("left_out").cast("int")).alias(_SET)
        values = F.struct(C.VALUE, C.COUNT)
        rolled = (
            grouped.select(place, *keys, C.VALUE, C.COUNT)
            .groupBy(_SET, *keys)
            .agg(F.sum(C.COUNT).alias(C.PEOPLE), F.collect_list(values).alias(_HAVING))
        )
        plain = rolled.withColumn(_NEGATED, F.lit(PLAIN))
        found = plain.unionByName(self._others(rolled, sets)) if self.negated else plain
        return found.where(F.col(C.PEOPLE) >= self.support)

    def _others(self, rolled: DataFrame, sets: Sequence[tuple[int, ...]]) -> DataFrame:
        """The same for each combination with one value negated: people who have the others and not that one.

        All combinations that agree in the other values are brought together, and each is taken away again.
        """
        places = F.element_at(F.array(*(F.array(*map(F.lit, some)) for some in sets)), F.col(_SET) + 1)
        each = rolled.withColumn(_NEGATED, F.explode(places))
        others = {
            f"other_{j}": F.when(F.col(_NEGATED) != j, F.col(C.code(j))) for j in range(self.attributes)
        }
        each = each.withColumns(others)
        group = [_SET, _NEGATED, *others]
        sizes = each.groupBy(*group).agg(
            F.sum(C.PEOPLE).alias("everybody"), F.count(F.lit(1)).alias("values")
        )
        counted = (
            each.select(*group, F.inline(_HAVING)).groupBy(*group, C.VALUE).agg(F.sum(C.COUNT).alias(C.COUNT))
        )
        together = counted.groupBy(*group).agg(F.collect_list(F.struct(C.VALUE, C.COUNT)).alias("together"))
        whole = _joined(sizes.where(F.col("values") >= FEWEST_VALUES), together, group)
        own = F.map_from_entries(_HAVING)
        rest = F.transform(
            "together",
            lambda one: F.struct(
                one[C.VALUE].alias(C.VALUE),
                (one[C.COUNT] - F.coalesce(own[one[C.VALUE]], F.lit(0))).alias(C.COUNT),
            ),
        )
        people = F.col("everybody") - F.col(C.PEOPLE)
        return _joined(each, whole, group).select(
            _SET, *self._keys, people.alias(C.PEOPLE), rest.alias(_HAVING), _NEGATED
        )

    def _positive(self, rolled: DataFrame) -> DataFrame:
        """Q_v ⇒ s, for values that somebody of Q_v has."""
        found = rolled.select(_SET, _NEGATED, *self._keys, C.PEOPLE, F.inline(_HAVING))
        return found.where(F.col(C.VALUE) >= 0).withColumnRenamed(C.COUNT, _HOLDING)

    def _negative(self, rolled: DataFrame) -> DataFrame:
        """Q_v ⇒ ¬s, for every value, those that nobody of Q_v has included."""
        every = F.explode(F.sequence(F.lit(0), F.lit(self.values - 1))).alias(C.VALUE)
        counted = F.map_from_entries(_HAVING).alias("counted")
        spread = rolled.select(_SET, _NEGATED, *self._keys, C.PEOPLE, counted, every)
        having = F.coalesce(F.col("counted")[F.col(C.VALUE)], F.lit(0))
        return spread.withColumn(_HOLDING, F.col(C.PEOPLE) - having)

    def _first(
        self, candidates: DataFrame, sets: Sequence[tuple[int, ...]], number: int, positive: bool
    ) -> list[Rule]:
        """The first rules in the order of `Rule.rank`."""
        confidence: Column = F.col(_HOLDING) / F.col(C.PEOPLE)
        ties = [F.col(key).asc_nulls_first() for key in self._keys]
        ranked = candidates.where(F.col(_HOLDING) >= self.support).orderBy(
            confidence.desc(), F.col(_HOLDING).desc(), _SET, _NEGATED, *ties, F.col(C.VALUE)
        )
        shown = ranked.select(_SET, _NEGATED, *self._keys, C.VALUE, _HOLDING, C.PEOPLE)
        table = to_arrow(shown.limit(number))
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return [
            Rule(
                attributes=sets[place],
                codes=tuple(found[j] for j in sets[place]),
                value=found[-3],
                positive=positive,
                holding=found[-2],
                people=found[-1],
                negated=None if negated == PLAIN else negated,
            )
            for place, negated, *found in rows
        ]


def _joined(left: DataFrame, right: DataFrame, names: Sequence[str]) -> DataFrame:
    """Rows that agree in these columns, where nulls are alike; the columns once."""
    renamed = right.withColumnsRenamed({name: f"{name}_" for name in names})
    alike = [F.col(name).eqNullSafe(F.col(f"{name}_")) for name in names]
    return left.join(renamed, alike).drop(*(f"{name}_" for name in names))
