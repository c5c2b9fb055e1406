"""People with loans: the synthetic table of classification benchmarks [Agrawal et al., TKDE 1993].

Eleven integers of four bytes a record: the nine attributes of the generator, a number, a class label.
The house value depends on the zipcode, which is the sensitive attribute [Skyline, Sec 7.2]; the commission
on the salary; everything else is uniform. A record is a function of its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

QUASI_IDENTIFIERS = ("salary", "commission", "age", "elevel", "car", "hvalue", "hyears", "loan")
SENSITIVE = "zipcode"
LABELS = ("person", "label")

ZIPCODES = 9
SMALL_SALARY = 75_000


def records(spark: SparkSession, rows: int, partitions: int) -> DataFrame:
    from pyspark.sql import functions as F

    def uniform(name: str, low: int, high: int) -> Column:
        """A whole number from `low` to `high`."""
        return F.lit(low) + F.pmod(F.xxhash64("id", F.lit(name)), F.lit(high - low + 1))

    ranges = {
        "salary": (20_000, 150_000),
        "age": (20, 80),
        "elevel": (0, 4),
        "car": (1, 20),
        "zipcode": (1, ZIPCODES),
        "hyears": (1, 30),
        "loan": (0, 500_000),
    }
    people = spark.range(0, rows, 1, partitions)
    people = people.select("id", *(uniform(name, *bounds).alias(name) for name, bounds in ranges.items()))
    earned = uniform("commission", 10_000, SMALL_SALARY)
    columns = {
        "commission": F.when(F.col("salary") < SMALL_SALARY, earned).otherwise(0),
        "hvalue": F.col("zipcode") * uniform("hvalue", 50_000, 150_000),
        "label": F.when(F.col("age").between(40, 59), 0).otherwise(1),
        "person": F.col("id"),
    }
    names = (*LABELS, *QUASI_IDENTIFIERS, SENSITIVE)
    return people.withColumns(columns).select(*(F.col(name).cast("int").alias(name) for name in names))
