"""Names of keys that agree exactly with their equality, and that nobody can forge.

A key of one or more columns is written out as text in which different keys always differ, and named by
the SHA-256 of that text. Whoever writes the input chooses the keys: hashes made for speed, xxhash64 among
them, let two keys with the same name be found in seconds, and two groups would be judged as one.

When two values are the same is decided in `sameness`; null equals null, and instants are equal if their
microseconds are. Only groups of tables that are judged as they stand are named `as_printed`: there a reader
tells NaN from null and −0.0 from 0.0, and taking two groups for one would be the unsafe side.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.spark.data.sameness import folded
from ppdp_spark.spark.engine.versions import VARIANT

_NULL = "-"
_WORD = 16
"""Hexadecimal digits of a 64-bit word."""

_NESTED = (T.ArrayType, T.StructType, T.MapType, *VARIANT)


def is_integer(types: Mapping[str, T.DataType]) -> bool:
    """Whether a key is one integer column, which is its own name."""
    return len(types) == 1 and isinstance(next(iter(types.values())), T.IntegralType)


def key_digest(
    keys: Mapping[str, Column], types: Mapping[str, T.DataType], *, as_printed: bool = False
) -> Column:
    """SHA-256 of all keys, as hexadecimal text."""
    return F.sha2(F.concat(*(_part(key, types[name], as_printed) for name, key in keys.items())), 256)


def words(digest: Column, number: int) -> tuple[Column, ...]:
    """The first 64-bit words of a hexadecimal text, as signed numbers."""
    parts = (F.substring(digest, 1 + i * _WORD, _WORD) for i in range(number))
    return tuple(F.conv(part, 16, -10).cast("bigint") for part in parts)


def _part(key: Column, kind: T.DataType, as_printed: bool) -> Column:
    """A key with its length before it, so that where it ends does not depend on what it says."""
    text = _text(key, kind, as_printed)
    return F.coalesce(F.concat(F.octet_length(text).cast("string"), F.lit(":"), text), F.lit(_NULL))


def _text(key: Column, kind: T.DataType, as_printed: bool) -> Column:
    """Different texts for different values of a type; null for null."""
    if isinstance(kind, _NESTED):
        return _json(key, kind, as_printed)
    if isinstance(kind, T.BinaryType):
        return F.hex(key)
    if isinstance(kind, T.TimestampType):
        # The local text of an instant occurs twice in the hour when clocks go back.
        return F.unix_micros(key).cast("string")
    return (key if as_printed else folded(key, kind)).cast("string")


def _json(value: Column, kind: T.DataType, as_printed: bool) -> Column:
    """Text of a nested value; null only where the whole value is."""
    text = F.to_json(F.struct(_plain(value, kind, as_printed).alias("v")), {"ignoreNullFields": "false"})
    return F.when(value.isNotNull(), text)


def _plain(value: Column, kind: T.DataType, as_printed: bool) -> Column:
    """A nested value whose JSON is different for different values: no text is interpreted, no time printed.

    Entries of a map have no order; here they are sorted.
    """
    if isinstance(kind, T.ArrayType):
        element = kind.elementType
        return F.transform(value, lambda x: _plain(x, element, as_printed))
    if isinstance(kind, T.StructType):
        fields = [
            _plain(value.getField(field.name), field.dataType, as_printed).alias(f"f{i}")
            for i, field in enumerate(kind.fields)
        ]
        return F.when(value.isNotNull(), F.struct(*fields)) if fields else value
    if isinstance(kind, T.MapType):
        pair = T.StructType([T.StructField("key", kind.keyType), T.StructField("value", kind.valueType)])
        return F.array_sort(F.transform(F.map_entries(value), lambda entry: _json(entry, pair, as_printed)))
    if isinstance(kind, VARIANT):
        return F.to_json(value)
    return F.hex(value) if isinstance(kind, T.StringType) else _text(value, kind, as_printed)
