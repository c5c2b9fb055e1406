"""Without a table of people: members of the groups of one release, in groups of others that overlap."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.errors import DataError
from ppdp_spark.spark.composition.published_groups import PublishedGroups


def people_of_groups(spark: SparkSession, releases: Sequence[PublishedGroups]) -> DataFrame:
    raise DataError("not yet")
