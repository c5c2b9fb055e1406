"""When two values are the same: the one place that decides it, for every column and command.

NaN is a null, and −0.0 is 0.0, also inside arrays. Everything else is the same iff Spark's own type says
so; as texts, values of one column are then equal iff they are the same.
"""

from __future__ import annotations

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


def null_as_element(texts: Column) -> Column:
    """An array of texts; one that is null has one value, null."""
    return F.coalesce(texts, F.array(F.lit(None).cast("string")))


def text_of(value: Column, kind: T.DataType) -> Column:
    """The value as text, or an array as an array of texts: equal iff the values are the same."""
    return folded(value, kind).cast("array<string>" if isinstance(kind, T.ArrayType) else "string")
