"""CSV as agencies have it: what the spec declares of a column drives how its cells are read.

Text that only looks like a number stays text: a postcode `08225` read as an integer would lose a digit in
silence. Files that are cut off, ragged, or read with the wrong separator or encoding are told as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.errors import DataError
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.run.inputs.csv_header import header_problem
from ppdp_spark.spark.data.tables import declared_columns
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row

if TYPE_CHECKING:
    from ppdp_spark.spec import ColumnsSpec, InputSpec

_NUMBERS = (T.IntegerType, T.LongType, T.DoubleType, T.DecimalType)
_RAGGED = "ppdp ragged row"
_LEADING_ZERO = r"^\s*[+-]?0[0-9]"
_DECIMAL_COMMA = r"^\s*[+-]?([0-9]+(,[0-9]*)?|,[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_UNREADABLE = "\ufffd"
"""What a decoder puts where bytes are no text in its encoding."""


@dataclass(frozen=True)
class CsvColumns:
    """What is known of the columns of a CSV file before it is read.

    where
        texts     columns that are text whatever they look like
        numbers   columns declared to be numbers
        expected  columns that must be there
    """

    texts: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    expected: frozenset[str] = frozenset()

    @classmethod
    def of(cls, columns: ColumnsSpec) -> CsvColumns:
        """What the spec's roles say: names of people and groups, and categories, are text."""
        attributes = columns.quasi_identifiers.items()
        texts = {*columns.identifiers, *(name for name, of in attributes if of.type == "categorical")}
        texts |= {columns.person.column} if columns.person is not None else set()
        texts |= {columns.group} if columns.group is not None else set()
        numbers = {name for name, of in attributes if of.type == "numeric"}
        return cls(frozenset(texts), frozenset(numbers), frozenset(declared_columns(columns, of_rows=True)))


def read_csv(spark: SparkSession, source: InputSpec, known: CsvColumns, path: str) -> DataFrame:
    """The table in CSV files, or a `DataError` with everything that is wrong with them.

    Spark tells the types of columns of which the spec says nothing. Options of Spark's that the spec gives
    hold before ours. `path` is where the files are, which messages name as the spec does.
    """
    options = {"header": "true", "enforceSchema": "false", **_declared(source), **source.options}
    given = _given(source)

    def read(schema: T.StructType | None = None, **more: str) -> DataFrame:
        reader = spark.read.options(**(options | more))
        return (reader if schema is None else reader.schema(schema)).csv(path)

    texts = read(inferSchema="false")
    _require_header(texts, source, known)
    if given.get("inferschema") == "false":
        return read()
    inferred = read(inferSchema="true").schema
    cells = _Cells.of(inferred, source, known)
    checked = T.StructType(texts.schema.fields).add(_RAGGED, T.StringType())
    whole = read(columnPruning="false", columnNameOfCorruptRecord=_RAGGED, schema=checked)
    with _other_headers_told(source):
        found = only_row(whole.agg(*cells.counts(lenient="mode" in given)))
    problems = cells.problems(found)
    if problems:
        raise DataError(problems)
    return cells.typed(read(schema=cells.schema(found)), found)


@contextmanager
def _other_headers_told(source: InputSpec) -> Iterator[None]:
    """Several files are one table only if they have the same columns; Spark's error quotes them."""
    try:
        yield
    except Exception as error:
        if "CSV header does not conform to the schema" in str(error):
            raise DataError(
                f"`input` ({source.path}): some of its files have other columns, or in another "
                "order, than the first: bring them into one form"
            ) from None
        raise


def _declared(source: InputSpec) -> dict[str, str]:
    """Spark's names of what the spec says of the files."""
    said = {"sep": source.separator, "encoding": source.encoding, "dateFormat": source.date_format}
    return {key: value for key, value in said.items() if value is not None}


def _given(source: InputSpec) -> dict[str, str]:
    """Options of Spark's that the spec gives, whose names know no case."""
    return {key.casefold(): value for key, value in source.options.items()}


def _require_header(table: DataFrame, source: InputSpec, known: CsvColumns) -> None:
    """Say what is wrong with a file whose first line names no column."""
    problem = header_problem(table.columns, source, known.expected)
    if problem is not None:
        raise DataError(problem)


@dataclass(frozen=True)
class _Cells:
    """What is asked of the cells, all as text, before they get the types that Spark inferred.

    where
        inferred   the types by Spark
        texts      columns that stay text
        guessed    columns of numbers that nobody declared: text, if one of them has a leading zero
        commas     columns of text that may be numbers with a decimal comma; those declared come first
        numbers    columns declared to be numbers
        encoded    whether the spec says how bytes are to be read
    """

    inferred: T.StructType
    texts: frozenset[str]
    guessed: tuple[str, ...]
    commas: tuple[str, ...]
    numbers: frozenset[str]
    encoded: bool
    path: str

    @classmethod
    def of(cls, inferred: T.StructType, source: InputSpec, known: CsvColumns) -> _Cells:
        numeric = [field.name for field in inferred.fields if isinstance(field.dataType, _NUMBERS)]
        text = [field.name for field in inferred.fields if isinstance(field.dataType, T.StringType)]
        return cls(
            inferred,
            known.texts,
            tuple(name for name in numeric if name not in known.texts | known.numbers),
            tuple(name for name in text if name not in known.texts) if source.decimal == "," else (),
            known.numbers,
            source.encoding is not None or bool(_given(source).keys() & {"encoding", "charset"}),
            str(source.path),
        )

    def counts(self, *, lenient: bool) -> list[Column]:
        """One aggregate for each question, named by its place."""
        ragged = F.lit(0) if lenient else F.count(C.column(_RAGGED))
        names = self.inferred.names
        garbled = reduce(or_, (F.contains(C.column(name), F.lit(_UNREADABLE)) for name in names))
        asked = [ragged.alias("ragged"), F.count_if(garbled).alias("garbled")]
        for j, name in enumerate(self.guessed):
            asked.append(F.count_if(C.column(name).rlike(_LEADING_ZERO)).alias(f"zero_{j}"))
        for j, name in enumerate(self.commas):
            asked.append(F.count_if(~C.column(name).rlike(_DECIMAL_COMMA)).alias(f"other_{j}"))
        return asked

    def problems(self, found: Row) -> list[str]:
        """What is wrong with the file, and how to go on."""
        problems = []
        if found["ragged"]:
            problems.append(
                f"`input` ({self.path}): {found['ragged']:,} rows have more or fewer cells than the header; "
                "correct them, or say `options: {mode: PERMISSIVE}` to read them with cells cut off or null"
            )
        if found["garbled"] and not self.encoded:
            problems.append(
                f"`input` ({self.path}): {found['garbled']:,} rows are not UTF-8 text; name their encoding, "
                "such as `input: {encoding: ISO-8859-1}`"
            )
        for j, name in enumerate(self.commas):
            if name in self.numbers and found[f"other_{j}"]:
                problems.append(
                    f"`columns.quasi_identifiers.{printable(name)}.type` is numeric, but "
                    f"{found[f'other_{j}']:,} cells are no numbers with a decimal comma"
                )
        return problems

    def schema(self, found: Row) -> T.StructType:
        """The types to read with: those of Spark, but for what must stay as it is written."""
        kept = {name for j, name in enumerate(self.guessed) if found[f"zero_{j}"]} | self.texts
        fields = (
            T.StructField(field.name, T.StringType() if field.name in kept else field.dataType)
            for field in self.inferred.fields
        )
        return T.StructType(list(fields))

    def typed(self, table: DataFrame, found: Row) -> DataFrame:
        """Numbers with a decimal comma as numbers."""
        numbers = {name for j, name in enumerate(self.commas) if not found[f"other_{j}"]}
        if not numbers:
            return table
        return table.select(
            *(
                F.replace(C.column(name), F.lit(","), F.lit(".")).cast("double").alias(name)
                if name in numbers
                else C.column(name)
                for name in table.columns
            )
        )
