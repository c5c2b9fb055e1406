"""Mondrian by quasi-identifiers alone: what it makes is judged afterwards, and published or refused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pyspark.sql import DataFrame

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.partition.blind import BlindPlacement, blind_criteria
from ppdp_spark.spark.partition.coded_table import CodedTable, Placements
from ppdp_spark.spark.partition.leftovers import PlaceTable
from ppdp_spark.spark.partition.mondrian import CutTable
from ppdp_spark.spark.partition.whole_table import everybody


@dataclass(frozen=True)
class BlindTable:
    """Groups that no sensitive value has a part in, of the least size that was chosen for the table."""

    table: CodedTable

    @property
    def least(self) -> int:
        """K."""
        assert self.table.least is not None
        return self.table.least.size

    def necessary(self) -> list[VerdictRow]:
        """There are as many people as one group needs."""
        whole, number = everybody(self.table.profile), np.array([1])
        return [row for c in blind_criteria(self.least) for row in c.decide(c.summarise(whole, number))]

    def place(self) -> Placements:
        """The groups. With robustness, priors travel with people, for the judges; they decide nothing."""
        if self.table.spec.privacy.robustness is None:
            return Placements(blind_groups(self.table))
        return PlaceTable(self.table, BlindPlacement.of_size(self.least)).place()


def blind_groups(table: CodedTable) -> DataFrame:
    """The same groups without anybody's priors."""
    return CutTable(table, blind_criteria(BlindTable(table).least)).place().groups
