"""Arrow tables as arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.data.packing import Packing
from ppdp_spark.spark.engine import column_names as C


def whole(table: pa.Table, name: str) -> pa.Array:
    """A column of a table in one piece; without a copy if it is in one already."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def encoded(column: pa.Array) -> pa.DictionaryArray:
    """The column with a dictionary of its values."""
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def codes_of(column: pa.Array, values: pa.Array) -> IntArray:
    """The place of each cell among the values, null being one like any other."""
    held = encoded(column)
    known = pc.index_in(held.dictionary, value_set=values.cast(held.dictionary.type))
    if known.null_count:
        raise LookupError("a value that is none of those expected")
    codes = known.take(held.indices)
    if codes.null_count:
        null = values.is_null().index(True).as_py()
        if null < 0:
            raise LookupError("null is none of the values expected")
        codes = codes.fill_null(null)
    return np.asarray(codes.to_numpy(zero_copy_only=False))


def unpacked(arrays: Mapping[str, pa.Array], packing: Packing) -> dict[str, pa.Array]:
    """Arrays of people with the codes that their words hold."""
    words = [arrays[C.word(w)].to_numpy(zero_copy_only=False) for w in range(packing.words)]
    codes = packing.unpacked(words)
    return {**arrays, **{name: pa.array(values) for name, values in codes.items()}}
