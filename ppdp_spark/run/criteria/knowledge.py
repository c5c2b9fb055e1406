"""Criteria that say what an adversary knows beyond counts: skylines of values, priors of people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdp_spark.core.criteria.robustness import robustness_family
from ppdp_spark.core.criteria.robustness.r_robustness import RRobustness
from ppdp_spark.core.criteria.skyline.skyline_check import SkylineCriterion
from ppdp_spark.core.criteria.skyline.skyline_family import coupled_points
from ppdp_spark.core.data.value_names import ValueDomain, codes_of_names
from ppdp_spark.errors import SpecError
from ppdp_spark.spec import PrivacySpec, SkylineSpec
from ppdp_spark.spec.messages import Location, dotted
from ppdp_spark.spec.nearest import nearest


def coupled_skyline(privacy: PrivacySpec, domain: ValueDomain) -> SkylineCriterion | None:
    """Skyline points with m > 0: they couple the groups of a release."""
    return None if privacy.skyline is None else coupled_points(privacy.skyline.model_dump(), domain)


def require_named_values(privacy: PrivacySpec, domains: Mapping[str, ValueDomain]) -> None:
    """Raise one `SpecError` unless every value with a skyline of its own occurs, or may be absent.

    A misspelt name would leave the value it was meant for unprotected. `domains` are those of the sensitive
    attributes by their columns.
    """
    problems = list[str]()
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


def _name_problems(skyline: SkylineSpec, domain: ValueDomain, at: Location) -> Iterator[str]:
    taken = dict[int, str]()
    for name, code in codes_of_names(skyline.values, domain.labels, domain.kind).items():
        place = f"`{dotted((*at, 'values', name))}`"
        if code is None and name not in skyline.may_be_absent:
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


def robust_criterion(privacy: PrivacySpec, *, published: bool = False) -> RRobustness | None:
    """r-robustness, which is judged apart from what a release shows; None if it is not demanded.

    `published` asks for the form of ART in the binary model: each value at most once per group.
    """
    if privacy.robustness is None:
        return None
    return robustness_family.robust_criterion(privacy.robustness.model_dump(), unique=published)


def attribute_labels(privacy: PrivacySpec) -> tuple[str, ...]:
    """The attribute sets of the priors, readable."""
    return (
        ()
        if privacy.robustness is None
        else robustness_family.attribute_labels(privacy.robustness.model_dump())
    )
