"""Households, or whatever unit people belong to: which rows have one, and their codes in a task.

A household travels as two 64-bit numbers that are equal exactly where its values are: the value itself if it
is an integer, else the first half of the SHA-256 of its text, which nobody can forge. They are a function of
content, so that everything derived from them is, and they leave the tasks nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.coded_people import Partition, Sensitive
from ppdp_spark.errors import DataError
from ppdp_spark.spark.data.key_names import is_integer, key_digest, words
from ppdp_spark.spark.data.sameness import folded
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.column_names import column

if TYPE_CHECKING:
    from ppdp_spark.spec import ColumnsSpec

WORDS = ("household_0", "household_1")
"""Columns of coded rows that name a household together."""

NUMBERS, VALUES = "household_numbers", "household_values"
"""Columns of groups, for the owner: the household of each person within the group, and the person's value."""


def require_households(table: DataFrame, columns: ColumnsSpec) -> None:
    """Raise one `DataError` unless every person has a household, and no more than one.

    Two people without one may live together or not: neither may be assumed.
    """
    if columns.household is None:
        return
    name = columns.household.column
    kind = table.schema[name].dataType
    if isinstance(kind, T.MapType | T.VariantType):
        raise DataError(
            f"`columns.household`: `{name}` is {kind.simpleString()}, which cannot be compared; "
            "cast it to text"
        )
    value, problems = folded(column(name), kind), []
    found = only_row(table.agg(F.count(F.lit(1)).alias("rows"), F.count(value).alias("held")))
    if found["held"] < found["rows"]:
        problems.append(
            f"`columns.household`: {found['rows'] - found['held']:,} of {found['rows']:,} people have no "
            f"`{name}`, so it is not known with whom they belong together; fill it (a value of its own for "
            "whoever lives alone), or remove these rows"
        )
    if columns.person is not None:
        told = table.groupBy(column(columns.person.column)).agg(F.min(value) != F.max(value))
        several = only_row(told.agg(F.count_if(F.col(told.columns[1]))))[0]
        if several:
            problems.append(
                f"`columns.household`: {several:,} people have several values of `{name}`; clean the table"
            )
    if problems:
        raise DataError(problems)


def household_words(table: DataFrame, name: str) -> list[Column]:
    """The two numbers that name the household of a row."""
    types = {name: table.schema[name].dataType}
    if is_integer(types):
        named: tuple[Column, ...] = (column(name).cast("bigint"), F.lit(0).cast("bigint"))
    else:
        named = words(key_digest({name: column(name)}, types), len(WORDS))
    return [word.alias(alias) for word, alias in zip(named, WORDS, strict=True)]


def household_codes(arrays: Mapping[str, pa.Array]) -> NDArray[np.int32]:
    """Codes 0, 1, … of the households of people, in the order of their names."""
    first, second = (arrays[name].to_numpy(zero_copy_only=False) for name in WORDS)
    codes = np.unique(first, return_inverse=True)[1].ravel()
    if len(second) and (second != second[0]).any():
        names, place = np.unique(second, return_inverse=True)
        codes = np.unique(codes * len(names) + place.ravel(), return_inverse=True)[1].ravel()
    return np.asarray(codes, np.int32)


def household_lists(
    households: NDArray[np.int32], sensitive: Sensitive, groups: Partition
) -> dict[str, pa.Array]:
    """For every group the households of its people, numbered from 1, and the value of each person.

    In an order of their own, that of numbers and values: nothing that is published has it.
    With several values per person there is a 0 in place of the value.
    """
    single = sensitive.offsets.size == 0
    value = sensitive.values[groups.order] if single else np.zeros(len(groups.order), np.int32)
    group = np.repeat(np.arange(len(groups.starts) - 1), np.diff(groups.starts))
    width = int(households.max(initial=0)) + 1
    names, part = np.unique(group * width + households[groups.order], return_inverse=True)
    number = part.ravel() - np.searchsorted(names, group * width) + 1
    order = np.lexsort((value, number, group))
    offsets = pa.array(groups.starts, pa.int32())
    listed = {NUMBERS: number[order], VALUES: value[order]}
    return {
        name: pa.ListArray.from_arrays(offsets, pa.array(held, pa.int32())) for name, held in listed.items()
    }
