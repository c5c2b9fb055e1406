"""The partitioners by name, as what runs them on a table."""

from __future__ import annotations

from collections.abc import Callable

from ppdp_spark.spark.partition.art import anatomy, art
from ppdp_spark.spark.partition.coded_table import CodedTable, PartitionerOnSpark
from ppdp_spark.spark.partition.mondrian import BlindTable, mondrian

ON_SPARK: dict[str, Callable[[CodedTable], PartitionerOnSpark]] = {
    "mondrian": mondrian,
    "art": art,
    "anatomy": anatomy,
    "blind": BlindTable,
}


def partitioner_of(table: CodedTable) -> PartitionerOnSpark:
    """The partitioner that the table's spec asks for."""
    return ON_SPARK[table.spec.partitioner](table)
