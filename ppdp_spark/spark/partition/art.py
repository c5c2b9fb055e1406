"""ART and Anatomy: people packed into groups, bottom-up."""

from __future__ import annotations

from fractions import Fraction

from ppdp_spark.core.criteria import AlphaK, LocalCriterion
from ppdp_spark.core.criteria.protected_values import AmongProtected
from ppdp_spark.core.partition.art import AnatomyPlacement, ArtPlacement
from ppdp_spark.spark.partition.coded_table import CodedTable, PartitionerOnSpark
from ppdp_spark.spark.partition.leftovers import Demands, PlaceTable
from ppdp_spark.spark.partition.whole_table import value_domain


def art(table: CodedTable) -> PartitionerOnSpark:
    """Groups that are r-robust by the way they are packed [ART, Section V]."""
    demands = Demands.of(table)
    return PlaceTable(table, ArtPlacement(demands.criteria, demands.robustness, demands.least))


def anatomy(table: CodedTable) -> PartitionerOnSpark:
    """Groups of ℓ distinct values, which exist where no value has more than 1/ℓ of the people [Anatomy]."""
    demands = Demands.of(table)
    rare: LocalCriterion = AlphaK(Fraction(1, demands.distinct), 2)
    protected = value_domain(table.profile).protected
    if protected is not None:
        rare = AmongProtected(rare, protected)
    criteria, robust = (*demands.criteria, rare), demands.robustness
    placement = AnatomyPlacement(criteria, robust, demands.distinct, demands.least, protected)
    return PlaceTable(table, placement)
