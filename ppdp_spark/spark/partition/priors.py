"""Priors p(s : x) as tables: one row per signature, learned from the encoded rows or supplied by the user.

Prior tables are joined to the signatures of each task, never broadcast: they travel to the tasks as rows
of their own, beside the people, through the same shuffle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.spark.engine import column_names as C

VALUES, SHARES, SET = "prior_values", "prior_shares", "prior_set"

EVERYWHERE = 20_000
"""Signatures of an attribute set that every task may have, needed or not."""


@dataclass(frozen=True)
class PriorSet:
    """The priors of one attribute set.

    where
        label  names of the attributes, for verdicts
        keys   columns of the signature, in the table and in the rows it belongs to
        table  one row per signature: keys, codes of values, their probabilities
        signatures  how many there are
    """

    label: str
    keys: tuple[str, ...]
    table: DataFrame
    signatures: int


def learned(
    rows: DataFrame,
    wanted: Sequence[tuple[str, tuple[str, ...]]],
    save: Callable[[DataFrame], DataFrame],
) -> list[PriorSet]:
    """Priors as the data has them: how often each value occurs among people of a signature.

    `wanted` are labels with keys; `rows` has the code of the value in `sensitive`. The widest sets are
    counted from the rows, every set inside one of them from the counts of that one.
    """
    counted: dict[tuple[str, ...], DataFrame] = {}
    for keys in sorted({keys for _, keys in wanted}, key=lambda keys: (-len(keys), keys)):
        wider = [counts for known, counts in counted.items() if set(keys) <= set(known)]
        source = wider[-1] if wider else rows.withColumn(C.COUNT, F.lit(1))
        grouped = source.groupBy(*keys, C.SENSITIVE).agg(F.sum(C.COUNT).cast("bigint").alias(C.COUNT))
        counted[keys] = save(grouped)
    tables = {keys: _shares(counts, keys) for keys, counts in counted.items()}
    return [PriorSet(label, keys, tables[keys], tables[keys].count()) for label, keys in wanted]


def _shares(counts: DataFrame, keys: Sequence[str]) -> DataFrame:
    entry = F.struct(F.col(C.SENSITIVE).cast("int").alias("code"), F.col(C.COUNT).alias("number"))
    listed = counts.groupBy(*keys).agg(
        F.array_sort(F.collect_list(entry)).alias("entries"), F.sum(C.COUNT).alias("total")
    )
    shares = F.transform("entries", lambda e: e["number"].cast("double") / F.col("total").cast("double"))
    codes = F.transform("entries", lambda e: e["code"])
    return listed.select(*keys, codes.alias(VALUES), shares.alias(SHARES))


def beside_people(
    rows: DataFrame, task: str, tasks: int, priors: Sequence[PriorSet], blank: Sequence[str]
) -> DataFrame:
    """The rows with, for each value 0 .. tasks − 1 of `task`, priors of the signatures among its rows.

    Rows of priors have the number of their set in `prior_set`; what they lack is null, or 0 in the
    columns named by `blank`. Small tables go to every task as a whole; of others each task gets what
    its rows need. Lists that are not there are empty, not null: on the way to Python, Arrow goes through all
    null lists of a batch again for every row.
    """
    types = {field.name: field.dataType for field in rows.schema}
    people = rows.select(
        "*",
        F.lit(None).cast("int").alias(SET),
        F.array().cast("array<int>").alias(VALUES),
        F.array().cast("array<double>").alias(SHARES),
    )
    for number, prior in enumerate(priors):
        typed = [F.col(key).cast(types[key]).alias(key) for key in prior.keys]
        table = prior.table.select(*typed, VALUES, SHARES)
        if prior.signatures <= EVERYWHERE:
            each = rows.sparkSession.range(tasks).select(F.col("id").cast(types[task]).alias(task))
            found = table.crossJoin(F.broadcast(each))
        else:
            found = _present(rows.select(task, *prior.keys).distinct(), table, prior.keys)
        own = {task, *prior.keys}
        wanted = [F.col(name) if name in own else _absent(name, types[name], blank) for name in rows.columns]
        people = people.unionByName(found.select(*wanted, F.lit(number).alias(SET), VALUES, SHARES))
    return people


def _present(signatures: DataFrame, table: DataFrame, keys: Sequence[str]) -> DataFrame:
    """The priors of the signatures that occur; a join, whatever the size of the table."""
    known = table.select(*(F.col(key).alias(f"known_{key}") for key in keys), VALUES, SHARES)
    return signatures.join(known, _same(keys), "inner")


def _same(keys: Sequence[str]) -> list[Column]:
    return [F.col(key).eqNullSafe(F.col(f"known_{key}")) for key in keys]


def _absent(name: str, kind: T.DataType, blank: Sequence[str]) -> Column:
    nothing = F.lit(0) if name in blank else F.array() if isinstance(kind, T.ArrayType) else F.lit(None)
    return nothing.cast(kind).alias(name)


def without_prior(rows: DataFrame, table: DataFrame, keys: Sequence[str]) -> int:
    """How many rows have a signature that the table does not know."""
    known = table.select(*(F.col(key).alias(f"known_{key}") for key in keys)).distinct()
    return rows.select(*keys).join(known, _same(keys), "left_anti").count()
