"""The release spec as a whole, and what its parts demand of each other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

from pydantic import BeforeValidator, Field, ValidationError
from typing_extensions import Self

from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.criteria.family import EVERY_CASE, LARGEST_COUNT, LARGEST_L, ONE_VALUE
from ppdp_spark.core.data.forms import FORMS, BoundsName, FormName
from ppdp_spark.core.partition.partitioners import PARTITIONERS, CutsName, PartitionerName
from ppdp_spark.errors import SpecError
from ppdp_spark.spec.attack import AttackSpec, AuditSpec
from ppdp_spark.spec.columns import (
    ColumnsSpec,
    InputSpec,
    SensitiveSpec,
    sensitive_list,
    some_unprotected,
)
from ppdp_spark.spec.document import read_document, resolved_path
from ppdp_spark.spec.fields import (
    Listed,
    Number,
    Share,
    SomeNames,
    SpecModel,
    Switch,
    Text,
    fields_of,
    told,
    whole_number,
)
from ppdp_spark.spec.messages import A_MAPPING, Location, excerpt, located, shown, wrong_kind
from ppdp_spark.spec.nearest import suggestion
from ppdp_spark.spec.overrides import overridden
from ppdp_spark.spec.privacy import PrivacySpec, SkylineSpec
from ppdp_spark.spec.requirements import NO_CRITERIA, NO_INPUT, lacking
from ppdp_spark.spec.several_attributes import several_problems

Command = Literal["anonymize", "attack", "check", "eligibility", "explore", "plan", "suppress"]

HIDDEN = "(hidden)"
MOST_QUERIES = 100_000
_Entry = TypeVar("_Entry")
_SECRET_OPTION = ("password", "passwd", "secret", "token", "key", "credential", "user")


class SuppressionSpec(SpecModel):
    """Rows removed before partitioning so that no sensitive value is too frequent."""

    hidden: ClassVar[frozenset[str]] = frozenset({"unsafe_fixed_seed"})

    method: Literal["r", "safe-d", "unsafe-d", "none"] = "none"
    attribute: Text | None = Field(
        default=None,
        examples=["diagnosis"],
        description="With several sensitive columns: the one whose frequent values decide which rows go.",
    )
    l: Annotated[int, Field(strict=True, ge=1, le=LARGEST_L)] | None = Field(
        default=None,
        description="No value may have more than one l-th of the rows; needed unless the method is none.",
    )
    budget: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), Number] = Field(
        default=0.1,
        description="Largest share of all rows that may be suppressed; beyond it nothing is published.",
    )
    unsafe_fixed_seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] | None = Field(
        default=None,
        repr=False,
        description="For tests only: whoever knows the seed can undo the suppression.",
    )

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        if data.get("method") in ("r", "safe-d", "unsafe-d") and data.get("l") is None:
            yield ("l",), f"is missing: method {data['method']} needs it, add `l: 6`"


class OutputSpec(SpecModel):
    """Where the release goes, and its form."""

    path: Text | None = Field(
        default=None, description="Folder of the run, relative to the working directory."
    )
    form: FormName = "generalized"
    bounds: BoundsName | None = Field(
        default=None,
        description="Where published ranges end: on a public grid, or tight, at people's own values.",
    )
    overwrite: Switch = Field(default=False, description="Replace a release that is already there.")
    queries: Annotated[int, Field(strict=True, ge=0, le=MOST_QUERIES)] = Field(
        default=0,
        description="Random COUNT queries whose error is measured, for the private report; 0 for none.",
    )

    @property
    def bounds_rule(self) -> BoundsName | None:
        """Where the ends of published ranges lie; None in a form that publishes no ranges."""
        return None if FORMS[self.form].codes_published else self.bounds or "grid"

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        form = next((form for form in FORMS.values() if form.name == data.get("form")), None)
        if form is not None and form.codes_published and data.get("bounds") is not None:
            yield (
                ("bounds",),
                (
                    f"is about ranges, and `form` ({form.name}) publishes everybody's own quasi-identifiers: "
                    "remove one of them"
                ),
            )


class CompositionSpec(SpecModel):
    """What becomes of earlier releases of the dataset, of which the registry beside the output knows."""

    earlier: Literal["audit", "require", "accept"] = Field(
        default="audit",
        description="Judge this release together with earlier ones that can be read; with all, or stop; or "
        "accept what they tell together without a look.",
    )
    at_most: Share | None = Field(
        default=None,
        description="Largest posterior of somebody who holds earlier releases, too; beyond it nothing is "
        "published.",
    )

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        if data.get("earlier") == "accept" and data.get("at_most") is not None:
            yield (
                ("at_most",),
                "is about earlier releases, which `earlier: accept` does not look at: remove one",
            )


class ExploreSpec(SpecModel):
    """What `explore` looks for: how much an adversary may know before a value is breached."""

    sensitive: Text | None = Field(
        default=None,
        examples=["diagnosis"],
        description="Which sensitive column is explored, if there are several.",
    )
    values: SomeNames | None = Field(
        default=None, description="Sensitive values to explore; all when left out."
    )
    confidence: Annotated[tuple[Share, ...], Field(min_length=1), Listed] = (0.5, 0.75, 0.95)
    max_l: Annotated[int, Field(strict=True, ge=0, le=LARGEST_L)] = 10
    max_m: Annotated[int, Field(strict=True, ge=0, le=LARGEST_COUNT)] = 10


class ReleaseSpec(SpecModel):
    """One spec describes one release: table, roles of columns, criteria, output.

    `load` reads a file, `parse` takes a mapping, and the constructor takes parts such as `ColumnsSpec`
    and `PrivacySpec`; all raise one `SpecError` with every problem they see.
    """

    version: Annotated[Literal[1], BeforeValidator(whole_number)] = Field(
        examples=[1], description="Version of the spec's own format."
    )
    dataset: Annotated[Text, Field(max_length=200)] = Field(examples=["census-2026"])
    input: InputSpec | None = Field(
        default=None,
        examples=["{path: data/census.parquet}"],
        description="The table to read. Needed, unless a program in Python gives a table in its place.",
    )
    columns: ColumnsSpec = Field(examples=["{quasi_identifiers: {age: numeric}, sensitive: occupation}"])
    nulls: Literal["category", "suppress", "error"] = Field(
        default="category",
        description="A null in a quasi-identifier is a value of its own, removes the row, or stops.",
    )
    privacy: PrivacySpec = PrivacySpec()
    partitioner: PartitionerName = "mondrian"
    cuts: CutsName = Field(
        default="median",
        description="Where partitioners that cut tables do so: where least information is lost or, as the "
        "paper on Mondrian has it, at the median of the widest attribute.",
    )
    least_size: Annotated[int, Field(strict=True, ge=2, le=LARGEST_COUNT)] | None = Field(
        default=None,
        description="Fewest people of a group of the blind partitioner; predicted if left out.",
    )
    suppression: SuppressionSpec = SuppressionSpec()
    output: OutputSpec = OutputSpec()
    scratch: Text | None = Field(
        default=None,
        examples=["hdfs://namenode/tmp"],
        description="Folder for raw intermediates, which all nodes reach and Spark can write to; with the "
        "output if left out.",
    )
    audit: AuditSpec = AuditSpec()
    composition: CompositionSpec = CompositionSpec()
    explore: ExploreSpec | None = None
    attack: AttackSpec | None = None

    @classmethod
    def of(cls, given: SpecLike, overrides: Sequence[str] = (), *, input_needed: bool = False) -> Self:
        """The spec itself, the one in a mapping, or the one in the YAML file at a path."""
        if isinstance(given, str | PathLike):
            return cls.load(given, overrides, input_needed=input_needed)
        if isinstance(given, cls) and not overrides and not input_needed:
            return given
        mapping = given.to_dict(secrets=True) if isinstance(given, ReleaseSpec) else given
        return cls.parse(mapping, overrides=overrides, input_needed=input_needed)

    @classmethod
    def load(
        cls, path: str | PathLike[str], overrides: Sequence[str] = (), *, input_needed: bool = False
    ) -> Self:
        """The spec in a YAML file, changed by overrides such as `privacy.k_anonymity=20`.

        Relative paths of the input, hierarchies and priors mean the spec's folder if they exist
        there, else the working directory. A missing `input` is a mistake only if `input_needed`.
        """
        document, folder = read_document(path)
        return cls.parse(document, base=folder, overrides=overrides, input_needed=input_needed)

    @classmethod
    def parse(
        cls,
        mapping: Mapping[str, Any],
        base: str | PathLike[str] | None = None,
        overrides: Sequence[str] = (),
        *,
        input_needed: bool = False,
    ) -> Self:
        """The spec in a mapping; `base` is the folder its relative paths are looked for first."""
        if not isinstance(mapping, Mapping):
            raise SpecError(located((), wrong_kind(mapping, A_MAPPING)))
        changed, problems = overridden(mapping, overrides)
        if input_needed and changed.get("input") is None:
            problems.append(
                located(("input",), wrong_kind(None, A_MAPPING)) if "input" in changed else NO_INPUT
            )
        try:
            spec = cls.model_validate(changed)
        except ValidationError as error:
            problems += told(error)
        if problems:
            raise SpecError(list(dict.fromkeys(problems)))
        return spec if base is None else spec._resolved(base)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON schema of a spec file, for editors."""
        schema = cls.model_json_schema(mode="validation")
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        columns, privacy = fields_of(data.get("columns")), fields_of(data.get("privacy"))
        if isinstance(data.get("columns"), Mapping | ColumnsSpec):
            yield from _sensitive_problems(data, columns, privacy)
            yield from _attribute_problems(columns, privacy)
            yield from several_problems(data, columns, privacy)
        partitioner = _named(PARTITIONERS, data.get("partitioner", "mondrian"))
        if data.get("least_size") is not None and partitioner is not None and not partitioner.blind:
            yield ("least_size",), "belongs to `partitioner: blind`: remove it, or ask for that one"

    def require_criteria(self) -> None:
        """Raise unless at least one criterion is demanded."""
        if not self.privacy.criteria:
            raise SpecError(NO_CRITERIA)

    def require_for(self, command: Command, *, table_given: bool = False) -> None:
        """Raise one `SpecError` with everything that a command needs and the spec lacks.

        The spec needs no `input` if a table is given in its place.
        """
        problems = list(lacking(self, command, table_given=table_given))
        if problems:
            raise SpecError(problems)

    @property
    def deciding(self) -> SensitiveSpec | None:
        """The sensitive attribute that suppression is about: the one there is, or the one that is named."""
        named = self.suppression.attribute
        if named is None:
            return self.columns.attribute
        return next(attribute for attribute in self.columns.attributes if attribute.column == named)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is allowed but probably not meant, or not for publication."""
        return tuple(_warnings(self))

    def to_dict(self, *, secrets: bool = False) -> dict[str, Any]:
        """Plain JSON types, paths resolved, everything written out; what is unset is left out.

        The fixed seed, options of the reader that look like credentials and the quasi-identifiers of
        named people are hidden unless `secrets`; only with them does `parse` give the same spec back.
        """
        plain = self.model_dump(mode="json", exclude_none=True)
        return plain if secrets else _without_secrets(plain)

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """What the spec reads: the field that names a file or folder, and its path."""
        return tuple((field, place[key]) for field, place, key in _paths_in(self.to_dict()))

    def fingerprint(self) -> str:
        """SHA-256 of the spec as canonical JSON.

        Where the release and intermediates are written does not change it, nor what is measured for the
        owner or judged beside it, and secrets are not part of it: a published fingerprint must not let
        anyone try out seeds.
        """
        plain = self.to_dict()
        del plain["audit"], plain["composition"]
        plain.pop("scratch", None)
        plain["output"] = {"form": self.output.form, "bounds": self.output.bounds_rule}
        canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()

    def _resolved(self, base: str | PathLike[str]) -> Self:
        """The same spec with the paths of files it reads resolved against `base`."""
        plain = self.to_dict(secrets=True)
        for _, place, key in _paths_in(plain):
            place[key] = resolved_path(place[key], base)
        return type(self).model_validate(plain)


SpecLike: TypeAlias = ReleaseSpec | Mapping[str, Any] | str | PathLike[str]
"""What commands take: a spec, the mapping of one, or the path of a YAML file."""


def _sensitive_problems(
    data: Mapping[str, Any], columns: Mapping[str, Any], privacy: Mapping[str, Any]
) -> Iterator[tuple[Location, str]]:
    """Whatever looks at the sensitive column needs one; most criteria need one value per person."""
    demanded = [family for family in families() if privacy.get(family.field) is not None]
    own = ["privacy.per_attribute"] if privacy.get("per_attribute") else []
    method = fields_of(data.get("suppression")).get("method", "none")
    suppressing = ["suppression"] if method in ("r", "safe-d", "unsafe-d") else []
    if columns.get("sensitive") is None:
        needing = [f"privacy.{family.field}" for family in demanded if family.traits.sensitive]
        needing += own + suppressing
        partitioner = _named(PARTITIONERS, data.get("partitioner"))
        form = _named(FORMS, fields_of(data.get("output")).get("form"))
        needing += ["partitioner"] if partitioner is not None and partitioner.needs_sensitive else []
        needing += ["output.form"] if form is not None and form.needs_sensitive else []
        needing += ["explore"] if data.get("explore") is not None else []
        if needing:
            names = ", ".join(f"`{name}`" for name in needing)
            yield ("columns", "sensitive"), f"is missing: needed by {names}; add `sensitive: {{column: ...}}`"
        return
    declared = sensitive_list(columns["sensitive"])
    if len(declared) != 1:
        return
    case = fields_of(SensitiveSpec.written_out(declared[0])).get("case", "svpi")
    for family in demanded:
        if case in tuple(EVERY_CASE - family.traits.cases):
            yield ("privacy", family.field), _undefined(family.traits.cases, case)
    if case in ("mvpi-set", "mvpi-multiset"):
        yield from (((name,), _undefined(ONE_VALUE, case)) for name in suppressing)


def _undefined(cases: frozenset[str], case: str) -> str:
    """What to say of a criterion that is not defined for the values of a person."""
    listed = ", ".join(f"`{name}`" for name in ("svpi", "mvpi-set", "mvpi-multiset") if name in cases)
    known = "one value per person" if cases == ONE_VALUE else f"the case {listed}"
    return f"is defined for {known} only, not for `columns.sensitive.case` ({case})"


def _named(registry: Mapping[str, _Entry], name: Any) -> _Entry | None:
    """The entry of a name that may be anything a document can hold."""
    return registry.get(name) if isinstance(name, str) else None


def _attribute_problems(
    columns: Mapping[str, Any], privacy: Mapping[str, Any]
) -> Iterator[tuple[Location, str]]:
    """The attribute sets of priors consist of quasi-identifiers."""
    known = columns.get("quasi_identifiers", {})
    priors = fields_of(privacy.get("robustness")).get("priors")
    if not isinstance(known, Mapping) or not isinstance(priors, list | tuple):
        return
    names = [excerpt(name) for name in known if isinstance(name, str)]
    for i, prior in enumerate(priors):
        attributes = fields_of(prior).get("attributes")
        for j, name in enumerate(attributes if isinstance(attributes, list | tuple) else ()):
            if isinstance(name, str) and name not in known:
                place = ("privacy", "robustness", "priors", i, "attributes", j)
                hint = suggestion(name, names) if names else "none is declared"
                yield place, f"({shown(name)}) is not one of `columns.quasi_identifiers`; {hint}"


def _skyline_warnings(at: Location, skyline: SkylineSpec | None) -> Iterator[str]:
    if skyline is None:
        return
    for point, stronger in skyline.redundant():
        weak, strong = ((*at, *place) for place in (point, stronger))
        yield located(weak, f"adds nothing: {located(strong, 'already demands as much')}")
    if not skyline.default:
        yield located((*at, "default"), "is empty: only the values named in `values` are protected")


def _warnings(spec: ReleaseSpec) -> Iterator[str]:
    for place, part in spec.privacy.parts.items():
        yield from _skyline_warnings((*place, "skyline"), part.skyline)
    if some_unprotected(spec.columns) and spec.privacy.criteria and spec.privacy.least_size(some=True) < 2:
        yield (
            "`columns.sensitive` leaves values without protection, and no criterion is about numbers of "
            "people: somebody who has such a value may be published alone; add `k_anonymity: 10`"
        )
    options = {} if spec.input is None else spec.input.options
    if any(k.casefold() == "mode" and v.casefold() == "failfast" for k, v in options.items()):
        yield "`input.options.mode` (FAILFAST): Spark's own log will quote the line that it stumbles over"
    priors = () if spec.privacy.robustness is None else spec.privacy.robustness.priors
    if PARTITIONERS[spec.partitioner].blind and any(prior.path is None for prior in priors):
        yield (
            "`privacy.robustness.priors` without a `path` are learned from the table: that blind groups pass "
            "tells somebody who does not know these priors about them; give priors that are public"
        )
    if spec.suppression.unsafe_fixed_seed is not None:
        yield "`suppression.unsafe_fixed_seed` is set: others could undo the suppression; not for publication"
    if spec.suppression.method == "unsafe-d":
        yield "`suppression.method` (unsafe-d) is for study only; not for publication"


def _paths_in(plain: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Every file that a spec names: its field, and where in the plain spec its path is."""
    attack = plain.get("attack", {})
    places = {
        "input": (plain.get("input", {}), "path"),
        "attack.original": (attack.get("original", {}), "path"),
        "attack.external": (attack.get("external", {}), "path"),
        "attack.release": (attack, "release"),
    }
    priors = plain["privacy"].get("robustness", {}).get("priors", ())
    places |= {f"privacy.robustness.priors[{i}].path": (prior, "path") for i, prior in enumerate(priors)}
    for name, column in plain["columns"]["quasi_identifiers"].items():
        places[f"columns.quasi_identifiers.{excerpt(name)}.hierarchy"] = (column, "hierarchy")
    for field, (place, key) in places.items():
        if key in place:
            yield field, place, key


def _without_secrets(plain: dict[str, Any]) -> dict[str, Any]:
    """Credentials, seeds, and the quasi-identifiers of people known by name are hidden."""
    attack = plain.get("attack", {})
    for person in attack.get("people", ()):
        person["where"] = dict.fromkeys(person["where"], HIDDEN)
    tables = [plain.get("input"), attack.get("original"), attack.get("external")]
    for options in (table["options"] for table in tables if table is not None):
        for name in options:
            if any(word in name.casefold() for word in _SECRET_OPTION):
                options[name] = HIDDEN
    if "unsafe_fixed_seed" in plain["suppression"]:
        plain["suppression"]["unsafe_fixed_seed"] = HIDDEN
    return plain
