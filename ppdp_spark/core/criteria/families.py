"""The families of criteria there are: those of this package, and those that other packages add.

Another package adds one by an entry point in the group `ppdp_spark.criteria` that names a `Family`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ppdp_spark.core.criteria.family import CriterionWords, Family
from ppdp_spark.errors import SpecError

GROUP = "ppdp_spark.criteria"

_HERE = "ppdp_spark.core.criteria"
BUILT_IN = (
    f"{_HERE}.anonymity:K_ANONYMITY",
    f"{_HERE}.diversity:L_DIVERSITY",
    f"{_HERE}.closeness:T_CLOSENESS",
    f"{_HERE}.likeness:BETA_LIKENESS",
    f"{_HERE}.likeness:DELTA_DISCLOSURE",
    f"{_HERE}.anonymity:ALPHA_K",
    f"{_HERE}.proximity:PROXIMITY",
    f"{_HERE}.skyline.skyline_family:SKYLINE",
    f"{_HERE}.robustness.robustness_family:ROBUSTNESS",
    f"{_HERE}.anonymity:ESTIMATED_POPULATION",
)
"""In the order in which a spec lists them."""


@cache
def families() -> tuple[Family, ...]:
    """All families, in the order of the fields of a spec; loaded when first asked for.

    Raises one `SpecError` with every family that cannot be loaded or takes a name of another.
    """
    own = [EntryPoint(text.rpartition(":")[2], text, GROUP) for text in BUILT_IN]
    return tuple(loaded([*own, *installed()]))


def family_of(field: str) -> Family:
    """The family whose key in a spec is `field`."""
    return next(family for family in families() if family.field == field)


def words_of(criterion: str) -> CriterionWords | None:
    """The words that a family brings for one of its criteria, if it brings them."""
    return next((family.words[criterion] for family in families() if criterion in family.words), None)


def installed() -> list[EntryPoint]:
    """Entry points of other packages by name, so that the order in which they are found says nothing."""
    found = {(point.name, point.value): point for point in entry_points(group=GROUP)}
    return [found[key] for key in sorted(found)]


def loaded(points: Iterable[EntryPoint]) -> list[Family]:
    """The families that entry points name; every problem at once."""
    taken: dict[str, str] = {}
    found: list[Family] = []
    problems: list[str] = []
    for point in points:
        try:
            family = _load(point)
            clashes = list(_claimed(family, point, taken))
        except SpecError as error:
            problems += error.problems
            continue
        problems += clashes
        found.append(family)
    if problems:
        raise SpecError(problems)
    return found


def _load(point: EntryPoint) -> Family:
    remedy = f"repair or uninstall {_package(point)}"
    try:
        family = point.load()
    except SpecError as error:
        told = [f"the criterion {_named(point)}: {text}; {remedy}" for text in error.problems]
        raise SpecError(told) from None
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise SpecError(f"the criterion {_named(point)} cannot be loaded ({reason}); {remedy}") from error
    if not isinstance(family, Family):
        kind = type(family).__name__
        raise SpecError(f"the criterion {_named(point)} is not a `Family` but of type {kind}; {remedy}")
    if point.dist is not None and family.parameters is None:
        raise SpecError(f"the criterion {_named(point)} declares no `parameters`; {remedy}")
    unheard = [what for what in ("priors", "weights") if getattr(family.traits, what)]
    if point.dist is not None and unheard:
        reason = f"looks at {unheard[0]}, which nothing would give to it, so nobody would judge it"
        raise SpecError(f"the criterion {_named(point)} {reason}; {remedy}")
    return family


def _claimed(family: Family, point: EntryPoint, taken: dict[str, str]) -> Iterator[str]:
    """Names that another family has already; the others are taken from now on."""
    claims = [f"the field `{family.field}`", *(f"the criterion `{name}`" for name in family.names)]
    for claim in claims:
        if claim in taken:
            yield f"{claim} of {_package(point)} is one of {taken[claim]} already: uninstall one of them"
        else:
            taken[claim] = _package(point)


def _named(point: EntryPoint) -> str:
    return f"`{point.name}` of {_package(point)}"


def _package(point: EntryPoint) -> str:
    return "ppdp-spark" if point.dist is None else f"the package `{point.dist.name}`"
