"""The tables that scenarios read: made once by Spark, kept in the data folder, the same on every machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from benchmarks.bench import Bench

NUMERIC = ("age", "hours", "income")
CATEGORICAL = ("sex", "education", "marital", "race", "state")
QUASI_IDENTIFIERS = ("age", "sex", "education", "marital", "race", "state", "hours", "income")
SENSITIVE = "occupation"
WIDE = (*QUASI_IDENTIFIERS, *(f"measure{i}" for i in range(12)))
"""The census's own quasi-identifiers, and numbers of different spread, half of them correlated with age."""

ATTRIBUTES = ("drug", "ward")
"""Sensitive columns of the table with three."""
COLUMNS = 50
"""Of the table in which `discover` looks."""

PERSON = "person_id"
ROWS_A_PERSON = 5
GROUP, VALUE = "group", "value"
SEX, REGION = "sex", "region"

PEOPLE_A_GROUP = 20
VALUES = 20
REGIONS = 12
FREQUENT_PERCENT = 30
"""Share of the people of the skewed table who have one and the same occupation."""

_FILE_ROWS = 1_000_000


def table_path(data: Path, kind: str, rows: int) -> Path:
    """Where a table of a kind and a size is kept."""
    return data / f"{kind}-{rows}.parquet"


def make(bench: Bench, kind: str) -> None:
    """Write a table; it appears under its name only when it is complete."""
    from ppdp_spark.spark.session import local_session

    path = table_path(bench.data, kind, bench.rows)
    part = path.with_suffix(".part")
    with bench.phase(f"making {path.stem}"):
        shutil.rmtree(part, ignore_errors=True)
        table = _MAKERS[kind](local_session(), bench.rows)
        table.write.parquet(str(part))
        part.rename(path)


def _census(spark: SparkSession, rows: int) -> DataFrame:
    from ppdp_spark.spark.synthetic.census import census

    people = census(spark, rows, partitions=_partitions(spark, rows))
    return people.select(PERSON, *QUASI_IDENTIFIERS, SENSITIVE)


def _skewed(spark: SparkSession, rows: int) -> DataFrame:
    """The census with one occupation that almost a third of the people have."""
    from pyspark.sql import functions as F

    frequent = F.pmod(F.xxhash64(PERSON, F.lit("skewed")), F.lit(100)) < FREQUENT_PERCENT
    occupation = F.when(frequent, F.lit("Frequent")).otherwise(F.col(SENSITIVE))
    return _census(spark, rows).withColumn(SENSITIVE, occupation)


def _wide(spark: SparkSession, rows: int) -> DataFrame:
    """The census with twelve more numbers a person, of 4, 8, … values, half of them drawn around the age."""
    from pyspark.sql import functions as F

    people = _census(spark, rows)
    for i, name in enumerate(WIDE[len(QUASI_IDENTIFIERS) :]):
        drawn = F.pmod(F.xxhash64(PERSON, F.lit(name)), F.lit(4 << i))
        people = people.withColumn(name, (drawn + F.col("age") * (i % 2)).cast("int"))
    return people


def _attributes(spark: SparkSession, rows: int) -> DataFrame:
    """The census with two more columns of twenty values each, drawn without regard to the others."""
    from pyspark.sql import functions as F

    def drawn(name: str) -> Column:
        return F.concat(F.lit(f"{name} "), F.pmod(F.xxhash64(PERSON, F.lit(name)), F.lit(VALUES)))

    return _census(spark, rows).select("*", *(drawn(name).alias(name) for name in ATTRIBUTES))


def _visits(spark: SparkSession, rows: int) -> DataFrame:
    """Five rows per person, apart from each other, with an occupation in each."""
    from pyspark.sql import functions as F

    people = _census(spark, rows // ROWS_A_PERSON).crossJoin(
        spark.range(0, ROWS_A_PERSON, 1, 1).withColumnRenamed("id", "visit")
    )
    value = F.concat(F.lit("value "), F.pmod(F.xxhash64(PERSON, "visit"), F.lit(VALUES)))
    spread = people.withColumn(SENSITIVE, value).repartition(
        _partitions(spark, rows), F.xxhash64(PERSON, "visit")
    )
    return spread.drop("visit")


def _columns(spark: SparkSession, rows: int) -> DataFrame:
    """Fifty columns: numbers and texts of 2 to 500 values, half of them skewed, as surveys have them."""
    from pyspark.sql import functions as F

    people = spark.range(0, rows, 1, _partitions(spark, rows))
    made = []
    for i in range(COLUMNS):
        values = 2 + 10 * i if i % 5 == 4 else 2 + i % 7
        even = F.pmod(F.xxhash64("id", F.lit(i)), F.lit(values))
        skewed = F.floor(even * (F.pmod(F.xxhash64("id", F.lit(-i - 1)), F.lit(100)) / 100))
        drawn = skewed if i % 2 else even
        made.append((drawn.cast("string") if i % 3 else drawn.cast("int")).alias(f"column{i}"))
    return people.select(*made)


def _grouped(spark: SparkSession, rows: int, *more: Column) -> DataFrame:
    """People in groups of about twenty, not clustered, with one of twenty values each."""
    from pyspark.sql import functions as F

    people = spark.range(0, rows, 1, _partitions(spark, rows))
    group = F.pmod(F.xxhash64("id", F.lit(1)), F.lit(max(1, rows // PEOPLE_A_GROUP)))
    value = F.concat(F.lit("value "), F.pmod(F.xxhash64("id", F.lit(2)), F.lit(VALUES)).cast("string"))
    return people.select(group.alias(GROUP), value.alias(VALUE), *more)


def _signed(spark: SparkSession, rows: int) -> DataFrame:
    """The same, with two attributes that a reader may know of everybody."""
    from pyspark.sql import functions as F

    drawn = F.xxhash64("id", F.lit(3))
    sex = F.when(drawn % 2 == 0, "Female").otherwise("Male")
    region = F.concat(F.lit("region "), F.pmod(F.shiftright(drawn, 8), F.lit(REGIONS)).cast("string"))
    return _grouped(spark, rows, sex.alias(SEX), region.alias(REGION))


def _records(spark: SparkSession, rows: int) -> DataFrame:
    from benchmarks.records import records

    return records(spark, rows, _partitions(spark, rows))


def _partitions(spark: SparkSession, rows: int) -> int:
    return max(spark.sparkContext.defaultParallelism, rows // _FILE_ROWS)


_MAKERS = {
    "census": _census,
    "skewed": _skewed,
    "wide": _wide,
    "grouped": _grouped,
    "signed": _signed,
    "records": _records,
    "attributes": _attributes,
    "visits": _visits,
    "columns": _columns,
}
