"""The criteria a release must satisfy, with the limits of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ppdp_spark.spec.columns import with_shorthand
from ppdp_spark.spec.fields import (
    LARGEST_COUNT,
    LARGEST_L,
    GroupSize,
    Listed,
    Names,
    Number,
    Positive,
    Share,
    SomeNames,
    SpecModel,
    Text,
)
from ppdp_spark.spec.messages import Location, excerpt, kind, shown
from ppdp_spark.spec.nearest import suggestion

Known = Annotated[int, Field(strict=True, ge=0, le=LARGEST_COUNT)]
KnownValues = Annotated[int, Field(strict=True, ge=0, le=LARGEST_L)]
EntropyOrCount = Annotated[
    int | float,
    Field(gt=1, le=LARGEST_L),
    Number,
    WithJsonSchema({"type": "number", "exclusiveMinimum": 1, "maximum": LARGEST_L}),
]


class LDiversitySpec(SpecModel):
    """ℓ-diversity: `distinct` and `recursive` take a whole ℓ, `entropy` any number above 1."""

    kind: Literal["distinct", "entropy", "recursive"] = Field(examples=["recursive"])
    l: EntropyOrCount = Field(examples=[6])
    c: Positive | None = Field(
        default=None, description="The constant of recursive (c, ℓ)-diversity, and of it only."
    )

    @classmethod
    def written_out(cls, data: Any) -> Any:
        """An entropy level is a number, not a count: 2 and 2.0 are the same spec."""
        if isinstance(data, dict) and data.get("kind") == "entropy" and type(data.get("l")) is int:
            small = abs(data["l"]) <= LARGEST_L
            return {**data, "l": float(data["l"])} if small else data
        return data

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        variant, level, c = data.get("kind"), data.get("l"), data.get("c")
        if variant in ("distinct", "recursive") and isinstance(level, float):
            yield ("l",), f"({kind(level)}) must be a whole number for {variant} ℓ-diversity"
        if variant == "recursive" and c is None:
            yield ("c",), "is missing: recursive ℓ-diversity needs it, add `c: 3`"
        if variant in ("distinct", "entropy") and c is not None:
            yield ("c",), f"belongs to recursive ℓ-diversity only: remove it, or change `kind` ({variant})"


class TClosenessSpec(SpecModel):
    """t-closeness under the equal or the ordered ground distance."""

    t: Share = Field(examples=[0.3])
    distance: Literal["equal", "ordered"] = "equal"


class BetaLikenessSpec(SpecModel):
    """β-likeness, basic or enhanced (the stricter of the two, hence the default)."""

    beta: Positive = Field(examples=[2])
    kind: Literal["basic", "enhanced"] = "enhanced"


class DeltaDisclosureSpec(SpecModel):
    """δ-disclosure privacy."""

    delta: Positive = Field(examples=[1.5])

    @classmethod
    def written_out(cls, data: Any) -> Any:
        return {"delta": data} if isinstance(data, int | float) and not isinstance(data, bool) else data

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        with_shorthand(schema, handler, {"type": "number", "exclusiveMinimum": 0})
        return schema


class AlphaKSpec(SpecModel):
    """(α, k)-anonymity: groups of k people in which no value has more than the share α."""

    alpha: Share = Field(examples=[0.5])
    k: GroupSize = Field(examples=[10])


class SkylinePointSpec(SpecModel):
    """Knowledge (ℓ, k, m) against which the breach probability must stay below c [Skyline, Def 4]."""

    l: KnownValues = Field(examples=[3])
    k: Known = Field(examples=[20])
    m: Known = Field(examples=[2])
    c: Share = Field(examples=[0.5])

    def dominates(self, other: SkylinePointSpec) -> bool:
        """Whether a release that is safe at this point is always safe at the other."""
        more_known = self.l >= other.l and self.k >= other.k and self.m >= other.m
        return more_known and self.c <= other.c


Points = Annotated[tuple[SkylinePointSpec, ...], Field(min_length=1), Listed]


class SkylineSpec(SpecModel):
    """A skyline for each sensitive value; `default` is for the values not named."""

    default: Annotated[tuple[SkylinePointSpec, ...], Listed] = ()
    values: dict[str, Points] = Field(default_factory=dict)
    may_be_absent: Names = Field(
        default=(), description="Names in `values` that need not occur; any other that does not is an error."
    )

    @classmethod
    def written_out(cls, data: Any) -> Any:
        """Values that are numbers in the table may be written as numbers."""
        if isinstance(data, dict) and isinstance(data.get("values"), Mapping):
            given = data["values"]
            texts = {key: shown(key) if type(key) in (int, float, bool) else key for key in given}
            if len(set(texts.values())) == len(texts):
                return {**data, "values": {texts[key]: points for key, points in given.items()}}
        return data

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        if data.get("default") in (None, [], ()) and not data.get("values"):
            yield (), "has no points: add `default: [{l: 3, k: 20, m: 2, c: 0.5}]`"
        absent, values = data.get("may_be_absent"), data.get("values")
        if isinstance(absent, list | tuple) and isinstance(values, Mapping):
            for i, name in enumerate(absent):
                if isinstance(name, str) and name not in values:
                    hint = suggestion(name, [excerpt(str(value)) for value in values]) if values else ""
                    yield ("may_be_absent", i), f"({shown(name)}) is not a key of `values`; {hint}"

    def redundant(self) -> Iterator[tuple[Location, Location]]:
        """Pairs of places (redundant point, the point of the same skyline that covers it)."""
        places: dict[Location, tuple[SkylinePointSpec, ...]] = {("default",): self.default}
        places.update({("values", value): points for value, points in self.values.items()})
        for place, points in places.items():
            for i, point in enumerate(points):
                stronger = (
                    j
                    for j, other in enumerate(points)
                    if j != i and other.dominates(point) and (j < i or other != point)
                )
                yield from (((*place, i), (*place, j)) for j in list(stronger)[:1])


class PriorSpec(SpecModel):
    """What an adversary knows of the sensitive column given some quasi-identifiers.

    Learned from the data, or read from a table with the columns of the signature, the value and
    its probability.
    """

    attributes: SomeNames = Field(examples=["[sex]"])
    path: Text | None = None
    may_be_absent: Names = Field(
        default=(), description="Values of the table that need not occur in the data; others must."
    )

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        if data.get("may_be_absent") and data.get("path") is None:
            yield ("may_be_absent",), "belongs to priors that are read from a `path`"
        names = data.get("attributes")
        if isinstance(names, list | tuple):
            texts = [name for name in names if isinstance(name, str)]
            if len(set(texts)) < len(texts):
                yield ("attributes",), "names a column twice"


class RobustnessSpec(SpecModel):
    """r-robustness: no posterior above 1/r; `binary` is the model of the published Δ condition."""

    r: Annotated[float, Field(gt=1, le=LARGEST_L, allow_inf_nan=False), Number] = Field(examples=[3])
    model: Literal["joint", "binary"] = "joint"
    priors: Annotated[tuple[PriorSpec, ...], Field(min_length=1), Listed] = Field(
        examples=["[{attributes: [sex]}]"]
    )


class PrivacySpec(SpecModel):
    """The criteria; each left out is not demanded."""

    k_anonymity: GroupSize | None = None
    l_diversity: LDiversitySpec | None = None
    t_closeness: TClosenessSpec | None = None
    beta_likeness: BetaLikenessSpec | None = None
    delta_disclosure: DeltaDisclosureSpec | None = None
    alpha_k: AlphaKSpec | None = None
    skyline: SkylineSpec | None = None
    robustness: RobustnessSpec | None = None

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        """A criterion left blank is a mistake, not a criterion that is not wanted."""
        for name in cls.model_fields:
            if name in data and data[name] is None:
                yield (name,), "(empty) demands nothing: give it a value or remove the key"

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria that are demanded."""
        return tuple(name for name in type(self).model_fields if getattr(self, name) is not None)
