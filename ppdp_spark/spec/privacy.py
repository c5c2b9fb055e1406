"""The criteria a release must satisfy: one field for each family, whichever package it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model
from pydantic_core import InitErrorDetails

from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.criteria.family import LARGEST_COUNT, LARGEST_L, Family, Parameters
from ppdp_spark.spec.criterion_models import CriterionSpec, bare_type, criterion_model, require_free_names
from ppdp_spark.spec.fields import (
    PROBLEM,
    Listed,
    Names,
    Number,
    Share,
    SomeNames,
    SpecModel,
    Text,
)
from ppdp_spark.spec.messages import Location, excerpt, shown
from ppdp_spark.spec.nearest import suggestion

Known = Annotated[int, Field(strict=True, ge=0, le=LARGEST_COUNT)]
KnownValues = Annotated[int, Field(strict=True, ge=0, le=LARGEST_L)]


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


NO_POINTS = (
    "has no points: name the value in `not_sensitive` of `columns.sensitive` if it needs no protection, or "
    "give it a point"
)


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

    @classmethod
    def _reworded(cls, detail: dict[str, Any]) -> InitErrorDetails:
        if detail["type"] == "too_short" and detail["loc"][:1] == ("values",):
            detail = {**detail, "type": PROBLEM, "ctx": {"text": NO_POINTS}}
        return super()._reworded(detail)

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
    times: Annotated[float, Field(gt=1, le=LARGEST_COUNT, allow_inf_nan=False), Number] | None = Field(
        default=None,
        description="No posterior may be more than so many times the person's own prior, either.",
    )
    priors: Annotated[tuple[PriorSpec, ...], Field(min_length=1), Listed] = Field(
        examples=["[{attributes: [sex]}]"]
    )


class CriteriaSpec(SpecModel):
    """What every list of criteria has, whatever criteria there are."""

    if TYPE_CHECKING:

        @property
        def skyline(self) -> SkylineSpec | None: ...

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        """A criterion left blank is a mistake, not a criterion that is not wanted."""
        for name in cls.model_fields:
            if name in data and data[name] is None:
                yield (name,), "(empty) demands nothing: give it a value or remove the key"

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria that are demanded."""
        named = tuple(name for name in type(self).model_fields if getattr(self, name) is not None)
        return tuple(name for name in named if name != PER_ATTRIBUTE)

    @property
    def demanded(self) -> tuple[tuple[Family, Parameters], ...]:
        """The families that are demanded, each with its parameters, in the order of the spec."""
        return tuple((family, self._parameters(family)) for family in families() if self._asks_for(family))

    @property
    def least_group_size(self) -> int:
        """The fewest people of a group under the criteria on counts: smaller ones need not be tried."""
        return self.least_size(some=False)

    def least_size(self, *, some: bool) -> int:
        """The same; with `some`, where only some of the sensitive values need protection."""
        on_counts = [(family.traits, given) for family, given in self.demanded if not family.traits.priors]
        sizes = [
            traits.least_of_some(given) if some and traits.sensitive else traits.least_size(given)
            for traits, given in on_counts
        ]
        return max(sizes, default=1)

    def _given(self) -> list[tuple[str, Any]]:
        """The criteria that are demanded, as they are given."""
        return [(f.field, getattr(self, f.field)) for f in families() if self._asks_for(f)]

    def _asks_for(self, family: Family) -> bool:
        return getattr(self, family.field, None) is not None

    def _parameters(self, family: Family) -> Parameters:
        given = getattr(self, family.field)
        if family.bare and family.parameters:
            return {family.parameters[0].name: given}
        return dict(given.model_dump())


class AnyPrivacySpec(CriteriaSpec):
    """What every `privacy` section has: criteria, and those of single sensitive attributes."""

    if TYPE_CHECKING:
        per_attribute: dict[str, CriteriaSpec] | None = None

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria that are demanded, of single attributes too."""
        own = (self.per_attribute or {}).items()
        return super().criteria + tuple(
            f"{PER_ATTRIBUTE}.{a}.{name}" for a, each in own for name in each.criteria
        )

    @property
    def parts(self) -> dict[Location, CriteriaSpec]:
        """The criteria for all attributes, and those of each that has its own, by their place in a spec."""
        own = (self.per_attribute or {}).items()
        return {("privacy",): self, **{("privacy", PER_ATTRIBUTE, name): each for name, each in own}}

    @property
    def of_groups(self) -> PrivacySpec:
        """The criteria that do not look at sensitive values: there is one verdict for all attributes."""
        return PrivacySpec(**{name: given for name, given in self._given() if name not in _about_values()})

    def of_attribute(self, attribute: str) -> PrivacySpec:
        """The criteria that look at the values of one attribute of several: its own before those for all."""
        own = (self.per_attribute or {}).get(attribute)
        given = {name: each for name, each in self._given() if name in _about_values()}
        return PrivacySpec(**(given | ({} if own is None else dict(own._given()))))

    def only(self, attribute: str) -> PrivacySpec:
        """All criteria that have to do with one attribute of several, those of groups included."""
        return PrivacySpec(**dict(self.of_groups._given()) | dict(self.of_attribute(attribute)._given()))


def _about_values() -> set[str]:
    return {family.field for family in families() if family.traits.sensitive}


PER_ATTRIBUTE = "per_attribute"
WRITTEN_BY_HAND: dict[str, type[SpecModel]] = {"skyline": SkylineSpec, "robustness": RobustnessSpec}
"""Models that are more than a list of parameters."""


def _privacy_model(models: Mapping[str, type[SpecModel]]) -> type[AnyPrivacySpec]:
    """`privacy` with one field for each family there is, none of them required."""
    require_free_names([PER_ATTRIBUTE, *(family.field for family in families())], AnyPrivacySpec)
    wanted = {family.field: models.get(family.field) or bare_type(family) for family in families()}
    fields: dict[str, Any] = {name: (kind | None, None) for name, kind in wanted.items()}
    names = _about_values() - {family.field for family in families() if family.traits.priors}
    few = {name: field for name, field in fields.items() if name in names}
    one: Any = create_model("AttributeCriteriaSpec", __base__=CriteriaSpec, __module__=__name__, **few)
    one.__doc__ = "Criteria of one sensitive attribute of several."
    told = "With several sensitive attributes: criteria of one of them, in the place of those for all."
    fields[PER_ATTRIBUTE] = (dict[Text, one] | None, Field(default=None, description=told))
    model = create_model("PrivacySpec", __base__=AnyPrivacySpec, __module__=__name__, **fields)
    model.__doc__ = "The criteria; each left out is not demanded."
    return model


if TYPE_CHECKING:
    # What the criteria of this package look like to a type checker; `demanded` finds those of others.

    class LDiversitySpec(CriterionSpec):
        """ℓ-diversity, as its family declares it."""

        kind: Literal["distinct", "entropy", "recursive"]
        l: int | float
        c: float | None = None

    class TClosenessSpec(CriterionSpec):
        """t-closeness, as its family declares it."""

        t: float
        distance: Literal["equal", "ordered"] = "equal"

    class BetaLikenessSpec(CriterionSpec):
        """β-likeness, as its family declares it."""

        beta: float
        kind: Literal["basic", "enhanced"] = "enhanced"

    class DeltaDisclosureSpec(CriterionSpec):
        """δ-disclosure privacy, as its family declares it."""

        delta: float

    class AlphaKSpec(CriterionSpec):
        """(α, k)-anonymity, as its family declares it."""

        alpha: float
        k: int

    class ProximitySpec(CriterionSpec):
        """Proximity, as its family declares it."""

        within: float
        share: float

    class PrivacySpec(AnyPrivacySpec):
        """The criteria; each left out is not demanded."""

        k_anonymity: int | None = None
        l_diversity: LDiversitySpec | None = None
        t_closeness: TClosenessSpec | None = None
        beta_likeness: BetaLikenessSpec | None = None
        delta_disclosure: DeltaDisclosureSpec | None = None
        alpha_k: AlphaKSpec | None = None
        proximity: ProximitySpec | None = None
        skyline: SkylineSpec | None = None
        robustness: RobustnessSpec | None = None
        estimated_population: int | None = None
        per_attribute: dict[str, CriteriaSpec] | None = None

else:
    _MODELS = {
        family.field: WRITTEN_BY_HAND.get(family.field) or criterion_model(family, __name__)
        for family in families()
        if not family.bare
    }
    for _model in _MODELS.values():
        globals().setdefault(_model.__name__, _model)
    PrivacySpec = _privacy_model(_MODELS)
