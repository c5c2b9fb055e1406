"""The one interface through which criteria enter the partitioner, the check and the verdict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray

Statistic = TypeVar("Statistic")


@dataclass(frozen=True)
class VerdictRow:
    """One line of a verdict: what was asked, what was found, and where the worst of it is.

    where
        criterion   short name, e.g. `k_anonymity`
        level       the parameters, readable: `k = 10`, `σ = HIV, (ℓ, k, m) = (3, 20, 2)`
        value       achieved value of the worst group (or of the release)
        threshold   what the criterion demands of `value`; None if nothing is demanded
        relation    how they must compare for a pass: `>=`, `<=`, `<`
        groups      groups looked at
        violations  groups (or points) that fail
        status      `pass`, `fail`, or `measured` where nothing was demanded
        witness     plain facts about the worst place: group, counts; never a row
        parameters  what `level` says, for programs: `{"k": 10}`; fractions as exact texts
    """

    criterion: str
    level: str
    value: float | None
    threshold: float | None
    relation: str
    groups: int
    violations: int
    status: str
    witness: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.status != "fail"

    def of_attribute(self, attribute: str, known: Sequence[str] = ()) -> VerdictRow:
        """The same about one sensitive attribute of several, which level and parameters then name.

        So are others that the adversary knows of the person: groups are then cells, alike in these, too.
        """
        named = {"sensitive": attribute, **({"known": list(known)} if known else {}), **self.parameters}
        about = f"{attribute} given {', '.join(known)}" if known else attribute
        return replace(self, level=f"{about}: {self.level}", parameters=named)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Criterion(ABC, Generic[Statistic]):
    """A privacy criterion: summarise groups, merge summaries in any order, decide once.

    `merge` must be associative and commutative up to the witness, so that statistics of
    partitions can be reduced in any tree. `union_closed` declares that the union of two groups
    that are allowed is allowed: it is what makes cutting top-down complete, and what keeps a
    release safe when a reader confuses two groups with equal labels. It and `needs_priors` must
    say what the traits of the criterion's family say, which is checked when it is built.
    """

    name: ClassVar[str]
    needs_counts: ClassVar[bool] = True
    needs_priors: ClassVar[bool] = False
    needs_households: ClassVar[bool] = False
    needs_weights: ClassVar[bool] = False
    needs_linked: ClassVar[bool] = False
    union_closed: ClassVar[bool] = True

    @abstractmethod
    def summarise(self, groups: GroupSummaries, ids: IntArray) -> Statistic:
        """Reduce many groups to a statistic of constant size; `ids` name the groups."""

    @abstractmethod
    def merge(self, left: Statistic, right: Statistic) -> Statistic:
        """Combine statistics of disjoint sets of groups."""

    @abstractmethod
    def decide(self, statistic: Statistic) -> list[VerdictRow]:
        """The verdict on all groups that went into `statistic`."""


_PARAMETERS = (bool, int, float, str, Fraction)


def _plain(value: Any) -> Any:
    """A parameter as JSON knows it; a fraction as a whole number or as its exact text."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else str(value)
    return value


@dataclass(frozen=True)
class Worst:
    """Statistic of a local criterion: the worst group, and how many fail."""

    groups: int
    violations: int
    value: float | None
    group: int | None


class LocalCriterion(Criterion[Worst]):
    """A criterion that each group satisfies or not by itself."""

    higher_is_safer: ClassVar[bool]
    relation: ClassVar[str]

    @property
    @abstractmethod
    def level(self) -> str:
        """The parameters, readable."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by the names of their fields, as JSON knows them; exact ones as texts."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        return {name: _plain(value) for name, value in given.items() if isinstance(value, _PARAMETERS)}

    @property
    @abstractmethod
    def threshold(self) -> float: ...

    @abstractmethod
    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """The achieved value of each group, to be compared with `threshold`."""

    @abstractmethod
    def allowed(self, groups: GroupSummaries) -> BoolArray:
        """Whether each group satisfies the criterion; exact integers wherever possible."""

    def allowed_cuts(self, left: GroupSummaries, right: GroupSummaries) -> BoolArray:
        """Whether each group may be cut into its left and its right side: both are allowed."""
        return self.allowed(left) & self.allowed(right)

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> Worst:
        return replace(self.worst(groups, ids), violations=int(np.count_nonzero(~self.allowed(groups))))

    def worst(self, groups: GroupSummaries, ids: IntArray) -> Worst:
        """The group with the worst achieved value, whether that is allowed or not."""
        if len(groups) == 0:
            return Worst(0, 0, None, None)
        achieved = self.achieved(groups)
        extreme = achieved.min() if self.higher_is_safer else achieved.max()
        group = int(np.asarray(ids)[achieved == extreme].min())
        return Worst(len(groups), 0, float(extreme), group)

    def merge(self, left: Worst, right: Worst) -> Worst:
        ranked = [w for w in (left, right) if w.value is not None]
        sign = 1 if self.higher_is_safer else -1
        worst = min(ranked, key=lambda w: (sign * (w.value or 0.0), w.group), default=left)
        return Worst(left.groups + right.groups, left.violations + right.violations, worst.value, worst.group)

    def decide(self, statistic: Worst) -> list[VerdictRow]:
        status = "fail" if statistic.violations else "pass"
        witness = {} if statistic.group is None else {"group": statistic.group}
        return [
            VerdictRow(
                self.name,
                self.level,
                statistic.value,
                self.threshold,
                self.relation,
                statistic.groups,
                statistic.violations,
                status,
                witness,
                self.parameters,
            )
        ]

    def unknown(self, reason: str) -> VerdictRow:
        """The verdict where what the criterion needs is not there: it fails, and says why."""
        told = (self.threshold, self.relation, 0, 1, "fail", {"reason": reason}, self.parameters)
        return VerdictRow(self.name, self.level, None, *told)


@dataclass(frozen=True)
class Measured(Criterion[Worst]):
    """The value a release achieves under a criterion nobody asked for; it cannot fail."""

    criterion: LocalCriterion
    label: str

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.criterion.name

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> Worst:
        return self.criterion.worst(groups, ids)

    def merge(self, left: Worst, right: Worst) -> Worst:
        return self.criterion.merge(left, right)

    def decide(self, statistic: Worst) -> list[VerdictRow]:
        row = self.criterion.decide(statistic)[0]
        return [replace(row, level=self.label, threshold=None, status="measured", parameters={})]


@dataclass(frozen=True)
class AppliedToPart(LocalCriterion):
    """A criterion that is asked of a part of each group, by its own measure and threshold."""

    criterion: LocalCriterion

    @property
    def higher_is_safer(self) -> bool:  # type: ignore[override]
        return self.criterion.higher_is_safer

    @property
    def relation(self) -> str:  # type: ignore[override]
        return self.criterion.relation

    @property
    def level(self) -> str:
        return self.criterion.level

    @property
    def threshold(self) -> float:
        return self.criterion.threshold

    @property
    def parameters(self) -> dict[str, Any]:
        return self.criterion.parameters


@dataclass(frozen=True)
class SeenInPart(AppliedToPart):
    """A criterion under its own name that sees a part of what is counted of each group."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.criterion.name

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        return self.criterion.needs_counts

    @property
    def union_closed(self) -> bool:  # type: ignore[override]
        return self.criterion.union_closed

    @abstractmethod
    def part(self, groups: GroupSummaries) -> GroupSummaries:
        """What the criterion sees of the groups."""

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        return self.criterion.achieved(self.part(groups))

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        return self.criterion.allowed(self.part(groups))

    def allowed_cuts(self, left: GroupSummaries, right: GroupSummaries) -> BoolArray:
        return self.criterion.allowed_cuts(self.part(left), self.part(right))


class InEveryPart(AppliedToPart):
    """A criterion that must hold in several parts of each group."""

    @abstractmethod
    def parts(self, groups: GroupSummaries) -> Iterator[tuple[IntArray, GroupSummaries]]:
        """The parts of all groups, some at a time: the group that each is of, and the part as a group."""

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        """The worst value of the parts of each group; the safest there is where it has none."""
        worst = np.full(len(groups), np.inf if self.higher_is_safer else -np.inf)
        keep = np.minimum if self.higher_is_safer else np.maximum
        for owner, some in self.parts(groups):
            keep.at(worst, owner, self.criterion.achieved(some))
        return worst

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        held = np.ones(len(groups), np.bool_)
        for owner, some in self.parts(groups):
            held[owner[~self.criterion.allowed(some)]] = False
        return held
