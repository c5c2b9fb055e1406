"""Tables of groups, whoever made them, read back for judgement: our releases and other tools' tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.criteria.base import Criterion, VerdictRow
from ppdp_spark.errors import TWO_WAYS
from ppdp_spark.run.storage import DATA, QI_TABLE, SENSITIVE_TABLE, Folder
from ppdp_spark.spark.data.encode import dictionary, typed_values
from ppdp_spark.spark.data.group_scan import ListedGroups, Reduction, reduce_groups
from ppdp_spark.spark.data.profile import RECORDS, labels_of, natural_order
from ppdp_spark.spark.data.sameness import null_as_element, text_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.judge.adjacent_groups import reduce_runs
from ppdp_spark.spark.judge.bucketized_files import BucketFiles
from ppdp_spark.spark.judge.counts import PERSON, CountGroups, placed_rows
from ppdp_spark.spark.judge.generalized_files import ReleaseFiles

if TYPE_CHECKING:
    from ppdp_spark.spec import ColumnsSpec


@dataclass(frozen=True)
class Grouped:
    """Groups with the counts of their sensitive values.

    where
        groups  rows with those of a group together, or one row a group
        reading how tasks make summaries of `groups`
        values  sensitive values in code order, as text
        counts  how often each occurs
        case    what the reader sees of the values of a person; None without a sensitive column
        rows    people whose groups are supposed to lie together, if they do
        files   the same for tasks to read by themselves, where they can
        texts   group number, value and count, of releases of ours with one value a person
        kind    the type of the values
    """

    groups: DataFrame
    reading: ListedGroups | CountGroups
    values: tuple[str | None, ...]
    counts: tuple[int, ...]
    case: str | None
    rows: DataFrame | None = None
    texts: DataFrame | None = None
    files: ReleaseFiles | BucketFiles | None = None
    kind: str = "string"

    def reduce(self, reductions: Sequence[Reduction[Any]]) -> list[Any]:
        """What each reduction makes of the groups: without a shuffle where they lie together."""
        found = None if self.files is None else self.files.reduce(reductions, self.width)
        if found is None and self.rows is not None:
            found = reduce_runs(self.rows, reductions, self.width)
        if found is not None:
            return found
        return reduce_groups(self.groups, reductions, self.reading)

    def pairs(self) -> DataFrame:
        """How often each value occurs in each group, as the release says."""
        assert self.texts is not None
        number = F.sum(C.COUNT).alias(C.COUNT)
        return self.texts.groupBy(C.GROUP_ID, C.VALUE).agg(number)

    def judge(self, criteria: Sequence[Criterion[Any]]) -> list[VerdictRow]:
        """The verdict of every criterion, in one scan."""
        statistics = self.reduce(criteria)
        return [row for c, found in zip(criteria, statistics, strict=True) for row in c.decide(found)]

    @property
    def labels(self) -> tuple[str, ...]:
        return labels_of(self.values)

    @property
    def width(self) -> int:
        return max(1, len(self.values))


def read_release(spark: SparkSession, release: Folder, manifest: Mapping[str, Any]) -> Grouped:
    """The groups of a release of ours: nothing but its data files and its manifest is used."""
    data, sensitive = release / DATA, manifest["sensitive"]
    if manifest["form"] == "bucketized":
        people, pairs = (spark.read.parquet((data / name).literal) for name in (QI_TABLE, SENSITIVE_TABLE))
        grouped = _bucketized(people, pairs, sensitive)
        column, single = sensitive["column"], sensitive["case"] == "svpi"
        typed = typed_values(spark, grouped.values, pairs.schema[column].dataType.simpleString())
        return replace(grouped, files=BucketFiles.of(spark, data, column, typed, single=single))
    table = spark.read.parquet(data.literal)
    described = F.xxhash64(*(C.column(name) for name in manifest["columns"]["quasi_identifiers"]))
    keys = {C.GROUP_ID: C.column(C.GROUP_ID)}
    grouped = _counted(table, keys, sensitive, same=described)
    if grouped.rows is None:
        return grouped
    column = None if sensitive is None else sensitive["column"]
    kind = "string" if column is None else table.schema[column].dataType.simpleString()
    names = manifest["columns"]["quasi_identifiers"]
    files = ReleaseFiles.of(spark, data, names, column, typed_values(spark, grouped.values, kind))
    return replace(grouped, files=files)


def read_groups(table: DataFrame, columns: ColumnsSpec) -> Grouped:
    """The groups of any table: equal values in the group column, or in all quasi-identifiers."""
    names = [columns.group] if columns.group else list(columns.quasi_identifiers)
    keys = {f"key{i}": C.column(name) for i, name in enumerate(names)}
    sensitive = None if columns.sensitive is None else columns.sensitive.model_dump()
    return _counted(table, keys, sensitive)


def _counted(
    table: DataFrame,
    keys: Mapping[str, Column],
    sensitive: Mapping[str, Any] | None,
    *,
    same: Column | None = None,
) -> Grouped:
    """Count the values of every group; `same` must not vary within one of ours, whose rows lie together."""
    types = dict(zip(keys, (field.dataType for field in table.select(*keys.values()).schema), strict=True))
    wanted = [key.alias(name) for name, key in keys.items()]
    wanted += [] if same is None else [same.alias("description")]
    mark = None if same is None else F.col("description")
    if sensitive is None:
        rows = table.select(*wanted).withColumn(C.SENSITIVE, F.lit(0))
        groups = placed_rows(rows, types, mark)
        return Grouped(groups, CountGroups(1, False), (), (), None, None if same is None else rows)
    case, name = sensitive["case"], sensitive["column"]
    texts = text_of(C.column(name), table.schema[name].dataType)
    if case != "svpi":
        # Rows show the values of a person side by side: records of values that the person has, each once.
        texts = F.array_distinct(null_as_element(texts))
    texts = texts.alias(C.VALUE)
    single = table.select((texts if case == "svpi" else F.explode(texts)).alias(C.VALUE))
    kind = _element(table.schema[name].dataType).simpleString()
    values, counts = value_counts(single.withColumn(C.COUNT, F.lit(1)), table.schema[name].dataType)
    coded = _coded(table.select(*wanted, texts), values, case)
    groups = placed_rows(coded, types, mark)
    reading = CountGroups(max(1, len(values)), people_counted=case != "svpi")
    if same is None or case != "svpi":
        return Grouped(groups, reading, values, counts, "svpi" if case == "svpi" else RECORDS, kind=kind)
    listed = coded.select(C.GROUP_ID, C.VALUE, F.lit(1).alias(C.COUNT))
    return Grouped(groups, reading, values, counts, case, coded, listed, kind=kind)


def _element(kind: T.DataType) -> T.DataType:
    return kind.elementType if isinstance(kind, T.ArrayType) else kind


def value_counts(values: DataFrame, kind: T.DataType) -> tuple[tuple[str | None, ...], tuple[int, ...]]:
    """Distinct texts of column `value` with the sum of `count`, in the order of codes."""
    element = _element(kind)
    found = values.groupBy(C.VALUE).agg(F.sum(C.COUNT)).toArrow()
    pairs = zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True)
    ordered = sorted(pairs, key=lambda pair: natural_order(pair[0], element.simpleString()))
    return tuple(text for text, _ in ordered), tuple(int(number) for _, number in ordered)


def with_codes(rows: DataFrame, values: tuple[str | None, ...]) -> DataFrame:
    """Add the code of column `value` as `sensitive`; null is a value like any other."""
    known = F.broadcast(dictionary(rows.sparkSession, values))
    joined = rows.join(known, F.col(C.VALUE).eqNullSafe(F.col("text")), "left")
    return joined.withColumn(C.SENSITIVE, F.col("code")).drop("text", "code")


def _coded(rows: DataFrame, values: tuple[str | None, ...], case: str) -> DataFrame:
    """One row a value of a person, its code in `sensitive`; `value` holds the text or the texts.

    With sets and multisets each person adds one more row with the code `PERSON`, so that people
    without any value are counted too.
    """
    if case == "svpi":
        return with_codes(rows, values)
    held = F.transform(C.VALUE, lambda x: F.struct(F.lit(False).alias("person"), x.alias(C.VALUE)))
    person = F.struct(F.lit(True).alias("person"), F.lit(None).cast("string").alias(C.VALUE))
    none = F.array().cast("array<struct<person:boolean,value:string>>")
    each = F.concat(F.array(person), F.coalesce(held, none))
    others = [C.column(name) for name in rows.columns if name != C.VALUE]
    coded = with_codes(rows.select(*others, F.inline(each)), values)
    code = F.when(F.col("person"), F.lit(PERSON)).otherwise(F.col(C.SENSITIVE))
    return coded.withColumn(C.SENSITIVE, code)


def _bucketized(people: DataFrame, counted: DataFrame, sensitive: Mapping[str, Any]) -> Grouped:
    """Groups of a bucketized release: people from the one table, counts of values from the other."""
    name, case = sensitive["column"], sensitive["case"]
    text = text_of(C.column(name), counted.schema[name].dataType).alias(C.VALUE)
    pairs = counted.select(C.GROUP_ID, text, C.COUNT)
    values, counts = value_counts(pairs.select(C.VALUE, C.COUNT), counted.schema[name].dataType)
    entry = F.struct(F.col(C.SENSITIVE).alias(C.VALUE), F.col(C.COUNT).cast("bigint").alias(C.COUNT))
    collected = [F.collect_list(entry).alias("entries"), F.sum(C.COUNT).alias("occurrences")]
    listed = with_codes(pairs, values).groupBy(C.GROUP_ID).agg(*collected)
    sizes = people.groupBy(C.GROUP_ID).agg(F.count(F.lit(1)).alias(C.SIZE))
    both = sizes.join(listed, C.GROUP_ID, "full")
    agree = F.col(C.SIZE).isNotNull()
    if case == "svpi":
        agree = agree & F.coalesce(F.col("occurrences") == F.col(C.SIZE), F.lit(False))
    checked = F.when(agree, F.col(C.SIZE)).otherwise(F.raise_error(F.lit(TWO_WAYS)).cast("bigint"))
    entries = F.coalesce(F.col("entries"), F.array().cast("array<struct<value:int,count:bigint>>"))
    lists = [entries[field].alias(field) for field in (C.VALUE, C.COUNT)]
    number = F.col(C.GROUP_ID).cast("bigint").alias(C.GROUP_ID)
    groups = both.select(number, checked.alias(C.SIZE), *lists)
    kind = counted.schema[name].dataType.simpleString()
    return Grouped(groups, ListedGroups(max(1, len(values))), values, counts, case, None, pairs, kind=kind)
