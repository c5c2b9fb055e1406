"""The owner's table of weights that are not published: one row per person, with the group and the weight.

It is what `verify` adds up; a release without weights shows none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.arrow import whole


@dataclass(frozen=True)
class WeightRows:
    """The owner's table from numbered groups; weights are in units and in the order of their size."""

    def rows(self, groups: pa.Table) -> pa.Table:
        lists = whole(groups, C.WEIGHTS)
        group = np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy())
        numbers = whole(groups, C.GROUP_ID).take(pa.array(group))
        return pa.table({C.GROUP_ID: numbers, C.WEIGHT: lists.flatten()})


def weight_table(groups: DataFrame) -> DataFrame:
    """The same table for Spark's writer."""
    return groups.select(C.GROUP_ID, F.explode(C.WEIGHTS).alias(C.WEIGHT))
