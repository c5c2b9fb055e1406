"""What a published group covers along one attribute, and how much of that lies in a queried range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ppdp_spark.core.data.attributes import NULL_SUFFIX, Categorical, escaped, marked_null
from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray
from ppdp_spark.core.data.hierarchy import Hierarchy

_SEPARATOR = ", "


@dataclass(frozen=True)
class Range:
    """Places low … high of an attribute, both included; null has no place in any range."""

    attribute: int
    low: int | float
    high: int | float

    def contains(self, places: NDArray[Any]) -> BoolArray:
        return np.asarray((places >= self.low) & (places <= self.high))


class Box(Protocol):
    """Groups along one attribute."""

    def share(self, groups: IntArray, bounds: Range) -> FloatArray:
        """The share of each group's places that lies in the range."""
        ...


@dataclass(frozen=True)
class Interval:
    """Groups that cover all places from `low` to `high`.

    A group that mixes null with values has null as one more place; in a continuum one place has no
    weight. A group of nulls alone has no share in any range.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    mixed: BoolArray
    null: BoolArray
    continuous: bool = False

    def share(self, groups: IntArray, bounds: Range) -> FloatArray:
        low, high = self.low[groups], self.high[groups]
        over = np.minimum(high, bounds.high) - np.maximum(low, bounds.low)
        if self.continuous:
            length = high - low
            point = length <= 0
            part = np.clip(over, 0, None) / np.where(point, 1, length)
            found = np.where(point, over >= 0, np.minimum(part, 1))
        else:
            places = (high - low + 1).astype(np.float64) + self.mixed[groups]
            found = np.clip(over + 1, 0, None) / places
        return np.asarray(np.where(self.null[groups], 0.0, found))


@dataclass(frozen=True)
class Members:
    """Groups that cover sets of codes.

    where
        label  the set of each group
        keys   set · width + code of every member, sorted
        sizes  places of each set, null included where it is mixed in
    """

    label: IntArray
    keys: IntArray
    sizes: IntArray
    width: int

    def share(self, groups: IntArray, bounds: Range) -> FloatArray:
        first = np.arange(len(self.sizes)) * self.width
        low = np.searchsorted(self.keys, first + int(bounds.low), side="left")
        high = np.searchsorted(self.keys, first + int(bounds.high), side="right")
        return np.asarray(((high - low) / np.maximum(self.sizes, 1))[self.label[groups]])


def labelled(attribute: Categorical, labels: pa.Array) -> Box:
    """The boxes that published labels of a category stand for: nodes of its hierarchy, or sets of values."""
    encoded = labels.dictionary_encode()
    texts = encoded.dictionary.cast(pa.string())
    label = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False).astype(np.int64)
    if attribute.hierarchy is not None:
        return _nodes(attribute.hierarchy, texts, label)
    return _sets(attribute.values, texts, label)


def _nodes(hierarchy: Hierarchy, texts: pa.Array, label: IntArray) -> Interval:
    """Every node is a run of leaves; leaf i has code i + 1."""
    first = np.full(len(hierarchy.labels), len(hierarchy), np.int64)
    last = np.full(len(hierarchy.labels), -1, np.int64)
    for level in hierarchy.nodes:
        np.minimum.at(first, level, np.arange(len(level)))
        np.maximum.at(last, level, np.arange(len(level)))
    node, mixed = _found(texts, escaped(pa.array(hierarchy.labels, pa.string()), in_sets=False))
    null = np.append(np.zeros(len(texts), bool), True)
    low = np.append(first[node] + 1, 1)
    high = np.append(last[node] + 1, 1)
    return Interval(low[label], high[label], np.append(mixed, False)[label], null[label])


def _found(texts: pa.Array, known: pa.Array) -> tuple[IntArray, BoolArray]:
    """Index of each text among the known names, −1 for none, and whether it took away the mark of null."""
    whole = pc.index_in(texts, value_set=known).fill_null(-1).to_numpy(zero_copy_only=False)
    cut = pc.index_in(_without_null(texts), value_set=known).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.where(whole >= 0, whole, cut).astype(np.int64), np.asarray((whole < 0) & (cut >= 0))


def _without_null(texts: pa.Array) -> pa.Array:
    marked = marked_null(texts)
    return pc.if_else(marked, pc.utf8_slice_codeunits(texts, 0, -len(NULL_SUFFIX)), texts)


def _sets(categories: Sequence[str], texts: pa.Array, label: IntArray) -> Members:
    """Sets as a reader of the release understands them: `a`, `{a, b}`, `{a, b} or null`."""
    values = escaped(pa.array(categories, pa.string()), in_sets=True)
    code, mixed = _found(texts, values)
    single = np.flatnonzero(code >= 0)
    several = np.flatnonzero(code < 0)
    named = texts.take(pa.array(several))
    mixed[several] = marked_null(named).to_numpy(zero_copy_only=False)
    owner, members = _listed(values, pc.utf8_slice_codeunits(_without_null(named), 1, -1))
    which = np.concatenate([single, several[owner]])
    codes = np.concatenate([code[single], members]) + 1
    width = len(values) + 1
    sizes = np.bincount(which, minlength=len(texts) + 1)
    sizes[: len(texts)] += mixed
    return Members(label, np.sort(which * width + codes), sizes, width)


def _listed(values: pa.Array, texts: pa.Array) -> tuple[IntArray, IntArray]:
    """Members of texts such as `a, b`: the text each belongs to, and its place among the values."""
    parts = pc.split_pattern(texts, _SEPARATOR)
    lengths = pc.list_value_length(parts).to_numpy(zero_copy_only=False).astype(np.int64)
    owner = np.repeat(np.arange(len(texts)), lengths)
    found = pc.index_in(parts.flatten(), value_set=values)
    member = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    descends = (np.diff(owner, prepend=-1) == 0) & (np.diff(member, prepend=-1) <= 0)
    torn = np.unique(owner[(member < 0) | descends])
    if torn.size == 0:
        return owner, member
    places = {value: place for place, value in enumerate(values.to_pylist())}
    longest = 1 + max(value.count(_SEPARATOR) for value in places)
    pieces = [_mended(parts[int(i)].as_py(), places, longest) for i in torn]
    whole = ~np.isin(owner, torn)
    mended = np.repeat(torn, [len(piece) for piece in pieces])
    return np.concatenate([owner[whole], mended]), np.concatenate([member[whole], *pieces])


def _mended(parts: list[str], places: dict[str, int], longest: int) -> IntArray:
    """Members of a list whose names have the separator inside: ascending, as they were written.

    best[j] is the smallest last member of a reading of the first j parts, and where that begins. A
    list that cannot be read at all stands for every value.
    """
    best: dict[int, tuple[int, int]] = {0: (-1, 0)}
    for start in range(len(parts)):
        if start not in best:
            continue
        for end in range(start + 1, min(start + longest, len(parts)) + 1):
            place = places.get(_SEPARATOR.join(parts[start:end]), -1)
            if place > best[start][0] and place < best.get(end, (len(places), 0))[0]:
                best[end] = (place, start)
    if len(parts) not in best:
        return np.arange(len(places))
    members, end = [], len(parts)
    while end:
        member, end = best[end]
        members.append(member)
    return np.array(members, np.int64)
