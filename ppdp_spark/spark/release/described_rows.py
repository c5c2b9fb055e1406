"""Published tables from groups as Arrow arrays: what a group shares is told once, not once a person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ppdp_spark.core.data.attributes import Ordered
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.data.packing import Packing
from ppdp_spark.core.data.sorting import radix_order
from ppdp_spark.spark.data.profile import SensitiveDomain
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.arrow import unpacked, whole

_ORDERED = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
"""Types of ordered columns in Arrow, by Spark's names; decimals have their digits in the name."""

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


class Reading(Protocol):
    """What a column of codes stands for."""

    def __call__(self, held: pa.Array) -> pa.Array: ...


@dataclass(frozen=True)
class Values:
    """Codes of a column as the values they stand for, by position."""

    values: pa.Array

    def __call__(self, held: pa.Array) -> pa.Array:
        """A dictionary of texts holds those that occur and no other: it is published with them."""
        used, place = np.unique(held.to_numpy(zero_copy_only=False), return_inverse=True)
        found, place = self.values.take(pa.array(used)), place.ravel().astype(np.int32)
        if not pa.types.is_string(found.type):
            return found.take(pa.array(place))
        known = found.is_valid().to_numpy(zero_copy_only=False)
        index = (np.cumsum(known, dtype=np.int32) - 1)[place]
        return pa.DictionaryArray.from_arrays(pa.array(index, mask=~known[place]), found.drop_null())


@dataclass(frozen=True)
class OrderedValues:
    """Codes or physical numbers of an ordered attribute as values of the column's own type."""

    attribute: Ordered
    kind: pa.DataType

    @classmethod
    def of(cls, attribute: Ordered) -> OrderedValues:
        decimal = _DECIMAL.fullmatch(attribute.type)
        digits = [int(number) for number in decimal.groups()] if decimal else []
        return cls(attribute, pa.decimal128(*digits) if digits else _ORDERED[attribute.type])

    def __call__(self, held: pa.Array) -> pa.Array:
        if self.attribute.narrow:
            codes = held.to_numpy(zero_copy_only=False).astype(np.int64)
            return self._typed(codes - 1 + int(self.attribute.low or 0), codes == 0)
        missing = held.is_null().to_numpy(zero_copy_only=False)
        return self._typed(held.fill_null(0).to_numpy(zero_copy_only=False), missing)

    def _typed(self, numbers: NDArray[Any], missing: NDArray[np.bool_]) -> pa.Array:
        if self.attribute.kind == "decimal":
            wide = np.stack([numbers, numbers >> 63], axis=1)
            valid = pa.array(~missing).buffers()[1]
            return pa.Array.from_buffers(self.kind, len(numbers), [valid, pa.py_buffer(wide)])
        if self.attribute.kind in ("integer", "float"):
            return pa.array(numbers.astype(self.kind.to_pandas_dtype()), mask=missing)
        width = np.int32 if self.attribute.kind == "date" else np.int64
        return pa.array(numbers.astype(width), mask=missing).cast(self.kind)


class DescribedRows(Protocol):
    """How a table of numbered groups becomes a published one."""

    def rows(self, groups: pa.Table) -> pa.Table: ...


@dataclass(frozen=True)
class PeopleRows:
    """One row per person.

    where
        repeated  columns of groups that every person of the group gets, with their published names
        lists     columns with lists of what people have
        packing   what the words among them hold
        own       what people have that is published, with the published names
        readings  for codes: what they stand for
    """

    repeated: Mapping[str, str]
    lists: tuple[str, ...]
    packing: Packing
    own: Mapping[str, str]
    readings: Mapping[str, Reading]

    def rows(self, groups: pa.Table) -> pa.Table:
        group = pa.array(_owners(groups.column(C.SIZE).to_numpy()))
        columns = {}
        for name, published in self.repeated.items():
            columns[published] = _compact(whole(groups, name)).take(group)
        held = unpacked({name: whole(groups, name).flatten() for name in self.lists}, self.packing)
        for name, published in self.own.items():
            columns[published] = self.readings[name](held[name]) if name in self.readings else held[name]
        return pa.table(columns)


@dataclass(frozen=True)
class UnlinkedRows:
    """One row per sensitive value of a person, those of a group in the order they stand in.

    where
        repeated  columns of groups that every row of the group gets, with their published names
    """

    repeated: Mapping[str, str]
    domain: SensitiveDomain
    values: Values

    def rows(self, groups: pa.Table) -> pa.Table:
        held = whole(groups, C.SENSITIVE)
        group, codes = pa.array(_owners(_lengths(held))), self.domain.codes(held.flatten())
        columns = {
            published: _compact(whole(groups, name)).take(group) for name, published in self.repeated.items()
        }
        return pa.table({**columns, self.domain.column: self.values(codes)})


@dataclass(frozen=True)
class ValueCounts:
    """One row per group and sensitive value that occurs in it, with the number of occurrences."""

    domain: SensitiveDomain
    values: Values
    name: str = C.SENSITIVE

    def rows(self, groups: pa.Table) -> pa.Table:
        held = whole(groups, self.name)
        group, held = _owners(_lengths(held)), held.flatten()
        if self.domain.case != "svpi":
            group, held = np.repeat(group, _lengths(held)), self.domain.codes(held.flatten())
        width = len(self.domain.values)
        codes = held.to_numpy(zero_copy_only=False)
        pairs, counts = np.unique(group.astype(np.int64) * width + codes, return_counts=True)
        columns = {
            C.GROUP_ID: whole(groups, C.GROUP_ID).take(pa.array(pairs // width)),
            self.domain.column: self.values(pa.array(pairs % width)),
            C.COUNT: pa.array(counts, pa.int32()),
        }
        return pa.table(columns)


@dataclass(frozen=True)
class LinkedCounts:
    """One row per group and combination of the values of linked attributes, with how many people have it.

    where
        columns  lists of the codes of each attribute, those of a person in one place, by published names
        values   what the codes of each stand for
    """

    columns: Mapping[str, str]
    values: Mapping[str, Values]

    def rows(self, groups: pa.Table) -> pa.Table:
        lists = {name: whole(groups, name) for name in self.columns}
        owners = _owners(_lengths(next(iter(lists.values()))))
        keys = [owners, *(held.flatten().to_numpy(zero_copy_only=False) for held in lists.values())]
        order = radix_order(keys)
        keys = [key[order] for key in keys]
        changes = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
        starts = np.concatenate([[0], np.flatnonzero(changes) + 1])[: len(order)]
        group, *codes = (key[starts] for key in keys)
        columns = {C.GROUP_ID: whole(groups, C.GROUP_ID).take(pa.array(group))}
        for (name, published), held in zip(self.columns.items(), codes, strict=True):
            columns[published] = self.values[name](pa.array(held))
        counts = np.diff(np.append(starts, len(order)))
        return pa.table(columns | {C.COUNT: pa.array(counts, pa.int32())})


@dataclass(frozen=True)
class PriorRows:
    """One row per group and value that occurs in it: its count, the extrema of its prior in each set."""

    values: Values
    sets: int

    def rows(self, groups: pa.Table) -> pa.Table:
        held = whole(groups, C.COUNTED_VALUES)
        group = pa.array(_owners(_lengths(held)))
        columns = {
            C.GROUP_ID: whole(groups, C.GROUP_ID).take(group),
            C.VALUE: self.values(held.flatten()),
            C.COUNT: whole(groups, C.COUNTS).flatten(),
        }
        sides = {
            side: whole(groups, name).flatten().to_numpy()
            for side, name in (("low", C.LOWS), ("high", C.HIGHS))
        }
        for s in range(self.sets):
            columns |= {f"{side}_{s}": pa.array(each[s :: self.sets]) for side, each in sides.items()}
        return pa.table(columns)


def _owners(sizes: IntArray) -> IntArray:
    """The group of each entry, groups of so many entries following each other."""
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


def _lengths(lists: pa.Array) -> IntArray:
    return np.asarray(lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))


def _compact(column: pa.Array) -> pa.Array:
    """Texts as a dictionary column, which the writer takes as it is."""
    return column.dictionary_encode() if pa.types.is_string(column.type) else column
