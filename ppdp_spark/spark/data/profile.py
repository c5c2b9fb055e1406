"""What has to be known of a table before it can be encoded: ranges, categories, counts, nulls."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.attributes import Attribute, Categorical, Ordered
from ppdp_spark.core.data.forms import FORMS
from ppdp_spark.core.data.hierarchy import Hierarchy
from ppdp_spark.core.data.value_names import Sensitivity, ValueDomain, only_one
from ppdp_spark.errors import CHANGED, DataError
from ppdp_spark.spark.data.physical import YEARS, to_physical
from ppdp_spark.spark.data.sameness import folded, null_as_element, text_of
from ppdp_spark.spark.data.tables import Roles, element_of
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.column_names import column
from ppdp_spark.spark.engine.parallel_jobs import all_at_once
from ppdp_spark.spark.engine.versions import to_arrow

if TYPE_CHECKING:
    from ppdp_spark.spec import ReleaseSpec, SensitiveSpec

NULL_LABEL = "(null)"
RECORDS, ROWS = "mvpi-records", "mvpi-rows"
MOST_CATEGORIES = 2_000_000
MOST_SENSITIVE_VALUES = 100_000


@dataclass(frozen=True)
class SensitiveDomain:
    """Sensitive values in code order (null last) and how many people, or occurrences, each has.

    where
        case   how many values a person has: `svpi`, `mvpi-set`, `mvpi-multiset`
        shown  how several values of a person are published, if not as a multiset of the group: side by side
               (`mvpi-records`; counts are people then), or as rows
        sensitivity  which values need protection, if not all do
    """

    column: str
    case: str
    type: str
    values: tuple[str | None, ...]
    counts: tuple[int, ...]
    shown: str = ""
    sensitivity: Sensitivity | None = None

    @property
    def records(self) -> bool:
        """Whether the values of a person are published side by side."""
        return self.shown == RECORDS

    @property
    def of_rows(self) -> bool:
        """Whether the rows of people are published, apart from each other."""
        return self.shown == ROWS

    @property
    def judged(self) -> ValueDomain:
        """The values as criteria see them."""
        return ValueDomain(self.labels, self.counts, self.judged_case, self.type, self.sensitivity)

    @property
    def judged_case(self) -> str:
        """What the reader of the release sees: the case that criteria must be about."""
        return self.shown or self.case

    @property
    def labels(self) -> tuple[str, ...]:
        return labels_of(self.values)

    def codes(self, texts: pa.Array) -> pa.Array:
        """Codes of texts; a text that is not in the domain is an error of the caller."""
        found = pc.index_in(texts, value_set=pa.array(self.values, pa.string()))
        if found.null_count:
            raise DataError(CHANGED)
        return found


@dataclass(frozen=True)
class Profile:
    """Aggregates of the input.

    where
        rows         rows of the input
        took_part    rows that take part; the rest have nulls and the spec suppresses those
        kept         rows that are left after suppression of frequent values, too
        fingerprint  order-independent hash of the content of all columns that take part
    """

    rows: int
    took_part: int
    kept: int
    fingerprint: str
    attributes: tuple[Attribute, ...]
    domains: tuple[SensitiveDomain, ...]
    nulls: dict[str, int]

    @property
    def sensitive(self) -> SensitiveDomain | None:
        """The values of the sensitive attribute, if there is one; whoever asks is not made for several."""
        return only_one(self.domains)


def quasi_value(name: str, kind: str, table: DataFrame) -> Column:
    """The value of a quasi-identifier: its physical number, or its text; NaN is null.

    An array of them, each once, where a person keeps all values.
    """
    data_type = table.schema[name].dataType
    if kind == "categorical":
        return text_of(column(name), data_type)
    element = element_of(data_type)
    scale = element.scale if isinstance(element, T.DecimalType) else 0
    if isinstance(data_type, T.ArrayType):
        return F.transform(column(name), lambda value: to_physical(value, kind, scale))
    return to_physical(column(name), kind, scale)


def lacking_value(name: str, kind: str, table: DataFrame) -> Column:
    """Whether a quasi-identifier of a person is null, or one of its values is."""
    value = quasi_value(name, kind, table)
    return _some_null(value) if _several(table, name) else value.isNull()


def _several(table: DataFrame, name: str) -> bool:
    """Whether people keep all their values of a quasi-identifier."""
    return isinstance(table.schema[name].dataType, T.ArrayType)


def sensitive_value(declared: SensitiveSpec, table: DataFrame) -> Column:
    """The sensitive value as text, or as a sorted array of texts; a null array is one null."""
    name, case = declared.column, declared.case
    if case == "svpi":
        return quasi_value(name, "categorical", table)
    values = text_of(column(name), table.schema[name].dataType)
    if case == "mvpi-set":
        values = F.array_distinct(values)
    return F.array_sort(null_as_element(values))


def take_part(table: DataFrame, spec: ReleaseSpec, roles: Roles) -> Column:
    """Whether a row takes part: all do, unless nulls are to be suppressed."""
    if spec.nulls == "category":
        return F.lit(True)
    parts = [lacking_value(name, kind, table) for name, kind in roles.kinds.items()]
    for declared in spec.columns.attributes:
        value = _folded_sensitive(declared, table)
        parts.append(value.isNull())
        if declared.case != "svpi":
            parts.append(F.exists(value, lambda x: x.isNull()))
    return ~F.coalesce(reduce(or_, parts), F.lit(True)) if parts else F.lit(True)


def profile_table(table: DataFrame, spec: ReleaseSpec, roles: Roles) -> Profile:
    """One pass for ranges and nulls, a short one for each column of categories and for sensitive values."""
    part = take_part(table, spec, roles)
    rows = table.where(part) if spec.nulls == "suppress" else table
    named = [name for name, kind in roles.kinds.items() if kind == "categorical"]
    jobs: list[Callable[[], Any]] = [lambda: _first_pass(table, spec, roles, part)]
    jobs += [partial(_distinct, rows, name) for name in named]
    jobs += [
        partial(_sensitive_domain, rows, spec, roles, place, MOST_SENSITIVE_VALUES) for place in _places(spec)
    ]
    found, *rest = all_at_once(table.sparkSession, jobs)
    kept = int(found["kept"])
    nulls = _nulls(spec, roles, found)
    _reject(spec, roles, found, nulls)
    categories = _categories(dict(zip(named, rest, strict=False)))
    attributes = tuple(
        _attribute(j, name, table=table, spec=spec, roles=roles, found=found, categories=categories)
        for j, name in enumerate(roles.kinds)
    )
    domains = tuple(rest[len(named) :])
    fingerprint = f"{int(found['rows'])}-{int(found['content'] or 0) & (2**64 - 1):016x}"
    return Profile(int(found["rows"]), kept, kept, fingerprint, attributes, domains, nulls)


def count_sensitive(table: DataFrame, spec: ReleaseSpec, roles: Roles) -> SensitiveDomain:
    """Sensitive values of the rows that take part and their counts alone: all that suppression decides on.

    One aggregation of one column; one more pass where nulls are errors.
    """
    part = take_part(table, spec, roles)
    if spec.nulls == "error":
        found = _first_pass(table, spec, roles, part)
        _reject(spec, roles, found, _nulls(spec, roles, found))
    rows = table.where(part) if spec.nulls == "suppress" else table
    place = 0 if spec.deciding is None else spec.columns.attributes.index(spec.deciding)
    domain = _sensitive_domain(rows, spec, roles, place, MOST_CATEGORIES)
    if not domain.counts:
        raise DataError("the table has no rows that take part: there is nothing to keep")
    return domain


def recounted(rows: DataFrame, spec: ReleaseSpec, roles: Roles, profile: Profile) -> Profile:
    """The profile with the counts of all sensitive attributes but the deciding one as they are in other rows.

    A value that none of these has keeps its code.
    """
    others = [place for place in _places(spec) if spec.columns.attributes[place] != spec.deciding]
    counting = [
        partial(_sensitive_domain, rows, spec, roles, place, MOST_SENSITIVE_VALUES) for place in others
    ]
    domains = list(profile.domains)
    for place, counted in zip(others, all_at_once(rows.sparkSession, counting), strict=True):
        found = dict(zip(counted.values, counted.counts, strict=True))
        domain = domains[place]
        domains[place] = replace(domain, counts=tuple(found.get(value, 0) for value in domain.values))
    return replace(profile, domains=tuple(domains))


def _nulls(spec: ReleaseSpec, roles: Roles, found: dict[str, Any]) -> dict[str, int]:
    nulls = {name: int(found[f"nulls_{j}"]) for j, name in enumerate(roles.kinds)}
    for place in _places(spec):
        nulls[spec.columns.attributes[place].column] = int(found[f"nulls_{C.sensitive(place)}"])
    return nulls


def _places(spec: ReleaseSpec) -> range:
    """The places of the sensitive attributes."""
    return range(len(spec.columns.attributes))


def _first_pass(table: DataFrame, spec: ReleaseSpec, roles: Roles, part: Column) -> dict[str, Any]:
    """Row counts, nulls, ranges, and the content hash."""
    wanted = [
        F.count(F.lit(1)).alias("rows"),
        F.count_if(part).alias("kept"),
        F.bit_xor(F.xxhash64(*(column(name) for name in table_columns(spec)))).alias("content"),
    ]
    for j, (name, kind) in enumerate(roles.kinds.items()):
        value = quasi_value(name, kind, table)
        wanted.append(F.count_if(lacking_value(name, kind, table)).alias(f"nulls_{j}"))
        if kind != "categorical":
            ends = (F.array_min(value), F.array_max(value)) if _several(table, name) else (value, value)
            low, high = (F.when(part, end) for end in ends)
            wanted += [F.min(low).alias(f"low_{j}"), F.max(high).alias(f"high_{j}")]
    for place, declared in enumerate(spec.columns.attributes):
        value = _folded_sensitive(declared, table)
        missing = value.isNull() if declared.case == "svpi" else _some_null(value)
        wanted.append(F.count_if(missing).alias(f"nulls_{C.sensitive(place)}"))
    return only_row(table.agg(*wanted)).asDict()


def _folded_sensitive(declared: SensitiveSpec, table: DataFrame) -> Column:
    return folded(column(declared.column), table.schema[declared.column].dataType)


def _some_null(values: Column) -> Column:
    return values.isNull() | F.coalesce(F.exists(values, lambda x: x.isNull()), F.lit(False))


def table_columns(spec: ReleaseSpec) -> list[str]:
    """Columns that take part in the release: quasi-identifiers, sensitive, published as they are."""
    columns = spec.columns
    sensitive = [attribute.column for attribute in columns.attributes]
    return [*columns.quasi_identifiers, *sensitive, *columns.as_is]


def _reject(spec: ReleaseSpec, roles: Roles, found: dict[str, Any], nulls: dict[str, int]) -> None:
    problems = []
    if spec.nulls == "error":
        problems += [
            f"column `{name}` has {number:,} rows with null or NaN and `nulls` is error; "
            "clean them, or set `nulls` to category or suppress"
            for name, number in nulls.items()
            if number
        ]
    for j, (name, kind) in enumerate(roles.kinds.items()):
        bounds = [] if kind == "categorical" else [found[f"low_{j}"], found[f"high_{j}"]]
        present = [bound for bound in bounds if bound is not None]
        if kind == "float" and any(math.isinf(bound) for bound in present):
            problems.append(f"column `{name}` has infinite values; replace them by null or by a bound")
        elif kind == "float" and present and math.isinf(present[-1] - present[0]):
            problems.append(
                f"column `{name}` has values too far apart for their range to be a number; replace the "
                "extreme ones by null or by a bound"
            )
        first, last = YEARS.get(kind, (-math.inf, math.inf))
        if kind in YEARS and any(not first <= bound <= last for bound in present):
            problems.append(f"column `{name}` has values outside the years 1 to 9999; replace them by null")
    if not found["kept"]:
        left = "no rows are left after suppressing nulls" if found["rows"] else "the table has no rows"
        problems.append(f"{left}: there is nothing to publish")
    if problems:
        raise DataError(problems)


def _distinct(rows: DataFrame, name: str) -> pa.ChunkedArray:
    """Distinct categories of a column, one more than are allowed at the most."""
    value = quasi_value(name, "categorical", rows)
    texts = rows.select((F.explode(value) if _several(rows, name) else value).alias("text")).distinct()
    return to_arrow(texts.limit(MOST_CATEGORIES + 2)).column(0)


def _categories(found: Mapping[str, pa.ChunkedArray]) -> dict[str, list[str]]:
    """The categories of every categorical column as texts, without null."""
    problems = [
        f"column `{name}` has more than {MOST_CATEGORIES:,} categories; "
        "declare it as an identifier, or derive coarser categories"
        for name, texts in found.items()
        if len(texts) > MOST_CATEGORIES + 1
    ]
    if problems:
        raise DataError(problems)
    return {name: texts.drop_null().to_pylist() for name, texts in found.items()}


def _attribute(
    position: int,
    name: str,
    *,
    table: DataFrame,
    spec: ReleaseSpec,
    roles: Roles,
    found: dict[str, Any],
    categories: dict[str, list[str]],
) -> Attribute:
    declared = spec.columns.quasi_identifiers[name]
    data_type = element_of(table.schema[name].dataType)
    kind = roles.kinds[name]
    if kind != "categorical":
        scale = data_type.scale if isinstance(data_type, T.DecimalType) else 0
        low, high = found[f"low_{position}"], found[f"high_{position}"]
        return Ordered(name, kind, data_type.simpleString(), low, high, declared.weight, scale)  # type: ignore[arg-type]
    text_type = data_type.simpleString()
    if declared.hierarchy is not None:
        hierarchy = Hierarchy.read(declared.hierarchy)
        hierarchy.require_cover(categories[name], name)
        return Categorical(name, tuple(hierarchy.leaves), text_type, declared.weight, hierarchy)
    numeric = isinstance(data_type, T.NumericType)
    ordered = sorted(categories[name], key=(lambda text: (float(text), text)) if numeric else None)
    return Categorical(name, tuple(ordered), text_type, declared.weight)


def _sensitive_domain(
    rows: DataFrame, spec: ReleaseSpec, roles: Roles, place: int, most: int
) -> SensitiveDomain:
    """Values of one sensitive attribute and their counts, by one aggregation; null, if any, comes last."""
    declared, type_name = spec.columns.attributes[place], roles.sensitive[place]
    value, shown = sensitive_value(declared, rows), _shown(spec, declared)
    value = F.array_distinct(value) if shown == RECORDS else value
    single = rows.select((value if declared.case == "svpi" else F.explode(value)).alias("v"))
    counted = to_arrow(single.groupBy("v").count().limit(most + 1))
    if counted.num_rows > most:
        raise DataError(
            f"sensitive column `{declared.column}` has more than {most:,} distinct values; "
            "publish a coarser one"
        )
    pairs = zip(counted.column(0).to_pylist(), counted.column(1).to_pylist(), strict=True)
    ordered = sorted(pairs, key=lambda pair: natural_order(pair[0], type_name))
    values, counts = tuple(v for v, _ in ordered), tuple(n for _, n in ordered)
    about = declared.sensitivity
    return SensitiveDomain(declared.column, declared.case, type_name, values, counts, shown, about)


def _shown(spec: ReleaseSpec, declared: SensitiveSpec) -> str:
    """How a release shows several values of a person, if not as a multiset of the group."""
    form = FORMS[spec.output.form]
    if declared.case == "svpi":
        return ""
    return RECORDS if form.side_by_side else ROWS if form.of_rows else ""


def labels_of(values: Sequence[str | None]) -> tuple[str, ...]:
    """Names of sensitive values for people and specs: different values have different names.

    A text that looks like the name of null, with any number of backslashes before it, gets one more.
    """
    return tuple(NULL_LABEL if value is None else _label(value) for value in values)


def _label(text: str) -> str:
    return f"\\{text}" if text.lstrip("\\") == NULL_LABEL else text


def natural_order(text: str | None, type_name: str) -> tuple[bool, float, str]:
    """Sort key: numbers by size (ordered distances rely on it), everything else by text, null last."""
    if text is None:
        return (True, 0.0, "")
    numeric = type_name.startswith(("tinyint", "smallint", "int", "bigint", "float", "double", "decimal"))
    return (False, float(text) if numeric else 0.0, text)
