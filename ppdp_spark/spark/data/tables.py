"""Checking that a table of people has the columns and types the spec speaks of."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from ppdp_spark.core.data.forms import FORMS
from ppdp_spark.errors import DataError
from ppdp_spark.spark.data.sameness import hashed_alike
from ppdp_spark.spark.engine.versions import VARIANT

if TYPE_CHECKING:
    from ppdp_spark.spec import ColumnsSpec, ReleaseSpec, SensitiveSpec

KINDS: dict[type[T.DataType], str] = {
    T.ByteType: "integer",
    T.ShortType: "integer",
    T.IntegerType: "integer",
    T.LongType: "integer",
    T.FloatType: "float",
    T.DoubleType: "float",
    T.DecimalType: "decimal",
    T.DateType: "date",
    T.TimestampType: "timestamp",
    T.TimestampNTZType: "timestamp_ntz",
    T.BooleanType: "boolean",
    T.StringType: "text",
    T.CharType: "text",
    T.VarcharType: "text",
}
"""What the values of a Spark type are; columns of other types cannot be generalized."""

_ACCEPTS = {
    "numeric": ("integer", "float", "decimal"),
    "date": ("date",),
    "timestamp": ("timestamp", "timestamp_ntz"),
    "boolean": ("boolean",),
    "categorical": ("text", "boolean", "integer", "float", "decimal", "date"),
}

_EXACT_DIGITS = 18


@dataclass(frozen=True)
class Roles:
    """How each declared column is to be treated, and which columns have no role at all.

    where
        kinds       quasi-identifier -> `categorical` or the kind of its ordered values
        sensitive   Spark type of each sensitive column (of its elements, for arrays)
        unassigned  columns without a role: they are not published
    """

    kinds: dict[str, str]
    sensitive: tuple[str, ...]
    unassigned: tuple[str, ...]


def require_declared(table: DataFrame, columns: ColumnsSpec) -> None:
    """Check that a table of rows has every column that the spec names, whatever its type."""
    types = {field.name: field.dataType for field in table.schema.fields}
    problems = _missing(types, declared_columns(columns, of_rows=True))
    if problems:
        raise DataError(problems)


def assign_roles(table: DataFrame, columns: ColumnsSpec, *, source: DataFrame | None = None) -> Roles:
    """Check every declared column against the table; all problems are reported together.

    `source` is the table of rows, if those of each person were brought together since.
    """
    types = {field.name: field.dataType for field in table.schema.fields}
    declared = declared_columns(columns)
    problems = _missing(types, declared)
    kinds: dict[str, str] = {}
    for name, attribute in columns.quasi_identifiers.items():
        if name in types:
            found = element_of(types[name]) if attribute.varies == "range" else types[name]
            kinds[name] = _kind(name, attribute.type, found, bool(attribute.hierarchy), problems)
    sensitive = _sensitive_types(columns, types, problems)
    problems += [*_weight_problems(columns, types), *_collation_problems(columns, types)]
    for name in columns.publish_as_is:
        if isinstance(types.get(name), (T.MapType, *VARIANT)):
            problems.append(
                f"`columns.publish_as_is`: `{name}` is {types[name].simpleString()}, which has no order"
            )
    if problems:
        raise DataError(problems)
    named = declared_columns(columns, of_rows=True)
    names = types if source is None else source.columns
    return Roles(kinds, sensitive, tuple(name for name in names if name not in named))


def require_columns(table: DataFrame, columns: ColumnsSpec) -> None:
    """Check that a finished table has the columns that make its groups, whatever their types."""
    types = {field.name: field.dataType for field in table.schema.fields}
    problems = _missing(types, declared_columns(columns))
    _sensitive_types(columns, types, problems)
    problems += [*_weight_problems(columns, types), *_collation_problems(columns, types)]
    for name in [columns.group] if columns.group else columns.quasi_identifiers:
        if isinstance(types.get(name), (T.MapType, *VARIANT)):
            problems.append(f"`{name}` is {types[name].simpleString()}: groups cannot be formed by it")
    if problems:
        raise DataError(problems)


def reject_name_clashes(spec: ReleaseSpec, roles: Roles) -> None:
    """Published names must be distinct, the ones this program adds included."""
    form = FORMS[spec.output.form]
    names = list(form.reserved)
    for name, kind in roles.kinds.items():
        names += form.columns(name, ordered=kind != "categorical")
    names += spec.columns.as_is
    names += [attribute.column for attribute in spec.columns.attributes]
    lowered = [name.lower() for name in names]
    twice = sorted({name for name in names if lowered.count(name.lower()) > 1})
    if twice:
        raise DataError(f"published columns would share a name: {', '.join(twice)}; rename them in the input")


def require_single_values(table: DataFrame, spec: ReleaseSpec) -> None:
    """Where the rows of people are published, each has one value."""
    for place, attribute in sensitive_places(spec.columns) if FORMS[spec.output.form].of_rows else ():
        kind = table.schema[attribute.column].dataType
        if isinstance(kind, T.ArrayType):
            raise DataError(
                f"`{place}.column`: `{attribute.column}` is {kind.simpleString()}, and `output.form` "
                f"({spec.output.form}) publishes one value per row; explode it, or use the form generalized"
            )


def _missing(types: Mapping[str, T.DataType], declared: Mapping[str, str]) -> list[str]:
    problems = []
    for name, field in declared.items():
        if name not in types:
            near = difflib.get_close_matches(name, types, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"the table has: {', '.join(sorted(types))}"
            problems.append(f"`{field}`: the table has no column `{name}`; {hint}")
    if len({name.lower() for name in types}) < len(types):
        problems.append("the table has columns whose names differ in case only: rename them")
    return problems


def declared_columns(columns: ColumnsSpec, *, of_rows: bool = False) -> dict[str, str]:
    """Every column the spec names -> the field that names it.

    Of a table with one record per person, unless it is about the table of rows that those are made of.
    """
    names = dict.fromkeys(columns.identifiers if of_rows else columns.of_records, "columns.identifiers")
    if columns.person is not None:
        names[columns.person.column] = "columns.person.column"
        if columns.person.latest_by is not None and of_rows:
            names[columns.person.latest_by] = "columns.person.latest_by"
    if columns.household is not None:
        names[columns.household.column] = "columns.household.column"
    if columns.weight is not None:
        names[columns.weight.column] = "columns.weight.column"
    names |= {name: f"columns.quasi_identifiers.{name}" for name in columns.quasi_identifiers}
    names |= dict.fromkeys(columns.publish_as_is, "columns.publish_as_is")
    names |= {attribute.column: f"{place}.column" for place, attribute in sensitive_places(columns)}
    if columns.group is not None:
        names[columns.group] = "columns.group"
    return names


def element_of(kind: T.DataType) -> T.DataType:
    """The type of single values, where those of a person may stand in an array."""
    return kind.elementType if isinstance(kind, T.ArrayType) else kind


def _kind(name: str, wanted: str | None, found: T.DataType, hierarchy: bool, problems: list[str]) -> str:
    field = f"columns.quasi_identifiers.{name}"
    kind = KINDS.get(type(found))
    if kind is None:
        problems.append(
            f"`{field}`: columns of type {found.simpleString()} cannot be generalized; "
            "use numbers, dates, timestamps, booleans or text"
        )
        return "categorical"
    if wanted is None:
        wanted = "categorical" if hierarchy or kind in ("text", "boolean") else kind
        return _checked_digits(field, found, wanted, problems)
    if kind not in _ACCEPTS[wanted]:
        problems.append(f"`{field}.type` is {wanted}, but the column holds {kind} ({found.simpleString()})")
    if wanted in ("categorical", "boolean"):
        return "categorical"
    return _checked_digits(field, found, kind, problems)


def _checked_digits(field: str, found: T.DataType, kind: str, problems: list[str]) -> str:
    if kind == "decimal" and isinstance(found, T.DecimalType) and beyond_exact_digits(found):
        problems.append(
            f"`{field}`: {found.simpleString()} has more than {_EXACT_DIGITS} digits; "
            f"cast it to decimal({_EXACT_DIGITS},{min(found.scale, _EXACT_DIGITS)}) or double"
        )
    return kind


def _collation_problems(columns: ColumnsSpec, types: Mapping[str, T.DataType]) -> list[str]:
    """That what tells secrets, people or households apart does so by its bytes.

    Where texts that differ may be the same, as in a collation that ignores case, they would count as two.
    """
    asked = {attribute.column: f"{place}.column" for place, attribute in sensitive_places(columns)}
    for field, unit in (("person", columns.person), ("household", columns.household)):
        if unit is not None:
            asked[unit.column] = f"columns.{field}.column"
    return [
        f"`{field}`: `{name}` is {types[name].simpleString()}, in which texts that differ may be the same, "
        "and would count as two: make those alike that are, and cast the column to string"
        for name, field in asked.items()
        if name in types and not hashed_alike(types[name])
    ]


def _weight_problems(columns: ColumnsSpec, types: Mapping[str, T.DataType]) -> list[str]:
    """That weights are numbers."""
    found = None if columns.weight is None else types.get(columns.weight.column)
    if columns.weight is None or found is None or KINDS.get(type(found)) in _ACCEPTS["numeric"]:
        return []
    name = columns.weight.column
    return [f"`columns.weight`: `{name}` is {found.simpleString()}; weights are numbers: cast it to double"]


def beyond_exact_digits(kind: T.DataType) -> bool:
    """Whether values of a decimal type have more digits than can be generalized exactly."""
    return isinstance(kind, T.DecimalType) and kind.precision > _EXACT_DIGITS


def sensitive_places(columns: ColumnsSpec) -> list[tuple[str, SensitiveSpec]]:
    """The sensitive attributes, each with the field of the spec that declares it."""
    several = len(columns.attributes) > 1
    return [
        (f"columns.sensitive{f'.{i}' if several else ''}", one) for i, one in enumerate(columns.attributes)
    ]


def _sensitive_types(
    columns: ColumnsSpec, types: Mapping[str, T.DataType], problems: list[str]
) -> tuple[str, ...]:
    places = sensitive_places(columns)
    return tuple(
        _sensitive_type(place, one, types[one.column], problems)
        for place, one in places
        if one.column in types
    )


def _sensitive_type(place: str, declared: SensitiveSpec, found: T.DataType, problems: list[str]) -> str:
    many = declared.case != "svpi"
    if many != isinstance(found, T.ArrayType):
        fix = (
            "an array column"
            if many
            else "one value per person; use case mvpi-set or mvpi-multiset for arrays"
        )
        problems.append(
            f"`{place}.case` is {declared.case}, but `{declared.column}` is "
            f"{found.simpleString()}: it needs {fix}"
        )
        return found.simpleString()
    element = element_of(found)
    if type(element) not in KINDS:
        problems.append(
            f"`{place}.column`: values of type {element.simpleString()} are not supported; "
            "use text, numbers, dates or booleans"
        )
    return element.simpleString()
