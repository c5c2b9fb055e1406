"""From a table of people to narrow integer codes, inside the JVM: nothing of a row reaches Python here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.data.attributes import Ordered
from ppdp_spark.core.partition.partitioners import PARTITIONERS
from ppdp_spark.errors import CHANGED
from ppdp_spark.spark.data.identifiers import household_words
from ppdp_spark.spark.data.profile import Profile, quasi_value, sensitive_value, table_columns, take_part
from ppdp_spark.spark.data.survey_weights import units_of
from ppdp_spark.spark.data.tables import Roles
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.hidden_values import beside_unseen, field
from ppdp_spark.spark.engine.versions import from_arrow, to_arrow

if TYPE_CHECKING:
    from ppdp_spark.spec import ReleaseSpec

_BOUNDS = "bounds"
_STOP = f"CAST(raise_error('{CHANGED}') AS INT)"


def encode_rows(
    table: DataFrame,
    spec: ReleaseSpec,
    roles: Roles,
    profile: Profile,
    *,
    only: Collection[int] | None = None,
) -> DataFrame:
    """One row per person: codes, household and weight, what is published as it is, and `content`.

    Codes are `q0, q1, …`. Where people keep all values of a quasi-identifier, the code is that of the
    lowest one (of texts the first; null comes before all others), and `v0, v1, …` have what must be covered:
    codes of the lowest and the highest value and of null, or all texts. `content` is a hash of the row as it
    came, by which samples are taken; of its
    quasi-identifiers alone if no sensitive value may have a part in how groups are made. With `only`, just
    the codes of these quasi-identifiers and `sensitive`. A value that the profile did not see stops the job:
    codes would not mean the same any more.
    """
    rows = table.where(take_part(table, spec, roles)) if spec.nulls == "suppress" else table
    wanted = [value for j in _positions(roles, only) for value in _quasi_values(table, spec, roles, j)]
    for place, declared in enumerate(spec.columns.attributes):
        wanted.append(sensitive_value(declared, table).alias(C.sensitive(place)))
    if only is None and spec.columns.household is not None:
        wanted += household_words(table, spec.columns.household.column)
    if only is None and spec.columns.weight is not None:
        wanted.append(units_of(table, spec.columns.weight.column).alias(C.WEIGHT))
    if only is None:
        wanted += [C.column(name).alias(C.kept(j)) for j, name in enumerate(spec.columns.as_is)]
        hashed = list(roles.kinds) if PARTITIONERS[spec.partitioner].blind else table_columns(spec)
        wanted.append(F.xxhash64(*map(C.column, hashed)).alias(C.CONTENT))
    rows = rows.select(*wanted)
    names, codes, bounds, texts = rows.columns, dict[str, Column](), list[int | float](), dict[str, _Texts]()
    for j in _positions(roles, only):
        attribute, name = profile.attributes[j], C.code(j)
        if isinstance(attribute, Ordered):
            codes[name] = _ordered_code(F.col(name), attribute, bounds)
            if C.every(j) in names:
                codes[C.every(j)] = _ordered_codes(F.col(C.every(j)), attribute, bounds)
        else:
            texts[name] = _Texts(attribute.values, first_code=1, null_code=0)
    for place, domain in enumerate(profile.domains):
        if domain.case == "svpi":
            known = domain.values[:-1] if domain.values and domain.values[-1] is None else domain.values
            texts[C.sensitive(place)] = _Texts(known, first_code=0, null_code=len(known))
    if texts:
        rows = _looked_up(rows, texts)
    if bounds:
        rows = beside_unseen(rows, _BOUNDS, bounds)
    return rows.select(*(codes.get(name, F.col(name)).alias(name) for name in names))


def _positions(roles: Roles, only: Collection[int] | None) -> list[int]:
    """The places of the quasi-identifiers that are wanted."""
    return [j for j in range(len(roles.kinds)) if only is None or j in only]


def _quasi_values(table: DataFrame, spec: ReleaseSpec, roles: Roles, place: int) -> Iterator[Column]:
    """What people are placed by along a quasi-identifier, and all that they have of it if they keep it."""
    name, kind = list(roles.kinds.items())[place]
    value = quasi_value(name, kind, table)
    if place not in spec.columns.ranging:
        yield value.alias(C.code(place))
        return
    yield _first(value).alias(C.code(place))
    yield (value if kind == "categorical" else _ends(value)).alias(C.every(place))


def _first(values: Column) -> Column:
    """The lowest of several values; null if one of them is."""
    return F.when(~F.exists(values, lambda x: x.isNull()), F.array_min(values))


def _ends(values: Column) -> Column:
    """The lowest and the highest of several values, and null if one of them is, each once."""
    ends = F.array(F.array_min(values), F.array_max(values))
    return F.array_distinct(F.concat(ends, F.filter(values, lambda x: x.isNull())))


@dataclass(frozen=True)
class _Texts:
    """The texts of a column in the order of their codes, and what stands for null."""

    values: Sequence[str | None]
    first_code: int
    null_code: int


def _ordered_code(value: Column, attribute: Ordered, bounds: list[int | float]) -> Column:
    """value - low + 1 in the narrowest integer type, null as 0; wide ranges stay physical.

    Both ends of the range are added to `bounds`, where the expression finds them.
    """
    if attribute.low is None or attribute.high is None:
        return F.when(value.isNull(), F.lit(0)).otherwise(_stop("int")).cast("tinyint")
    low, high = (F.col(_BOUNDS)[field(len(bounds) + i)] for i in range(2))
    bounds += [attribute.low, attribute.high]
    inside = value.between(low, high)
    if not attribute.narrow:
        kind = "double" if attribute.kind == "float" else "bigint"
        return F.when(value.isNull(), F.lit(None).cast(kind)).when(inside, value).otherwise(_stop(kind))
    code = (value - low + 1).cast(_narrowest(int(attribute.span) + 1))
    zero = F.lit(0).cast(_narrowest(int(attribute.span) + 1))
    return F.when(value.isNull(), zero).when(inside, code).otherwise(_stop("int").cast("tinyint"))


def _ordered_codes(values: Column, attribute: Ordered, bounds: list[int | float]) -> Column:
    """An array of values as an array of codes, or of physical numbers."""
    each = F.transform(values, lambda value: _ordered_code(value, attribute, bounds))
    return each.cast("array<int>") if attribute.narrow else each


def _looked_up(rows: DataFrame, texts: Mapping[str, _Texts]) -> DataFrame:
    """Texts replaced by codes, through one broadcast dictionary of all columns.

    The joins are on a hash of column and text, which is much cheaper to look up than the text itself. That
    the texts are equal is checked: should two categories of a column ever share a hash, the run stops.
    All joins have the same table on their right, which Spark therefore brings to the executors once.
    """
    listed = [
        _numbered(of.values, of.first_code).append_column(
            "column", pa.repeat(pa.scalar(column, pa.int32()), len(of.values))
        )
        for column, of in enumerate(texts.values())
    ]
    table = pa.concat_tables(listed).combine_chunks()
    known = from_arrow(rows.sparkSession, table)
    known = F.broadcast(known.selectExpr("xxhash64(`column`, text) AS hash", "text", "code"))
    names = rows.columns
    for column, (name, of) in enumerate(texts.items()):
        # As SQL, an expression is one call to the JVM, and not one for each of its parts.
        found = f"CASE WHEN {name} = text THEN code WHEN {name} IS NULL THEN {of.null_code} ELSE {_STOP} END"
        code = f"CAST({found} AS {_narrowest(of.first_code + len(of.values))}) AS {name}"
        joined = rows.join(known, F.expr(f"xxhash64({column}, {name}) = hash"), "left")
        rows = joined.selectExpr(*(code if other == name else other for other in names))
    return rows


def _stop(kind: str) -> Column:
    return F.raise_error(F.lit(CHANGED)).cast(kind)


def _narrowest(largest: int) -> str:
    return "tinyint" if largest <= 127 else "smallint" if largest <= 32_767 else "int"


def dictionary(session: SparkSession, values: Sequence[str | None], *, first_code: int = 0) -> DataFrame:
    """Texts with their codes, as data: a plan that joins it does not show a value."""
    return from_arrow(session, _numbered(values, first_code))


def _numbered(values: Sequence[str | None], first_code: int) -> pa.Table:
    codes = pa.array(range(first_code, first_code + len(values)), pa.int32())
    return pa.table({"text": pa.array(values, pa.string()), "code": codes})


def typed_values(session: SparkSession, values: Sequence[str | None], kind: str) -> pa.Array:
    """Texts as values of a column's own type, as Spark reads them."""
    if kind == "string":
        return pa.array(values, pa.string())
    typed = to_arrow(dictionary(session, values).select("code", F.col("text").cast(kind).alias("value")))
    return typed.sort_by("code").column("value").combine_chunks()


def decode(rows: DataFrame, name: str, values: Sequence[str | None], *, first_code: int) -> DataFrame:
    """Replace codes by text through a broadcast dictionary; codes without an entry become null."""
    known = dictionary(rows.sparkSession, values, first_code=first_code)
    known = known.select(F.col("code").alias(f"{name}_code"), F.col("text").alias(f"{name}_text"))
    joined = rows.join(F.broadcast(known), F.col(name) == F.col(f"{name}_code"), "left")
    return joined.select(
        *(F.col(f"{name}_text").alias(name) if c == name else F.col(c) for c in rows.columns)
    )
