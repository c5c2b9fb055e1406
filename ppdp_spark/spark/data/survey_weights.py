"""Survey weights: every row must have one, and it counts in whole units, so that sums are exact.

A weight is taken as its decimal text says and rounded down to units of a millionth of a person: sums depend
neither on order nor on partitioning, and no estimate of a population is larger than its weights say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.weight_units import DIGITS, LARGEST_SUM, LARGEST_WEIGHT, UNITS, in_people
from ppdp_spark.errors import DataError, InternalError
from ppdp_spark.spark.data.sameness import folded
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row

if TYPE_CHECKING:
    from ppdp_spark.spec import ColumnsSpec

_EXACT = "decimal(38,24)"
"""Has every digit of a double from a millionth of a person to the largest weight that is allowed."""


@dataclass(frozen=True)
class WeightFacts:
    """The weights of a table.

    where
        column     their column
        rows       rows of the table
        units      their sum
        below_one  rows that stand for less than one person
    """

    column: str
    rows: int
    units: int
    below_one: int

    @property
    def warnings(self) -> list[str]:
        """What weights below 1 may mean."""
        if not self.below_one:
            return []
        return [
            f"`columns.weight`: {self.below_one:,} of {self.rows:,} rows have a weight below 1, though a row "
            "stands for one person at least: they may have been scaled, to a mean of 1 perhaps; what is "
            "estimated of the population is then too small"
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"column": self.column, "below_one": self.below_one, "input": in_people(self.units)}


def weight_units(value: Column, kind: T.DataType) -> Column:
    """A weight in units; null if it is none."""
    if isinstance(kind, T.FloatType | T.DoubleType):
        # The text of a float is what its column shows; as a double it would have other digits.
        inside = folded(value, kind).between(0, LARGEST_WEIGHT)
        value = F.when(inside, value.cast("string" if isinstance(kind, T.FloatType) else "double"))
        value = value.cast(_EXACT)
    elif not isinstance(kind, T.DecimalType):
        value = F.when(value.between(0, LARGEST_WEIGHT), value.cast("decimal(19,0)"))
    else:
        value = F.when(value.between(0, LARGEST_WEIGHT), value)
    down = F.floor(value, F.lit(DIGITS)) if _has_fraction(kind) else value
    return (down.cast(f"decimal(19,{DIGITS})") * F.lit(UNITS)).cast("bigint")


def _has_fraction(kind: T.DataType) -> bool:
    """Whether there may be digits after the last unit."""
    whole = isinstance(kind, T.IntegralType) or (isinstance(kind, T.DecimalType) and kind.scale <= DIGITS)
    return not whole


def units_of(table: DataFrame, name: str) -> Column:
    """The weight of each row in units."""
    return weight_units(C.column(name), table.schema[name].dataType)


def require_weights(table: DataFrame, columns: ColumnsSpec) -> WeightFacts | None:
    """The weights of a table of people, if it has any; one `DataError` with what is wrong with them."""
    if columns.weight is None:
        return None
    name = columns.weight.column
    value = folded(C.column(name), table.schema[name].dataType)
    units = units_of(table, name)
    many = value > LARGEST_WEIGHT
    wanted = {
        "rows": F.count(F.lit(1)),
        "missing": F.count_if(value.isNull()),
        "not_above": F.count_if(value <= 0),
        "many": F.count_if(many),
        "below_one": F.count_if((value > 0) & (value < 1)),
        "units": F.sum(units.cast("decimal(38,0)")),
    }
    found = only_row(table.agg(*(expression.alias(what) for what, expression in wanted.items())))
    problems = _problems(name, found)
    if columns.person is not None:
        problems += _disagreements(table, columns.person.column, name)
    if problems:
        raise DataError(problems)
    return WeightFacts(name, found["rows"], int(found["units"] or 0), found["below_one"])


def _problems(name: str, found: Row) -> list[str]:
    wrong = {
        "missing": "have none (null or NaN)",
        "not_above": "have a weight that is not above 0",
        "many": f"have a weight above {LARGEST_WEIGHT:,}",
    }
    problems = [
        f"`columns.weight`: {found[what]:,} of {found['rows']:,} rows {told}; every row must say by `{name}` "
        "how many people of the population it stands for: clean them, or remove these rows"
        for what, told in wrong.items()
        if found[what]
    ]
    if not problems and int(found["units"] or 0) > LARGEST_SUM:
        problems.append(
            f"`columns.weight`: the weights in `{name}` add up to more than {LARGEST_SUM // UNITS:,} people"
        )
    return problems


def _disagreements(table: DataFrame, person: str, name: str) -> list[str]:
    """That a person has one weight, also where a table has a record for every group a person is in."""
    value = folded(C.column(name), table.schema[name].dataType)
    told = table.groupBy(C.column(person)).agg(F.min(value) != F.max(value))
    several = only_row(told.agg(F.count_if(F.col(told.columns[1]))))[0]
    fix = f"a person has one weight, whatever the number of rows: several values of `{name}`; clean the table"
    return [f"`columns.weight`: {several:,} people have several weights; {fix}"] if several else []


def kept_units(rows: DataFrame) -> int:
    """The sum of the weights of coded rows, in units."""
    return int(only_row(rows.agg(F.sum(C.WEIGHT)))[0] or 0)


def require_same_weight(published: int, kept: int, *, everybody: bool) -> None:
    """No weight may be lost on the way: all of it is published if everybody has a place, else less."""
    if published > kept or (everybody and published != kept):
        raise InternalError("weights do not add up to those of the table: nothing was published")
