"""What stands in a published row as it is: whom it singles out is counted.

No criterion protects columns that are published as they are. That a value, or a combination of values,
belongs to one person only makes the person's row the first to be found by whoever knows it, whatever is
generalized beside it. It stops the run unless it is declared.

The sensitive value stands in the row, too, where a form shows it there. Whoever knows it, with or without the
other columns, finds rows that nobody finds by quasi-identifiers: that is a warning, with its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.data.forms import FORMS
from ppdp_spark.errors import DataError
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.spark.data.profile import Profile, sensitive_value
from ppdp_spark.spark.data.sameness import folded
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.column_names import column

if TYPE_CHECKING:
    from ppdp_spark.spec import ColumnsSpec, ReleaseSpec


@dataclass(frozen=True)
class AsIs:
    """Columns published as they are, and the people whom their values together single out."""

    columns: tuple[str, ...] = ()
    singled_out: int = 0

    @property
    def warnings(self) -> list[str]:
        """What the owner has declared to be harmless, with its size."""
        if not self.singled_out:
            return []
        return [
            f"{_people(self.singled_out)} nobody else has in the columns published as they are "
            f"({_named(self.columns)}): whoever knows them finds the row; `columns.may_single_out` says "
            "that nobody outside does"
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "singled_out": self.singled_out}


@dataclass(frozen=True)
class BesideSensitive:
    """Sensitive columns with the columns published as they are, and whom they single out together.

    It is one sensitive column, or all that are published linked.
    """

    sensitive: tuple[str, ...]
    columns: tuple[str, ...]
    singled_out: int

    @property
    def warnings(self) -> list[str]:
        """What quasi-identifiers do not tell: these people are found by what stands beside them."""
        if not self.singled_out:
            return []
        beside = f" and the columns published as they are ({_named(self.columns)}) together"
        fix = "publish a coarser sensitive column, fewer columns as they are, or `form: bucketized`"
        columns = "column" if len(self.sensitive) == 1 else "columns"
        return [
            f"{_people(self.singled_out)} nobody else has in the sensitive {columns} {_named(self.sensitive)}"
            f"{beside if self.columns else ''}: whoever knows them finds the row, although nobody is found "
            f"by quasi-identifiers; {fix}"
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"columns": [*self.sensitive, *self.columns], "singled_out": self.singled_out}


def beside_sensitive(table: DataFrame, spec: ReleaseSpec, profile: Profile) -> list[BesideSensitive]:
    """How many people each sensitive column singles out, with the columns published as they are.

    Linked columns stand in one row: all of them together are looked at, too.
    None where rows do not show sensitive values. `table` has one record per person. One aggregation; values
    that stand alone are counted already.
    """
    if not FORMS[spec.output.form].side_by_side:
        return []
    kept, found = spec.columns.publish_as_is, []
    for declared, domain in zip(spec.columns.attributes, profile.domains, strict=True):
        if declared.case == "svpi" and not kept:
            alone = sum(count == 1 for count in domain.counts)
        else:
            alone = _alone(table, [*_values(table, kept), sensitive_value(declared, table)])
        found.append(BesideSensitive((declared.column,), kept, alone))
    if spec.columns.sensitive_linked is not None:
        every = [sensitive_value(declared, table) for declared in spec.columns.attributes]
        names = tuple(declared.column for declared in spec.columns.attributes)
        found.append(BesideSensitive(names, kept, _alone(table, [*_values(table, kept), *every])))
    return found


def singled_out(table: DataFrame, columns: ColumnsSpec) -> AsIs:
    """How many people the columns published as they are single out; `DataError` if that is not declared.

    `table` has one record per person. Exact, by a group for each combination of values.
    """
    names = columns.as_is
    if not names:
        return AsIs()
    told = [name for name in names if name not in columns.may_single_out]
    unique = _unique(table, told) if told else 0
    if unique:
        raise DataError(
            f"{_fields(columns)}: {_people(unique)} nobody else has in {_named(told)}; whoever knows "
            "them finds the row: make them quasi-identifiers or leave them out, or list those that nobody "
            f"outside can know in `columns.may_single_out`{_about_weights(columns, told)}"
        )
    return AsIs(names, _unique(table, names) if len(told) < len(names) else 0)


def _unique(table: DataFrame, names: Sequence[str]) -> int:
    """People whose values of these columns nobody else has."""
    return _alone(table, _values(table, names))


def _values(table: DataFrame, names: Sequence[str]) -> list[Column]:
    return [folded(column(name), table.schema[name].dataType) for name in names]


def _alone(table: DataFrame, values: Sequence[Column]) -> int:
    """People whose values nobody else has; by a group for each combination of values."""
    named = [value.alias(f"a{j}") for j, value in enumerate(values)]
    counted = table.select(*named).groupBy(*(f"a{j}" for j in range(len(named)))).count()
    return int(only_row(counted.agg(F.count_if(F.col("count") == 1).alias("unique")))["unique"])


def _fields(columns: ColumnsSpec) -> str:
    """The fields of the spec that publish columns as they are."""
    named = {"`columns.publish_as_is`": bool(columns.publish_as_is), "`columns.weight`": _shows(columns)}
    return " and ".join(field for field, given in named.items() if given)


def _shows(columns: ColumnsSpec) -> bool:
    return columns.weight is not None and columns.weight.publish


def _about_weights(columns: ColumnsSpec, told: Sequence[str]) -> str:
    """What else there is to do about a published weight."""
    if columns.weight is None or columns.weight.column not in told:
        return ""
    return f"; round the weights in {_named([columns.weight.column])}, or keep them (`publish: false`)"


def _people(number: int) -> str:
    return "1 person has values that" if number == 1 else f"{number:,} people have values that"


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"`{printable(name)}`" for name in names)
