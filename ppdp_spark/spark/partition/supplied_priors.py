"""Priors from a table of the user: signature columns, `value`, `probability`.

A table need not list every value: what is left of a signature's probability is spread over the values it
does not list, in proportion to how often they occur in the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.attributes import Attribute, Ordered
from ppdp_spark.errors import DataError
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.spark.data.encode import dictionary
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.physical import to_physical
from ppdp_spark.spark.data.profile import Profile, labels_of
from ppdp_spark.spark.data.sameness import text_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.hidden_values import beside_unseen, field
from ppdp_spark.spark.engine.versions import from_arrow, to_arrow, type_of
from ppdp_spark.spark.input.read_table import read_table
from ppdp_spark.spark.partition.priors import SHARES, VALUES, PriorSet, learned, without_prior
from ppdp_spark.spec import InputSpec, PriorSpec
from ppdp_spark.spec.nearest import nearest

ROUNDING = 1e-9
"""Probabilities of a signature may sum to so much more than 1: they were rounded when written."""

NAMED = 5
"""Unknown values that a message names, at most."""

VALUE_COLUMN, PROBABILITY_COLUMN = "value", "probability"
_BOUNDS = "supplied_bounds"


def priors_of(
    rows: DataFrame,
    wanted: Sequence[tuple[str, tuple[str, ...], PriorSpec]],
    encode: Callable[[DataFrame, PriorSpec, tuple[str, ...]], DataFrame],
    counts: Mapping[str, int],
    save: Callable[[DataFrame], DataFrame],
) -> list[PriorSet]:
    """The priors of every attribute set: learned from the rows, or from a table that the user names."""
    own = [i for i, (_, _, prior) in enumerate(wanted) if prior.path is None]
    given = [i for i, (_, _, prior) in enumerate(wanted) if prior.path is not None]
    found = dict(zip(given, supplied(rows, [wanted[i] for i in given], encode, counts, save), strict=True))
    found |= dict(zip(own, learned(rows, [wanted[i][:2] for i in own], save), strict=True))
    return [found[i] for i in range(len(wanted))]


def supplied(
    rows: DataFrame,
    wanted: Sequence[tuple[str, tuple[str, ...], PriorSpec]],
    encode: Callable[[DataFrame, PriorSpec, tuple[str, ...]], DataFrame],
    counts: Mapping[str, int],
    save: Callable[[DataFrame], DataFrame],
) -> list[PriorSet]:
    """Checked priors of the signatures in the data; one `DataError` with everything that is wrong.

    `encode` gives the signatures of a user's table the keys they have in `rows`; `counts` says how often
    each value, by its label and in the order of codes, occurs there.
    """
    labels = tuple(counts)
    problems: list[str] = []
    sets = []
    for label, keys, prior in wanted:
        table = read_table(rows.sparkSession, InputSpec.model_validate({"path": prior.path}))
        lacking = sorted({*prior.attributes, VALUE_COLUMN, PROBABILITY_COLUMN} - set(table.columns))
        if lacking:
            problems.append(f"the priors of [{label}] lack the columns {', '.join(lacking)}")
            continue
        listed = save(encode(table, prior, keys))
        wrong = [*_problems(listed, keys, label), *_unmatched(listed, prior, labels)]
        unknown = without_prior(rows, listed, keys)
        if unknown:
            wrong.append(f"the priors of [{label}] lack the signatures of {unknown:,} rows: add them")
        if not wrong:
            completed = save(_completed(listed, keys, tuple(counts.values())))
            sets.append(PriorSet(label, keys, completed, completed.count()))
        problems += wrong
    if problems:
        raise DataError(problems)
    return sets


def coded_values(rows: DataFrame, values: Sequence[str | None]) -> DataFrame:
    """Add the code of column `value`, null for those that the data lacks."""
    known = F.broadcast(dictionary(rows.sparkSession, values))
    return rows.join(known, F.col(C.VALUE).eqNullSafe(F.col("text")), "left").drop("text")


def stated(table: DataFrame, kind: T.DataType) -> tuple[Column, Column]:
    """The values and the probabilities that a user's table states.

    Values are compared as the sensitive column's type does: with numbers `1` means 1.0. What is no value
    of that type stays as it is written, and is known to nobody.
    """
    given = C.column(VALUE_COLUMN)
    typed = given.cast("string").try_cast(kind)
    text = F.when(given.isNull() | typed.isNotNull(), text_of(typed, kind)).otherwise(given.cast("string"))
    return text.alias(C.VALUE), C.column(PROBABILITY_COLUMN).cast("double").alias("share")


def encoded(
    table: DataFrame, prior: PriorSpec, keys: Sequence[str], layout: Layout, profile: Profile
) -> DataFrame:
    """Signatures as codes of the data, values as codes (null for those the data lacks), probabilities."""
    assert profile.sensitive is not None
    names = prior.attributes
    attributes = {attribute.name: attribute for attribute in layout.attributes}
    rows = table.select(
        *(_physical(C.column(name), attributes[name]).alias(f"key{i}") for i, name in enumerate(names)),
        *stated(table, type_of(profile.sensitive.type)),
    )
    for i, name in enumerate(names):
        rows = _coded(rows, f"key{i}", attributes[name])
    rows = coded_values(rows, profile.sensitive.values)
    renamed = [F.col(f"key{i}").alias(key) for i, key in enumerate(keys)]
    return rows.select(*renamed, F.col("code"), F.col(C.VALUE), F.col("share"))


def _physical(value: Column, attribute: Attribute) -> Column:
    typed = value.cast(attribute.type)
    if isinstance(attribute, Ordered):
        return to_physical(typed, attribute.kind, attribute.scale)
    return typed.cast("string")


def _coded(rows: DataFrame, name: str, attribute: Attribute) -> DataFrame:
    """Replace a signature's value by its code; signatures that cannot occur in the data are left out."""
    value = F.col(name)
    if isinstance(attribute, Ordered):
        if attribute.low is None or attribute.high is None:
            return rows.where(value.isNull()).withColumn(name, F.lit(0))
        low, high = (F.col(_BOUNDS)[field(i)] for i in range(2))
        bounded = beside_unseen(rows, _BOUNDS, (attribute.low, attribute.high))
        inside = bounded.where(value.isNull() | value.between(low, high))
        code = F.coalesce((value - low + 1).cast("int"), F.lit(0)) if attribute.narrow else value
        return inside.withColumn(name, code).drop(_BOUNDS)
    known = dictionary(rows.sparkSession, [None, *attribute.values])
    known = known.select(F.col("text").alias("key_text"), F.col("code").alias("key_code"))
    joined = rows.join(F.broadcast(known), value.eqNullSafe(F.col("key_text")), "inner")
    return joined.withColumn(name, F.col("key_code")).drop("key_text", "key_code")


def _problems(listed: DataFrame, keys: Sequence[str], label: str) -> Iterator[str]:
    proper = F.coalesce(F.col("share").between(0, 1), F.lit(False)) & ~F.isnan("share")
    signatures = listed.groupBy(*keys).agg(
        F.count_if(~proper).alias("improper"),
        F.sum("share").alias("total"),
        F.count(F.lit(1)).alias("entries"),
        F.countDistinct(F.coalesce(F.col(C.VALUE), F.lit("\0"))).alias("distinct"),
    )
    found = only_row(
        signatures.agg(
            F.sum("improper"),
            F.count_if(F.col("total") > 1 + ROUNDING),
            F.count_if(F.col("entries") > F.col("distinct")),
        )
    )
    if found[0]:
        yield f"the priors of [{label}] have {found[0]:,} probabilities that are not numbers from 0 to 1"
    if found[1]:
        yield f"the priors of [{label}] sum to more than 1 for {found[1]:,} signatures"
    if found[2]:
        yield f"the priors of [{label}] list a value twice for {found[2]:,} signatures: keep one of them"


def _unmatched(listed: DataFrame, prior: PriorSpec, labels: Sequence[str]) -> Iterator[str]:
    """Values with a probability that the data lacks: a misspelt one would leave its own unprotected."""
    lost = listed.where(F.col("code").isNull() & (F.col("share") > 0)).select(C.VALUE).distinct()
    allowed = set(prior.may_be_absent)
    names = [
        name
        for name in labels_of(to_arrow(lost.limit(len(allowed) + NAMED)).column(0).to_pylist())
        if name not in allowed
    ]
    for name in sorted(names)[:NAMED]:
        near = nearest(name, labels)
        hint = f"did you mean `{printable(near)}`?" if near is not None else "check its spelling"
        yield (
            f"the priors of [{', '.join(prior.attributes)}] speak of the value `{printable(name)}`, which no "
            f"row has; {hint} (a value that need not occur belongs in `may_be_absent` beside `path`)"
        )


def _completed(listed: DataFrame, keys: Sequence[str], counts: Sequence[int]) -> DataFrame:
    """One row per signature with the probability of every value of the data."""
    total = sum(counts)
    frequencies = pa.table(
        {
            "code": pa.array(range(len(counts)), pa.int32()),
            "frequency": pa.array([count / total for count in counts], pa.float64()),
        }
    )
    frequent = from_arrow(listed.sparkSession, frequencies)
    whole = frequent.agg(F.array_sort(F.collect_list(F.struct("code", "frequency"))).alias("every"))
    entry = F.struct(F.col("code"), F.col("share"))
    grouped = listed.groupBy(*keys).agg(
        F.map_from_entries(F.collect_list(F.when(F.col("code").isNotNull(), entry))).alias("known"),
        F.sum("share").alias("told"),
    )
    absent = F.filter("every", lambda e: ~F.map_contains_key("known", e["code"]))
    weight = F.aggregate(absent, F.lit(0.0), lambda sum_, e: sum_ + e["frequency"])
    rest = F.when(F.col("told") > 1 - ROUNDING, F.lit(0.0)).otherwise(1 - F.col("told"))
    scale = (rest / F.when(weight > 0, weight).otherwise(1)).alias("scale")
    spread = grouped.crossJoin(F.broadcast(whole)).select(*keys, "known", "every", scale)
    share = F.transform(
        "every", lambda e: F.coalesce(F.element_at("known", e["code"]), e["frequency"] * F.col("scale"))
    )
    return spread.select(*keys, F.transform("every", lambda e: e["code"]).alias(VALUES), share.alias(SHARES))
