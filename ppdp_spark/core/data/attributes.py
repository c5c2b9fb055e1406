"""Quasi-identifiers as integer codes, and groups of codes as published values.

Code 0 is null for every attribute: null is a value like any other, in a place of its own, so no
comparison can lose it. Codes 1, 2, … follow the order of numbers and dates, the leaf order of a
hierarchy, or the sorted order of plain categories.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ppdp_spark.core.data.coded_people import Axis, Partition
from ppdp_spark.core.data.grid import Grid, Scale
from ppdp_spark.core.data.groups import FloatArray, IntArray
from ppdp_spark.core.data.hierarchy import Hierarchy
from ppdp_spark.errors import CHANGED, DataError

OrderedKind = Literal["integer", "float", "decimal", "date", "timestamp", "timestamp_ntz"]

NULL_SUFFIX = " or null"
"""Ends the label of a group in which some people have no value and others have one."""

_IN_SETS, _IN_NODES = r"([\\,{}])", r"(\\)"
"""Characters of a category, and of a node of a hierarchy, that a label writes with a backslash before."""

_LARGEST_CODE = np.iinfo(np.int32).max
_MARKED = 1 << 26
"""Pairs of a group and a category that are marked one by one: 64 MB."""


@dataclass(frozen=True)
class Ordered:
    """A number or a moment in time; its physical form is a 64-bit integer or a double.

    where
        low, high  physical range over the table (None if every value is null)
        type       the column's Spark type, to publish bounds in
        scale      decimal places, for decimals: the physical form is the unscaled integer
        grid       where published bounds may lie; None if they are the least and greatest values of a group
    """

    name: str
    kind: OrderedKind
    type: str
    low: float | int | None
    high: float | int | None
    weight: float = 1.0
    scale: int = 0
    grid: Grid | None = field(default=None, compare=False)

    @property
    def written(self) -> Scale:
        """How its values are written as physical numbers."""
        return Scale(self.kind, self.type, self.scale)

    @property
    def from_zero(self) -> bool:
        """Whether no published bound is negative."""
        if self.low is None or self.high is None:
            return False
        return bool((self.low if self.grid is None else self.grid.outwards(self.low, self.high)[0]) >= 0)

    @property
    def narrow(self) -> bool:
        """Whether value - low + 1 fits a 32-bit code, so that no dictionary is needed."""
        if self.low is None or self.high is None:
            return True
        return self.kind != "float" and self.high - self.low < _LARGEST_CODE - 2

    @property
    def span(self) -> float:
        return 0.0 if self.low is None or self.high is None else float(self.high - self.low)

    def codes(self, column: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.float64] | NDArray[np.int64]]:
        """Codes of a column in transit, and the physical value of every code (index 0 unused)."""
        if self.narrow:
            codes = column.to_numpy(zero_copy_only=False).astype(np.int32)
            return codes, np.empty(0, np.int64)
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        physical = column.drop_null().to_numpy(zero_copy_only=False)
        values, inverse = np.unique(physical, return_inverse=True)
        codes = np.zeros(len(column), np.int32)
        codes[valid] = inverse + 1
        return codes, np.concatenate([values[:1], values])

    def axis(self, values: FloatArray | IntArray) -> Axis:
        """The scale on which cuts of this attribute are compared with those of others."""
        unit = self.weight / self.span if self.span > 0 else 0.0
        if values.size == 0:
            return Axis(unit, -self.weight / 100, weight=self.weight)
        table = (values.astype(np.float64) - float(self.low or 0)) * unit
        return Axis(unit, -self.weight / 100, table, weight=self.weight)

    def bounds(self, codes: IntArray, values: FloatArray | IntArray) -> FloatArray | IntArray:
        """Physical values of codes (all at least 1)."""
        return codes.astype(np.int64) - 1 + int(self.low or 0) if values.size == 0 else values[codes]


@dataclass(frozen=True)
class Categorical:
    """A category: a leaf of a hierarchy, or one of a plain set of values."""

    name: str
    values: tuple[str, ...]
    type: str = "string"
    weight: float = 1.0
    hierarchy: Hierarchy | None = field(default=None, compare=False)

    def axis(self) -> Axis:
        steps = max(1, len(self.values) - 1)
        nodes = None if self.hierarchy is None else self.hierarchy.nodes
        null = -self.weight / max(1, len(self.values))
        return Axis(self.weight / steps, null, weight=self.weight, unordered=nodes is None, nodes=nodes)

    def codes(self, texts: pa.Array) -> pa.Array:
        """Codes of texts, 0 for null; a text that is none of the values was not there before."""
        found = pc.index_in(texts, value_set=pa.array(self.values, pa.string()))
        if found.null_count != texts.null_count:
            raise DataError(CHANGED)
        return pc.fill_null(pc.add(found, 1), 0)


Attribute = Ordered | Categorical


@dataclass(frozen=True)
class CodeColumn:
    """One attribute of a fragment: codes of its people and the physical value of each code."""

    attribute: Attribute
    codes: NDArray[np.int32]
    values: FloatArray | IntArray

    @classmethod
    def read(cls, attribute: Attribute, column: pa.Array) -> CodeColumn:
        if isinstance(attribute, Ordered):
            return cls(attribute, *attribute.codes(column))
        codes = column.to_numpy(zero_copy_only=False).astype(np.int32)
        return cls(attribute, codes, np.empty(0, np.int64))

    def axis(self) -> Axis:
        if isinstance(self.attribute, Ordered):
            return self.attribute.axis(self.values)
        return self.attribute.axis()


@dataclass(frozen=True)
class Generalized:
    """Published description of each group along one attribute.

    where
        arrays   Arrow arrays: `low`, `high`, `mixed` for ordered attributes, `label` for categories
        penalty  normalized certainty penalty of each group, in [0, 1]
    """

    arrays: dict[str, pa.Array]
    penalty: FloatArray


def generalize(column: CodeColumn, groups: Partition, position: int) -> Generalized:
    """Describe every group along the attribute at `position`, covering all its people.

    The penalty (NCP) is the share of the attribute's range, of its categories, or of its leaves that
    the description leaves open; a description that mixes null with values counts as 1.
    """
    lowest: IntArray = groups.lowest[:, position]
    highest: IntArray = groups.highest[:, position]
    has_null = lowest == 0
    only_null = highest == 0
    if has_null.any():
        lowest = _lowest_value(column.codes, groups)
    mixed = has_null & ~only_null
    if isinstance(column.attribute, Ordered):
        return _ordered(column, lowest, highest, mixed, only_null)
    if column.attribute.hierarchy is not None:
        return _node(column.attribute, lowest, highest, mixed, only_null)
    return _value_set(column, groups, mixed, only_null)


def _lowest_value(codes: IntArray, groups: Partition) -> IntArray:
    """Smallest code other than null in each group; 1 where all are null."""
    ordered = codes[groups.order]
    ordered = np.where(ordered == 0, _LARGEST_CODE, ordered)
    lowest = np.minimum.reduceat(ordered, groups.starts[:-1])
    return np.where(lowest == _LARGEST_CODE, 1, lowest)


def _ordered(
    column: CodeColumn,
    lowest: IntArray,
    highest: IntArray,
    mixed: NDArray[np.bool_],
    only_null: NDArray[np.bool_],
) -> Generalized:
    attribute = column.attribute
    assert isinstance(attribute, Ordered)
    low = attribute.bounds(np.maximum(lowest, 1), column.values)
    high = attribute.bounds(np.maximum(highest, 1), column.values)
    width = high - low
    if attribute.grid is not None:
        low, high = attribute.grid.outwards(low, high)
        width = np.minimum(high.astype(np.float64) - low.astype(np.float64), attribute.span)
    share = width / attribute.span if attribute.span > 0 else np.zeros(len(low))
    penalty = np.where(mixed, 1.0, np.where(only_null, 0.0, share))
    bounds = {"low": pa.array(low, mask=only_null), "high": pa.array(high, mask=only_null)}
    return Generalized({**bounds, "mixed": pa.array(mixed)}, penalty)


def _node(
    attribute: Categorical,
    lowest: IntArray,
    highest: IntArray,
    mixed: NDArray[np.bool_],
    only_null: NDArray[np.bool_],
) -> Generalized:
    hierarchy = attribute.hierarchy
    assert hierarchy is not None
    node, _, leaves = hierarchy.cover(np.maximum(lowest, 1) - 1, np.maximum(highest, 1) - 1)
    labels = escaped(pa.array(hierarchy.labels, pa.string()), in_sets=False).take(pa.array(node))
    share = np.where(leaves > 1, leaves / len(hierarchy.leaves), 0.0)
    penalty = np.where(mixed, 1.0, np.where(only_null, 0.0, share))
    return Generalized({"label": _with_null(labels, mixed, only_null)}, penalty)


def _value_set(
    column: CodeColumn, groups: Partition, mixed: NDArray[np.bool_], only_null: NDArray[np.bool_]
) -> Generalized:
    attribute = column.attribute
    assert isinstance(attribute, Categorical)
    width = len(attribute.values) + 1
    sizes = np.diff(groups.starts)
    keys = np.repeat(np.arange(len(sizes)), sizes) * width + column.codes[groups.order]
    group, code = np.divmod(_distinct(keys, len(sizes) * width), width)
    group, code = group[code > 0], code[code > 0]
    number = np.bincount(group, minlength=len(sizes))
    offsets = np.concatenate([[0], np.cumsum(number)])
    names = escaped(pa.array(attribute.values, pa.string()), in_sets=True).take(pa.array(code - 1))
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), names), ", ")
    braced = pc.binary_join_element_wise("{", joined, "}", "")
    labels = pc.if_else(pa.array(number > 1), braced, joined)
    share = (number - 1) / max(1, len(attribute.values) - 1)
    penalty = np.where(mixed, 1.0, np.where(only_null, 0.0, share))
    return Generalized({"label": _with_null(labels, mixed, only_null)}, penalty)


def escaped(texts: pa.Array, *, in_sets: bool) -> pa.Array:
    """Texts as labels write them, so that different groups of categories have different labels.

    A backslash stands before a backslash and before an ending ` or null`, which would look like the mark
    of null; in sets also before `,`, `{` and `}`. So `{a, b}` is a set and `\\{a\\, b\\}`, which
    begins with a backslash, one category.
    """
    plain = pc.replace_substring_regex(texts, _IN_SETS if in_sets else _IN_NODES, r"\\\1")
    return pc.replace_substring_regex(plain, f"{NULL_SUFFIX}$", rf"\\{NULL_SUFFIX}")


def marked_null(labels: pa.Array) -> pa.Array:
    """Whether labels end in the mark of null, and not in an escaped text that only looks like it."""
    return pc.match_substring_regex(labels, rf"(^|[^\\])(\\\\)*{NULL_SUFFIX}$")


def _distinct(keys: IntArray, number: int) -> IntArray:
    """Those of 0 … number − 1 that occur, in order: by marking them, unless they are too many to mark."""
    if number > _MARKED:
        return np.unique(keys)
    present = np.zeros(number, np.bool_)
    present[keys] = True
    return np.flatnonzero(present)


def _with_null(labels: pa.Array, mixed: NDArray[np.bool_], only_null: NDArray[np.bool_]) -> pa.Array:
    suffixed = pc.if_else(pa.array(mixed), pc.binary_join_element_wise(labels, NULL_SUFFIX, ""), labels)
    return pc.if_else(pa.array(only_null), pa.scalar(None, pa.string()), suffixed)
