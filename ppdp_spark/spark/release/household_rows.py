"""The owner's table of households: who belongs together in each published group, without any name.

One row per person: the group, the number of the household within the group, and the sensitive value if there
is one per person. It is what `verify` counts households from; a release shows none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.spark.data.encode import decode, typed_values
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.arrow import whole
from ppdp_spark.spark.release.described_rows import Values


@dataclass(frozen=True)
class HouseholdRows:
    """The owner's table from numbered groups; `values` are texts by their codes, if a person has one."""

    values: Values | None

    @classmethod
    def of(cls, groups: DataFrame, layout: Layout) -> HouseholdRows:
        held = single_values(layout)
        return cls(None if held is None else Values(typed_values(groups.sparkSession, held, "string")))

    def rows(self, groups: pa.Table) -> pa.Table:
        numbers = whole(groups, C.HOUSEHOLD_NUMBERS)
        group = np.repeat(np.arange(len(numbers)), numbers.value_lengths().to_numpy())
        columns = {
            C.GROUP_ID: whole(groups, C.GROUP_ID).take(pa.array(group)),
            C.HOUSEHOLD: numbers.flatten(),
        }
        if self.values is not None:
            columns[C.VALUE] = self.values(whole(groups, C.HOUSEHOLD_VALUES).flatten())
        return pa.table(columns)


def household_table(groups: DataFrame, layout: Layout) -> DataFrame:
    """The same table for Spark's writer."""
    each = F.arrays_zip(
        F.col(C.HOUSEHOLD_NUMBERS).alias(C.HOUSEHOLD), F.col(C.HOUSEHOLD_VALUES).alias(C.VALUE)
    )
    rows = groups.select(C.GROUP_ID, F.inline(each))
    held = single_values(layout)
    return rows.drop(C.VALUE) if held is None else decode(rows, C.VALUE, held, first_code=0)


def single_values(layout: Layout) -> tuple[str | None, ...] | None:
    """The sensitive values by their codes; None unless every person has one."""
    domain = layout.domain
    return domain.values if domain is not None and domain.case == "svpi" else None
