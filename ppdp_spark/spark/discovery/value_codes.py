"""Values as short codes that are different exactly where the values are, several to a word.

Codes are bits of a hash. That different values have different ones is not assumed but found out on the
values there are; where it is not so, SHA-256 of the value and a random salt takes the place of the hash.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.data.packing import Field, Packing
from ppdp_spark.core.discovery.column_facts import ColumnFacts
from ppdp_spark.core.discovery.short_codes import LONGEST, Bits, telling_bits
from ppdp_spark.errors import InternalError
from ppdp_spark.spark.data.identifiers import some_hash_repeats
from ppdp_spark.spark.data.key_names import key_digest, words
from ppdp_spark.spark.discovery.column_survey import VALUE, values_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.parallel_jobs import all_at_once
from ppdp_spark.spark.engine.versions import to_arrow

MOST_GATHERED = 65_536
"""Of columns with more values than these the codes are long, and compared by tasks."""

_TRIES = 4


@dataclass(frozen=True)
class CodedColumns:
    """A table of words, and where in them the code of each column lies.

    where
        words   one row per person
        fields  the place of each column's code, in the order of the columns
    """

    words: DataFrame
    fields: tuple[Field, ...]

    def code(self, place: int) -> Column:
        """The code of a column."""
        field = self.fields[place]
        return F.shiftright(F.col(C.word(field.word)), field.shift).bitwiseAND(_mask(field))

    def needed(self, places: Sequence[int]) -> list[int]:
        """The words in which the codes of some columns are."""
        return sorted({self.fields[place].word for place in places})


def dense(rows: pa.Table, field: Field) -> IntArray:
    """The codes of a column among the rows of a task, renumbered from 0 without gaps."""
    word = rows.column(C.word(field.word)).to_numpy()
    codes = pa.array((word >> field.shift) & _mask(field)).dictionary_encode().indices
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int32)


def _mask(field: Field) -> int:
    return (1 << field.bits) - 1


def coded_columns(table: DataFrame, columns: Sequence[ColumnFacts]) -> CodedColumns:
    """The columns of a table as codes."""
    found = all_at_once(table.sparkSession, [partial(_code, table, facts) for facts in columns])
    largest = {str(place): (1 << bits.length) - 1 for place, (_, bits) in enumerate(found)}
    fields = sorted(Packing.of(largest).fields, key=lambda field: int(field.name))
    by_word: dict[int, Column] = {}
    for field, (hashed, bits) in zip(fields, found, strict=True):
        code = F.shiftright(hashed, bits.shift).bitwiseAND((1 << bits.length) - 1)
        shifted = F.shiftleft(code, field.shift)
        by_word[field.word] = by_word[field.word].bitwiseOR(shifted) if field.word in by_word else shifted
    packed = table.select(*(word.alias(C.word(position)) for position, word in sorted(by_word.items())))
    return CodedColumns(packed, tuple(fields))


def _code(table: DataFrame, facts: ColumnFacts) -> tuple[Column, Bits]:
    """A hash of a column, and bits of it in which all its values differ."""
    value = values_of(table, facts.name)
    types = {facts.name: table.schema[facts.name].dataType}
    for tried in range(_TRIES):
        hashed = F.xxhash64(value)
        if tried:
            salted = F.concat(F.lit(secrets.token_hex(16)), key_digest({facts.name: value}, types))
            (hashed,) = words(F.sha2(salted, 256), 1)
        told = table.select(hashed.alias("hash"), value.alias(VALUE)).distinct()
        if facts.crowds.number > MOST_GATHERED:
            long = Bits(0, LONGEST)
            if not some_hash_repeats(told, F.col("hash").bitwiseAND((1 << LONGEST) - 1)):
                return hashed, long
            continue
        bits = telling_bits(to_arrow(told.select("hash")).column(0).to_numpy())
        if bits is not None:
            return hashed, bits
    raise InternalError("values of a column have no codes that tell them apart")
