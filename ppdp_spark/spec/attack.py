"""What `attack` is told: the release, who is named, what the adversary knows, what is mined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ppdp_spark.core.criteria.family import LARGEST_COUNT
from ppdp_spark.spec.columns import ColumnsSpec, InputSpec, with_shorthand
from ppdp_spark.spec.fields import (
    Listed,
    Number,
    Share,
    SomeNames,
    SpecModel,
    Switch,
    Text,
    fields_of,
    problem,
)
from ppdp_spark.spec.messages import Location, excerpt, wrong_kind

MOST_STATEMENTS = 100_000
_SCALAR = "must be one value: text, a number or true/false"
_CONDITION = "must be a value, a list of values, or a range `{from: 30, to: 40}`"


def _scalar(value: Any, wanted: str = _SCALAR) -> Any:
    if not isinstance(value, str | bool | int | float) or value == "":
        raise problem(wrong_kind(value, wanted))
    if isinstance(value, float) and not isfinite(value):
        raise problem("must be a finite number")
    return value


def _condition(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _range(value)
    if isinstance(value, list | tuple):
        if not value:
            raise problem("must have at least one entry")
        return [_scalar(each, _CONDITION) for each in value]
    return _scalar(value, _CONDITION)


def _range(value: Mapping[str, Any]) -> dict[str, float]:
    if not value or set(value) - {"from", "to"}:
        raise problem(f"(mapping) {_CONDITION}")
    for end in value.values():
        number = isinstance(end, int | float) and not isinstance(end, bool) and isfinite(end)
        if not number:
            raise problem(f"({'from' if end is value.get('from') else 'to'}) must be a finite number")
    if len(value) == 2 and value["from"] > value["to"]:
        raise problem("has `from` above `to`: turn them round")
    return dict(value)


_SCALAR_SCHEMA: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_ENDS = {"from": {"type": "number"}, "to": {"type": "number"}}
_CONDITION_SCHEMA: dict[str, Any] = {
    "anyOf": [
        _SCALAR_SCHEMA,
        {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 1},
        {"type": "object", "properties": _ENDS, "additionalProperties": False, "minProperties": 1},
    ]
}
_SHARE_SCHEMA: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}
_ONE_OR_SEVERAL: dict[str, Any] = {
    "anyOf": [_SHARE_SCHEMA, {"type": "array", "items": _SHARE_SCHEMA, "minItems": 1}]
}
Scalar = Annotated[Any, BeforeValidator(_scalar), WithJsonSchema(_SCALAR_SCHEMA)]
Condition = Annotated[Any, BeforeValidator(_condition), WithJsonSchema(_CONDITION_SCHEMA)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), Number]
Quantity = Annotated[float, Field(ge=0, le=LARGEST_COUNT, allow_inf_nan=False), Number]
Size = Annotated[int, Field(strict=True, ge=0, le=MOST_STATEMENTS)]


class OriginalSpec(InputSpec):
    """A table beside the release, such as the one it was made from; a path alone will do."""

    @classmethod
    def written_out(cls, data: Any) -> Any:
        return super().written_out({"path": data} if isinstance(data, str) else data)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        with_shorthand(schema, handler, {"type": "string", "minLength": 1})
        return schema


class NamedPersonSpec(SpecModel):
    """Somebody the adversary can name: quasi-identifiers that single out one combination."""

    name: Text = Field(examples=["alice"])
    where: Annotated[dict[Text, Scalar], Field(min_length=1)] = Field(examples=["{sex: f, age: 34}"])
    group: Scalar | None = Field(default=None, description="The person's group, if the adversary knows it.")


class SubjectSpec(SpecModel):
    """P(value | given): a share of the people with these quasi-identifiers."""

    given: dict[Text, Condition] = Field(
        default_factory=dict, description="Values, lists or ranges of quasi-identifiers; none for everybody."
    )
    unless: dict[Text, Condition] = Field(
        default_factory=dict,
        examples=["{degree: junior}"],
        description="Those of them who have all of this are left out: P(value | given and not unless).",
    )
    value: Scalar | None = Field(default=None, description="A sensitive value.")
    values: Annotated[tuple[Scalar, ...], Field(min_length=1), Listed] | None = Field(
        default=None, description="Several sensitive values, any of which counts."
    )

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        yield from _one_value(data)


class KnowledgeSpec(SpecModel):
    """One statement: on a share of people, on named people, or that one share is not below another.

    With `people`, `exactly`, `at_least` and `at_most` count people; elsewhere they are probabilities.
    """

    given: dict[Text, Condition] = Field(default_factory=dict)
    unless: dict[Text, Condition] = Field(default_factory=dict)
    people: SomeNames | None = None
    value: Scalar | None = None
    values: Annotated[tuple[Scalar, ...], Field(min_length=1), Listed] | None = None
    probability: Probability | None = None
    within: Probability | None = Field(default=None, description="ε of probability ± ε.")
    exactly: Quantity | None = Field(default=None, description="So many of the people.")
    at_least: Quantity | None = None
    at_most: Quantity | None = None
    more: SubjectSpec | None = Field(default=None, description="P(more) is at least P(than).")
    than: SubjectSpec | None = None

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        given = {key for key, value in data.items() if value not in (None, {}, ())}
        if given & {"more", "than"}:
            yield from _comparison_problems(given)
            return
        yield from _one_value(data)
        bounds = given & {"probability", "exactly", "at_least", "at_most"}
        two_sided = bounds == {"at_least", "at_most"}
        if not bounds or (len(bounds) > 1 and not two_sided):
            yield (), "needs one of `probability`, `exactly`, or `at_least` and `at_most`"
        lowest, highest = (data.get(key) for key in ("at_least", "at_most"))
        if isinstance(lowest, int | float) and isinstance(highest, int | float) and lowest > highest:
            yield ("at_least",), f"({lowest:g}) is above `at_most` ({highest:g}): turn them round"
        if "within" in given and "probability" not in given:
            yield ("within",), "needs `probability`"
        for key in ("given", "unless"):
            if "people" in given and key in given:
                yield (), f"has both `people` and `{key}`: keep one"
        if "people" not in given:
            yield from _share_problems(data, given)
        else:
            yield from _count_problems(data)


def _one_value(data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    if (data.get("value") is None) == (data.get("values") is None):
        yield (), "needs `value: ...` or `values: [...]`, one of them"


def _comparison_problems(given: set[str]) -> Iterator[tuple[Location, str]]:
    if not {"more", "than"} <= given:
        yield (), "needs both `more` and `than`"
    for key in sorted(given & (set(KnowledgeSpec.model_fields) - {"more", "than"})):
        yield (key,), "does not go with `more` and `than`: remove it"


def _share_problems(data: Mapping[str, Any], given: set[str]) -> Iterator[tuple[Location, str]]:
    if "exactly" in given:
        yield ("exactly",), "counts people: name them in `people`, or use `probability`"
    for key in ("at_least", "at_most"):
        bound = data.get(key)
        if isinstance(bound, int | float) and bound > 1:
            yield (key,), f"({bound:g}) must be a probability, unless `people` are named"


def _count_problems(data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    people = data["people"]
    if not isinstance(people, list | tuple):
        return
    for key in ("exactly", "at_least", "at_most"):
        bound = data.get(key)
        if isinstance(bound, int | float) and bound > len(people):
            yield (key,), f"({bound:g}) is more than the {len(people)} people named"


class MineSpec(SpecModel):
    """The strongest rules of the original that the adversary is given, more and more of them."""

    positive: Annotated[tuple[Size, ...], Listed] = Field(
        default=(), description="Numbers of rules “these people have the value”, one a step of the curve."
    )
    negative: Annotated[tuple[Size, ...], Listed] = Field(
        default=(), description="Numbers of rules “these people do not have the value”, step by step."
    )
    attributes: Annotated[
        tuple[Annotated[int, Field(strict=True, ge=1, le=64)], ...], Field(min_length=1), Listed
    ] = Field(default=(1, 2), description="How many quasi-identifiers a rule speaks of.")
    negated: Switch = Field(
        default=False,
        description="Whether rules may also say “… and not this value” of one of their quasi-identifiers.",
    )
    support: Annotated[int, Field(strict=True, ge=1, le=LARGEST_COUNT)] = Field(
        default=3, description="People a rule must rest on."
    )
    within: Annotated[tuple[Probability, ...], Field(min_length=1), Listed] = Field(
        default=(0.0,),
        description="ε: rules are known up to p ± ε; one number, or several for as many curves.",
    )

    @classmethod
    def written_out(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("within"), int | float):
            data["within"] = [data["within"]]
        return data

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        sides = [data.get(side) or () for side in ("positive", "negative")]
        if not all(isinstance(side, list | tuple) for side in sides):
            return
        if not any(sides):
            yield (), "mines nothing: add `positive: [0, 50, 100]` or `negative: [0, 50, 100]`"
        elif all(sides) and len(sides[0]) != len(sides[1]):
            yield (), "has lists of different lengths: `positive` and `negative` make the steps together"

    @property
    def steps(self) -> tuple[tuple[int, int, float], ...]:
        """(K₊, K₋, ε) of every step: for each ε the whole curve."""
        number = max(len(self.positive), len(self.negative))
        positive, negative = (side or (0,) * number for side in (self.positive, self.negative))
        pairs = tuple(zip(positive, negative, strict=True))
        return tuple((more, less, within) for within in self.within for more, less in pairs)


def _release_problems(data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    """What is about a release of ours, and there is none."""
    if data.get("audit") is not None:
        for field in ("release", "original"):
            if data.get(field) is None:
                yield (field,), "is missing: `audit` makes the groups of a release of ours again"
    if data.get("release") is not None:
        return
    if data.get("external") is not None:
        yield ("external",), "resolves generalized releases of ours: add `release`, or remove it"
    if data.get("sensitive") is not None:
        yield ("sensitive",), "chooses a column of a release of ours: add `release`, or remove it"


def _learning_problems(data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
    """What an adversary who learns from the release does not have."""
    if data.get("learn") is None:
        return
    for key in ("people", "knowledge", "mine"):
        if data.get(key):
            yield ("learn",), f"is about somebody without knowledge: attack apart from `{key}`"
    if data.get("sensitive") is not None:
        yield ("learn",), "is for a release of one sensitive attribute: remove it, or `sensitive`"


class AuditSpec(SpecModel):
    """The audit of what a reader concludes who knows the program that made the groups."""

    algorithm: Literal["sample", "full", "none"] = Field(
        default="sample",
        description="Groups that are audited against a reader who knows the program: some, all, or none.",
    )
    at_most: Share | None = Field(
        default=None,
        description="Largest posterior of such a reader; beyond it the verdict is fail and nothing is "
        "published. Needs `full`.",
    )

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        if data.get("at_most") is not None and data.get("algorithm") != "full":
            yield ("at_most",), "is about every group: add `algorithm: full`"


class AttackSpec(SpecModel):
    """What `attack` tries: the conclusions of an adversary who knows the release and more.

    Without `release` the attacked table is the spec's input, with its groups in `columns.group`.
    """

    release: Text | None = Field(default=None, description="Output folder of a release of ours.")
    sensitive: Text | None = Field(
        default=None,
        examples=["diagnosis"],
        description="Which sensitive column of the release is attacked, if it has several.",
    )
    original: OriginalSpec | None = Field(
        default=None,
        description="The table it was made from, for mining and to measure the distance.",
    )
    external: OriginalSpec | None = Field(
        default=None,
        description="People with their quasi-identifiers, to resolve groups of a generalized release.",
    )
    people: Annotated[tuple[NamedPersonSpec, ...], Listed] = ()
    knowledge: Annotated[tuple[KnowledgeSpec, ...], Field(max_length=MOST_STATEMENTS), Listed] = ()
    mine: MineSpec | None = None
    learn: Literal["naive_bayes"] | None = Field(
        default=None,
        description="How an adversary without knowledge learns from the release itself who has what.",
    )
    threshold: Share | None = Field(
        default=None, description="Largest posterior probability allowed; beyond it the verdict is fail."
    )
    audit: AuditSpec | None = Field(
        default=None,
        examples=["{algorithm: full, at_most: 0.6}"],
        description="What a reader concludes who knows the program that made the release: its groups are "
        "made again from `original`, by the spec in the release's private folder.",
    )

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        if data.get("mine") is not None and data.get("original") is None:
            yield ("original",), "is missing: `mine` finds its rules in the original table"
        yield from _release_problems(data)
        yield from _learning_problems(data)
        people, knowledge = data.get("people") or (), data.get("knowledge") or ()
        if not isinstance(people, list | tuple) or not isinstance(knowledge, list | tuple):
            return
        names = Counter(name for p in people if isinstance(name := fields_of(p).get("name"), str))
        for name, times in names.items():
            if times > 1:
                yield ("people",), f"names `{excerpt(name)}` {times} times"
        for i, statement in enumerate(knowledge):
            mentioned = fields_of(statement).get("people")
            for name in mentioned if isinstance(mentioned, list | tuple) else ():
                if isinstance(name, str) and name not in names:
                    yield (
                        ("knowledge", i, "people"),
                        f"names `{excerpt(name)}`, who is not in `people`",
                    )


def lacking_for_attack(attack: AttackSpec | None, columns: ColumnsSpec) -> Iterator[str]:
    """A release of ours says what its columns are; of another table the spec must."""
    if attack is not None and attack.release is not None:
        return
    if columns.group is None:
        yield "`attack.release` and `columns.group` are both missing: name a release or the group column"
    if not columns.quasi_identifiers:
        yield "`columns.quasi_identifiers` is empty: name at least one column"
    if columns.sensitive is None:
        yield "`columns.sensitive` is missing: `attack` needs it"
    elif len(columns.attributes) == 1 and columns.attributes[0].case != "svpi":
        yield f"`columns.sensitive.case` ({columns.attributes[0].case}): `attack` needs one value per person"
