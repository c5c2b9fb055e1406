"""Several rows per person become one record, so that everything after counts people and not rows.

Every guarantee is about records, one per person; a person with six rows would otherwise pass for six people.
The rows of a person are brought together by one shuffle. Quasi-identifiers and columns published as they are
must agree within a person, or the row that is the latest decides, or all values of a quasi-identifier are
kept; sensitive values become the person's set or multiset, which is what the MVPI cases are for
[Skyline, Sec 2].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.errors import DataError
from ppdp_spark.spark.data.identifiers import require_one_person_each
from ppdp_spark.spark.data.sameness import folded
from ppdp_spark.spark.data.tables import require_declared, sensitive_places
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.column_names import column
from ppdp_spark.spark.engine.held_tables import Save
from ppdp_spark.spark.engine.versions import VARIANT

if TYPE_CHECKING:
    from ppdp_spark.spec import ColumnsSpec, PersonSpec

_ROWS = "person_rows"
_ORDERS = (T.DateType, T.TimestampType, T.TimestampNTZType, T.NumericType)


@dataclass(frozen=True)
class PersonFacts:
    """What bringing rows together came to.

    where
        rows     rows of the table
        records  what they were brought together into: one per person, or per person and group
        several  records of several rows
        most     the most rows of one record
    """

    rows: int
    records: int
    several: int
    most: int


def input_facts(people: PersonFacts | None) -> dict[str, Any]:
    """What a summary says of rows that were brought together; nothing if every row was a person."""
    return {} if people is None else {"rows": people.rows, "people": asdict(people)}


@dataclass(frozen=True)
class _Part:
    """A column of the record of a person.

    where
        name    the user's name of it
        field   the field of the spec that names it
        value   an aggregate over the rows of a person
        varies  whether the rows disagree where they must not
        fix     what to do about it
    """

    name: str
    field: str
    value: Column
    varies: Column | None = None
    fix: str = ""


def one_record_each(
    table: DataFrame,
    columns: ColumnsSpec,
    save: Save,
    *,
    within: Sequence[str] = (),
) -> tuple[DataFrame, PersonFacts | None]:
    """The table with the rows of each person brought together, if `columns.person` is declared."""
    if columns.person is None:
        return table, None
    require_declared(table, columns)
    require_one_person_each(table, columns)
    return person_records(table, columns, save, within=within)


def person_records(
    table: DataFrame,
    columns: ColumnsSpec,
    save: Save,
    *,
    within: Sequence[str] = (),
) -> tuple[DataFrame, PersonFacts]:
    """One record per person, or per person and group of `within`, under the names of the table's columns.

    `save` stores a table and reads it back, so that rows are brought together once. One `DataError` tells
    how many people have rows that disagree, and in which columns; never who.
    """
    person = columns.person
    assert person is not None
    _require_types(table, columns, person)
    keys = [person.column, *within]
    parts = [part for part in _parts(table, columns, person) if part.name not in keys]
    folds = [_folded(table, name).alias(f"key{i}") for i, name in enumerate(keys)]
    wanted = [part.value.alias(f"value{j}") for j, part in enumerate(parts)]
    wanted += [part.varies.alias(f"varies{j}") for j, part in enumerate(parts) if part.varies is not None]
    together = save(table.groupBy(*folds).agg(F.count(F.lit(1)).alias(_ROWS), *wanted))
    facts = _facts(together, parts, person)
    names = {f"key{i}": name for i, name in enumerate(keys)}
    names |= {f"value{j}": part.name for j, part in enumerate(parts)}
    return together.select(*(F.col(inner).alias(name) for inner, name in names.items())), facts


def _require_types(table: DataFrame, columns: ColumnsSpec, person: PersonSpec) -> None:
    """Columns can be compared, and the latest row can be told."""
    problems = []
    for field, name in _compared(columns, person):
        kind = table.schema[name].dataType
        if isinstance(kind, (T.MapType, *VARIANT)):
            problems.append(
                f"`{field}`: `{name}` is {kind.simpleString()}, which cannot be compared; cast it to text"
            )
    if person.latest_by is not None:
        kind = table.schema[person.latest_by].dataType
        if not isinstance(kind, _ORDERS):
            problems.append(
                f"`columns.person.latest_by`: `{person.latest_by}` is {kind.simpleString()}; "
                "use a date, a timestamp or a number"
            )
    if problems:
        raise DataError(problems)


def _compared(columns: ColumnsSpec, person: PersonSpec) -> Iterator[tuple[str, str]]:
    yield "columns.person.column", person.column
    for name in columns.quasi_identifiers:
        yield f"columns.quasi_identifiers.{name}", name
    for name in columns.publish_as_is:
        yield "columns.publish_as_is", name
    if columns.household is not None:
        yield "columns.household.column", columns.household.column
    if columns.weight is not None:
        yield "columns.weight.column", columns.weight.column
    for place, attribute in sensitive_places(columns):
        yield f"{place}.column", attribute.column


def _parts(table: DataFrame, columns: ColumnsSpec, person: PersonSpec) -> Iterator[_Part]:
    """Every column of a record: quasi-identifiers, columns published as they are, sensitive values."""
    agreeing = partial(_agreeing, table)
    late = [name for name, declared in columns.quasi_identifiers.items() if declared.varies == "latest"]
    latest = _latest(table, person, late)
    for name, declared in columns.quasi_identifiers.items():
        field = f"columns.quasi_identifiers.{name}"
        if name in late:
            yield _Part(name, field, latest[f"late{late.index(name)}"])
        elif declared.varies == "range":
            yield _Part(name, field, _different(table, name))
        else:
            yield agreeing(name, field, "declare `varies: latest` or `varies: range`, or clean the table")
    for name in columns.publish_as_is:
        yield agreeing(name, "columns.publish_as_is", "leave the column out, or clean the table")
    if columns.household is not None:
        yield agreeing(columns.household.column, "columns.household", "clean the table")
    if columns.weight is not None:
        yield agreeing(columns.weight.column, "columns.weight", "clean the table: a person has one weight")
    several = len(columns.attributes) > 1
    fix = "" if several else "declare `case: mvpi-set` or `mvpi-multiset`, or "
    for field, sensitive in sensitive_places(columns):
        name = sensitive.column
        if sensitive.case == "svpi":
            yield agreeing(name, field, f"{fix}clean the table")
        else:
            yield _Part(name, field, _collected(table, name, each_once=sensitive.case == "mvpi-set"))


def _agreeing(table: DataFrame, name: str, field: str, fix: str) -> _Part:
    """The value that all rows of a person have; a null disagrees with any value."""
    value = _folded(table, name)
    nulls = F.count_if(value.isNull())
    varies = ~F.min(value).eqNullSafe(F.max(value)) | ((nulls > 0) & (nulls < F.count(F.lit(1))))
    return _Part(name, field, F.coalesce(F.min(value), F.max(column(name))), varies, fix)


def _latest(table: DataFrame, person: PersonSpec, names: Sequence[str]) -> Column:
    """The values of the latest row; a row without a date is earlier than any other.

    Of several latest rows the one with the largest values decides, whatever the order of the rows is.
    """
    if not names:
        return F.lit(None)
    assert person.latest_by is not None
    values = [_folded(table, name).alias(f"late{i}") for i, name in enumerate(names)]
    return F.max(F.struct(_folded(table, person.latest_by).alias("date"), *values))


def _different(table: DataFrame, name: str) -> Column:
    """The values of all rows of a person, each once, in ascending order; null is one, and comes last."""
    held = F.collect_set(F.struct(_folded(table, name).alias("held")))
    return F.array_sort(F.transform(held, lambda one: one["held"]))


def _collected(table: DataFrame, name: str, *, each_once: bool) -> Column:
    """The sensitive values of all rows of a person, in an order that their values decide; null is one."""
    kind, value = table.schema[name].dataType, _folded(table, name)
    if isinstance(kind, T.ArrayType):
        nothing = F.array(F.lit(None).cast(kind.elementType))
        values = F.flatten(F.collect_list(F.coalesce(value, nothing)))
    else:
        values = F.transform(F.collect_list(F.struct(value.alias("held"))), lambda one: one["held"])
    return F.array_sort(F.array_distinct(values) if each_once else values)


def _folded(table: DataFrame, name: str) -> Column:
    return folded(column(name), table.schema[name].dataType)


def _facts(together: DataFrame, parts: Sequence[_Part], person: PersonSpec) -> PersonFacts:
    """Counts of rows and people; raises if rows have no person, or disagree where they must not."""
    rows, compared = F.col(_ROWS), [(j, part) for j, part in enumerate(parts) if part.varies is not None]
    nobody = F.col("key0").isNull()
    counted = together.agg(
        F.sum(rows).alias("rows"),
        F.count("key0").alias("records"),
        F.count_if(rows > 1).alias("several"),
        F.max(rows).alias("most"),
        F.sum(F.when(nobody, rows)).alias("nobody"),
        *(F.count_if(F.col(f"varies{j}") & ~nobody).alias(f"varies{j}") for j, _ in compared),
    )
    found = only_row(counted)
    problems = [*_missing(found, person), *_disagreements(found, compared)]
    if problems:
        raise DataError(problems)
    return PersonFacts(found["rows"] or 0, found["records"], found["several"], found["most"] or 0)


def _missing(found: Row, person: PersonSpec) -> Iterator[str]:
    if found["nobody"]:
        yield (
            f"`columns.person`: {found['nobody']:,} rows have no `{person.column}`, so it is not known whose "
            "they are; fill it, or remove these rows"
        )


def _disagreements(found: Row, compared: Sequence[tuple[int, _Part]]) -> Iterator[str]:
    for j, part in compared:
        if found[f"varies{j}"]:
            yield (
                f"`{part.field}`: rows disagree about `{part.name}` within {found[f'varies{j}']:,} of "
                f"{found['records']:,} people; {part.fix}"
            )
