"""Criteria that say what an adversary knows beyond counts: skylines of values, priors of people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ppdp_spark.core.criteria.robustness import robustness_family
from ppdp_spark.core.criteria.robustness.r_robustness import RRobustness
from ppdp_spark.core.criteria.skyline.skyline_check import SkylineCriterion
from ppdp_spark.core.criteria.skyline.skyline_family import coupled_points
from ppdp_spark.core.data.value_names import ValueDomain, codes_of_names
from ppdp_spark.errors import SpecError
from ppdp_spark.spec import PrivacySpec, ReleaseSpec, SensitiveSpec, SkylineSpec
from ppdp_spark.spec.messages import Location, dotted
from ppdp_spark.spec.nearest import nearest


def coupled_skyline(privacy: PrivacySpec, domain: ValueDomain) -> SkylineCriterion | None:
    """Skyline points with m > 0: they couple the groups of a release."""
    return None if privacy.skyline is None else coupled_points(privacy.skyline.model_dump(), domain)


def require_named_values(spec: ReleaseSpec, domains: Mapping[str, ValueDomain]) -> None:
    """Raise one `SpecError` unless every value that the spec names occurs, or may be absent.

    A misspelt name would leave the value it was meant for unprotected. `domains` are those of the sensitive
    attributes by their columns; one that was not counted, as by `suppress`, is not looked at.
    """
    problems, privacy, attributes = list[str](), spec.privacy, spec.columns.attributes
    for i, declared in enumerate(attributes):
        place: Location = ("columns", "sensitive", i) if len(attributes) > 1 else ("columns", "sensitive")
        if declared.column in domains:
            problems += _protection_problems(declared, domains[declared.column], place)
    for attribute, domain in domains.items():
        own = (privacy.per_attribute or {}).get(attribute)
        if own is not None and own.skyline is not None:
            problems += _name_problems(
                own.skyline, domain, ("privacy", "per_attribute", attribute, "skyline")
            )
        elif privacy.skyline is not None:
            problems += _name_problems(privacy.skyline, domain, ("privacy", "skyline"))
    if problems:
        raise SpecError(problems)


def _protection_problems(attribute: SensitiveSpec, domain: ValueDomain, at: Location) -> Iterator[str]:
    """Names of `not_sensitive` or `only` that mean no value, and a spec that protects no value at all."""
    about = attribute.sensitivity
    if about is None:
        return
    field = "only" if about.only else "not_sensitive"
    found = {name: (*at, field, i) for i, name in enumerate(about.names)}
    yield from _unmatched(found, domain, absent=attribute.may_be_absent or (), at=at)
    if domain.labels and not domain.protected_codes:
        yield f"`{dotted((*at, field))}` leaves no value that occurs protected: protect at least one"


def _name_problems(skyline: SkylineSpec, domain: ValueDomain, at: Location) -> Iterator[str]:
    found = {name: (*at, "values", name) for name in skyline.values}
    yield from _unmatched(found, domain, absent=skyline.may_be_absent, at=at)
    protected = set(domain.protected_codes)
    for name, code in codes_of_names(skyline.values, domain.labels, domain.kind).items():
        if code is not None and code not in protected:
            yield (
                f"`{dotted(found[name])}`: this value needs no protection, as `columns.sensitive` says; "
                "remove its points, or protect it"
            )


def _unmatched(
    places: Mapping[str, Location], domain: ValueDomain, *, absent: Collection[str], at: Location
) -> Iterator[str]:
    """Names, by their places in a spec, that no value has though it must, or that another name means too."""
    taken = dict[int, str]()
    for name, code in codes_of_names(places, domain.labels, domain.kind).items():
        place = f"`{dotted(places[name])}`"
        if code is None and name not in absent:
            near = nearest(name, domain.labels)
            hint = f"did you mean `{near}`?" if near is not None else "check its spelling"
            yield (
                f"{place}: no row that takes part has this value; {hint} (a value that need not occur "
                f"belongs in `{dotted((*at, 'may_be_absent'))}`)"
            )
        elif code is not None and code in taken:
            yield f"{place}: `{taken[code]}` is the same value; keep one of them"
        elif code is not None:
            taken[code] = name


def unknown_names(privacy: PrivacySpec, domain: ValueDomain) -> tuple[str, ...]:
    """Values with a skyline of their own that do not occur, though they must."""
    if privacy.skyline is None:
        return ()
    codes = codes_of_names(privacy.skyline.values, domain.labels, domain.kind)
    absent = set(privacy.skyline.may_be_absent)
    return tuple(name for name, code in codes.items() if code is None and name not in absent)


def robust_criterion(
    privacy: PrivacySpec, domain: ValueDomain, *, published: bool = False
) -> RRobustness | None:
    """r-robustness, which is judged apart from what a release shows; None if it is not demanded.

    `published` asks for the form of ART in the binary model: each value at most once per group.
    """
    if privacy.robustness is None:
        return None
    return robustness_family.robust_criterion(privacy.robustness.model_dump(), domain, unique=published)


def attribute_labels(privacy: PrivacySpec) -> tuple[str, ...]:
    """The attribute sets of the priors, readable."""
    return (
        ()
        if privacy.robustness is None
        else robustness_family.attribute_labels(privacy.robustness.model_dump())
    )
