"""The census as integer codes in memory, as tasks see it, and the quality of a grouping of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.tables import CATEGORICAL, QUASI_IDENTIFIERS, SENSITIVE
from ppdp_spark.core.criteria import KAnonymity
from ppdp_spark.core.data.attributes import Attribute, Categorical, CodeColumn, Ordered
from ppdp_spark.core.data.coded_people import Partition, Sensitive
from ppdp_spark.core.partition.mondrian import partition


@dataclass(frozen=True)
class Coded:
    """People as codes, 0 for null; one column per attribute."""

    columns: tuple[CodeColumn, ...]
    codes: NDArray[np.int32]
    sensitive: Sensitive

    @classmethod
    def read(cls, path: str) -> Coded:
        table = pq.read_table(path, columns=[*QUASI_IDENTIFIERS, SENSITIVE]).combine_chunks()
        columns = tuple(_column(name, table.column(name).combine_chunks()) for name in QUASI_IDENTIFIERS)
        values = _column(SENSITIVE, table.column(SENSITIVE).combine_chunks())
        sensitive = Sensitive.single(values.codes, int(values.codes.max(initial=0)) + 1)
        return cls(columns, np.stack([column.codes for column in columns], axis=1), sensitive)

    def partition(self, k: int) -> Partition:
        axes = [column.axis() for column in self.columns]
        return partition(self.codes, self.sensitive, axes, [KAnonymity(k)])

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.codes, columns=list(QUASI_IDENTIFIERS))


def _column(name: str, array: pa.Array) -> CodeColumn:
    attribute: Attribute
    if name in (*CATEGORICAL, SENSITIVE):
        names = sorted(value for value in pc.unique(array).to_pylist() if value is not None)
        attribute = Categorical(name, tuple(names))
        codes = pc.add(pc.index_in(array, value_set=pa.array(names, pa.string())), 1)
    else:
        bounds = pc.min_max(array)
        low, high = bounds["min"].as_py(), bounds["max"].as_py()
        attribute = Ordered(name, "integer", "int", low, high)
        codes = pc.subtract(array, low - 1)
    plain = pc.fill_null(codes, 0).to_numpy(zero_copy_only=False).astype(np.int32)
    return CodeColumn(attribute, plain, np.empty(0, np.int64))


def group_numbers(order: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The group of every person."""
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return numbers


def quality(coded: Coded, group: NDArray[np.int64]) -> dict[str, float]:
    """Groups, people a group, and the mean normalized certainty penalty, by plain pandas.

    A group's penalty along numbers is the share of the whole range it spans; along categories, of
    the other categories it holds; 1 where it mixes null with values.
    """
    table = coded.frame()
    penalties = []
    for column in coded.columns:
        codes = table[column.attribute.name]
        present = codes.where(codes > 0)
        by_group = present.groupby(group)
        if isinstance(column.attribute, Ordered):
            share = (by_group.max() - by_group.min()) / max(1.0, column.attribute.span)
        else:
            share = (by_group.nunique() - 1) / max(1, len(column.attribute.values) - 1)
        present_in, people = by_group.count(), codes.groupby(group).size()
        share = share.where(present_in > 0, 0.0).where((present_in == 0) | (present_in == people), 1.0)
        penalties.append(share.to_numpy()[group].mean())
    groups = int(group.max()) + 1
    return {
        "groups": groups,
        "mean_size": len(group) / groups,
        "smallest": int(np.bincount(group).min()),
        "ncp": float(np.mean(penalties)),
    }
