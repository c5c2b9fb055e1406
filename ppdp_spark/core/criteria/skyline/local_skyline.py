"""Skylines as criteria that each group meets by itself: what the partitioner can decide inside a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.optimize import brentq

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.skyline.batches import CELLS_AT_ONCE, batches, point_rows
from ppdp_spark.core.criteria.skyline.decision import (
    breach_probability,
    least_safe_ratio,
    least_safe_ratios,
    negated_ratio,
    required_ratio,
    safe_targets,
)
from ppdp_spark.core.criteria.skyline.formulas import SMALLEST, lower_reach
from ppdp_spark.core.criteria.skyline.points import Case, Point, Target, case_code
from ppdp_spark.core.criteria.skyline.skyline_check import SkylineCriterion
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries
from ppdp_spark.errors import InfeasibleError, SpecError

ROUNDING_ROOM = 1 + 16 * float(np.finfo(float).eps)


def _reach(case: Case, targets: Sequence[Target], floors: FloatArray, groups: GroupSummaries) -> FloatArray:
    """Per group, the smallest statistic as a multiple of its floor; infinite without any σ."""
    out = np.full(len(groups), np.inf)
    points, code = point_rows(targets, groups.counts.shape[1]), case_code(case)
    for start, sizes, counts in batches(groups, code):
        lower_reach(code, sizes, counts, points, floors, out[start : start + len(sizes)])
    return out


@dataclass(frozen=True)
class LocalSkyline(LocalCriterion):
    """Targets with m = 0: the release is safe iff every group is safe by itself, in all three cases.

    Proof. V(g,0,·) = 1 for every group, so SS4 = SS5 = 1 and minNR(g,ℓ,k,0) = T(g,ℓ,k), hence
    SS1 = SS3 and NR = min(SS3, SS2). T falls in k (in the multiset case because q does), so
    T(g,ℓ,k) <= T(g,ℓ,0) for every g and NR = min_g T(g,ℓ,k): a minimum over groups exceeds R iff
    T of each group does. Groups without σ have T infinite and are always allowed.

    The achieved value of a group is its largest BP/c over the targets, to stay below one.
    """

    case: Case
    targets: tuple[Target, ...]

    name: ClassVar[str] = "skyline_m0"
    higher_is_safer: ClassVar[bool] = False
    relation: ClassVar[str] = "<"

    def __post_init__(self) -> None:
        case_code(self.case)
        coupled = [t.level for t in self.targets if t.point.m]
        if coupled:
            raise SpecError([f"`m` must be 0 for a skyline decided group by group: {x}" for x in coupled])

    @property
    def union_closed(self) -> bool:  # type: ignore[override]
        """T of a union is at least the smaller T in SVPI [Skyline, Thm 4]; not so with several values.

        Sets and multisets are cut from the top down all the same: each side of a cut is judged by itself,
        so every release is safe, but a safe cut behind one that is refused is never tried, and a table
        that fails as one group is refused although parts of it might not.
        """
        return self.case == "svpi"

    @property
    def level(self) -> str:
        return "BP/c of " + "; ".join(f"{t.level}, c = {t.point.c:g}" for t in self.targets)

    @property
    def threshold(self) -> float:
        return 1.0

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        worst = np.zeros(len(groups))
        if not self.targets:
            return worst
        step, whole = max(1, CELLS_AT_ONCE // len(self.targets)), SkylineCriterion(self.case, self.targets)
        confidences = np.array([t.point.c for t in self.targets], dtype=float)
        for start in range(0, len(groups), step):
            part = slice(start, start + step)
            ratios = negated_ratio(whole.statistics(groups.rows(part)))
            worst[part] = (breach_probability(ratios) / confidences).max(axis=1)
        return worst

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        ratio = least_safe_ratios(self.targets)
        floors = np.column_stack([ratio, ratio, ratio, np.ones_like(ratio), np.ones_like(ratio)])
        verdict: BoolArray = _reach(self.case, self.targets, floors, groups) >= 1
        return verdict


@dataclass(frozen=True, eq=False)
class LocalThreshold(LocalCriterion):
    """Allow a group iff each of its five statistics reaches its floor, for every target.

    If the floors taken as SS1..SS5 are safe, so is every release made of allowed groups only: its
    minima are at least the floors and NR grows with each of them. Groups refused here may still be
    safe to split off in a given release; that is for the rounds after.

    In SVPI, and with floor1 <= floor3·floor4, it is closed under union [Skyline, Thm 4].
    """

    case: Case
    targets: tuple[Target, ...]
    floors: FloatArray

    name: ClassVar[str] = "skyline_floors"
    higher_is_safer: ClassVar[bool] = True
    relation: ClassVar[str] = ">="

    def __post_init__(self) -> None:
        case_code(self.case)
        floors = np.array(self.floors, dtype=float)
        if floors.shape != (len(self.targets), 5):
            raise SpecError(f"`floors` has shape {floors.shape}; it must be ({len(self.targets)}, 5)")
        if not (floors > 0).all() or not safe_targets(self.targets, floors).all():
            raise SpecError("`floors` must be positive and safe themselves for every target")
        floors.setflags(write=False)
        object.__setattr__(self, "floors", floors)

    @property
    def union_closed(self) -> bool:  # type: ignore[override]
        first, _, third, fourth, _ = self.floors.T
        return self.case == "svpi" and bool((first <= third * fourth).all())

    @property
    def level(self) -> str:
        return "floors of " + "; ".join(t.level for t in self.targets)

    @property
    def threshold(self) -> float:
        return 1.0

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        return _reach(self.case, self.targets, self.floors, groups)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        verdict: BoolArray = self.achieved(groups) >= 1
        return verdict


def _shared(ratio: float, factor: float, wanted: float, needed: float) -> tuple[float, float]:
    """Floors (of T, of V) with product `needed` and T near `wanted`, neither above (ratio, factor)."""
    of_target = min(max(wanted, needed / factor), ratio)
    return of_target, min(needed / of_target, factor)


def _balanced_ratio(point: Point, kept: float) -> float:
    """T at the share p* where T·V = R, for a large group whose other values keep their proportions.

    With p the chance that a person has σ, T = a (1−p)/p and V = (1−p)^m in all three cases (for
    multisets 1−p = exp(−#σ/n)); a is what the ℓ excluded values leave of T.
    """
    required = required_ratio(point.c)

    def excess(p: float) -> float:
        return float(np.log(kept) + (point.m + 1) * np.log1p(-p) - np.log(p) - np.log(required))

    share = brentq(excess, 1e-300, 1 - 1e-16)
    return float(kept * (1 - share) / share)


def _floor_row(point: Point, table: FloatArray, kept: float) -> list[float]:
    if required_ratio(point.c) == 0:
        return [SMALLEST] * 5
    first = least_safe_ratio(point) * ROUNDING_ROOM
    needed = first * ROUNDING_ROOM
    wanted = _balanced_ratio(point, kept)
    _, ss2, ss3, ss4, ss5 = table
    second, fifth = _shared(ss2, ss5, wanted, needed)
    third, fourth = _shared(ss3, ss4, wanted, needed)
    return [min(first, table[0]), second, third, fourth, fifth]


def _require_safe(targets: Sequence[Target], statistics: FloatArray) -> None:
    safe = safe_targets(targets, statistics)
    probabilities = breach_probability(negated_ratio(statistics))
    failed = [
        f"{t.level}: breach probability {probabilities[i]:.6g} must be below {t.point.c:g}"
        for i, t in enumerate(targets)
        if not safe[i]
    ]
    if failed:
        raise InfeasibleError("even the undivided table is not safe for " + "; ".join(failed))


def balanced_floors(case: Case, targets: tuple[Target, ...], table: GroupSummaries) -> FloatArray:
    """Floors for `LocalThreshold`, shape (targets, 5), from the undivided table as a single group.

    T and V both fall as the share of σ in a group grows. Large groups may reach the share p* at which
    T·V = R in both factors at once: any other way to divide R between the floor of T and the floor of
    V refuses some share below p*. Floors never exceed the table's own statistics, so the undivided
    table is allowed. For c = 1 every group with positive statistics is allowed.
    """
    if len(table) != 1:
        raise SpecError(f"`table` must be the undivided table as one group, not {len(table)} groups")
    statistics = SkylineCriterion(case, targets).statistics(table)[0]
    _require_safe(targets, statistics)
    bare = tuple(Target(t.value, t.label, Point(0, 0, 0, t.point.c)) for t in targets)
    unexcluded = SkylineCriterion(case, bare).statistics(table)[0, :, 1]
    present = np.isfinite(unexcluded)
    kept = np.divide(statistics[:, 1], unexcluded, out=np.ones(len(targets)), where=present)
    return np.array([_floor_row(t.point, statistics[i], kept[i]) for i, t in enumerate(targets)])


def slack_floors(
    targets: tuple[Target, ...], minima: FloatArray, give: Literal["target", "family"]
) -> FloatArray:
    """Floors that hand all slack left by a safe release to one side, so that tasks can use it up alone.

    where
        minima  SS1..SS5 of the release so far, shape (targets, 5)
        give    `target`: V may fall no further, T down to R / V; `family`: the other way round

    A group that reaches them joins any number of others that do, and the groups so far.
    """
    _require_safe(targets, minima)
    first = np.minimum(least_safe_ratios(targets) * ROUNDING_ROOM, minima[:, 0])
    exact = np.array([required_ratio(t.point.c) == 0 for t in targets])
    needed = np.where(exact, SMALLEST, first * ROUNDING_ROOM)
    _, ss2, ss3, ss4, ss5 = np.where(np.isfinite(minima), minima, np.finfo(float).max).T
    if give == "target":
        second, third, fourth, fifth = needed / ss5, needed / ss4, ss4, ss5
    else:
        second, third, fourth, fifth = ss2, ss3, needed / ss3, needed / ss2
    floors = np.column_stack([first, second, third, fourth, fifth])
    floors = np.minimum(floors, np.column_stack([first, ss2, ss3, ss4, ss5]))
    return np.where(exact[:, None], SMALLEST, np.maximum(floors, SMALLEST))
