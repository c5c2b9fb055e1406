"""Tables of groups, whoever made them, read back for judgement: our releases and other tools' tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.criteria.base import Criterion, VerdictRow
from ppdp_spark.core.data.value_names import Sensitivity, ValueDomain
from ppdp_spark.errors import TWO_WAYS
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.data.encode import dictionary
from ppdp_spark.spark.data.group_scan import ListedGroups, Reduction, reduce_groups
from ppdp_spark.spark.data.profile import RECORDS, ROWS, labels_of, natural_order
from ppdp_spark.spark.data.sameness import null_as_element, text_of
from ppdp_spark.spark.data.tables import element_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.judge.adjacent_groups import reduce_runs
from ppdp_spark.spark.judge.counts import PERSON, CountGroups, placed_rows

if TYPE_CHECKING:
    from ppdp_spark.spec import ColumnsSpec


class GroupFiles(Protocol):
    """The files of a release of ours for tasks to read by themselves."""

    def reduce(self, reductions: Sequence[Reduction[Any]], width: int) -> list[Any] | None:
        """What each reduction makes of the groups; None if the files are not as we write them."""

    def with_extrema(self, folder: Folder, sets: int) -> GroupFiles | None:
        """The same with the owner's extrema of priors, which lie in `folder`; None if that cannot be."""


@dataclass(frozen=True)
class Grouped:
    """Groups with the counts of their sensitive values.

    where
        groups  rows with those of a group together, or one row per group
        reading how tasks make summaries of `groups`
        values  sensitive values in code order, as text
        counts  how often each occurs
        case    what the reader sees of the values of a person; None without a sensitive column
        rows    people whose groups are supposed to lie together, if they do
        files   the same for tasks to read by themselves, where they can
        texts   group number, value and count, of releases of ours with one value per person
        kind    the type of the values
        sensitivity  which of them need protection, if not all do
    """

    groups: DataFrame
    reading: ListedGroups | CountGroups
    values: tuple[str | None, ...]
    counts: tuple[int, ...]
    case: str | None
    rows: DataFrame | None = None
    texts: DataFrame | None = None
    files: GroupFiles | None = None
    kind: str = "string"
    sensitivity: Sensitivity | None = None

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
    def domain(self) -> ValueDomain:
        """The sensitive values as criteria see them."""
        return ValueDomain(self.labels, self.counts, self.case or "svpi", self.kind, self.sensitivity)

    @property
    def labels(self) -> tuple[str, ...]:
        return labels_of(self.values)

    @property
    def width(self) -> int:
        return max(1, len(self.values))


def read_groups(table: DataFrame, columns: ColumnsSpec, *, also: Sequence[str] = ()) -> Grouped:
    """The groups of any table: equal values in the group column, or in all quasi-identifiers.

    They are divided by the values of the columns in `also`, if there are any.
    """
    names = [columns.group] if columns.group else list(columns.quasi_identifiers)
    keys = {f"key{i}": C.column(name) for i, name in enumerate([*names, *also])}
    sensitive = None if columns.attribute is None else columns.attribute.model_dump()
    return counted_groups(table, keys, sensitive)


def counted_groups(
    table: DataFrame,
    keys: Mapping[str, Column],
    sensitive: Mapping[str, Any] | None,
    *,
    same: Column | None = None,
    people: Column | None = None,
) -> Grouped:
    """Count the values of every group; `same` must not vary within one of ours, whose rows lie together.

    `sensitive` is what the spec or the manifest says of the attribute. Where everybody has one value, a row
    may stand for so many `people` as that column says.
    """
    grouped = _counted(table, keys, sensitive, same=same, people=people)
    return replace(grouped, sensitivity=Sensitivity.declared(sensitive or {}))


def _counted(
    table: DataFrame,
    keys: Mapping[str, Column],
    sensitive: Mapping[str, Any] | None,
    *,
    same: Column | None = None,
    people: Column | None = None,
) -> Grouped:
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
    kind = element_of(table.schema[name].dataType).simpleString()
    counted = [] if people is None else [people.alias(C.COUNT)]
    shown = table.select(texts, *counted) if counted else single.withColumn(C.COUNT, F.lit(1))
    values, counts = value_counts(shown, table.schema[name].dataType)
    coded = _coded(table.select(*wanted, texts, *counted), values, case)
    groups = placed_rows(coded, types, mark, *([C.COUNT] if counted else []))
    reading = CountGroups(max(1, len(values)), people_counted=case != "svpi")
    if same is None or case != "svpi":
        return Grouped(groups, reading, values, counts, "svpi" if case == "svpi" else RECORDS, kind=kind)
    listed = coded.select(C.GROUP_ID, C.VALUE, F.lit(1).alias(C.COUNT))
    return Grouped(groups, reading, values, counts, case, coded, listed, kind=kind)


def rows_of_groups(table: DataFrame, name: str, description: Column) -> Grouped:
    """Groups of a release of ours that shows the rows of people, and in each how many its group has.

    The job stops where rows of a group do not agree about that, or are fewer than the people.
    """
    kind = table.schema[name].dataType
    same = F.xxhash64(description, C.column(C.PEOPLE)).alias("same")
    texts = table.select(C.GROUP_ID, C.PEOPLE, same, text_of(C.column(name), kind).alias(C.VALUE))
    number = F.count(F.lit(1)).alias(C.COUNT)
    cells = texts.groupBy(C.GROUP_ID, C.PEOPLE, "same", C.VALUE).agg(number)
    values, counts = value_counts(cells, kind)
    entry = F.struct(F.col(C.SENSITIVE).alias(C.VALUE), C.COUNT)
    listed = (
        with_codes(cells, values)
        .groupBy(C.GROUP_ID)
        .agg(
            F.collect_list(entry).alias("entries"),
            F.min(C.PEOPLE).cast("bigint").alias(C.PEOPLE),
            (F.min("same") == F.max("same")).alias("same"),
            F.sum(C.COUNT).alias("rows"),
        )
    )
    people, told = F.col(C.PEOPLE), F.col("same") & F.col(C.PEOPLE).between(1, F.col("rows"))
    size = F.when(told, people).otherwise(F.raise_error(F.lit(TWO_WAYS)).cast("bigint")).alias(C.SIZE)
    lists = [F.col("entries")[field].alias(field) for field in (C.VALUE, C.COUNT)]
    groups = listed.select(F.col(C.GROUP_ID).cast("bigint").alias(C.GROUP_ID), size, *lists)
    reading = ListedGroups(max(1, len(values)))
    return Grouped(groups, reading, values, counts, ROWS, kind=kind.simpleString())


def value_counts(values: DataFrame, kind: T.DataType) -> tuple[tuple[str | None, ...], tuple[int, ...]]:
    """Distinct texts of column `value` with the sum of `count`, in the order of codes."""
    element = element_of(kind)
    found = to_arrow(values.groupBy(C.VALUE).agg(F.sum(C.COUNT)))
    pairs = zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True)
    ordered = sorted(pairs, key=lambda pair: natural_order(pair[0], element.simpleString()))
    return tuple(text for text, _ in ordered), tuple(int(number) for _, number in ordered)


def with_codes(rows: DataFrame, values: tuple[str | None, ...]) -> DataFrame:
    """Add the code of column `value` as `sensitive`; null is a value like any other."""
    known = F.broadcast(dictionary(rows.sparkSession, values))
    joined = rows.join(known, F.col(C.VALUE).eqNullSafe(F.col("text")), "left")
    return joined.withColumn(C.SENSITIVE, F.col("code")).drop("text", "code")


def _coded(rows: DataFrame, values: tuple[str | None, ...], case: str) -> DataFrame:
    """One row per value of a person, its code in `sensitive`; `value` holds the text or the texts.

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
