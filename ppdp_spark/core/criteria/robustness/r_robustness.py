"""r-robustness as a criterion: decided group by group, reported attribute set by attribute set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from ppdp_spark.core.criteria.anonymity import AlphaK
from ppdp_spark.core.criteria.base import LocalCriterion, VerdictRow
from ppdp_spark.core.criteria.exact import agreeing
from ppdp_spark.core.criteria.parameters import Number
from ppdp_spark.core.criteria.protected_values import Mask, OfProtected, counted, only_protected, told
from ppdp_spark.core.criteria.robustness.bounds import (
    binary_exchange,
    joint_exchange,
    surely_within,
    swap_bound,
)
from ppdp_spark.core.criteria.robustness.delta import Deviation, delta_condition
from ppdp_spark.core.criteria.robustness.prior_limits import check_priors, robustness_level
from ppdp_spark.core.criteria.robustness.relative import relative_bounds, relatively_within
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray, PriorExtrema
from ppdp_spark.errors import SpecError

Model: TypeAlias = Literal["joint", "binary"]

RELATIVE = "relative_robustness"
"""The rows on how much surer somebody becomes."""

BATCH_CELLS = 2**16
"""Groups times values looked at together: half a megabyte an array."""


@dataclass(frozen=True)
class WorstPosterior:
    """Statistic of one attribute set: the largest bound, where it is, and how many groups fail.

    `code` is the sensitive value of the largest bound, `deviation` how far its priors are apart there; all
    places are None if there was no group.
    """

    groups: int = 0
    violations: int = 0
    value: float | None = None
    group: int | None = None
    code: int | None = None
    deviation: Deviation | None = None

    @property
    def witness(self) -> dict[str, Any]:
        """Where the largest bound is, and how far priors are apart there."""
        if self.group is None:
            return {}
        facts = {} if self.deviation is None else self.deviation.facts
        return {"group": self.group, "value": self.code, **facts}


Statistics: TypeAlias = tuple[WorstPosterior, ...]


@dataclass(frozen=True)
class RRobustness(LocalCriterion):
    """No posterior p(t : x) above 1/r for a reader who knows the priors of signatures [Robust, Def 3].

    The value of a group is an upper bound on its posteriors, from its counts and prior extrema: the swap
    bound of the joint model, where the published Δ condition is not enough, or that of the binary model.
    With `unique` the binary model demands what [Robust, Thm 1] does, each value at most once in a group;
    a repeated value then has the bound 1, since the theorem says nothing of it.

    Not closed under union: two groups of equal priors each may differ from each other.

    where
        r               posteriors may be at most 1/r; as its decimal text says
        model           `joint` or `binary`
        attribute_sets  one label a set of attributes whose priors are known, in the order of `groups.priors`
        unique          each value at most once in a group
        protected       whether each value needs protection; None if all do. Posteriors of others are not
                        bounded, but worlds deal them out all the same, and their priors count
        times           posteriors may also be at most so many times the person's own prior; None if that
                        is not asked
    """

    r: Number
    model: Model
    attribute_sets: tuple[str, ...]
    unique: bool = False
    protected: Mask | None = None
    times: float | None = None

    name: ClassVar[str] = "robustness"
    needs_priors: ClassVar[bool] = True
    union_closed: ClassVar[bool] = False
    higher_is_safer: ClassVar[bool] = False
    relation: ClassVar[str] = "<="

    def __post_init__(self) -> None:
        problems: list[str] = []
        try:
            robustness_level(self.r)
        except SpecError as error:
            problems += error.problems
        if self.model not in get_args(Model):
            problems.append(f"`model` ({self.model!s}) must be one of {', '.join(get_args(Model))}")
        if self.unique and self.model == "joint":
            problems.append(
                "`unique` belongs to the published condition, which holds in the binary model only"
            )
        if self.times is not None and not self.times > 1:
            problems.append(f"`times` ({self.times}) must be above 1: no release leaves everybody less sure")
        if not self.attribute_sets:
            problems.append("`attribute_sets` must name at least one set of attributes with known priors")
        if problems:
            raise SpecError(problems)

    @property
    def level(self) -> str:
        once = ", each value once per group" if self.unique else ""
        some = "" if self.protected is None else f", {told(self.protected)}"
        return f"r = {self.r}, {self.model} model{once}{some}"

    @property
    def parameters(self) -> dict[str, Any]:
        return {**super().parameters, **({} if self.protected is None else counted(self.protected))}

    def own(self, counts: IntArray) -> IntArray:
        """The counts of values whose posteriors are bounded."""
        return only_protected(counts, self.protected)

    @property
    def threshold(self) -> float:
        return float(1 / robustness_level(self.r))

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """The largest bound on a posterior, over attribute sets and values."""
        worst = [
            np.maximum.reduce([self._assessed(part, p)[0].max(axis=1, initial=0.0) for p in part.priors])
            for _, part in self._batches(groups)
        ]
        return np.concatenate([np.empty(0), *worst])

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        held = [
            np.logical_and.reduce(
                [
                    self._within(part, p)[0].all(axis=1) & self._relatively_within(part, p).all(axis=1)
                    for p in part.priors
                ]
            )
            for _, part in self._batches(groups)
        ]
        return np.concatenate([np.empty(0, dtype=np.bool_), *held])

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> Statistics:  # type: ignore[override]
        """The worst of every attribute set; then, if it is asked, the worst relative to the prior."""
        sides = 1 if self.times is None else 2
        found = tuple(WorstPosterior() for _ in range(sides * len(self.attribute_sets)))
        for first, part in self._batches(groups):
            names = np.asarray(ids[first : first + len(part)])
            worst = [self._worst(part, priors, names) for priors in part.priors]
            if self.times is not None:
                worst += [self._worst_relative(part, priors, names) for priors in part.priors]
            found = self.merge(found, tuple(worst))
        return found

    def merge(self, left: Statistics, right: Statistics) -> Statistics:  # type: ignore[override]
        return tuple(_merged(one, other) for one, other in zip(left, right, strict=True))

    def decide(self, statistic: Statistics) -> list[VerdictRow]:  # type: ignore[override]
        sets = len(self.attribute_sets)
        rows = [
            self._row(self.name, self.level, self.threshold, place, worst)
            for place, worst in enumerate(statistic[:sets])
        ]
        if self.times is None:
            return rows
        level = f"at most {self.times:g} times the prior, {self.model} model"
        return rows + [
            self._row(RELATIVE, level, float(self.times), place, worst)
            for place, worst in enumerate(statistic[sets:])
        ]

    def _row(self, name: str, level: str, threshold: float, place: int, worst: WorstPosterior) -> VerdictRow:
        label = self.attribute_sets[place]
        return VerdictRow(
            criterion=name,
            level=f"{level}, attributes [{label}]",
            value=worst.value,
            threshold=threshold,
            relation=self.relation,
            groups=worst.groups,
            violations=worst.violations,
            status="fail" if worst.violations else "pass",
            witness=worst.witness,
            parameters={**self.parameters, "attributes": label},
        )

    def _worst(self, groups: GroupSummaries, priors: PriorExtrema, ids: IntArray) -> WorstPosterior:
        bounds, within = self._assessed(groups, priors)
        violations, row, code = _worst_place(bounds, within, ids)
        apart = None if code is None else Deviation.at(groups, priors, row, code, self.r)
        highest = float(bounds[row].max(initial=0.0))
        return WorstPosterior(len(groups), violations, highest, int(ids[row]), code, apart)

    def _worst_relative(self, groups: GroupSummaries, priors: PriorExtrema, ids: IntArray) -> WorstPosterior:
        assert self.times is not None
        within = self._relatively_within(groups, priors)
        bounds = relative_bounds(groups, priors, self.own(groups.counts), self.model)
        bounds = agreeing(bounds, within, float(self.times), self.relation)
        violations, row, code = _worst_place(bounds, within, ids)
        return WorstPosterior(
            len(groups), violations, float(bounds[row].max(initial=0.0)), int(ids[row]), code
        )

    def _relatively_within(self, groups: GroupSummaries, priors: PriorExtrema) -> BoolArray:
        """Whether every group and value is within so many times the prior, if that is asked."""
        counts = self.own(groups.counts)
        if self.times is None:
            return np.ones(counts.shape, np.bool_)
        return relatively_within(groups, priors, counts, model=self.model, times=float(self.times))

    def _assessed(self, groups: GroupSummaries, priors: PriorExtrema) -> tuple[FloatArray, BoolArray]:
        """The bound of every group and value, and whether it is within the threshold."""
        within, exchange = self._within(groups, priors)
        counts = self.own(groups.counts)
        bounds = swap_bound(groups.sizes, counts, exchange)
        if self.unique:
            bounds = np.where(counts > 1, 1.0, bounds)
        return agreeing(bounds, within, self.threshold, self.relation), within

    def _within(self, groups: GroupSummaries, priors: PriorExtrema) -> tuple[BoolArray, FloatArray]:
        """Whether every group and value is within the threshold, and the share an exchange keeps."""
        joint, counts = self.model == "joint", self.own(groups.counts)
        exchange = joint_exchange(groups.counts, *priors) if joint else binary_exchange(*priors)
        if self.unique:
            return delta_condition(groups.sizes, counts, *priors, r=self.r), exchange
        return surely_within(groups.sizes, counts, exchange, robustness_level(self.r)), exchange

    def _batches(self, groups: GroupSummaries) -> Iterator[tuple[int, GroupSummaries]]:
        """Runs of groups whose arrays stay in the processor's cache, checked, and where each starts."""
        step = max(1, BATCH_CELLS // max(1, groups.counts.shape[1]))
        for first in range(0, len(groups), step):
            part = groups.rows(slice(first, first + step))
            check_priors(part, self.attribute_sets)
            yield first, part


def _worst_place(bounds: FloatArray, within: BoolArray, ids: IntArray) -> tuple[int, int, int | None]:
    """Groups that are not within, and the row and the value of the largest bound, the first of equals."""
    violations = int(np.count_nonzero(~within.all(axis=1)))
    highest = bounds.max(axis=1, initial=0.0)
    candidates = np.flatnonzero(highest == highest.max())
    row = int(candidates[np.argmin(ids[candidates])])
    return violations, row, int(bounds[row].argmax()) if bounds.shape[1] else None


def _merged(left: WorstPosterior, right: WorstPosterior) -> WorstPosterior:
    ranked = [worst for worst in (left, right) if worst.value is not None]
    worst = min(ranked, key=lambda w: (-(w.value or 0.0), w.group, w.code), default=left)
    groups, violations = left.groups + right.groups, left.violations + right.violations
    return replace(worst, groups=groups, violations=violations)


def relaxed(r: Number) -> AlphaK:
    """What every r-robust group satisfies and unions keep: no value held by more than a share 1/r.

    No bound is below c/N, so cutting under this criterion loses no r-robust group. k = 2 adds nothing:
    c/N <= 1/r < 1 needs two people.
    """
    return AlphaK(Fraction(1) / robustness_level(r), 2)


def necessary(robust: RRobustness) -> LocalCriterion:
    """The same of the values that need protection; nobody without one is published alone."""
    shares = relaxed(robust.r)
    return shares if robust.protected is None else OfProtected(shares, robust.protected)
