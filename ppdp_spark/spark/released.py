"""Published files, read back as groups: nothing but the release and its manifest is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.spark import columns as C
from ppdp_spark.spark.statistics import PERSON, TWO_WAYS, group_counts
from ppdp_spark.storage import DATA, Folder


def value_counts(values: DataFrame) -> tuple[list[str | None], list[int]]:
    """Distinct texts of column `value` with the sum of `count`, null last."""
    found = values.groupBy(C.VALUE).agg(F.sum(C.COUNT)).toArrow()
    pairs = zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True)
    ordered = sorted(pairs, key=lambda pair: (pair[0] is None, pair[0] or ""))
    return [text for text, _ in ordered], [int(number) for _, number in ordered]


def with_codes(rows: DataFrame, texts: list[str | None]) -> DataFrame:
    """Add the code of column `value` as `sensitive`; null is a value like any other."""
    table = pa.table({"text": pa.array(texts, pa.string()), "code": pa.array(range(len(texts)), pa.int32())})
    dictionary = F.broadcast(rows.sparkSession.createDataFrame(table, "text string, code int"))
    joined = rows.join(dictionary, F.col(C.VALUE).eqNullSafe(F.col("text")), "left")
    return joined.withColumn(C.SENSITIVE, F.col("code")).drop("text", "code")


def coded_values(rows: DataFrame, texts: list[str | None], case: str | None) -> DataFrame:
    """One row a value of a person, its code in `sensitive`; `value` holds the text or the texts.

    With sets and multisets each person adds one more row with the code `PERSON`, so that people
    without any value are counted too. Without a sensitive column everyone has code 0.
    """
    if case is None:
        return rows.withColumn(C.SENSITIVE, F.lit(0))
    if case == "svpi":
        return with_codes(rows, texts)
    held = F.transform(F.col(C.VALUE), lambda x: F.struct(F.lit(False).alias("person"), x.alias(C.VALUE)))
    person = F.struct(F.lit(True).alias("person"), F.lit(None).cast("string").alias(C.VALUE))
    each = F.concat(
        F.array(person), F.coalesce(held, F.array().cast("array<struct<person:boolean,value:string>>"))
    )
    others = [C.column(name) for name in rows.columns if name != C.VALUE]
    coded = with_codes(rows.select(*others, F.inline(each)), texts)
    return coded.withColumn(C.SENSITIVE, F.when(F.col("person"), F.lit(PERSON)).otherwise(F.col(C.SENSITIVE)))


def generalized_groups(table: DataFrame, manifest: Mapping[str, Any], texts: list[str | None]) -> DataFrame:
    """Groups of a generalized release; one whose people are described differently stops the check."""
    described = [C.column(name) for name in manifest["columns"]["quasi_identifiers"]]
    sensitive = manifest["sensitive"]
    case = None if sensitive is None else sensitive["case"]
    text = [] if sensitive is None else [sensitive_text(sensitive["column"], sensitive["case"])]
    rows = table.select(C.GROUP_ID, *text, F.xxhash64(*described).alias("description"))
    coded = coded_values(rows, texts, case)
    return group_counts(coded, [C.GROUP_ID], case=case, number=C.GROUP_ID, same="description")


def sensitive_text(name: str, case: str) -> Column:
    """A sensitive column as text (or texts), named `value`."""
    return C.column(name).cast("string" if case == "svpi" else "array<string>").alias(C.VALUE)


def bucketized_groups(
    people: DataFrame, sensitive: DataFrame, manifest: Mapping[str, Any], texts: list[str | None]
) -> DataFrame:
    """Groups of a bucketized release: people from the one table, counts of values from the other."""
    values = sensitive.select(C.GROUP_ID, sensitive_text(manifest["sensitive"]["column"], "svpi"), C.COUNT)
    entry = F.struct(F.col(C.SENSITIVE).alias(C.VALUE), F.col(C.COUNT).cast("bigint").alias(C.COUNT))
    listed = (
        with_codes(values, texts)
        .groupBy(C.GROUP_ID)
        .agg(F.collect_list(entry).alias("entries"), F.sum(C.COUNT).alias("occurrences"))
    )
    sizes = people.groupBy(C.GROUP_ID).agg(F.count(F.lit(1)).alias(C.SIZE))
    both = sizes.join(listed, C.GROUP_ID, "full")
    agree = F.col(C.SIZE).isNotNull()
    if manifest["sensitive"]["case"] == "svpi":
        agree = agree & F.coalesce(F.col("occurrences") == F.col(C.SIZE), F.lit(False))
    checked = F.when(agree, F.col(C.SIZE)).otherwise(F.raise_error(F.lit(TWO_WAYS)).cast("bigint"))
    entries = F.coalesce(F.col("entries"), F.array().cast("array<struct<value:int,count:bigint>>"))
    lists = [entries[field].alias(field) for field in (C.VALUE, C.COUNT)]
    return both.select(F.col(C.GROUP_ID).cast("bigint").alias(C.GROUP_ID), checked.alias(C.SIZE), *lists)


def released_groups(
    spark: SparkSession, release: Folder, manifest: Mapping[str, Any]
) -> tuple[DataFrame, list[str | None], list[int]]:
    """Groups of a release, its sensitive values, and how often each occurs."""
    data = release / DATA
    sensitive = manifest["sensitive"]
    if manifest["form"] == "bucketized":
        people = spark.read.parquet(str(data / "qi"))
        counts = spark.read.parquet(str(data / "sensitive"))
        texts, numbers = value_counts(counts.select(sensitive_text(sensitive["column"], "svpi"), C.COUNT))
        return bucketized_groups(people, counts, manifest, texts), texts, numbers
    table = spark.read.parquet(str(data))
    if sensitive is None:
        return generalized_groups(table, manifest, []), [], []
    texts, numbers = value_counts(occurrences(table, sensitive["column"], sensitive["case"]))
    return generalized_groups(table, manifest, texts), texts, numbers


def occurrences(table: DataFrame, name: str, case: str) -> DataFrame:
    """One row an occurrence of a sensitive value, as text, with count 1."""
    texts = sensitive_text(name, case)
    return table.select((texts if case == "svpi" else F.explode(texts)).alias(C.VALUE)).withColumn(
        C.COUNT, F.lit(1)
    )
