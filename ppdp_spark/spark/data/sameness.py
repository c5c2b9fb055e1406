"""When two values are the same: the one place that decides it, for every column and command.

NaN is a null, and −0.0 is 0.0, also inside arrays. Everything else is the same iff Spark's own type says
so; as texts, values of one column are then equal iff they are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T


def folded(value: Column, kind: T.DataType) -> Column:
    """The value with all that counts as the same made equal."""
    if isinstance(kind, T.FloatType | T.DoubleType):
        return F.when(~F.isnan(value), value + F.lit(0.0).cast(kind))
    if isinstance(kind, T.ArrayType) and isinstance(kind.elementType, T.FloatType | T.DoubleType):
        element = kind.elementType
        return F.transform(value, lambda x: folded(x, element))
    return value


def holds(kind: T.DataType, *sought: type[T.DataType]) -> bool:
    """Whether values of a type are of one of some types, or have such values inside."""
    return any(isinstance(inner, sought) for inner in _inside(kind))


def hashed_alike(kind: T.DataType) -> bool:
    """Whether values that are the same have the same hash.

    Texts of another collation than that of their bytes, such as one that ignores case, need not.
    """
    return all(getattr(inner, "collation", _BYTES) == _BYTES for inner in _inside(kind))


def _inside(kind: T.DataType) -> Iterator[T.DataType]:
    yield kind
    if isinstance(kind, T.ArrayType):
        yield from _inside(kind.elementType)
    elif isinstance(kind, T.StructType):
        for field in kind.fields:
            yield from _inside(field.dataType)


_BYTES = "UTF8_BINARY"
"""The collation of texts that are the same where their bytes are."""


def null_as_element(texts: Column) -> Column:
    """An array of texts; one that is null has one value, null."""
    return F.coalesce(texts, F.array(F.lit(None).cast("string")))


def text_of(value: Column, kind: T.DataType) -> Column:
    """The value as text, or an array as an array of texts: equal iff the values are the same."""
    return folded(value, kind).cast("array<string>" if isinstance(kind, T.ArrayType) else "string")
