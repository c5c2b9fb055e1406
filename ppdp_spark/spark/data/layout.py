"""How people travel between Spark and numpy: encoded rows in, groups with lists of people out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.attributes import Attribute, Categorical, CodeColumn, Ordered, generalize
from ppdp_spark.core.data.coded_people import Axis, Partition, Sensitive
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.data.households import codes_of_names, numbered_within
from ppdp_spark.core.data.packing import Packing
from ppdp_spark.core.data.sorting import radix_order
from ppdp_spark.core.data.value_names import only_one
from ppdp_spark.core.data.weight_units import sums_of_groups
from ppdp_spark.core.partition.mondrian import each_value
from ppdp_spark.spark.data.profile import SensitiveDomain
from ppdp_spark.spark.engine import column_names as C


@dataclass(frozen=True)
class People:
    """People of one task as arrays: one column per attribute, sensitive values, and the raw lists.

    `households` are codes of what people belong to, and `weights` what they stand for in the population, in
    units, if that is known.
    """

    columns: tuple[CodeColumn, ...]
    sensitive: Sensitive
    arrays: Mapping[str, pa.Array]
    households: NDArray[np.int32] | None = None
    weights: NDArray[np.int64] | None = None

    @property
    def codes(self) -> IntArray:
        return np.stack([column.codes for column in self.columns], axis=1)

    @property
    def axes(self) -> list[Axis]:
        return [column.axis() for column in self.columns]


@dataclass(frozen=True)
class Layout:
    """The columns of encoded rows and of the group tables made from them.

    A *raw* group table has a path, a size and lists of everything known of its people. A *described*
    one has bounds and labels instead of codes, unless `codes_published`. Both have `sound`: whether
    the fragment that a group was cut from satisfies every criterion as a whole.

    where
        codes_published  whether people keep their codes: the bucketized form publishes them
        kept             number of columns published as they are
        households       whether people have households, of which described groups keep lists for the owner
        weighted         whether people have weights, of which described groups have the sum
        weight_shown     whether the last of the columns published as they are is that of weights; if not,
                         described groups keep lists of them for the owner
        ranging          places of the quasi-identifiers of which people keep all their values
        linked           whether the values that a person has of several attributes are published together
    """

    attributes: tuple[Attribute, ...]
    domains: tuple[SensitiveDomain, ...]
    codes_published: bool
    kept: int
    households: bool = False
    weighted: bool = False
    weight_shown: bool = False
    ranging: tuple[int, ...] = ()
    linked: bool = False

    @property
    def adds_up(self) -> bool:
        """Whether all that criteria see of a fragment is the sum of what they see of its parts' counts."""
        return not (self.households or self.linked)

    @property
    def domain(self) -> SensitiveDomain | None:
        """The values of the sensitive attribute, if there is one; whoever asks is not made for several."""
        return only_one(self.domains)

    @cached_property
    def packing(self) -> Packing:
        """Small codes, and with one value per person the sensitive one, travel in common words."""
        largest = self._largest_codes
        if self._single:
            for name, domain in self.held.items():
                largest[name] = max(0, len(domain.values) - 1)
        return Packing.of(largest)

    @property
    def held(self) -> dict[str, SensitiveDomain]:
        """The sensitive values of people: our names of the columns, and what their codes stand for."""
        return {C.sensitive(place): domain for place, domain in enumerate(self.domains)}

    @cached_property
    def published_packing(self) -> Packing:
        """Words of small codes alone: their order says nothing about sensitive values."""
        return Packing.of(self._largest_codes)

    @property
    def _largest_codes(self) -> dict[str, int]:
        return {C.code(j): self._largest(j) for j in range(len(self.attributes)) if self._small(j)}

    @property
    def _single(self) -> bool:
        return bool(self.domains) and all(domain.case == "svpi" for domain in self.domains)

    def _small(self, position: int) -> bool:
        attribute = self.attributes[position]
        return isinstance(attribute, Categorical) or attribute.narrow

    def _largest(self, position: int) -> int:
        attribute = self.attributes[position]
        return len(attribute.values) if isinstance(attribute, Categorical) else int(attribute.span) + 1

    @property
    def row_names(self) -> list[str]:
        """Columns of packed rows: words, codes too wide for them, and what is carried along."""
        arrays = [] if self._single else list(self.held)
        arrays += [C.every(j) for j in self.ranging]
        owned = list(C.HOUSEHOLD_NAME) if self.households else []
        owned += [C.WEIGHT] if self.weighted else []
        return [C.word(w) for w in range(self.packing.words)] + self._wide + arrays + self._kept + owned

    @property
    def weights_owned(self) -> bool:
        """Whether described groups keep weights for the owner."""
        return self.weighted and not self.weight_shown

    @property
    def _wide(self) -> list[str]:
        return [C.code(j) for j in range(len(self.attributes)) if not self._small(j)]

    @property
    def packed_names(self) -> list[str]:
        """Columns of encoded rows that travel in words: none of them may be null."""
        return [field.name for field in self.packing.fields]

    @property
    def published_names(self) -> list[str]:
        """Columns of which a described group table keeps a list per group; codes as far as published."""
        words = [C.word(w) for w in range(self.published_packing.words)]
        codes = words + self._wide if self.codes_published else []
        return codes + list(self.held) + self._kept

    @property
    def _kept(self) -> list[str]:
        return [C.kept(j) for j in range(self.kept)]

    def packed(self, rows: DataFrame, *more: str) -> DataFrame:
        """Encoded rows as `row_names`, and `more` of their columns."""
        words = []
        for w in range(self.packing.words):
            inside = [field for field in self.packing.fields if field.word == w]
            shifted = [F.shiftleft(F.col(field.name).cast("bigint"), field.shift) for field in inside]
            words.append(reduce(Column.bitwiseOR, shifted).alias(C.word(w)))
        return rows.select(*words, *self.row_names[len(words) :], *more)

    def people(self, arrays: Mapping[str, pa.Array], number: int) -> People:
        words = [arrays[C.word(w)].to_numpy(zero_copy_only=False) for w in range(self.packing.words)]
        codes = self.packing.unpacked(words)
        columns = tuple(self._column(j, codes, arrays) for j in range(len(self.attributes)))
        every = {**arrays, **{name: pa.array(values) for name, values in codes.items()}}
        named = [arrays[name].to_numpy(zero_copy_only=False) for name in C.HOUSEHOLD_NAME if self.households]
        households = codes_of_names(*named) if named else None
        units = arrays[C.WEIGHT].fill_null(0).to_numpy(zero_copy_only=False) if self.weighted else None
        return People(columns, self._sensitive(every, number), every, households, units)

    def _column(
        self, position: int, codes: Mapping[str, NDArray[np.int32]], arrays: Mapping[str, pa.Array]
    ) -> CodeColumn:
        attribute, name = self.attributes[position], C.code(position)
        if self._small(position):
            return CodeColumn(attribute, codes[name], np.empty(0, np.int64))
        return CodeColumn.read(attribute, arrays[name])

    def _sensitive(self, arrays: Mapping[str, pa.Array], number: int) -> Sensitive:
        if not self.domains:
            return Sensitive.single(np.zeros(number, np.int32), 1)
        if len(self.domains) > 1:
            columns = [arrays[name].to_numpy(zero_copy_only=False) for name in self.held]
            widths = [len(domain.values) for domain in self.domains]
            return Sensitive.several(columns, widths, linked=self.linked)
        assert self.domain is not None
        column, width = arrays[C.SENSITIVE], len(self.domain.values)
        if self.domain.case == "svpi":
            return Sensitive.single(column.to_numpy(zero_copy_only=False), width)
        offsets = column.offsets.to_numpy().astype(np.int64)
        values = self.domain.codes(column.flatten()).to_numpy(zero_copy_only=False).astype(np.int32)
        offsets -= offsets[0]
        if self.domain.records and len(values):
            values, offsets = _each_once(values, offsets)
        return Sensitive(width, values, offsets)

    def raw(
        self, people: People, groups: Partition, paths: pa.Array, *, sound: bool = True
    ) -> pa.RecordBatch:
        """One row per group, with everything known of its people."""
        sizes = pa.array(np.diff(groups.starts), pa.int32())
        lists = _lists(people.arrays, self.row_names, groups.order, groups.starts)
        marks = {C.SOUND: pa.array([sound] * len(sizes), pa.bool_())}
        return pa.RecordBatch.from_pydict({C.PATH: paths, C.SIZE: sizes, **marks, **lists})

    def described(self, people: People, groups: Partition, *, sound: bool = True) -> pa.RecordBatch:
        """One row per group: bounds and labels, penalties, and its people as lists."""
        sizes = np.diff(groups.starts)
        out: dict[str, pa.Array] = {C.SIZE: pa.array(sizes, pa.int32())}
        out[C.SOUND] = pa.array([sound] * len(sizes), pa.bool_())
        penalties = np.empty((len(sizes), len(people.columns)), np.float64)
        for j, column in enumerate(people.columns):
            if j in self.ranging:
                description = generalize(*_each_value(column, people.arrays[C.every(j)], groups), 0)
            else:
                description = generalize(column, groups, j)
            out |= {f"{C.code(j)}_{name}": array for name, array in description.arrays.items()}
            penalties[:, j] = description.penalty
        flat = pa.FixedSizeListArray.from_arrays(pa.array(penalties.ravel()), len(people.columns))
        out[C.PENALTY] = flat.cast(pa.list_(pa.float64()))
        order = self._canonical(people, groups)
        arrays = dict(people.arrays)
        if self.codes_published:
            words = self.published_packing.packed({C.code(j): c.codes for j, c in enumerate(people.columns)})
            arrays |= {C.word(w): pa.array(word) for w, word in enumerate(words)}
        if people.households is not None:
            out |= self._household_lists(people.households, people.sensitive, groups)
        if people.weights is not None:
            out |= self._weights(people.weights, groups)
        out |= _lists(arrays, self.published_names, order, groups.starts)
        return pa.RecordBatch.from_pydict(out | self._by_value(people, groups))

    @property
    def of_rows(self) -> bool:
        """Whether the rows of people are published, apart from each other."""
        return any(domain.of_rows for domain in self.domains)

    def _by_value(self, people: People, groups: Partition) -> dict[str, pa.Array]:
        """Lists of several attributes, or of rows, each in the order of its values: who has which is lost.

        Linked, they are in one order: values of one person stay together, and apart from the person's codes.
        """
        if self.of_rows:
            return {C.SENSITIVE: self._rows(people.sensitive, groups)}
        if len(self.domains) < 2:
            return {}
        group, lists = _group_of_each(groups), dict[str, pa.Array]()
        for names in [list(self.held)] if self.linked else [[name] for name in self.held]:
            held = [people.arrays[name].to_numpy(zero_copy_only=False)[groups.order] for name in names]
            by_value = groups.order[radix_order([group, *held])]
            lists |= _lists(people.arrays, names, by_value, groups.starts)
        return lists

    def _rows(self, sensitive: Sensitive, groups: Partition) -> pa.Array:
        """The texts of all rows of each group in the order of their codes."""
        assert self.domain is not None
        rows = each_value(groups, sensitive.values, sensitive.offsets)
        codes, group = sensitive.values[rows.order], _group_of_each(rows)
        texts = pa.array(self.domain.values, pa.string()).take(pa.array(codes[radix_order([group, codes])]))
        return pa.ListArray.from_arrays(pa.array(rows.starts, pa.int32()), texts)

    def _household_lists(
        self, households: IntArray, sensitive: Sensitive, groups: Partition
    ) -> dict[str, pa.Array]:
        """For the owner: the households of the people of each group, and their values, 0 for several."""
        value = sensitive.values[groups.order] if self._single else np.zeros(len(groups.order), np.int32)
        listed = numbered_within(households[groups.order], value, groups.starts)
        offsets, names = pa.array(groups.starts, pa.int32()), (C.HOUSEHOLD_NUMBERS, C.HOUSEHOLD_VALUES)
        return {
            name: pa.ListArray.from_arrays(offsets, pa.array(held))
            for name, held in zip(names, listed, strict=True)
        }

    def _weights(self, weights: NDArray[np.int64], groups: Partition) -> dict[str, pa.Array]:
        """The sum of the weights of each group; for the owner all of them, if they are not published."""
        sums = {C.POPULATION: pa.array(sums_of_groups(weights, groups.order, groups.starts))}
        if not self.weights_owned:
            return sums
        held = weights[groups.order]
        ordered = held[np.lexsort((held, _group_of_each(groups)))]
        offsets = pa.array(groups.starts, pa.int32())
        return sums | {C.WEIGHTS: pa.ListArray.from_arrays(offsets, pa.array(ordered))}

    @property
    def in_order(self) -> bool:
        """Whether the people of each group leave the tasks in the order of their published content."""
        return not self.kept and (not self.domains or self._single or self.of_rows)

    def _canonical(self, people: People, groups: Partition) -> IntArray:
        """People of each group in the order of their codes, as far as published, then of their value."""
        if not (self.in_order and self.published_names):
            return groups.order
        codes = [column.codes for column in people.columns] if self.codes_published else []
        held = [people.sensitive.values] if len(self.domains) == 1 and self._single else []
        keys: list[IntArray] = [_group_of_each(groups), *(key[groups.order] for key in (*codes, *held))]
        return np.asarray(groups.order[radix_order(keys)])

    def raw_schema(self, rows: T.StructType) -> T.StructType:
        fields = [T.StructField(C.PATH, T.StringType()), *_MARKS]
        return T.StructType(fields + [self._list(name, rows) for name in self.row_names])

    def described_schema(self, rows: T.StructType) -> T.StructType:
        fields = list(_MARKS)
        for j, attribute in enumerate(self.attributes):
            if isinstance(attribute, Ordered):
                wide = T.DoubleType() if attribute.kind == "float" else T.LongType()
                fields += [T.StructField(C.low(j), wide), T.StructField(C.high(j), wide)]
                fields.append(T.StructField(C.mixed(j), T.BooleanType()))
            else:
                fields.append(T.StructField(C.label(j), T.StringType()))
        fields.append(T.StructField(C.PENALTY, T.ArrayType(T.DoubleType())))
        lists = [C.HOUSEHOLD_NUMBERS, C.HOUSEHOLD_VALUES] if self.households else []
        fields += [T.StructField(name, T.ArrayType(T.IntegerType())) for name in lists]
        fields += [T.StructField(C.POPULATION, T.LongType())] if self.weighted else []
        fields += [T.StructField(C.WEIGHTS, T.ArrayType(T.LongType()))] if self.weights_owned else []
        texts = T.ArrayType(T.StringType())
        fields += [
            T.StructField(name, texts) if self.of_rows and name in self.held else self._list(name, rows)
            for name in self.published_names
        ]
        fragment = [] if self.adds_up else [T.StructField(C.FRAGMENT, T.IntegerType())]
        return T.StructType(fields + fragment)

    def _list(self, name: str, rows: T.StructType) -> T.StructField:
        """A list of what `name` holds of people: words, codes, or a column of the encoded rows."""
        words = {C.word(w) for w in range(max(self.packing.words, self.published_packing.words))}
        codes = {field.name for field in self.packing.fields}
        element = T.LongType() if name in words else T.IntegerType() if name in codes else rows[name].dataType
        return T.StructField(name, T.ArrayType(element))


def _group_of_each(groups: Partition) -> IntArray:
    """The group of every person, in the order of the groups."""
    return np.repeat(np.arange(len(groups.starts) - 1), np.diff(groups.starts))


def _each_value(column: CodeColumn, lists: pa.Array, groups: Partition) -> tuple[CodeColumn, Partition]:
    """All values of people along one attribute as if each were a person's: groups are to cover every one."""
    attribute, values = column.attribute, lists.flatten()
    if isinstance(attribute, Categorical):
        values = attribute.codes(values)
    found = CodeColumn.read(attribute, values)
    offsets = np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy(zero_copy_only=False))])
    return found, each_value(groups, found.codes, offsets)


def _each_once(values: NDArray[np.int32], offsets: IntArray) -> tuple[NDArray[np.int32], IntArray]:
    """Values of people, sorted within each person, without those that repeat the one before."""
    first = np.ones(len(values), np.bool_)
    first[1:] = values[1:] != values[:-1]
    first[offsets[:-1][np.diff(offsets) > 0]] = True
    return values[first], np.concatenate([[0], np.cumsum(first)])[offsets]


_MARKS = (T.StructField(C.SIZE, T.IntegerType()), T.StructField(C.SOUND, T.BooleanType()))


def _lists(
    arrays: Mapping[str, pa.Array], names: list[str], order: IntArray, starts: NDArray[np.int64]
) -> dict[str, pa.Array]:
    """One list per group of each column, people in the given order."""
    offsets, people = pa.array(starts, pa.int32()), pa.array(order)
    return {name: pa.ListArray.from_arrays(offsets, arrays[name].take(people)) for name in names}
