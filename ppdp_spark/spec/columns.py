"""Where the rows come from and what each column is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler, TypeAdapter, WrapValidator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ppdp_spark.core.data.value_names import Sensitivity, only_one
from ppdp_spark.spec.fields import Names, Positive, SomeNames, SpecModel, Switch, Text, fields_of, texts_of
from ppdp_spark.spec.messages import Location, excerpt, shown
from ppdp_spark.spec.nearest import suggestion

Format = Literal["parquet", "csv", "orc", "json"]
ColumnType = Literal["numeric", "categorical", "date", "timestamp", "boolean"]
Case = Literal["svpi", "mvpi-set", "mvpi-multiset"]

_ENDINGS: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".orc": "orc",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
_COMPRESSIONS = {".gz", ".bz2", ".zst", ".lz4", ".xz", ".snappy"}


def with_shorthand(schema: JsonSchemaValue, handler: GetJsonSchemaHandler, short: JsonSchemaValue) -> None:
    """Let the JSON schema of a model also accept its shorthand."""
    resolved = handler.resolve_ref_schema(schema)
    long_form = dict(resolved)
    resolved.clear()
    resolved.update({"title": long_form.pop("title"), "anyOf": [long_form, short]})


def format_of(path: str) -> Format | None:
    """The format that the ending of a path tells, compression aside."""
    suffixes = [s.lower() for s in PurePosixPath(path.rstrip("/")).suffixes]
    while suffixes and suffixes[-1] in _COMPRESSIONS:
        suffixes.pop()
    return _ENDINGS.get(suffixes[-1]) if suffixes else None


class InputSpec(SpecModel):
    """The table to read: files at a path, or a table of the catalog."""

    hidden: ClassVar[frozenset[str]] = frozenset({"options"})

    path: Text | None = Field(
        default=None, description="File or folder; relative to the spec's folder if it is there."
    )
    table: Text | None = Field(default=None, description="Name of a catalog table, instead of a path.")
    format: Format | None = Field(default=None, description="Told from the ending of the path when left out.")
    separator: Text | None = Field(
        default=None, examples=[";"], description="Between the cells of a CSV; a comma if left out."
    )
    decimal: Literal[".", ","] | None = Field(
        default=None, description="What numbers of a CSV have before their fraction; a point if left out."
    )
    encoding: Text | None = Field(
        default=None, examples=["ISO-8859-1"], description="How a CSV is written; UTF-8 if left out."
    )
    date_format: Text | None = Field(
        default=None,
        examples=["dd.MM.yyyy"],
        description="How dates of a CSV are written; 2024-12-31 if left out.",
    )
    options: dict[Text, str] = Field(
        default_factory=dict,
        repr=False,
        description="Options of Spark's reader, such as `header: true` for CSV.",
    )

    @classmethod
    def written_out(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if isinstance(data.get("path"), str) and data.get("format") is None:
            data["format"] = format_of(data["path"])
        if isinstance(data.get("options"), Mapping):
            data["options"] = {key: _option(value) for key, value in data["options"].items()}
        return data

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        path, table = data.get("path"), data.get("table")
        yield from _csv_problems(data)
        if path is None and table is None:
            yield (), "needs `path: ...` or `table: ...`"
        elif path is not None and table is not None:
            yield (), "has both `path` and `table`: keep one"
        elif table is not None and data.get("format") is not None:
            yield ("format",), "does not go with `table`: remove it"
        elif isinstance(path, str) and path and data.get("format") is None:
            yield (
                ("format",),
                "is missing and the ending of `path` does not tell it: add parquet, csv, orc or json",
            )


_CSV_FIELDS = {
    "separator": ("sep", "delimiter"),
    "decimal": (),
    "encoding": ("encoding", "charset"),
    "date_format": ("dateformat",),
}
"""Fields that are about CSV files, and what Spark's reader calls the same."""


def _csv_problems(data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    """What is said of a CSV of a table that is none, or is said twice."""
    options = data.get("options")
    given = (
        {key.casefold() for key in options if isinstance(key, str)} if isinstance(options, Mapping) else set()
    )
    for field, names in _CSV_FIELDS.items():
        if data.get(field) is None:
            continue
        if data.get("format") != "csv":
            yield (field,), "is about CSV files, and the input is none: remove it, or say `format: csv`"
        for name in given & set(names):
            yield (field,), f"and `options.{name}` say the same: keep one"


def _option(value: Any) -> Any:
    """Spark's reader takes texts: `header: true` means `header: "true"`."""
    if isinstance(value, bool | int | float):
        return shown(value)
    return value


class QuasiIdentifierSpec(SpecModel):
    """A column an adversary may know: generalized in the release."""

    type: ColumnType | None = Field(default=None, description="Told from the table's schema when left out.")
    hierarchy: Text | None = Field(
        default=None, description="CSV of a generalization hierarchy, one row per leaf."
    )
    weight: Positive = Field(
        default=1.0, description="How much a cut on this column counts: larger keeps it finer."
    )
    varies: Literal["error", "latest", "range"] | None = Field(
        default=None,
        description="With `columns.person`: what to do if a person's rows disagree. `error`, the default, "
        "stops the run; `latest` takes the value from the row with the latest `person.latest_by`; `range` "
        "keeps all values, and what is published of the person covers every one of them.",
    )

    @classmethod
    def written_out(cls, data: Any) -> Any:
        """`age:` and `age: numeric` are mappings too; a hierarchy implies categories."""
        if data is None or isinstance(data, str):
            return {} if data is None else {"type": data}
        if isinstance(data, dict) and data.get("hierarchy") is not None and data.get("type") is None:
            return {**data, "type": "categorical"}
        return data

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        declared = data.get("type")
        if data.get("hierarchy") is not None and declared != "categorical":
            yield ("hierarchy",), f"needs `type: categorical`, not {shown(declared)}"

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        types = list(ColumnType.__args__)  # type: ignore[attr-defined]
        with_shorthand(schema, handler, {"enum": [*types, None]})
        return schema


class OneColumnSpec(SpecModel):
    """A column, and what else there is to say of it; where there is nothing, its name will do."""

    column: Text

    @classmethod
    def written_out(cls, data: Any) -> Any:
        return {"column": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        with_shorthand(schema, handler, {"type": "string", "minLength": 1})
        return schema


class PersonSpec(OneColumnSpec):
    """What a person is, where a person has several rows: they become one record."""

    column: Text = Field(examples=["patient_id"], description="Rows with the same value are one person.")
    latest_by: Text | None = Field(
        default=None, description="Date, timestamp or number that says which row of a person is the latest."
    )


class HouseholdSpec(OneColumnSpec):
    """What people belong to together: a household, an employer, a practice; k then counts these."""

    column: Text = Field(examples=["household_id"], description="People with the same value belong together.")
    members_know_each_other: Switch = Field(
        default=False,
        description="Whether criteria about the sensitive column must also hold against somebody who knows "
        "all members of one household and their values; measured if not.",
    )


class WeightSpec(OneColumnSpec):
    """A survey weight: how many people of the population a row stands for."""

    column: Text = Field(
        examples=["weight"],
        description="A number above 0 in every row; the same in all rows of a person.",
    )
    publish: Switch = Field(
        default=False,
        description="Whether it stands in the release, unchanged, beside everybody's row. Weights that one "
        "person alone has then stop the run, see `may_single_out`.",
    )


class SensitiveSpec(OneColumnSpec):
    """The column to protect; `case` says whether a person has one value, a set, or a multiset.

    All of its values need protection, unless `not_sensitive` or `only` says which do not.
    """

    column: Text = Field(examples=["occupation"])
    case: Case = Field(default="svpi", description="svpi: one value per person. mvpi-*: an array column.")
    not_sensitive: SomeNames | None = Field(
        default=None,
        examples=["[none, Flu]"],
        description="Values that need no protection: anybody may learn who has them. The others do.",
    )
    only: SomeNames | None = Field(
        default=None,
        examples=["[HIV]"],
        description="The values that need protection, in place of `not_sensitive`; no others do.",
    )
    may_be_absent: SomeNames | None = Field(
        default=None,
        description="Names in `not_sensitive` or `only` that need not occur; any other that does not is an "
        "error.",
    )

    @property
    def sensitivity(self) -> Sensitivity | None:
        """Which values need protection; None if all do."""
        return Sensitivity.declared(self.model_dump())

    @classmethod
    def written_out(cls, data: Any) -> Any:
        """Values that are numbers in the table may be written as numbers."""
        data = super().written_out(data)
        if not isinstance(data, dict):
            return data
        named = {key: texts_of(data[key]) for key in _VALUE_LISTS if isinstance(data.get(key), list)}
        return {**data, **named}

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        lists = [key for key in ("not_sensitive", "only") if data.get(key) is not None]
        if len(lists) == 2:
            yield ("only",), "and `not_sensitive` both say which values need protection: remove one of them"
        if data.get("may_be_absent") is not None and not lists:
            yield ("may_be_absent",), "belongs to `not_sensitive` or `only`: remove it"
        elif lists:
            yield from _not_among(data, "may_be_absent", lists[0])


_VALUE_LISTS = ("not_sensitive", "only", "may_be_absent")


class LinkedSpec(SpecModel):
    """Sensitive attributes published side by side, and which of them somebody may know of a person."""

    known: SomeNames | None = Field(
        default=None,
        examples=["[income]"],
        description="Sensitive columns of which an adversary may know a person's values; all when left out.",
    )


SensitiveSpecs = Annotated[tuple[SensitiveSpec, ...], Field(min_length=1)]
_SEVERAL: TypeAdapter[tuple[SensitiveSpec, ...]] = TypeAdapter(SensitiveSpecs)


def _one_or_several(given: Any, _: Any) -> Any:
    """One sensitive attribute, or a list of them; a list of one is that one."""
    if given is None:
        return None
    if not isinstance(given, list | tuple):
        return SensitiveSpec.model_validate(given)
    found = _SEVERAL.validate_python(given)
    return found[0] if len(found) == 1 else found


class ColumnsSpec(SpecModel):
    """One role a column; a column without a role is not published."""

    identifiers: Names = Field(
        default=(), description="Dropped; each must be different on every row, see `may_repeat`."
    )
    may_repeat: Names = Field(
        default=(),
        description="Identifiers that do not tell people apart, such as names: they may repeat.",
    )
    person: PersonSpec | None = Field(
        default=None,
        description="The column that tells which rows are the same person; guarantees then count people.",
    )
    household: HouseholdSpec | None = Field(
        default=None,
        description="The column that tells who belongs together; k then counts households, not people.",
    )
    weight: WeightSpec | None = Field(
        default=None,
        description="The column of survey weights: how many people of the population a row stands for. "
        "Guarantees count people of the table all the same; what weights say of the population is estimated.",
    )
    quasi_identifiers: dict[Text, QuasiIdentifierSpec] = Field(
        default_factory=dict, description="Generalized, or published apart from the sensitive column."
    )
    sensitive: Annotated[SensitiveSpec | SensitiveSpecs | None, WrapValidator(_one_or_several)] = Field(
        default=None,
        description="Protected by all criteria but k-anonymity. Several, in a list, are published "
        "independently of each other.",
    )
    sensitive_linked: LinkedSpec | None = Field(
        default=None,
        description="Several sensitive columns are published side by side, and each is judged for somebody "
        "who knows the person's values of others.",
    )
    publish_as_is: Names = Field(
        default=(), description="Published unchanged: must not help to recognise anyone."
    )
    may_single_out: Names = Field(
        default=(),
        description="Columns of `publish_as_is`, or a published `weight`, whose values nobody outside can "
        "know: they may be unique.",
    )
    group: Text | None = Field(
        default=None, description="For `check`: the column that names the group of a row."
    )

    @property
    def named(self) -> frozenset[str]:
        """Every column that has a role."""
        return frozenset(name for _, name in _roles(self.model_dump()))

    @property
    def of_records(self) -> tuple[str, ...]:
        """Identifiers of a table with one record per person: the person, where rows were brought together."""
        return self.identifiers if self.person is None else (self.person.column,)

    @property
    def as_is(self) -> tuple[str, ...]:
        """Every column that is published unchanged; a published weight is the last."""
        weight = self.weight
        return self.publish_as_is + ((weight.column,) if weight is not None and weight.publish else ())

    @property
    def ranging(self) -> tuple[int, ...]:
        """The places of the quasi-identifiers of which people keep all their values."""
        declared = enumerate(self.quasi_identifiers.values())
        return tuple(place for place, attribute in declared if attribute.varies == "range")

    @property
    def attributes(self) -> tuple[SensitiveSpec, ...]:
        """The sensitive attributes: none, one or several."""
        return sensitive_list(self.sensitive)

    @property
    def attribute(self) -> SensitiveSpec | None:
        """The sensitive attribute, if there is one; whoever asks is not made for several."""
        return only_one(self.attributes)

    @property
    def known(self) -> tuple[str, ...]:
        """The sensitive columns that somebody may know of a person, where rows keep their values together."""
        linked, names = self.sensitive_linked, [attribute.column for attribute in self.attributes]
        if linked is None:
            return ()
        return tuple(name for name in names if linked.known is None or name in linked.known)

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        """A column has one role. Spark ignores case in column names, so this does too."""
        seen: dict[str, tuple[str, str]] = {}
        for role, name in _roles(data):
            first = seen.get(name.casefold())
            if first is None:
                seen[name.casefold()] = (role, name)
            else:
                yield (role,), _same_column(name, role, first_name=first[1], first_role=first[0])
        yield from _person_problems(data)
        yield from _not_among(data, "may_repeat", "identifiers", "columns.")
        weight = fields_of(WeightSpec.written_out(data.get("weight")))
        also = [weight.get("column")] if weight.get("publish") is True else []
        yield from _not_among(data, "may_single_out", "publish_as_is", "columns.", also)


def some_unprotected(columns: ColumnsSpec) -> bool:
    """Whether some values of a sensitive attribute need no protection."""
    return any(attribute.sensitivity is not None for attribute in columns.attributes)


def _not_among(
    data: Mapping[str, Any], field: str, whole: str, at: str = "", also: Sequence[Any] = ()
) -> Iterator[tuple[Location, str]]:
    """Names in a field that says something of some names of another, at a place, but are not there.

    The names in `also` are meant, too.
    """
    known, named = data.get(whole), data.get(field)
    if not isinstance(named, list | tuple):
        return
    listed = [*known, *also] if isinstance(known, list | tuple) else also
    names = [name for name in listed if isinstance(name, str)]
    for i, name in enumerate(named):
        if isinstance(name, str) and name not in names:
            hint = suggestion(name, map(excerpt, names)) if names else "none is declared"
            yield (field, i), f"({shown(name)}) is not one of `{at}{whole}`; {hint}"


def sensitive_list(given: Any) -> tuple[Any, ...]:
    """What is written in `columns.sensitive` as a list of attributes."""
    return () if given is None else tuple(given) if isinstance(given, list | tuple) else (given,)


def _person_problems(data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    """What `varies` needs of `person`, and the other way round."""
    person, attributes = data.get("person"), data.get("quasi_identifiers")
    declared = fields_of(PersonSpec.written_out(person))
    varying = {
        name: fields_of(attribute).get("varies")
        for name, attribute in (attributes.items() if isinstance(attributes, Mapping) else ())
        if fields_of(attribute).get("varies") is not None
    }
    for name, rule in varying.items():
        place = ("quasi_identifiers", name, "varies")
        if person is None:
            yield place, "is about several rows per person: add `person: ...`, or remove it"
        elif rule == "latest" and declared.get("latest_by") is None:
            yield place, "(latest) needs a date: add `person: {column: ..., latest_by: ...}`"
    if declared.get("latest_by") is not None and "latest" not in varying.values():
        yield ("person", "latest_by"), "is used by no column: add `varies: latest` to one, or remove it"


def _same_column(name: str, role: str, *, first_name: str, first_role: str) -> str:
    if role == first_role and name == first_name:
        return f"names `{excerpt(name)}` twice"
    alias = "" if name == first_name else f" as `{excerpt(first_name)}` (case does not matter)"
    return f"names `{excerpt(name)}`, which is in `{first_role}` already{alias}: a column has one role"


def _roles(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(role, column) for all columns that raw data names, in the order of the fields."""
    columns = {
        "identifiers": data.get("identifiers"),
        "person": [fields_of(PersonSpec.written_out(data.get("person"))).get("column")],
        "household": [fields_of(HouseholdSpec.written_out(data.get("household"))).get("column")],
        "weight": [fields_of(WeightSpec.written_out(data.get("weight"))).get("column")],
        "quasi_identifiers": data.get("quasi_identifiers"),
        "sensitive": [
            fields_of(SensitiveSpec.written_out(each)).get("column")
            for each in sensitive_list(data.get("sensitive"))
        ],
        "publish_as_is": data.get("publish_as_is"),
        "group": [data.get("group")],
    }
    for role, names in columns.items():
        if isinstance(names, list | tuple | Mapping):
            yield from ((role, name) for name in names if isinstance(name, str))
