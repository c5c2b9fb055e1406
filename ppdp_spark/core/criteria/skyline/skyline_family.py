"""The privacy skyline as a field of a spec: which values it is about, and which of its points couple groups.

The numerics are imported by the functions that need them: specs are read without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ppdp_spark.core.criteria.family import EVERY_CASE, ONE_VALUE, Family, Parameters, Traits
from ppdp_spark.core.data.value_names import ValueDomain, codes_of_names

if TYPE_CHECKING:
    from ppdp_spark.core.criteria.skyline.local_skyline import LocalSkyline, LocalThreshold
    from ppdp_spark.core.criteria.skyline.points import Target
    from ppdp_spark.core.criteria.skyline.skyline_check import SkylineCriterion
    from ppdp_spark.core.data.groups import GroupSummaries


def targets_of(given: Parameters, domain: ValueDomain) -> tuple[Target, ...]:
    """Every value that needs protection under each point of its own skyline, or of the default one."""
    from ppdp_spark.core.criteria.skyline.points import Point, Skyline

    def points(some: Any) -> tuple[Point, ...]:
        return tuple(Point(point["l"], point["k"], point["m"], point["c"]) for point in some)

    codes = codes_of_names(given["values"], domain.labels, domain.kind)
    named = {code: points(given["values"][name]) for name, code in codes.items() if code is not None}
    targets = Skyline(points(given["default"]), named).targets(domain.labels)
    protected = domain.protected
    return targets if protected is None else tuple(t for t in targets if protected[t.value])


def whole_skyline(given: Parameters, domain: ValueDomain) -> SkylineCriterion | None:
    """The verdict on a release: all points together."""
    return _judged(targets_of(given, domain), domain)


def separable_points(given: Parameters, domain: ValueDomain) -> LocalSkyline | None:
    """Points with m = 0: each group meets them by itself."""
    from ppdp_spark.core.criteria.skyline.local_skyline import LocalSkyline

    targets = tuple(target for target in targets_of(given, domain) if target.point.m == 0)
    return LocalSkyline(domain.case, targets) if targets else None  # type: ignore[arg-type]


def coupled_points(given: Parameters, domain: ValueDomain) -> SkylineCriterion | None:
    """Points with m > 0: they couple the groups of a release."""
    return _judged(tuple(target for target in targets_of(given, domain) if target.point.m > 0), domain)


def floors(given: Parameters, domain: ValueDomain, table: GroupSummaries) -> LocalThreshold | None:
    """Floors for points with m > 0, from the undivided table: any groups that reach them are safe together.

    A group that is dissolved, its people left out, only raises the five minima.
    """
    from ppdp_spark.core.criteria.skyline.local_skyline import LocalThreshold, balanced_floors

    coupled = coupled_points(given, domain)
    if coupled is None:
        return None
    reached = balanced_floors(coupled.case, coupled.targets, table)
    return LocalThreshold(coupled.case, coupled.targets, reached)


def _judged(targets: tuple[Target, ...], domain: ValueDomain) -> SkylineCriterion | None:
    from ppdp_spark.core.criteria.skyline.skyline_check import SkylineCriterion

    return SkylineCriterion(domain.case, targets) if targets else None  # type: ignore[arg-type]


def _points(given: Parameters) -> Iterator[Parameters]:
    yield from given["default"]
    for points in given["values"].values():
        yield from points


SKYLINE = Family(
    field="skyline",
    names=("skyline",),
    summary="A skyline for each sensitive value; `default` is for the values not named.",
    parameters=None,
    build=whole_skyline,
    local=separable_points,
    floors=floors,
    of_some=whole_skyline,
    traits=Traits(
        cases=EVERY_CASE,
        unions=ONE_VALUE,
        cut_anyway=EVERY_CASE - ONE_VALUE,
        couples=lambda given: any(point["m"] > 0 for point in _points(given)),
        coupling=("with m above 0", "use points with m = 0"),
    ),
    cost=4,
)
